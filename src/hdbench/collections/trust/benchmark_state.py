"""A benchmark as it was when a plan was made, and its changes since."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field as Checked

from hdbench.about import __version__
from hdbench.answers.answer import READING
from hdbench.benchmarks.benchmark import SCHEMA, Benchmark
from hdbench.collections.trust.seals import Sha256
from hdbench.common.jsonio import parse_file, read_jsonl
from hdbench.common.validation import Strict, read_text_file
from hdbench.errors import HdbenchError, Message, joined

Number = Annotated[int, Checked(ge=0)]

_RESTORE = Message("restore it, or make a new plan")


class AsPlanned(Strict):
    """A benchmark as it was when a plan was made.

    Ground truths are not part of it: people read values for the plan, and no decision rests on
    what else is known.

    Attributes:
        name: its name.
        version: its version.
        metric: the name of its metric.
        rules: the version of the metric's rules.
        reading: the version of the rules by which answers are read.
        options: all options of the metric under the documented protocol.
        schema_sha256: sha256 of the schema of its answers, whatever its layout.
        media_sha256: sha256 of the media of all items; None if rows lack their media's hash, as
            before a collection is built.
    """

    name: str
    version: str
    metric: str
    rules: Number
    reading: Number
    options: dict[str, Any]
    schema_sha256: Sha256
    media_sha256: Sha256 | None = None


def as_planned(benchmark: Benchmark) -> AsPlanned:
    """Return the state of a benchmark that a plan keeps.

    Args:
        benchmark: the benchmark, which has a schema of its answers.

    Raises:
        HdbenchError: a file of the benchmark is unusable.
    """
    metric = benchmark.spec.make_metric("documented")
    return AsPlanned(
        name=benchmark.spec.name,
        version=benchmark.spec.version,
        metric=metric.name,
        rules=metric.rules,
        reading=READING,
        options=json.loads(json.dumps(metric.options)),  # as a file has them
        schema_sha256=_schema_sha256(benchmark),
        media_sha256=_media_sha256(benchmark),
    )


def check_as_planned(planned: AsPlanned, benchmark: Benchmark, plan_file: Path, by: str) -> None:
    """Refuse a benchmark that has changed in something that a plan rests on.

    Args:
        planned: the benchmark as it was.
        benchmark: the benchmark as it is.
        plan_file: the plan's file.
        by: the version of hdbench that made the plan.

    Raises:
        HdbenchError: it has; the message names what changed.
    """
    now = as_planned(benchmark)
    changes = list(_changes(planned, now, benchmark.spec.protocols.get("documented", {})))
    if not changes:
        return
    if planned.model_copy(update={"version": now.version}) == now:
        to_do = Message(
            "build the version of the plan into another folder (hdbench build FOLDER --out OTHER), "
            "or make a new plan"
        )
    elif (planned.rules, planned.reading) != (now.rules, now.reading) and by != __version__:
        to_do = Message(
            "use hdbench {version}, which made the plan, or make a new plan",
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
    if None not in (media := {then.media_sha256, now.media_sha256}) and len(media) > 1:
        yield Message("the content: what is shown of its items")


def _schema_sha256(benchmark: Benchmark) -> str:
    path = benchmark.file(SCHEMA)
    return _sha256(parse_file(read_text_file(path), path))


def _media_sha256(benchmark: Benchmark) -> str | None:
    key = "text" if benchmark.spec.media == "text" else "sha256"
    lines = (line.value for line in read_jsonl(benchmark.metadata))
    media = {line["id"]: line.get(key) for line in lines}
    return None if None in media.values() else _sha256(media)


def _sha256(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
