"""Pairing of ground truths with images by the names of their files and folders."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from hdbench.answers.ids import plain_form
from hdbench.answers.records import Truth, Truths
from hdbench.collections.new.media import MediaFiles
from hdbench.collections.truth.page_files import PageTruths
from hdbench.errors import HdbenchError, Message

FORM_FOLDERS = {"page", "alto", "hocr", "xml"}
"""Folders of an export that say what form files have, not where they belong."""

_ENDINGS = re.compile(r"(\.(page|alto|hocr|xml|html?))+$", re.IGNORECASE)


class _Names(NamedTuple):
    """The names that may say which image a ground truth belongs to, in the order they count."""

    inside: str
    with_folder: str
    own: str


class Paired(NamedTuple):
    """The result of pairing.

    Attributes:
        truths: ground truths, of which those that found their image have its key: an item's id, or
            `ID/FILE` for a page of an item with several.
        renamed: files that were paired by their own names, each with the other one that is in it.
    """

    truths: Truths
    renamed: list[str]


def paired(truths: Truths, media: MediaFiles) -> Paired:
    """Give each file with the text of a page the key of its image, and so keys with a folder.

    The name inside a file counts first, if one image and no other file has it; then the file's name
    with that of its folder; then the file's name.

    Args:
        truths: the ground truths. Keys of tables and JSON stay as they are, unless they have a
            folder in which images are.
        media: the items.

    Raises:
        HdbenchError: two files are called after the same image.
    """
    are_files = isinstance(truths, PageTruths)
    read = _names_of_file if are_files else _names_of_key
    waiting = dict(enumerate(map(read, truths.truths)))
    free = _names_of_media(media, with_pages=are_files)
    keys: dict[int, str] = {}
    renamed: list[str] = []
    for way, field in enumerate(_Names._fields):
        for key, (first, *others) in _claims(waiting, way, free).items():
            truth, names = truths.truths[first], waiting[first]
            if not others:
                keys[first] = key
                del waiting[first], free[key]
                if way and names.inside and plain_form(names.inside) != plain_form(names.own):
                    renamed.append(
                        Message("{place} ({inside})", place=truth.place, inside=names.inside)
                    )
            elif field == "own":
                raise HdbenchError(
                    "{place}: and {other}: both are called after the image {item}: leave one "
                    "out, or put images and files into folders of the same names",
                    place=truth.place,
                    other=truths.truths[others[0]].place,
                    item=key,
                )
    if are_files:  # what is left may still fit in another spelling, see `match_ids`
        times = Counter(names.inside for names in waiting.values())
        for number, names in waiting.items():
            is_telling = names.inside and times[names.inside] == 1
            keys[number] = names.inside if is_telling else names.own
    found = [
        truth._replace(key=keys.get(number, truth.key))
        for number, truth in enumerate(truths.truths)
    ]
    return Paired(replace(truths, truths=found), renamed)


def _claims(
    waiting: Mapping[int, _Names], way: int, free: Mapping[str, set[str]]
) -> dict[str, list[int]]:
    """Return the key of an image → the ground truths that fit it and no other."""
    fitting: dict[str, list[str]] = defaultdict(list)
    for key, known in free.items():
        for name in {plain_form(name) for name in known}:
            fitting[name].append(key)
    claims: dict[str, list[int]] = defaultdict(list)
    for number, names in waiting.items():
        candidates = fitting.get(plain_form(names[way]), []) if names[way] else []
        if len(candidates) == 1:
            claims[candidates[0]].append(number)
    return claims


def _names_of_file(truth: Truth) -> _Names:
    path = PurePosixPath(truth.place)
    folders = [name for name in path.parts[:-1] if name.casefold() not in FORM_FOLDERS]
    own = _ENDINGS.sub("", path.name)
    return _Names(truth.key or "", "_".join([*folders[-1:], own]), own)


def _names_of_key(truth: Truth) -> _Names:
    parts = (truth.key or "").replace("\\", "/").split("/")
    return _Names("", "_".join(parts[-2:]) if len(parts) > 1 else "", "")


def _names_of_media(media: MediaFiles, *, with_pages: bool) -> dict[str, set[str]]:
    """Return the keys of items, and of their pages, each with the names that it goes by."""
    names: dict[str, set[str]] = {}
    for item in media.items:
        names[item.id] = {item.id}
        for page in item.pages:
            stem = page.path.stem
            in_folder = {f"{page.path.parent.name}_{stem}", stem}
            if len(item.pages) == 1:
                names[item.id] |= in_folder
            elif with_pages and page.frame is None:
                names[f"{item.id}/{page.path.name}"] = in_folder
    return names
