"""Items as a page shows them: its fields, reference beside answer, and what is wrong."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, NamedTuple

from hdbench.answers.answer import LOST
from hdbench.common.display.differences import PageLine, Piece, TextPart, differences, page_lines
from hdbench.scoring.error_classes import ErrorClass, field_name, text_of
from hdbench.scoring.metric import FieldMatch, Metric

_OF_LIST = re.compile(r".*\[\d+\](?=\.)", re.DOTALL)
"""The item of a list in the path of one of its fields."""

MAX_FIELD = 100
"""Maximum characters of a field's path that are shown."""


class ItemLimits(NamedTuple):
    """Limits on what is shown of an item.

    Attributes:
        rows: maximum number of errors, and of other fields.
        value: maximum characters of a value.
        page: maximum characters of a text that is shown line by line.
    """

    rows: int
    value: int
    page: int


FULL = ItemLimits(rows=300, value=2_000, page=20_000)
BRIEF = ItemLimits(rows=5, value=200, page=0)

MAX_TEXT = 4_000_000
"""Maximum characters of references and answers in a page; items after them, the better ones, are
shown in `BRIEF`. 263 cards have about 150,000."""


class Band(NamedTuple):
    """A band of similarities.

    Attributes:
        lowest: the lowest similarity in it.
        name: for texts and the style sheet.
    """

    lowest: float
    name: str


BANDS = (Band(1.0, "same"), Band(0.8, "close"), Band(0.5, "partly"), Band(0.0, "far"))


def band(similarity: float) -> Band:
    """Return the band of a similarity, 0.0 to 1.0.

    Example:
        >>> band(1.0).name, band(0.999).name, band(0.5).name, band(0.499).name
        ('same', 'close', 'partly', 'far')
    """
    return next((level for level in BANDS if similarity >= level.lowest), BANDS[-1])


def two_digits(similarity: float) -> str:
    """Return a similarity with two decimals, rounded down: only equal values have 1.00.

    Example:
        >>> two_digits(0.999), two_digits(1.0)
        ('0.99', '1.00')
    """
    # 0.29 * 100 is a little less than 29: a value this close counts as reached.
    return f"{math.floor(similarity * 100 + 1e-9) / 100:.2f}"


class Value(NamedTuple):
    """A value of a field.

    Attributes:
        parts: its text in parts; empty if the value is absent or empty.
        absent: whether the value is missing altogether.
        more: how many characters were left out.
    """

    parts: list[TextPart]
    absent: bool
    more: int


@dataclass(frozen=True)
class ShownField:
    """A field of an item.

    Attributes:
        field: its path, shortened.
        name: its path without positions in lists, for filters.
        reference: the reference value.
        prediction: the answer's value.
        similarity: 0.0 to 1.0.
        error: the class of the error; None if there is none.
        label: its path, shortened, without that of the group it is shown in.
        group: the path of the item of a list to which it belongs; empty if it is shown alone.
        record: `missed` or `invented` if that item has no counterpart; otherwise None.
        lines: both values line by line, if they are texts of several lines; otherwise none. Where
            nothing is to be marked, they have the reference alone.
    """

    field: str
    name: str
    reference: Value
    prediction: Value
    similarity: float
    error: str | None
    label: str
    group: str
    record: str | None
    lines: Sequence[PageLine] = ()

    @property
    def size(self) -> int:
        """The number of characters that are shown of it."""
        values = [part for value in (self.reference, self.prediction) for part in value.parts]
        pieces = [piece for line in self.lines for piece in (*line.reference, *line.prediction)]
        return sum(len(part.text) for part in values) + sum(len(piece.text) for piece in pieces)

    @property
    def band(self) -> Band:
        """The band of the similarity."""
        return band(self.similarity)

    @property
    def similarity_text(self) -> str:
        """The similarity with two decimals."""
        return two_digits(self.similarity)


@dataclass(frozen=True)
class ItemView:
    """An item as it is shown.

    Attributes:
        id: its id.
        status: how its answer was read.
        figure: how good it is, 0.0 to 1.0.
        errors: its wrong fields.
        more_errors: the number of those left out for lack of room.
        others: its correct fields; for a lost item, all of the reference's.
        more_others: the number of those left out for lack of room.
    """

    id: str
    status: str
    figure: float
    errors: list[ShownField]
    more_errors: int
    others: list[ShownField]
    more_others: int

    @property
    def is_lost(self) -> bool:
        """Return whether there is no answer that could be scored."""
        return self.status in LOST


def item_views(
    per_item: Sequence[Mapping[str, Any]],
    item_errors: Sequence[Sequence[tuple[FieldMatch, ErrorClass]]],
    metric: Metric,
) -> list[ItemView]:
    """Return the items as they are shown, worst first, equal ones in the dataset's order.

    Args:
        per_item: see `Result`.
        item_errors: the errors of each with their classes; see `Result`.
        metric: the metric that scored them.
    """
    views, text = [], 0
    pairs = zip(per_item, item_errors, strict=True)
    for item, errors in sorted(pairs, key=lambda pair: float(pair[0][metric.item_figure])):
        view = _view(item, errors, metric, FULL if text < MAX_TEXT else BRIEF)
        text += sum(row.size for row in (*view.errors, *view.others))
        views.append(view)
    return views


def _view(
    item: Mapping[str, Any],
    errors: Sequence[tuple[FieldMatch, ErrorClass]],
    metric: Metric,
    limits: ItemLimits,
) -> ItemView:
    matches = [FieldMatch(**match) for match in item["fields"]]
    if item["status"] in LOST:
        wrong: Sequence[tuple[FieldMatch, ErrorClass]] = []
        others = [match._replace(record=None) for match in matches]  # all are missed
    else:
        wrong = errors
        others = [match for match in matches if match.outcome == "correct"]
    return ItemView(
        id=item["id"],
        status=item["status"],
        figure=float(item[metric.item_figure]),
        errors=_rows(wrong[: limits.rows], limits),
        more_errors=max(0, len(wrong) - limits.rows),
        others=_rows([(match, None) for match in others[: limits.rows]], limits),
        more_others=max(0, len(others) - limits.rows),
    )


def _rows(errors: Sequence[tuple[FieldMatch, str | None]], limits: ItemLimits) -> list[ShownField]:
    """Return the fields with their errors, grouped by the list entry they belong to.

    A single field of an item with a counterpart is shown alone.
    """
    groups: dict[tuple[str, str | None], list[tuple[FieldMatch, str | None]]] = {}
    for match, error in errors:
        item = _OF_LIST.match(match.field)
        groups.setdefault((item[0] if item else "", match.record), []).append((match, error))
    rows = []
    for (item_path, record), members in groups.items():
        group = item_path if len(members) > 1 or record is not None else ""
        rows += [shown_field(match, error, limits, group) for match, error in members]
    return rows


def shown_field(
    match: FieldMatch, error: str | None, limits: ItemLimits, group: str = ""
) -> ShownField:
    """Return a field as it is shown.

    Args:
        match: what became of it.
        error: the class of its error; None if it is right.
        limits: how much is shown.
        group: the path of the item of a list under which it stands.
    """
    truth, answer = text_of(match.reference), text_of(match.prediction)
    most = limits.value
    lines: Sequence[PageLine] = ()
    if "\n" in truth and len(truth + answer) <= limits.page and (answer or error is None):
        lines = page_lines(truth, truth if error is None else answer)
    if lines and error is not None:
        truth_parts, answer_parts = (
            _parts(chain.from_iterable(side), most) for side in zip(*lines, strict=True)
        )
    elif truth and answer:
        truth_parts, answer_parts = differences(truth[:most], answer[:most])
    else:
        # Where the other has nothing, all of it is wrong or lacking.
        truth_parts, answer_parts = (
            [TextPart(text[:most], differs=error is not None)] if text else []
            for text in (truth, answer)
        )
    return ShownField(
        field=cut(match.field),
        name=field_name(match.field),
        reference=Value(truth_parts, match.reference is None, max(0, len(truth) - most)),
        prediction=Value(answer_parts, match.prediction is None, max(0, len(answer) - most)),
        similarity=match.similarity,
        error=error,
        label=cut(match.field[len(group) :].removeprefix(".")),
        group=cut(group),
        record=match.record,
        lines=lines,
    )


def _parts(pieces: Iterable[Piece], most: int) -> list[TextPart]:
    """Return the first characters of a text whose words in another order are not wrong."""
    parts = []
    for kind, group in groupby(pieces, key=lambda piece: piece.kind):
        text = "".join(piece.text for piece in group)[:most]
        most -= len(text)
        if text:
            parts.append(TextPart(text, kind == "wrong", kind == "moved"))
    return parts


def cut(text: str, most: int = MAX_FIELD) -> str:
    """Return a text of at most so many characters, with … for the rest."""
    return text if len(text) <= most else text[: most - 1] + "…"
