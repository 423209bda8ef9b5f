"""What people say of values: the outcome of their readings, and values that are known already."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from hdbench.annotating.checking.checked_values import CheckedValues, ValueKey, settled
from hdbench.answers.letters import text_of
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.trust.runs import fields_called
from hdbench.trust.values import texts_of


def known_values(benchmark: Benchmark, fields: Sequence[str]) -> dict[ValueKey, str]:
    """Return the values of a benchmark that people have given: ground truths, and checked values.

    Args:
        benchmark: the benchmark.
        fields: the paths of the fields.

    Returns:
        Item and field → the text, empty for an empty value. Values that could not be read, or that
        people do not agree on, are left out.
    """
    located = fields_called(fields, benchmark)
    metric = benchmark.spec.make_metric("documented")
    known = {}
    for item in benchmark.items():
        truth = metric.right_answer(item.reference(metric.protocol))
        for name, text in zip(fields, texts_of(truth, located), strict=True):
            known[ValueKey(item.id, name)] = text
    checked = CheckedValues(benchmark.folder)
    ids, names = set(benchmark.ids()), set(fields)
    for plan in sorted(checked.plans()):
        for key, readings in checked.readings(plan).items():
            outcome = settled(readings)
            if outcome.outcome == "value" and key.item in ids and key.field in names:
                known.setdefault(key, text_of(outcome.value))
    return known


def known_sha256(known: Mapping[ValueKey, str]) -> str:
    """Return the hash of values that are known."""
    lines = sorted(json.dumps([*key, text], ensure_ascii=True) for key, text in known.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
