"""The items of a collection that were drawn."""

from hdbench.answers.ids import match_ids
from hdbench.datasets.collecting.drawing import DrawnSample
from hdbench.datasets.collecting.media import MediaFiles
from hdbench.errors import HdbenchError, shortened


def sampled(media: MediaFiles, sample: DrawnSample) -> tuple[MediaFiles, dict[str, int]]:
    """Only the items of a sample, and the stratum of each if there are any.

    Args:
        media: the items; others than the sample's are left out.
        sample: which were drawn. Its ids may be written as people write names of files.

    Raises:
        HdbenchError: an item of the sample is not there: estimates for the whole need all of them.
    """
    ids = [item.id for item in media.items]
    matched = match_ids(sample.ids, ids)
    key_of = {item_id: matched.ids.get(item_id, item_id) for item_id in ids}
    chosen = [item for item in media.items if key_of[item.id] in sample.ids]
    there = {key_of[item.id] for item in chosen}
    missing = [key for key in sample.ids if key not in there]
    if missing:
        raise HdbenchError(
            "the sample has items without an image: {missing}: add them, as an estimate "
            "for the whole needs every item that was drawn",
            missing=shortened(missing),
        )
    by_stratum = {item.id: sample.ids[key_of[item.id]] for item in chosen}
    return media._replace(items=chosen), by_stratum if sample.by else {}
