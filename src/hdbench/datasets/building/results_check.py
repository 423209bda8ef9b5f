"""Comparison of a source of recorded runs with the dataset that was built of such runs before."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE
from hdbench.common.jsonio import read_jsonl
from hdbench.common.os_errors import read_errors
from hdbench.datasets.building.namespace import is_ours
from hdbench.datasets.building.published_archive import PublishedArchive
from hdbench.datasets.building.raw_runs import NOT_PARSED
from hdbench.datasets.building.results_dataset import NAME, build_results
from hdbench.datasets.building.results_sources import PUBLISHED
from hdbench.errors import HdbenchError, Message, shortened

_AMOUNTS = ("cost_usd", "tokens", "seconds")
_ANSWER_FIELDS = ("prediction", "text", "tokens", "seconds")
_DIFFERENT = Message("the values differ")


@dataclass(frozen=True)
class ResultsCheck:
    """What is equal in a source and in what was built, what differs, and why.

    Attributes:
        lines: the lines for the user.
        differs: whether anything differs.
    """

    lines: list[Message]
    differs: bool


class _Difference(NamedTuple):
    """A kind of difference.

    Attributes:
        field: the field of a run or of its answers that differs.
        why: why it does.
    """

    field: str
    why: Message


def check_results(
    out: Path, source: Path | None, archive: PublishedArchive = PUBLISHED
) -> ResultsCheck:
    """Compare the runs in a source with those that were built before; nothing is changed.

    Args:
        out: the namespace folder, with the dataset that was built.
        source: same as in `build_results`.
        archive: same as in `build_results`.

    Raises:
        HdbenchError: nothing was built there, or see `build_results`.
    """
    before = out / NAME
    if not is_ours(before):
        raise HdbenchError(
            "{place}: has no recorded runs to compare with: build them first, without --check",
            place=before,
        )
    lines: list[Message] = []
    differs = False
    with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
        built = build_results(Path(folder), source, archive)
        now, then = _runs(built.folder), _runs(before)
        for benchmark in sorted(now.keys() | then.keys()):
            found = _compared(benchmark, now.get(benchmark, {}), then.get(benchmark, {}), before)
            lines += found
            differs = differs or len(found) > 1
        lines += built.left_out_lines
    return ResultsCheck(lines, differs)


def _runs(results: Path) -> dict[str, dict[str, Path]]:
    """Return benchmark → name of a run's folder → that folder."""
    runs: dict[str, dict[str, Path]] = {}
    for info in sorted(results.glob(f"*/*/{RUN_FILE}")):
        runs.setdefault(info.parents[1].name, {})[info.parent.name] = info.parent
    return runs


def _compared(
    benchmark: str, now: Mapping[str, Path], then: Mapping[str, Path], built: Path
) -> list[Message]:
    """Return a line on what is equal in a benchmark's runs, and one for each kind of difference."""
    runs_by_difference: dict[_Difference, list[str]] = {}
    answers: dict[_Difference, int] = {}
    common = sorted(now.keys() & then.keys())
    equal = 0
    for run in common:
        differences = list(_differences(now[run], then[run], built))
        equal += all(difference.field in _AMOUNTS for difference in differences)
        for difference in differences:
            runs = runs_by_difference.setdefault(difference, [])
            if run not in runs[-1:]:
                runs.append(run)
            answers[difference] = answers.get(difference, 0) + 1
    lines = [
        Message(
            "{benchmark}: {equal:,} of {count:,} run has equal answers and figures",
            plural="{benchmark}: {equal:,} of {count:,} runs have equal answers and figures",
            benchmark=benchmark,
            equal=equal,
            count=len(now.keys() | then.keys()),
        )
    ]
    if new := sorted(now.keys() - then):
        lines.append(Message("  only in the source: {runs}", runs=_named(new)))
    if gone := sorted(then.keys() - now):
        lines.append(Message("  only in {place}: {runs}", place=built, runs=_named(gone)))
    for difference, runs in runs_by_difference.items():
        values = {**difference._asdict(), "runs": _named(runs)}
        if difference.field in _ANSWER_FIELDS:
            count = answers[difference]
            of = Message("{count:,} answer", plural="{count:,} answers", count=count)
            lines.append(Message("  {field} of {answers} in {runs}: {why}", answers=of, **values))
        else:
            lines.append(Message("  {field} of {runs}: {why}", **values))
    return lines


def _named(runs: list[str]) -> Message:
    return Message(
        "{count:,} run ({names})",
        plural="{count:,} runs ({names})",
        count=len(runs),
        names=shortened(runs),
    )


def _differences(now: Path, then: Path, built: Path) -> Iterator[_Difference]:
    """Yield each difference between a run in the source and in what was built."""
    ours, theirs = _info(now), _info(then)
    for field in sorted(ours.keys() | theirs.keys()):
        if ours.get(field) != theirs.get(field):
            yield _Difference(field, _why(field, ours.get(field), theirs.get(field), built))
    answers, earlier = _answers(now), _answers(then)
    for item in sorted(answers.keys() & earlier.keys()):
        for field in _ANSWER_FIELDS:
            value, before = answers[item].get(field), earlier[item].get(field)
            # As JSON: there, 1 and 1.0 and true differ, as they do for scoring.
            if json.dumps(value, sort_keys=True) != json.dumps(before, sort_keys=True):
                yield _Difference(field, _why(field, value, before, built))


def _why(field: str, value: Any, before: Any, built: Path) -> Message:
    """Return why a field differs.

    Args:
        field: which one.
        value: its value in the source.
        before: its value in what was built.
        built: what was built.
    """
    if field == "reproducible":
        return Message("it is known for certain predictions only, and these are others")
    if field == "prediction":
        if NOT_PARSED in (value, before) and None in (value, before):
            return Message("not JSON: scored as an error in one, as no answer in the other")
        if before is None:
            return Message(
                "the source has a record, parsed then or now from the text; {built} has none",
                built=built,
            )
    if field == "text" and not value and not before:
        return Message("empty in one, not kept in the other")
    if before is None:
        return Message("only the source has it")
    return _DIFFERENT if value is not None else Message("only {built} has it", built=built)


def _info(run: Path) -> dict[str, Any]:
    path = run / RUN_FILE
    with read_errors(path):
        info = json.loads(path.read_bytes())
    return info if isinstance(info, dict) else {}


def _answers(run: Path) -> dict[str, dict[str, Any]]:
    return {line.value["id"]: line.value for line in read_jsonl(run / OUR_ANSWERS)}
