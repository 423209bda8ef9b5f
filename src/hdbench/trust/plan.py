"""The plan: what will be decided and how, written down before anybody looks at the truth."""

import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field as Checked

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.sample import Sample
from hdbench.common.checked import Strict, read_yaml, validate
from hdbench.common.jsonio import write_whole
from hdbench.errors import HdbenchError
from hdbench.reading.run_info import is_run, read_run_info
from hdbench.results.files import answers_sha256
from hdbench.statistics.acceptance import CONFIDENCE, GRID, least_items
from hdbench.trust.sample import draw_items
from hdbench.trust.values import Field, fields_of

Right = Literal["letter", "threshold"]
VerdictName = Literal["rule", "exact"]
Sha256 = Annotated[str, Checked(pattern=r"^[0-9a-f]{64}$")]

MAX_FILE = 64 * 2**20
"""Maximum size in bytes of a plan."""

_HEAD = """\
# A plan of hdbench trust. It holds only as it is: changing it, even by a letter, makes it void.
# Before anybody looks at an item of the sample, keep its hash where nobody can change it: in an
# e-mail to a colleague, say.
"""


class PlannedRun(Strict):
    """A run that the plan is for.

    Attributes:
        path: where its answers are.
        name: its model, or its file.
        sha256: of its answers, see `hdbench.results.files.answers_sha256`.
    """

    path: str
    name: str
    sha256: Sha256


class Plan(Strict):
    """What will be decided, and how.

    Attributes:
        hdbench: the version that made the plan.
        created: when, in UTC.
        benchmark: its folder, or its name on the Hub.
        list_sha256: of all its ids, sorted, one per line.
        runs: the runs, in order of preference.
        fields: the fields whose values may be taken over.
        several_values: fields that are left out because an item may have several values of them.
        right: when a value counts as right: to the letter, or by the metric's own threshold.
        verdict: which of the two counts, the rule's or the exact one.
        limit: the largest share of wrong values among those taken over, above 0.0.
        confidence: how sure that must be.
        grid: thresholds of the trust score, from strict to loose.
        whole: how the sample was drawn from all items.
        known: how many items of the sample had a ground truth already.
        sample: the items to be checked, in the order in which they were drawn.
    """

    hdbench: str
    created: str
    benchmark: str
    list_sha256: Sha256
    runs: Annotated[tuple[PlannedRun, ...], Checked(min_length=2)]
    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    several_values: tuple[str, ...] = ()
    right: Right
    verdict: VerdictName
    limit: Annotated[float, Checked(gt=0, le=0.5)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    grid: Annotated[tuple[Annotated[float, Checked(ge=0, le=1)], ...], Checked(min_length=1)]
    whole: Sample
    known: Annotated[int, Checked(ge=0)]
    sample: Annotated[tuple[str, ...], Checked(min_length=2)]

    @property
    def least_items(self) -> int:
        """How many items need a value that passes."""
        return least_items(self.limit, self.confidence)

    def hash(self) -> str:
        """The sha256 of the plan as JSON: keys sorted, no spaces, no escapes."""
        said = self.model_dump(mode="json")
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Wish:
    """What a person asked for; see `Plan`.

    Attributes:
        number: how many items are to be checked.
        limit: see `Plan`.
        confidence: see `Plan`.
        fields: paths; without any, all that an item has one value of.
        right: see `Plan`.
        verdict: see `Plan`.
        by: columns of the benchmark whose values make strata; none for a simple sample.
        seed: of the draw.
    """

    number: int
    limit: float = 0.05
    confidence: float = CONFIDENCE
    fields: Sequence[str] = ()
    right: Right = "letter"
    verdict: VerdictName = "rule"
    by: Sequence[str] = ()
    seed: int = 0


def make_plan(benchmark: Benchmark, runs: Sequence[Path], wish: Wish) -> Plan:
    """Draw the sample and fix everything else.

    Args:
        benchmark: all items; those of the sample need no ground truth yet.
        runs: what the models answered to all of them, in order of preference.
        wish: what was asked for.

    Raises:
        HdbenchError: there is no promise to be had in this way; the message says why, and what to
            do.
    """
    _check(wish)
    schema = benchmark.answer_schema()
    if schema is None:
        raise HdbenchError(f"{benchmark.id}: has no answer.schema.json, which says its fields")
    fields, several = fields_of(schema)
    chosen = _chosen_fields(benchmark, fields, several, wish.fields)
    planned = [_planned(path) for path in runs]
    _check_runs(planned)
    ids = list(benchmark.ids())
    whole, drawn = draw_items(benchmark, ids, wish.number, by=wish.by, seed=wish.seed)
    in_sample = set(drawn)
    return Plan(
        hdbench=__version__,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        benchmark=benchmark.id,
        list_sha256=list_sha256(ids),
        runs=tuple(planned),
        fields=tuple(chosen),
        several_values=() if wish.fields else tuple(several),
        right=wish.right,
        verdict=wish.verdict,
        limit=wish.limit,
        confidence=wish.confidence,
        grid=GRID,
        whole=whole,
        known=sum(item.id in in_sample for item in benchmark.items()),
        sample=tuple(drawn),
    )


def list_sha256(ids: Iterable[str]) -> str:
    """A hash of a list of ids, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _check(wish: Wish) -> None:
    if wish.confidence != CONFIDENCE:
        raise HdbenchError(
            f"--confidence {wish.confidence:g}: the rule's least design effect was calibrated for "
            f"{CONFIDENCE:g} only: another confidence would be a promise that nobody has tested"
        )
    if not 0 < wish.limit <= 0.5:  # noqa: PLR2004
        raise HdbenchError(f"--limit {wish.limit:g}: must be above 0 and at most 0.5")
    least = least_items(wish.limit, wish.confidence)
    if wish.number < least:
        raise HdbenchError(
            f"-n {wish.number}: too few: to show that at most {wish.limit:g} are wrong takes "
            f"{least} items even if none of them has an error; 150 or more are usual"
        )
    if wish.by and wish.verdict == "exact":
        raise HdbenchError(
            "--verdict exact: holds for a simple sample only: leave out --by, or decide by the rule"
        )


def _chosen_fields(
    benchmark: Benchmark, fields: Sequence[Field], several: Sequence[str], wanted: Sequence[str]
) -> list[str]:
    known = [field.path for field in fields]
    names = [name.removesuffix("[]") for name in wanted] or known
    for name in names:
        if any(path == name or path.startswith(f"{name}[]") for path in several):
            raise HdbenchError(
                f"--fields {name}: an item may have several values of it, which go wrong together: "
                f"choose among {', '.join(known) or 'other benchmarks'}"
            )
        if name not in known:
            raise HdbenchError(
                f"--fields {name}: no such field; {benchmark.id} has {', '.join(known) or 'none'}"
            )
    if not names:
        raise HdbenchError(
            f"{benchmark.id}: an item may have several values of each field "
            f"({', '.join(several[:5])}): values that go wrong together are not taken over"
        )
    return list(dict.fromkeys(names))


def _planned(path: Path) -> PlannedRun:
    if not path.exists():
        raise HdbenchError(f"{path}: no such file or folder")
    name = read_run_info(path).model if is_run(path) else path.resolve().name.partition(".")[0]
    return PlannedRun(path=str(path), name=name, sha256=answers_sha256(path))


def _check_runs(runs: Sequence[PlannedRun]) -> None:
    seen: dict[str, str] = {}
    for run in runs:
        if run.sha256 in seen:
            raise HdbenchError(f"{run.path}: the same answers as {seen[run.sha256]}")
        seen[run.sha256] = run.path
    if len(runs) == 1:
        raise HdbenchError(
            f"{runs[0].path}: one run has nothing to agree with: give two or more, of other models "
            "or of the same one"
        )


def write_plan(path: Path, plan: Plan) -> None:
    """Write a plan with its hash; nothing is replaced.

    Raises:
        HdbenchError: the file exists, or cannot be written.
    """
    if path.exists():
        raise HdbenchError(f"{path}: exists already: a plan is never replaced: choose another -o")
    said = {"plan": 1, "hash": plan.hash(), **plan.model_dump(mode="json")}
    text = _HEAD + yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=10**6)
    write_whole(path, text.encode())


def read_plan(path: Path) -> Plan:
    """A plan, as it was written.

    Raises:
        HdbenchError: it cannot be read, is no plan, or was changed since.
    """
    if path.is_file() and path.stat().st_size > MAX_FILE:
        raise HdbenchError(f"{path}: larger than {MAX_FILE >> 20} MiB: not a plan")
    said: Any = read_yaml(path)
    if not isinstance(said, dict) or said.pop("plan", None) != 1:
        raise HdbenchError(f"{path}: no plan of hdbench trust plan, or of another version")
    noted = said.pop("hash", None)
    plan = validate(Plan, said, path)
    if plan.hash() != noted:
        raise HdbenchError(
            f"{path}: was changed after it was made (its hash is {plan.hash()[:12]}…, and it says "
            f"{str(noted)[:12]}…): restore it, or make a new plan and check a new sample"
        )
    return plan
