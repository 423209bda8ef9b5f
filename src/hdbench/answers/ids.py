"""Matching the ids of a file with those of a benchmark, as people write them."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hdbench.errors import HdbenchError

_ENDING = re.compile(r"\.(json|txt|jpe?g|png|tiff?|webp|gif|bmp|jp2|pdf|xml|md)$", re.IGNORECASE)
_FOLDER = re.compile(r"[/\\]")
_BETWEEN = re.compile(r"[\W_]+")
_PAGE = re.compile(r"(?P<item>.+?)[-_. ](?:p|page|s|seite)?[-_. ]?\d+$", re.IGNORECASE)


class Matched(NamedTuple):
    """Result of matching ids.

    Attributes:
        ids: the benchmark's id → the file's id, for those that differ.
        unknown: the file's ids that fit none of the benchmark's, or several, in order.
        number: how many ids the benchmark has.
    """

    ids: dict[str, str]
    unknown: list[str]
    number: int


def match_ids(file_ids: Iterable[str], item_ids: Iterable[str]) -> Matched:
    """Find the item of each id that is not exactly one of the benchmark's.

    Such an id fits the item from which it differs only by leading zeros, which Excel drops, by a
    file's folder or extension, by case, or by the composition of characters, which macOS changes;
    otherwise by what is between its words and numbers; otherwise by a page number at its end, if no
    other id is a page of the same item.

    Args:
        file_ids: the ids in the file.
        item_ids: the benchmark's ids.

    Raises:
        HdbenchError: two ids fit the same item.

    Example:
        >>> match_ids(["414956", "00415264.jpg"], ["00414956", "00415264"]).ids
        {'00414956': '414956', '00415264': '00415264.jpg'}
        >>> match_ids(["Kasten3 0001"], ["Kasten3_0001.jpg"]).ids
        {'Kasten3_0001.jpg': 'Kasten3 0001'}
    """
    is_item = dict.fromkeys(file_ids, False)
    unanswered = set[str]()
    for item in item_ids:
        if item in is_item:
            is_item[item] = True
        else:
            unanswered.add(item)
    left = [item_id for item_id, is_exact in is_item.items() if not is_exact]
    number = len(is_item) - len(left) + len(unanswered)
    by_form: dict[str, list[str]] = defaultdict(list)
    by_parts: dict[str, list[str]] = defaultdict(list)
    for item in unanswered if left else ():
        by_form[plain_form(item)].append(item)
        by_parts[form_of_parts(item)].append(item)
    by_parts.pop("", None)  # of names without a letter or digit
    fitting: dict[str, list[str]] = defaultdict(list)
    unknown = []
    for item_id in left:
        candidates = (
            by_form.get(plain_form(item_id))
            or by_parts.get(form_of_parts(item_id))
            or by_form.get(form_without_page(item_id), [])
        )
        if len(candidates) == 1:
            fitting[candidates[0]].append(item_id)
        else:
            unknown.append(item_id)
    for item, ids in fitting.items():
        if len(ids) > 1:
            raise HdbenchError(
                "the ids {first!r} and {second!r} both look like {item!r} of the benchmark: "
                "give one answer for each item, under its id",
                first=ids[0],
                second=ids[1],
                item=item,
            )
    matched = {item: ids[0] for item, ids in fitting.items()}
    return Matched(matched, unknown, number)


def plain_form(item_id: str) -> str:
    """Return an id without the parts that may differ: folder, extension, leading zeros and case.

    Example:
        >>> plain_form("Scans/00415264.JPG"), plain_form("415264")
        ('415264', '415264')
    """
    name = _FOLDER.split(unicodedata.normalize("NFC", item_id.strip()))[-1]
    name = _ENDING.sub("", name).casefold()
    return (name.lstrip("0") or "0") if name.isdecimal() else name


def form_of_parts(item_id: str) -> str:
    """Return the words and numbers of an id, whatever is between them; empty if it has none.

    Example:
        >>> form_of_parts("Kasten3 0001"), form_of_parts("scans/kasten3_0001.jpg")
        ('kasten3_0001', 'kasten3_0001')
    """
    return _BETWEEN.sub("_", plain_form(item_id)).strip("_")


def has_ending(name: str) -> bool:
    """Return whether a text ends as the name of an image, or of another file of an item.

    Example:
        >>> has_ending("0001.tif"), has_ending("Bd. 1")
        (True, False)
    """
    return _ENDING.search(name.strip()) is not None


def form_without_page(item_id: str) -> str:
    """Return the form of the item that an id looks like a page of; empty if it does not.

    Example:
        >>> form_without_page("b0012_p3.jpg")
        'b0012'
    """
    page = _PAGE.match(_ENDING.sub("", item_id.strip()))
    return plain_form(page["item"]) if page else ""
