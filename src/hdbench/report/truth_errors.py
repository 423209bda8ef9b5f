"""The address where a reader reports an error in a benchmark's ground truth."""

from collections.abc import Callable
from itertools import accumulate
from urllib.parse import quote

from hdbench.errors import escaped
from hdbench.report.items import ItemView, ShownField, Value

MAX_URL = 1_900
"""Maximum characters of an address: some servers and mail programs cut those above 2,000."""

_MAX_ID, _MAX_FIELD, _MAX_VALUE = 150, 120, 240  # as they appear in the address

Tell = Callable[..., str]
"""A text's key and the values for its placeholders → the text."""

_FORMS = {"/discussions/new": ("title", "description"), "/issues/new": ("title", "body")}
"""Endings of forms' addresses → the forms' fields: the Hub's discussions, and GitHub issues."""


def truth_error_url(address: str, benchmark: str, version: str, item: ItemView, tell: Tell) -> str:
    """Return the address for reporting errors, filled in with an item and its wrong fields.

    A form on the Hub or GitHub and an e-mail are filled in; any other page is not, as nobody
    knows what it would do with the values.

    Untrusted text appears as a code block, which the Hub does not turn into links, pictures or
    mentions; what cannot be seen appears as an escape. Fields for which there is no room are
    counted.

    Args:
        address: where the benchmark says to report errors.
        benchmark: its name.
        version: the dataset's version.
        item: the item.
        tell: the texts of the folder `translations`.
    """
    if is_mail := address.startswith("mailto:"):
        names = "subject", "body"
    elif form := next((ending for ending in _FORMS if address.endswith(ending)), None):
        names = _FORMS[form]
    else:
        return address
    end = "\r\n" if is_mail else "\n"
    item_id = _bounded(item.id, _MAX_ID)
    title = tell("truth_error_title", id=item_id)
    start = f"{address}?{names[0]}={_quoted(title)}&{names[1]}="
    lines = [
        tell(
            "truth_error_intro",
            benchmark=_bounded(benchmark, _MAX_FIELD),
            version=_bounded(version, _MAX_FIELD),
        ),
        "",
        f"    {tell('truth_error_item', id=item_id)}",
    ]
    filled = start + _quoted(end.join(lines))
    asked = _quoted(end.join(["", "", tell("truth_error_ask"), ""]))
    url, remaining = "", len(item.errors) + item.more_errors
    for row in (None, *item.errors):
        if row is not None:
            filled += _quoted(end.join(["", *_field(row, tell)]))
            remaining -= 1
        more = f"    {tell('truth_error_more', count=remaining)}"
        longer = filled + (_quoted(end.join(["", "", more])) if remaining else "") + asked
        if url and len(longer) > MAX_URL:
            break
        url = longer
    return url


def _field(row: ShownField, tell: Tell) -> list[str]:
    return [
        "",
        f"    {tell('truth_error_field', field=_bounded(row.field, _MAX_FIELD))}",
        f"    {tell('truth_error_truth', value=_value(row.reference, tell))}",
        f"    {tell('truth_error_answer', value=_value(row.prediction, tell))}",
    ]


def _value(value: Value, tell: Tell) -> str:
    if not value.parts:
        return tell("nothing" if value.absent else "empty")
    return _bounded("".join(part.text for part in value.parts), _MAX_VALUE)


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _bounded(text: str, most: int) -> str:
    """Return untrusted text in one line, cut where it would take more room in an address."""
    line = escaped(text[: most + 1])
    if len(_quoted(line)) <= most:
        return line
    ends = accumulate(len(_quoted(character)) for character in line)
    fitting = sum(end <= most for end in ends)
    return f"{line[:fitting]}…"
