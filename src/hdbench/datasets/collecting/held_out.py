"""Ground truths that are held out: drawn, taken out of a benchmark's folder, and put beside it."""

import hashlib
import json
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.provenance import COLUMNS, Provenance
from hdbench.benchmarks.sample import STRATUM
from hdbench.benchmarks.spec import HELD_OUT_ENDING
from hdbench.benchmarks.truths import PUBLISHED, TRUTH
from hdbench.common.checked import read_text_file, read_yaml
from hdbench.common.jsonio import EXACT, read_jsonl, write_whole
from hdbench.errors import HdbenchError

_DESCRIPTION = "benchmark.yaml"


def split(
    rows: Sequence[Mapping[str, Any]], share: float, seed: int, strata: str = STRATUM
) -> list[str]:
    """Return the ids of the items whose ground truth is held out, drawn at random.

    Items without a ground truth are never drawn. If rows have strata, each gives its part of the
    items, rounded so that the parts add up (the largest remainders are rounded up): the held-out
    items are then a sample of the same kind as the rest, and both can be compared.

    Args:
        rows: each with its `id` and `ground_truth`, and perhaps its stratum.
        share: the share of the items, between 0 and 1.
        seed: for the random numbers; with the same seed and ids, the same items are drawn in
            whatever order the rows are.
        strata: the column with the stratum.

    Returns:
        The ids, in the order of the rows.

    Raises:
        HdbenchError: the share is not between 0 and 1, or so small or large that one of both parts
            would have no item.

    Example:
        >>> rows = [{"id": str(number), "ground_truth": {}} for number in range(5)]
        >>> len(split(rows, 0.4, seed=1))
        2
    """
    if not 0 < share < 1:
        raise HdbenchError(
            "held out: {share} is not a share between 0 and 1, such as 0.3", share=f"{share:g}"
        )
    groups: dict[Any, list[str]] = defaultdict(list)
    for row in rows:
        if row["ground_truth"] is not None:
            groups[row.get(strata)].append(row["id"])
    items = sum(map(len, groups.values()))
    number = math.floor(share * items + 0.5)
    if not 0 < number < items:
        raise HdbenchError(
            "held out: {share:.0%} of {items} items with a ground truth would leave {public} "
            "public and {held} held out: both need at least one",
            share=share,
            items=items,
            public=items - number,
            held=number,
        )
    parts = {group: share * len(ids) for group, ids in groups.items()}
    numbers = {group: math.floor(part) for group, part in parts.items()}
    order = sorted(parts, key=lambda group: (numbers[group] - parts[group], str(group)))
    for group in order[: number - sum(numbers.values())]:
        numbers[group] += 1
    rng = random.Random(seed)  # noqa: S311  no secret: the file itself is
    drawn: set[str] = set()
    for group in sorted(groups, key=str):
        drawn.update(rng.sample(sorted(groups[group]), numbers[group]))
    return [row["id"] for row in rows if row["id"] in drawn]


def hold_out(folder: Path, share: float, seed: int) -> Path:
    """Take a part of the ground truths out of a benchmark's folder.

    They become null in its `metadata.jsonl`, and stand in a file beside the folder, never in it:
    what is built from the folder, published and shown does not have them. `benchmark.yaml` says how
    many there are, and names the file by its sha256. Other columns stay as they are: what repeats
    the ground truth in them is still public.

    Args:
        folder: a benchmark's folder in the plain form, with `benchmark.yaml` and `metadata.jsonl`.
        share: the share of the items, between 0 and 1.
        seed: see `split`.

    Returns:
        The file, `NAME.held-out.jsonl` beside the folder `NAME`: a line for each item with its
        `id` and `ground_truth`.

    Raises:
        HdbenchError: the folder is unusable, has held-out items already, or see `split`; then
            nothing is changed.
    """
    resolved = folder.resolve()
    beside = resolved.with_name(resolved.name + HELD_OUT_ENDING)
    description = folder / _DESCRIPTION
    values = read_yaml(description)
    if not isinstance(values, dict) or "held_out" in values:
        raise HdbenchError(
            "{place}: held_out: says already which items are held out", place=description
        )
    if beside.exists():
        raise HdbenchError(
            "{place}: exists already: move it away, it may be the only copy", place=beside
        )
    rows = []
    for line in read_jsonl(folder / METADATA, decoder=EXACT):
        if not isinstance(line.value.get("id"), str) or "ground_truth" not in line.value:
            raise HdbenchError(
                "{place}:{number}: needs an id and a ground_truth",
                place=folder / METADATA,
                number=line.number,
            )
        rows.append(line.value)
    drawn = set(split(rows, share, seed))
    held_rows = [
        {key: row[key] for key in ("id", TRUTH, PUBLISHED) if key in row}
        for row in rows
        if row["id"] in drawn
    ]
    data = _lines(held_rows)
    public = [_without_truth(row) if row["id"] in drawn else row for row in rows]
    about = {"held_out": {"items": len(held_rows), "sha256": hashlib.sha256(data).hexdigest()}}
    # The truths first: whatever happens after that, none is lost.
    write_whole(beside, data)
    write_whole(folder / METADATA, _lines(public))
    write_whole(description, _with(read_text_file(description), values, about))
    return beside


def _without_truth(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row that says neither its ground truth nor how that was made."""
    hidden = {PUBLISHED, *(COLUMNS if Provenance.of_row(row) else ())}
    return {key: value for key, value in row.items() if key not in hidden} | {TRUTH: None}


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _with(text: str, values: dict[str, Any], more: dict[str, Any]) -> bytes:
    """Return a description with more keys; its comments stay if it is not written as JSON."""
    longer = f"{text.rstrip()}\n{yaml.safe_dump(more, sort_keys=False)}"
    try:
        if yaml.safe_load(longer) == values | more:
            return longer.encode()
    except yaml.YAMLError:
        pass
    return yaml.safe_dump(values | more, sort_keys=False, allow_unicode=True).encode()
