"""Matching ground truths with items, and items with a sample."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from hdbench.answers.answers import Matched, has_ending, match_ids, plain_form
from hdbench.answers.records import Truth, Truths
from hdbench.collections.new.drawing import Draw
from hdbench.collections.new.media import MediaFiles
from hdbench.collections.truth.page_files import PageTruths
from hdbench.errors import SHOWN, HdbenchError, Message, did_you_mean, shortened

# Pairing of ground truths with images by the names of their files and folders

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
        # A name that several images have is no claim: a wrong ground truth is worse than none.
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


class MatchedTruths(NamedTuple):
    """The ground truths by item.

    Attributes:
        by_id: id → ground truth, for the items that have one that says something.
        notes: what fits nothing, or is missing, one line each.
    """

    by_id: dict[str, Truth]
    notes: list[str]


def match_truths(truths: Truths, media: MediaFiles) -> MatchedTruths:
    """Find the item of each ground truth by its key, as people write names of files.

    Leading zeros, extensions, folders, case and the composition of characters may differ. The
    texts of single pages are put together where an item has several.

    A file with the text of a page belongs to the image that it names; where no image has that name,
    or several files give the same one, to the image that the file itself is called after.

    Args:
        truths: the ground truths.
        media: the items.

    Raises:
        HdbenchError: no ground truth says which item it belongs to, none fits, or two belong to the
            same item.
    """
    truths, renamed = paired(truths, media)
    renamed_notes = _counted(
        Message("files paired by their own names, as no image or several fit the one in them"),
        renamed,
    )
    keyed = [truth for truth in truths.truths if truth.key]
    if not keyed:
        raise HdbenchError(
            "nothing in the ground truth says which image a row belongs to: map the column with "
            "the names of the images to id"
        )
    by_key: dict[str, Truth] = {}
    for truth in keyed:
        first = by_key.setdefault(str(truth.key), truth)
        if first is not truth:
            raise HdbenchError(
                "{place}: a second ground truth for {key!r}, which {first} has already: leave "
                "one of them out; if an image has several, make them a list",
                place=truth.place,
                key=truth.key,
                first=first.place,
            )
    if media.kind == "pages" and (of_pages := _of_pages(truths, by_key, media)):
        return of_pages._replace(notes=[*renamed_notes, *of_pages.notes])
    ids = [item.id for item in media.items]
    matched = match_ids(by_key, ids)
    own = {item_id: matched.ids.get(item_id, item_id) for item_id in ids}
    truths_by_id = {item_id: by_key[key] for item_id, key in own.items() if key in by_key}
    if not truths_by_id:
        raise HdbenchError(
            "no ground truth fits an image: the first is for {key!r} ({place}), the first "
            "image is {first!r}: call each file as its image"
            if isinstance(truths, PageTruths)
            else "no ground truth fits an image: the first is for {key!r} ({place}), the first "
            "image is {first!r}: map the column with the names of the images to id",
            key=keyed[0].key,
            place=keyed[0].place,
            first=ids[0],
        )
    notes: list[str] = [
        *renamed_notes,
        *(
            Message("{item!r} is {key!r} there", item=item, key=key)
            for item, key in islice(matched.ids.items(), 1)
            if not has_ending(key)  # most tables name files, which is no reason to look
        ),
        *_left_out(truths, matched, by_key, [item for item in ids if item not in truths_by_id]),
    ]
    if matched.unknown:
        notes += _within_folders(matched.unknown, media)
    filled = {item_id: truth for item_id, truth in truths_by_id.items() if truth.record is not None}
    missing = [item_id for item_id in ids if item_id not in filled]
    notes += _counted(Message("images without a ground truth"), missing)
    return MatchedTruths(filled, notes)


def _left_out(
    truths: Truths, matched: Matched, by_key: Mapping[str, Truth], free: Sequence[str]
) -> list[str]:
    """Return notes on ground truths that name no image, or a missing one: maybe one of `free`."""
    without_key = [truth.place for truth in truths.truths if not truth.key and truth.record]
    unknown = [
        Message(
            "{key} ({place}{near})",
            key=key,
            place=by_key[key].place,
            near=did_you_mean(key, free) if number < SHOWN else "",
        )
        for number, key in enumerate(matched.unknown)
    ]
    return [
        *_counted(Message("rows that name no image, and are left out"), without_key),
        *_counted(Message("ground truths without an image, which are left out"), unknown),
    ]


def _counted(description: Message, names: Sequence[str]) -> list[str]:
    """Return a note on some names; none if there are none."""
    note = Message(
        "{what}: {count}: {shown}", what=description, count=len(names), shown=shortened(names)
    )
    return [note] if names else []


def _within_folders(keys: Sequence[str], media: MediaFiles) -> list[str]:
    """Return a note on ground truths that name pages of items, where whole items are expected."""
    pages = {
        page.path.name: f"{item.id}/{page.path.name}"
        for item in media.items
        for page in item.pages
        if page.path.stem != item.id
    }
    try:
        matched = match_ids(keys, pages)
    except HdbenchError:  # pages of several items are called the same, so nothing can be said
        return []
    fitting = [pages[name] for name in pages if name in matched.ids or name in keys]
    if not fitting:
        return []
    return [
        Message(
            "of these, {count} are in a folder, which is one item with its pages: {shown}: if each "
            "is an item, put the images into one folder, side by side",
            count=len(fitting),
            shown=shortened(fitting),
        )
    ]


def _of_pages(
    truths: Truths, by_key: Mapping[str, Truth], media: MediaFiles
) -> MatchedTruths | None:
    """Return texts of single pages joined to texts of items; None if they are not such texts."""
    if any(
        truth.record is not None and list(truth.record) != ["text"] for truth in by_key.values()
    ):
        return None
    pages = {
        f"{item.id}/{page.path.name}" if len(item.pages) > 1 else item.id: item
        for item in media.items
        for page in item.pages
    }
    matched = match_ids(by_key, pages)
    texts: dict[str, list[Truth]] = defaultdict(list)
    for name, item in pages.items():
        truth = by_key.get(matched.ids.get(name, name))
        if truth is not None and truth.record is not None:
            texts[item.id].append(truth)
    truth_by_id = {
        item.id: Truth(
            texts[item.id][0].place,
            item.id,
            {"pages": [truth.record for truth in texts[item.id]]},
            [page for truth in texts[item.id] for page in truth.boxes],
        )
        for item in media.items
        if item.pages and len(texts[item.id]) == len(item.pages)
    }
    if not truth_by_id:
        return None
    missing = [item.id for item in media.items if item.id not in truth_by_id]
    lacking = _counted(Message("items that lack the text of a page"), missing)
    return MatchedTruths(truth_by_id, [*_left_out(truths, matched, by_key, ()), *lacking])


def sampled(media: MediaFiles, drawn: Draw) -> tuple[MediaFiles, dict[str, int]]:
    """Return only the items of a sample, and the stratum of each if there are any.

    Args:
        media: the items; others than the sample's are left out.
        drawn: which were drawn. Their ids may be written as people write names of files.

    Raises:
        HdbenchError: an item of the sample is not there: estimates for the whole need all of them.
    """
    ids = [item.id for item in media.items]
    matched = match_ids(drawn.ids, ids)
    key_of = {item_id: matched.ids.get(item_id, item_id) for item_id in ids}
    chosen = [item for item in media.items if key_of[item.id] in drawn.ids]
    available = {key_of[item.id] for item in chosen}
    missing = [key for key in drawn.ids if key not in available]
    if missing:
        raise HdbenchError(
            "the sample has items without an image: {missing}: add them, as an estimate "
            "for the whole needs every item that was drawn",
            missing=shortened(missing),
        )
    by_stratum = {item.id: drawn.ids[key_of[item.id]] for item in chosen}
    return media._replace(items=chosen), by_stratum if drawn.sample.by else {}
