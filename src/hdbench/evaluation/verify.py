"""`hdbench verify`: a result computed again from its answers, and compared."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.by_column import by_column
from hdbench.evaluation.score import Settings, score_runs
from hdbench.results.drafts import with_draft_warning
from hdbench.results.files import given_options, read_records
from hdbench.results.record import from_record, to_record
from hdbench.results.result import Result
from hdbench.scoring.metric import EFFORT
from hdbench.statistics.bootstrap import method_in_words

SHOWN = 20
"""Maximum number of differing figures that are listed, and of items."""

MAX_LINE = 300
"""Maximum number of characters shown of a difference: names and values are untrusted."""

BY_ITEM = {"ids", "statistics", "strict_statistics", "per_item"}
SINCE_READING_2 = ("unparsable_kinds", "strictly")
DIGITS = 9
"""Decimals to which intervals and bounds are compared: libraries compute them."""
INPUTS = {"metric", "rules", "reading", "protocol", "options", "versions"}
APART = {"also", "by_identifier"}
"""The keys that hold records of their own, which are compared like the first, and what follows from
files that are not public."""

MOVABLE = {"benchmark", "dataset_revision", "item_name", "notes", "people", "public_since"}
"""The keys of what may be elsewhere now, or may be learned only later."""


@dataclass
class Verification:
    """Outcome of computing one result again.

    Attributes:
        model: which run; None in a file with one run.
        also: which of the rules that were given with `--also`; None for those of the command.
        rules: the rules of the metric under which it was computed again.
        reading: the version of the reading rules under which it was computed again.
        figures: how many figures were compared.
        values: how many per-item values were compared.
        differences: what differs from the result, one line each; empty if all is equal.
        causes: what explains the differences, and what would make the result equal, one line each.
        notes: what differs without harm, one line each.
    """

    model: str | None
    also: str | None
    rules: int
    reading: int
    figures: int = 0
    values: int = 0
    differences: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def headline(self) -> str:
        """Return what was compared, and whether it is equal, in one line."""
        prefix = "" if self.model is None else f"{self.model}: "
        prefix += "" if self.also is None else f"--also {self.also}: "
        values = Message(", {values} per-item values", values=self.values) if self.values else ""
        return Message(
            "{named}{verdict} under rules {rules}, reading {reading}: {figures} figures{values}",
            named=prefix,
            verdict=Message("differs" if self.differences else "equal"),
            rules=self.rules,
            reading=self.reading,
            figures=self.figures,
            values=values,
        )


def verify(
    result: Path | str,
    *,
    answers: Path | str | None = None,
    benchmark: str | None = None,
    revision: str | None = None,
) -> list[Verification]:
    """Compute the results in a file again from their answers, and compare.

    Args:
        result: a file that `hdbench score --json` wrote.
        answers: the file or folder of answers; without it, the one that the result names, which may
            be relative to the working directory.
        benchmark: the benchmark's folder; without it, the one that the result names, from the Hub
            at the revision that it names.
        revision: the revision of the benchmark on the Hub: a tag, branch or commit.

    Returns:
        One verification for each run in the file, and for each of its records under other rules.

    Raises:
        HdbenchError: the file is not a result, or follows other rules; the answers or the benchmark
            are missing or unusable; the answers have no run of the result's model.
    """
    scored: dict[tuple[str, str, str], list[Result]] = {}  # a file of answers often has all runs
    verifications = []
    for where, also, record in _records(Path(result)):
        old = from_record(record, where)
        at = revision if revision or benchmark else old.dataset.dataset_revision
        name = _benchmark(old, benchmark, at, where)
        predictions = _answers(old, answers, where)
        own = load_benchmark(name, revision=at).spec.make_metric(old.metric.protocol)
        settings = Settings(
            old.metric.protocol,
            options=given_options(old.metric, own),
            errata=old.dataset.errata or "accepted",
            read_as=old.reading.read_as,
            revision=at,
            details="per_item" in record,
        )
        key = (name, predictions, repr(settings))
        if key not in scored:
            scored[key] = _score(old, name, predictions, settings, where)
        # A run folder's model is in its run.json, not in its answers.
        new = next((run for run in scored[key] if run.model == old.model), None)
        if new is None and [run.model for run in scored[key]] == [None]:
            new = with_draft_warning(replace(scored[key][0], model=old.model))  # by `--name`
        if new is None:
            raise HdbenchError(
                "{place}: model: {answers} has no run {model}: name the answers with "
                "--answers PATH",
                place=where,
                answers=predictions,
                model=repr(old.model),
            )
        again = to_record(new, details="per_item" in record)
        if "by" in record:
            again["by"] = _by(record["by"], new, name, at, where)
        verifications.append(_compare(record, again, old, new, also))
    return verifications


def _records(result: Path) -> Iterator[tuple[str, str | None, Any]]:
    """Yield each record in a file with its place, followed by those under the rules of `--also`."""
    for where, record in read_records(result).items():
        yield where, None, record
        others = record.get("also", {})
        if not isinstance(others, dict):
            raise HdbenchError("{place}: also: is not an object of results by name", place=where)
        for name, other in others.items():
            yield f"{where}: also: {name[:100]}", name, other


def _score(
    old: Result, benchmark: str, predictions: str, settings: Settings, where: str
) -> list[Result]:
    """Return the runs of the answers, scored again."""
    try:
        return list(score_runs(benchmark, predictions, settings).values())
    except HdbenchError as error:
        here = load_benchmark(benchmark, revision=settings.revision)
        cause = _other_dataset(old, here.id, here.spec.version, here.content_hash())
        if cause is None:
            raise
        raise HdbenchError(
            "{place}: {cause}. Here the answers cannot be scored: {why}",
            place=where,
            cause=cause,
            why=error,
        ) from error


def _other_dataset(old: Result, name: str, version: str, sha256: str) -> Message | None:
    """Return that the dataset is a different one here, and what to do; None if it is the same."""
    then = old.dataset
    if then.dataset_sha256 == sha256:
        return None
    return Message(
        "it was scored against {benchmark} {old} (metadata sha256 {old_sha256}…), and {name} here "
        "is {version} ({sha256}…): name a folder with that version before the result, or take it "
        "from the Hub with --revision hdbench-{old}",
        benchmark=then.benchmark,
        old=then.dataset_version,
        old_sha256=then.dataset_sha256[:12],
        name=name,
        version=version,
        sha256=sha256[:12],
    )


def _benchmark(old: Result, benchmark: str | None, revision: str | None, where: str) -> str:
    name = benchmark or old.dataset.benchmark
    if not (benchmark or revision or os.path.exists(os.path.join(name, "benchmark.yaml"))):
        raise HdbenchError(
            "{place}: its benchmark {name!r} is not in the working directory: name its folder "
            "before the result",
            place=where,
            name=name,
        )
    return name


def _answers(old: Result, answers: Path | str | None, where: str) -> str:
    path = str(answers or old.answers.path)
    if not answers and not os.path.exists(path):
        raise HdbenchError(
            "{place}: its answers {path!r} are not here: name them with --answers PATH",
            place=where,
            path=path,
        )
    return path


def _by(by: Any, new: Result, benchmark: str, revision: str | None, where: str) -> dict[str, Any]:
    """Return the figures by the values of a column, computed again."""
    column = by.get("column") if isinstance(by, dict) else None
    if not isinstance(column, str):
        raise HdbenchError("{place}: by: is not an object that names a column", place=where)
    return by_column(new, load_benchmark(benchmark, revision=revision), column).to_dict()


def _compare(
    record: Mapping[str, Any],
    again: dict[str, Any],
    old: Result,
    new: Result,
    also: str | None,
) -> Verification:
    """Return a record compared with the same one computed now."""
    again = json.loads(json.dumps(again))
    again["signature"] = old.signature  # of the versions then; others are a note
    if "reading" not in record:  # as in the first results
        again["signature"] = again["signature"].replace("|reading:1|", "|")
    if not _counts_effort(record):
        again.pop("effort", None)
    added = _added_later(record, new)
    again = {name: value for name, value in again.items() if name not in added}
    if "strictly" in again:
        again["strictly"] = {
            name: value for name, value in again["strictly"].items() if name not in added
        }
    for group in again.get("by", {}).get("groups", []):
        for name in added:
            group.pop(name, None)
    if old.reading_version == 1:
        again = {name: value for name, value in again.items() if name not in SINCE_READING_2}
    outcome = Verification(old.model, also, new.metric.rules, new.reading_version)
    if "by_identifier" in record:
        outcome.notes.append(
            Message("by_identifier: not compared: it needs the authority files: score again")
        )
    method, now = ((data.get("intervals") or {}).get("method") for data in (record, again))
    if method != now:
        record, again = (_without_intervals(data) for data in (record, again))
        then, today = (name and method_in_words(name) for name in (method, now))
        outcome.notes.append(
            Message("intervals: not compared: then {method}, now {now}", method=then, now=today)
        )
    outcome.figures, outcome.differences = compared(_compared(record), _compared(again))
    outcome.values = len(new.ids) * (len(new.statistics) - len(_uncounted(record, new)))
    outcome.differences += _first(
        _items(record, again, old, new), "and {count} more items that differ"
    )
    if outcome.differences:
        outcome.causes += _causes(old, new)
    elif old.reading_version != new.reading_version:
        outcome.notes.append(Message("scored under reading {reading}", reading=old.reading_version))
    outcome.notes += [
        Message("{name} {old} then, {version} now", name=name, old=then, version=version)
        for (name, then), (_, version) in zip(old.versions, new.versions, strict=True)
        if then != version
    ]
    return outcome


def _without_intervals(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without the intervals of its figures, and of those of its groups."""
    without = {**record, "intervals": {}}
    by = record.get("by")
    if isinstance(by, dict) and isinstance(by.get("groups"), list):
        groups = [
            {**group, "interval": None} if isinstance(group, dict) else group
            for group in by["groups"]
        ]
        without["by"] = {**by, "groups": groups}
    return without


def compared(record: Any, again: Any) -> tuple[int, list[str]]:
    """Return how many figures a record has now, and a line for each value that differs."""
    before, after = dict(_leaves(record)), dict(_leaves(again))
    figures = sum(
        isinstance(value, int | float) and not isinstance(value, bool) for value in after.values()
    )
    lines = [
        Message(
            "{path}: {before} → {after}",
            path=".".join(path),
            before=_shown(before, path),
            after=_shown(after, path),
        )
        for path in {**before, **after}
        if path not in before or path not in after or before[path] != after[path]
    ]
    return figures, _first(lines, "and {count} more differences")


def _causes(old: Result, new: Result) -> Iterator[str]:
    """Yield what explains that a result differs, and what would make it equal."""
    now = new.dataset
    other_dataset = _other_dataset(old, now.benchmark, now.dataset_version, now.dataset_sha256)
    if other_dataset is not None:
        yield other_dataset
    if old.answers.sha256 != new.answers.sha256:
        yield Message(
            "{path} is not what was scored (sha256 {old}…, here {sha256}…): name the answers with "
            "--answers PATH",
            path=new.answers.path,
            old=old.answers.sha256[:12],
            sha256=new.answers.sha256[:12],
        )
    if old.reading_version != new.reading_version:
        yield Message(
            "it was scored under reading {old}, and this hdbench {version} has reading {reading}: "
            "the changelog says what that changes; hdbench {old_version} computes it as before",
            old=old.reading_version,
            version=__version__,
            reading=new.reading_version,
            old_version=old.versions.hdbench,
        )


def _compared(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what is compared by item and what may differ."""
    left_out = BY_ITEM | INPUTS | MOVABLE | APART
    compared = {name: value for name, value in record.items() if name not in left_out}
    if "warnings" in compared:  # their wording may change
        facts = ("kind", "count", "of", "ids")
        # What the answers are called by now decides whether drafts are their own.
        relevant = (warning for warning in record["warnings"] if warning.get("kind") != "drafted")
        warnings = [{name: warning.get(name) for name in facts} for warning in relevant]
        compared["warnings"] = warnings
    return compared | {
        "answers": {"sha256": (record.get("answers") or {}).get("sha256")},
        **{name: rounded(record[name]) for name in ("intervals", "by") if name in record},
    }


def rounded(value: Any) -> Any:
    """Return a JSON value with the numbers in it rounded, if they are not whole numbers."""
    if isinstance(value, dict):
        return {name: rounded(child) for name, child in value.items()}
    if isinstance(value, list):
        return [rounded(child) for child in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _leaves(child, (*path, key))
    elif value != {}:  # from a record with no outcome at all
        yield path, value


def _items(
    record: Mapping[str, Any], again: Mapping[str, Any], old: Result, new: Result
) -> list[Message]:
    """Return a line for each item that differs."""
    left_out = _uncounted(record, new)
    before, after = _by_item(record, old, left_out), _by_item(again, new, left_out)
    lines: list[Message] = []
    for item_id in {**before, **after}:
        if item_id not in after or item_id not in before:
            lines.append(
                Message("item {item} is not in the benchmark", item=item_id)
                if item_id not in after
                else Message("item {item} is not in the result", item=item_id)
            )
            continue
        (values, details), (now, details_now) = before[item_id], after[item_id]
        wrong = [
            f"{name} {value} → {now[name]}" for name, value in values.items() if value != now[name]
        ]
        if wrong or details != details_now:
            change = ", ".join(wrong) or Message("its details in per_item")
            lines.append(Message("item {item}: {what}", item=item_id, what=change))
    return lines


def _by_item(
    record: Mapping[str, Any], result: Result, left_out: Collection[str]
) -> dict[str, tuple[dict[str, float], Any]]:
    """Id → an item's statistics, and its details, both without some statistics."""
    details = record.get("per_item")
    per_item = details if isinstance(details, list) and len(details) == len(result.ids) else None
    return {
        item_id: (
            {
                name: column[position]
                for name, column in result.statistics.items()
                if name not in left_out
            },
            {name: value for name, value in per_item[position].items() if name not in left_out}
            if per_item
            else None,
        )
        for position, item_id in enumerate(result.ids)
    }


def _counts_effort(record: Mapping[str, Any]) -> bool:
    """Return whether a record has `EFFORT`: those of earlier versions do not."""
    return "effort" in record or any(name in record["statistics"] for name in EFFORT)


def _uncounted(record: Mapping[str, Any], new: Result) -> list[str]:
    """Return the statistics that an earlier version did not count."""
    uncounted = () if _counts_effort(record) else EFFORT
    return [name for name in (*uncounted, *_added_later(record, new)) if name in new.statistics]


def _added_later(record: Mapping[str, Any], new: Result) -> tuple[str, ...]:
    """Return the figures and statistics that the metric got after the record was written."""
    added = new.metric.added_later
    if any(name in record or name in record["statistics"] for name in added):
        return ()
    return added


def _first(lines: Sequence[str], others: str) -> list[str]:
    """Return the first lines, cut, and as a template how many others there are."""
    more = [Message(others, count=len(lines) - SHOWN)] if len(lines) > SHOWN else []
    return [
        line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…" for line in lines[:SHOWN]
    ] + more


def _shown(values: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    return json.dumps(values[path], ensure_ascii=False) if path in values else Message("(absent)")
