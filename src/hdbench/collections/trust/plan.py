"""The plan: what is fixed before anybody reads one of the values, which are drawn in two stages."""

import datetime
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field as Checked
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from hdbench.about import __version__
from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.collections.trust.benchmark_state import AsPlanned, as_planned
from hdbench.collections.trust.cuts import Terms
from hdbench.collections.trust.fields import chosen_fields, texts_of
from hdbench.collections.trust.ledger import Ledger
from hdbench.collections.trust.runs import (
    Opened,
    PlannedRun,
    Runs,
    fields_called,
    names_of,
    opened_run,
)
from hdbench.collections.trust.sample import Pair, draw_first
from hdbench.collections.trust.seals import Sealed, Sha256, read_sealed, write_sealed
from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Reading, ValueKey
from hdbench.collections.truth.readings import settled
from hdbench.common.validation import Strict
from hdbench.common.value_text import Case, text_of
from hdbench.common.writing import refuse_links
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.run import answers_sha256
from hdbench.statistics.share_of_unread import CONFIDENCE, least_read

Right = Literal["letter", "threshold"]

RIGHTS: tuple[Right, ...] = ("letter", "threshold")

MAX_LIMIT = 0.5
"""The highest limit: with more wrong values than right ones, nothing is worth accepting."""


def known_values(benchmark: Benchmark, fields: Sequence[str], case: Case) -> dict[ValueKey, str]:
    """Return the values of a benchmark that people have given: ground truths, and checked values.

    Args:
        benchmark: the benchmark.
        fields: the paths of the fields.
        case: whether upper and lower case count where people settle what they do not agree on.

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
    checked = People(benchmark.folder)
    ids, names = set(benchmark.ids()), set(fields)
    for plan in sorted({each.plan for each in checked.of_kind(Reading)}):
        for key, readings in checked.readings(plan).items():
            outcome = settled(readings, case)
            if outcome.outcome == "value" and key.item in ids and key.field in names:
                known.setdefault(key, text_of(outcome.value))
    return known


def known_sha256(known: Mapping[ValueKey, str]) -> str:
    """Return the hash of values that are known."""
    lines = sorted(json.dumps([*key, text], ensure_ascii=True) for key, text in known.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


DEFAULT_LEARN, DEFAULT_VERIFY = 300, 600
"""How many values are read by default in each stage."""

LEARN_WITH_SOURCE = 100
"""How many are read by default to learn from where others were checked already."""

MAX_VALUES = 100_000
"""Maximum number of values of a stage."""

MAX_TRIES = 5
"""Maximum number of verifications that a plan can provide for."""


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan, as given by a person; see `Plan`.

    Attributes:
        learn: how many values are read to learn from.
        verify: how many values are read afterwards to verify what was learned.
        limit: see `Plan`.
        fields: paths of fields; without any, all fields that an item has one value of.
        right: see `Plan`.
        case: see `Plan`.
        each_field: see `Plan`.
        seed: the seed of all draws.
        learn_from: a benchmark, and runs on it, of which values were checked already.
        tries: see `Plan`.
        after: the file of the plan whose verification was the try before.
    """

    learn: int = DEFAULT_LEARN
    verify: int = DEFAULT_VERIFY
    limit: float = 0.05
    fields: Sequence[str] = ()
    right: Right = "letter"
    case: Case = "counts"
    each_field: bool = False
    seed: int = 0
    learn_from: Sequence[Path] = ()
    tries: int = 1
    after: Path | None = None


_HEAD = """\
# A plan of hdbench trust. It holds only as it is: changing it, even by a letter, makes it void.
# Before anybody reads a value, keep its hash where nobody can change it: in an
# e-mail to a colleague, say.
"""


class PlannedSource(Strict):
    """Values of a benchmark that were checked already, to learn from.

    Attributes:
        benchmark: its folder, or its name on the Hub.
        version: its version.
        runs: its runs.
        values: how many values of the plan's fields are known, see `known_values`.
        values_sha256: their hash.
    """

    benchmark: str
    version: str
    runs: Annotated[tuple[PlannedRun, ...], Checked(min_length=1)]
    values: Annotated[int, Checked(ge=1)]
    values_sha256: Sha256


class Plan(Sealed):
    """Plan of a decision.

    Attributes:
        hdbench: the version that made the plan.
        created: when the plan was made, in UTC.
        benchmark: the benchmark's folder, or its name on the Hub.
        as_planned: the benchmark as it must still be for a decision.
        list_sha256: sha256 of all its ids, sorted, one per line.
        runs: the runs, in order of preference.
        fields: the fields whose values may be accepted.
        several_values: fields that are left out because an item may have several values of them.
        right: the criterion by which a value is right: to the letter, or by the metric's own
            threshold.
        case: whether upper and lower case count to the letter.
        limit: the largest share of wrong values among those accepted, above 0.0.
        confidence: the confidence of the promise.
        items: how many items there are.
        learn: how many values are read to learn from.
        verify: how many values are read to verify what was learned.
        each_field: whether each field that is promised keeps the limit alone.
        seed: the seed of all draws.
        source: values of another benchmark that were checked already, to learn from, too.
        tries: how many verifications the promise is shared between.
        after: the hashes of the plans of the tries before.
        read_before: the values that were read for these plans, which are not drawn again.
        sample: the values of the first stage: item and field, in the order in which they were
            drawn.
    """

    KIND = "plan"
    WHAT = Message("a plan")
    TO_DO = Message("restore it, or make a new plan")
    HEAD = _HEAD

    hdbench: str
    created: str
    benchmark: str
    as_planned: AsPlanned
    list_sha256: Sha256
    runs: Annotated[tuple[PlannedRun, ...], Checked(min_length=1)]
    fields: Annotated[tuple[str, ...], Checked(min_length=1)]
    several_values: tuple[str, ...] = ()
    right: Right
    case: Case
    limit: Annotated[float, Checked(gt=0, le=MAX_LIMIT)]
    confidence: Annotated[float, Checked(ge=CONFIDENCE, le=CONFIDENCE)]
    items: Annotated[int, Checked(ge=1)]
    learn: Annotated[int, Checked(ge=1, le=MAX_VALUES)]
    verify: Annotated[int, Checked(ge=1, le=MAX_VALUES)]
    each_field: bool = False
    seed: Annotated[int, Checked(ge=0)]
    source: PlannedSource | None = None
    tries: Annotated[int, Checked(ge=1, le=MAX_TRIES)] = 1
    after: tuple[Sha256, ...] = ()
    read_before: tuple[Pair, ...] = ()
    sample: Annotated[tuple[Pair, ...], Checked(min_length=1)]

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if len(self.after) >= self.tries:
            raise PydanticCustomError("plan", "after: there are no tries left", {})
        return self

    @property
    def risk(self) -> Fraction:
        """Return the probability that a promise of this verification may fail with."""
        return (1 - Fraction(str(self.confidence))) / self.tries

    @property
    def terms(self) -> Terms:
        """Return what it says of cuts and their verification."""
        return Terms(self.limit, self.verify, self.each_field, self.seed, self.risk)

    @property
    def first_stage(self) -> list[ValueKey]:
        """Return the values of the first stage."""
        return [ValueKey(*pair) for pair in self.sample]

    @property
    def read_first(self) -> list[ValueKey]:
        """Return all values that were read before the second stage is drawn."""
        return [ValueKey(*pair) for pair in (*self.read_before, *self.sample)]


def make_plan(benchmark: Benchmark, paths: Sequence[Path], options: PlanOptions) -> Plan:
    """Draw the values of the first stage and fix everything else.

    Args:
        benchmark: all items; they need no ground truth.
        paths: the models' answers to all items, in order of preference; one run is enough.
        options: the options.

    Raises:
        HdbenchError: nothing can be promised with these options; the message says why, and what to
            do.
    """
    _check(options)
    if benchmark.spec.make_metric("documented").corrected == "character":
        raise HdbenchError(
            "{benchmark}: has transcriptions, in which nearly every page has some wrong letter: "
            "single values can be accepted of records only, not of transcriptions yet",
            benchmark=benchmark.id,
        )
    fields, several = chosen_fields(benchmark, options.fields)
    ids = list(benchmark.ids())
    _check_number(options, len(ids), len(fields))
    runs = planned_runs(benchmark, paths)
    after = _tries_before(benchmark, options)
    source = _source(options, fields) if options.learn_from else None
    read_before = _read_before(benchmark, after, fields)
    drawn = _drawn(benchmark, paths, fields, options, read_before)
    return Plan(
        hdbench=__version__,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        benchmark=benchmark.id,
        as_planned=as_planned(benchmark),
        list_sha256=list_sha256(ids),
        runs=tuple(runs),
        fields=tuple(fields),
        several_values=tuple(several),
        right=options.right,
        case=options.case,
        limit=options.limit,
        confidence=CONFIDENCE,
        items=len(ids),
        learn=len(drawn),
        verify=options.verify,
        each_field=options.each_field,
        seed=options.seed,
        source=source,
        tries=options.tries,
        after=after,
        read_before=tuple(read_before),
        sample=tuple(drawn),
    )


def _check(options: PlanOptions) -> None:
    if not 0 < options.limit <= MAX_LIMIT:
        raise HdbenchError(
            "--limit {limit}: must be above 0 and at most {most}",
            limit=f"{options.limit:g}",
            most=f"{MAX_LIMIT:g}",
        )
    if not 1 <= options.tries <= MAX_TRIES:
        raise HdbenchError("--tries: must be from 1 to {most}", most=MAX_TRIES)
    if max(options.learn, options.verify) > MAX_VALUES:
        raise HdbenchError("--values: at most {most:,} in a stage", most=MAX_VALUES)
    if options.learn < 1:
        raise HdbenchError("--values: 0 values to learn from: name at least one")
    least = _least(options)
    if options.verify < least:
        raise HdbenchError(
            "{number:,} values to verify are too few: at least {least:,} have to be read "
            "to show that at most {limit:.1%} of the values are wrong, even if no error is found; "
            "600 are usual",
            number=options.verify,
            least=least,
            limit=options.limit,
        )


def _least(options: PlanOptions) -> int:
    """Return how many values without error show that the limit holds, at least."""
    return least_read(options.limit, 1 - (1 - CONFIDENCE) / options.tries)


def _check_number(options: PlanOptions, items: int, fields: int) -> None:
    """Refuse a collection of which nothing would be left to accept, even without any error."""
    values = items * fields
    if values <= options.learn + options.verify:
        raise HdbenchError(
            "with {items:,} items nothing can be accepted: of {values:,} values, {learn:,} are "
            "read to learn from and {verify:,} to verify it, so that none is left: read fewer "
            "(--values {less}+{much}), or every value",
            items=items,
            values=values,
            learn=options.learn,
            verify=options.verify,
            less=max(1, values // 5),
            much=max(_least(options), 2 * values // 5),
        )


def _tries_before(benchmark: Benchmark, options: PlanOptions) -> tuple[str, ...]:
    """Return the hashes of the plans of earlier tries.

    Raises:
        HdbenchError: another plan is verified, which did not provide for one more try.
    """
    after: tuple[str, ...] = ()
    if options.after is not None:
        before = read_plan(options.after)
        after = (*before.after, before.hash())
        if len(after) >= before.tries:
            raise HdbenchError(
                "--after {place}: was the last of its tries ({tries}): to look, learn again and "
                "try once more breaks the promise",
                place=options.after,
                tries=before.tries,
            )
        if (before.tries, before.limit) != (options.tries, options.limit):
            raise HdbenchError(
                "--after {place}: the next try has the same --tries {tries} and --limit {limit}",
                place=options.after,
                tries=before.tries,
                limit=f"{before.limit:g}",
            )
    Ledger(benchmark.folder).check_only(after)
    return after


def _source(options: PlanOptions, fields: Sequence[str]) -> PlannedSource:
    """Return the values to learn from, which were checked already."""
    named, *paths = options.learn_from
    if not paths:
        raise HdbenchError(
            "--learn-from {place}: name the runs on it, too: --learn-from BENCHMARK,RUN,…",
            place=named,
        )
    benchmark = load_benchmark(str(named))
    chosen_fields(benchmark, fields)
    known = known_values(benchmark, fields, options.case)
    if not known:
        raise HdbenchError(
            "--learn-from {place}: no value of it has been checked", place=benchmark.id
        )
    return PlannedSource(
        benchmark=benchmark.id,
        version=benchmark.spec.version,
        runs=tuple(planned_runs(benchmark, paths)),
        values=len(known),
        values_sha256=known_sha256(known),
    )


def _drawn(
    benchmark: Benchmark,
    paths: Sequence[Path],
    fields: Sequence[str],
    options: PlanOptions,
    without: Collection[Pair],
) -> list[Pair]:
    """Draw the values of the first stage."""
    ids = list(benchmark.ids())
    with ExitStack() as stack:
        answers = [stack.enter_context(opened_run(path, benchmark)).answers for path in paths]
        metric = benchmark.spec.make_metric("documented")
        runs = Runs(answers, metric, ())
        return draw_first(runs, ids, fields, options.learn, options.seed, without=without)


def _read_before(
    benchmark: Benchmark, plans: Collection[str], fields: Collection[str]
) -> list[Pair]:
    """Return the values that were read for earlier tries."""
    checked, ids = People(benchmark.folder), set(benchmark.ids())
    read = {tuple(key) for plan in plans for key in checked.readings(plan)}
    return sorted((item, field) for item, field in read if item in ids and field in fields)


def list_sha256(ids: Iterable[str]) -> str:
    """Return the sha256 of a list of ids in any order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def planned_runs(benchmark: Benchmark, paths: Sequence[Path]) -> list[PlannedRun]:
    """Return the runs of a plan.

    Args:
        benchmark: the benchmark that they answer.
        paths: the runs, in order of preference.

    Raises:
        HdbenchError: a run is unusable, or two have the same answers.
    """
    opened: list[Opened] = []
    for path in paths:
        with opened_run(path, benchmark) as run:
            opened.append(run)
    runs: list[PlannedRun] = []
    for path, name in zip(paths, names_of(paths, opened), strict=True):
        sha256 = answers_sha256(path)
        for other in runs:
            if other.sha256 == sha256:
                raise HdbenchError(
                    "{place}: has the same answers as {first}: leave one out",
                    place=path,
                    first=other.path,
                )
        runs.append(PlannedRun(path=str(path), name=name, sha256=sha256))
    return runs


def write_plan(path: Path, plan: Plan, folder: Path) -> None:
    """Write a plan with its hash, and a line in the ledger; nothing is replaced.

    Args:
        path: the file.
        plan: the plan.
        folder: the benchmark's folder.

    Raises:
        HdbenchError: the file exists, or cannot be written.
    """
    refuse_links(path)
    if path.exists():
        raise HdbenchError(
            "{place}: exists already: a plan is never replaced: choose another -o", place=path
        )
    Ledger(folder).add("plan", plan.hash(), plan.hash())
    write_sealed(path, plan)


def read_plan(path: Path) -> Plan:
    """Return a plan, as it was written.

    Raises:
        HdbenchError: it cannot be read, is not a plan, or was changed since.
    """
    return read_sealed(path, Plan)
