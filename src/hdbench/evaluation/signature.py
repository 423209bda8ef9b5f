"""One line that says how a score was computed, and a name for the items that were scored."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from hdbench.answers import READING, ReadAs
from hdbench.evaluation.parts import Versions, installed_versions
from hdbench.scoring.metric import Metric


def item_set(ids: Sequence[str]) -> str:
    """Return a name for a set of items, within which results are compared: number and short hash.

    Example:
        >>> item_set(["b", "a"]) == item_set(["a", "b"])
        True
        >>> item_set(["a", "b"])
        '2-3554d2b8a1e3'
    """
    return f"{len(ids)}-{hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()[:12]}"


def signature(
    metric: Metric,
    read_as: ReadAs = ReadAs(),
    versions: Versions | None = None,
    *,
    reading_version: int = READING,
    benchmark: tuple[str, str] | None = None,
    errata: str | None = None,
) -> str:
    """Return one line that says how a score was computed: metric, protocol, options, versions.

    Args:
        metric: the metric with its protocol and options.
        read_as: how the answers were read.
        versions: the versions it was scored with; the installed ones, if not given.
        reading_version: the version of the reading rules.
        benchmark: the name and version of the benchmark whose options the metric was given by name.
        errata: `proposed` if the proposed corrections of ground truths count.

    Example:
        >>> from hdbench.scoring.zettel_f1 import ZettelF1
        >>> signature(ZettelF1("published"))  # doctest: +ELLIPSIS
        'zettel_f1|protocol:published|threshold:0.92|weights:1|rules:4|reading:4|rapidfuzz:...|json_repair:...|hdbench:...'
    """
    versions = versions or installed_versions()
    parts = {
        "protocol": metric.protocol,
        **({"benchmark": benchmark[0], "dataset_version": benchmark[1]} if benchmark else {}),
        **{name: _compact(value) for name, value in metric.signed_options.items()},
        **({} if errata is None else {"errata": errata}),
        "rules": metric.rules,
        "reading": reading_version,
        **dict.fromkeys(read_as.names, "true"),
        **{name: getattr(versions, name) for name in ("rapidfuzz", "json_repair", "hdbench")},
    }
    return "|".join([metric.name, *(f"{name}:{value}" for name, value in parts.items())])


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
