"""Matching ground truths with items, and items with a sample."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from hdbench.answers.entries import shown
from hdbench.answers.ids import Matched, match_ids
from hdbench.answers.records import Truth, Truths
from hdbench.collections.new.drawing import Draw
from hdbench.collections.new.media import MediaFiles
from hdbench.collections.new.pairing import paired
from hdbench.collections.truth.page_files import PageTruths
from hdbench.common.names import did_you_mean
from hdbench.errors import SHOWN, HdbenchError, Message, shortened


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
            Message("{item!r} is {key!r} there", item=difference.item, key=difference.ids[0])
            for difference in matched.differences
            if difference.way != "files"  # most tables name files, which is no reason to look
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
    several = [
        Message("{key!r} may be one of several images: {names}", key=key, names=shown(items))
        for key, items in islice(matched.several.items(), SHOWN)
    ]
    return [
        *_counted(Message("rows that name no image, and are left out"), without_key),
        *_counted(Message("ground truths without an image, which are left out"), unknown),
        *several,
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
