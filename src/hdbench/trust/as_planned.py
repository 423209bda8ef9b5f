"""A benchmark as it was when a plan was made, and its changes since."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field as Checked

from hdbench import __version__
from hdbench.answers import READING
from hdbench.benchmarks.benchmark import SCHEMA, Benchmark
from hdbench.common.checked import Strict, read_text_file
from hdbench.common.jsonio import parse_file, parse_line, plain_id, raw_lines
from hdbench.errors import HdbenchError, Message, joined
from hdbench.trust.sealed import Sha256

Number = Annotated[int, Checked(ge=0)]

_RESTORE = Message("restore it, or make a new plan and check a new sample")


class AsPlanned(Strict):
    """A benchmark as it was when a plan was made.

    Ground truths that the sample gets afterwards are not part of it, as they are what the plan
    asks people for; nor are those of other items, on which no decision rests.

    Attributes:
        name: its name.
        version: its version.
        metric: the name of its metric.
        rules: the version of the metric's rules.
        reading: the version of the rules by which answers are read.
        options: all options of the metric under the documented protocol.
        schema_sha256: sha256 of the schema of its answers, whatever its layout.
        truths: id → sha256 of the ground truths that items of the sample already had.
        media_sha256: sha256 of the media of the sample; None if rows lack their media's hash, as
            before a collection is built.
    """

    name: str
    version: str
    metric: str
    rules: Number
    reading: Number
    options: dict[str, Any]
    schema_sha256: Sha256
    truths: dict[str, Sha256]
    media_sha256: Sha256 | None = None


def as_planned(
    benchmark: Benchmark, sample: Collection[str], with_truth: Collection[str] | None = None
) -> AsPlanned:
    """Return the state of a benchmark that a plan keeps.

    Args:
        benchmark: the benchmark, which has a schema of its answers.
        sample: the ids of the plan's sample.
        with_truth: the ids whose ground truths count; by default all that have one.

    Raises:
        HdbenchError: a file of the benchmark is unusable.
    """
    counting = frozenset(sample if with_truth is None else with_truth)
    metric = benchmark.spec.make_metric("documented")
    return AsPlanned(
        name=benchmark.spec.name,
        version=benchmark.spec.version,
        metric=metric.name,
        rules=metric.rules,
        reading=READING,
        options=json.loads(json.dumps(metric.options)),  # as a file has them
        schema_sha256=_schema_sha256(benchmark),
        truths={
            item.id: _sha256(item.ground_truth)
            for item in (benchmark.items() if counting else ())
            if item.id in counting
        },
        media_sha256=_media_sha256(benchmark, frozenset(sample)),
    )


def check_as_planned(
    planned: AsPlanned, benchmark: Benchmark, sample: Collection[str], plan_file: Path, by: str
) -> None:
    """Refuse a benchmark that has changed in something that a plan rests on.

    Args:
        planned: the benchmark as it was.
        benchmark: the benchmark as it is.
        sample: the ids of the plan's sample.
        plan_file: the plan's file.
        by: the version of hdbench that made the plan.

    Raises:
        HdbenchError: it has; the message names what changed.
    """
    now = as_planned(benchmark, sample, planned.truths)
    changes = list(_changes(planned, now, benchmark.spec.protocols.get("documented", {})))
    if not changes:
        return
    if planned.model_copy(update={"version": now.version}) == now:
        to_do = Message(
            "build the version of the plan into another folder (hdbench build FOLDER --out OTHER), "
            "or make a new plan and check a new sample"
        )
    elif (planned.rules, planned.reading) != (now.rules, now.reading) and by != __version__:
        to_do = Message(
            "use hdbench {version}, which made the plan, or make a new plan and check a new sample",
            version=by,
        )
    else:
        to_do = _RESTORE
    raise HdbenchError(
        "{benchmark}: not as it was when {plan} was made, and for anything else it promises "
        "nothing: {changes}: {to_do}",
        benchmark=benchmark.id,
        plan=plan_file,
        changes=joined(changes, "; "),
        to_do=to_do,
    )


def _changes(then: AsPlanned, now: AsPlanned, own: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the changes; `own` are the options that the benchmark sets now."""
    if then.name != now.name:
        yield Message("name: {then} → {now}", then=then.name, now=now.name)
    if then.version != now.version:
        yield Message("version: {then} → {now}", then=then.version, now=now.version)
    if then.metric != now.metric:
        yield Message("metric: {then} → {now}", then=then.metric, now=now.metric)
    else:
        if then.rules != now.rules:
            yield Message("rules of the metric: {then} → {now}", then=then.rules, now=now.rules)
        # Options that only another version has matter only if the benchmark sets them.
        for name in sorted({*then.options, *own}):
            before, after = then.options.get(name), now.options.get(name)
            if before != after:
                yield Message(
                    "option {name}: {then} → {now}",
                    name=name,
                    then=json.dumps(before, ensure_ascii=False),
                    now=json.dumps(after, ensure_ascii=False),
                )
    if then.reading != now.reading:
        yield Message("reading of answers: {then} → {now}", then=then.reading, now=now.reading)
    if then.schema_sha256 != now.schema_sha256:
        yield Message("the schema of answers ({file})", file=SCHEMA)
    changed = [item for item, sha256 in then.truths.items() if now.truths.get(item) != sha256]
    if changed:
        yield Message(
            "the content: ground truths that items of the sample had already ({count:,}, such as "
            "{first})",
            count=len(changed),
            first=changed[0],
        )
    if None not in (media := {then.media_sha256, now.media_sha256}) and len(media) > 1:
        yield Message("the content: what is shown of items of the sample")


def _schema_sha256(benchmark: Benchmark) -> str:
    path = benchmark.file(SCHEMA)
    return _sha256(parse_file(read_text_file(path), path))


def _media_sha256(benchmark: Benchmark, wanted: frozenset[str]) -> str | None:
    key = "text" if benchmark.spec.media == "text" else "sha256"
    media = {}
    for number, _, raw in raw_lines(benchmark.metadata):
        item = plain_id(raw)
        if item is None or item in wanted:
            line = parse_line(raw, f"{benchmark.metadata}:{number}")
            if line["id"] in wanted:
                media[line["id"]] = line.get(key)
    return None if None in media.values() else _sha256(media)


def _sha256(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
