"""`hdbench leaderboard`: runs ranked where they can be, and only with runs of the same kind."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.model_facts import ModelFacts
from hdbench.common.display.table import Column, Table, block
from hdbench.common.display.words import Cost, Dot, Point, say
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import TEXT_PROMPT
from hdbench.report.audit.models import maker_of
from hdbench.scoring.metric import figure_heading, figure_of, judging_figure
from hdbench.statistics.bootstrap import Interval
from hdbench.statistics.failures import ComparedPair
from hdbench.statistics.ranking import Ranks, Standing, rank_models

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot

_WIDTH = 7.0  # inches: two columns of a paper

_SHOWN = 10
"""Maximum number of models that a short description names."""

_FACTS = ("released", "open_weights", "runs_locally", "parameters", "licence", "source")
_COLUMNS = (
    Column("rank"),
    Column("model"),
    Column("value", "rate"),
    Column("judged", "rate", ends=("low", "high")),
    Column("failures", "share"),
    Column("answered", "share"),
    Column("runs", "number"),
    Column("seconds", "seconds"),
    Column("tokens", "number"),
    Column("cost_usd", "price"),
    Column("item_usd", "figure"),
)
_NESTED = {"rank", "interval", "spread", "better", "runs", "fields"}
"""What a row has that is no plain value."""

_NAMES = [name for each in _COLUMNS for name in (each.name, *(each.ends or ()))]


@dataclass(frozen=True)
class RunKind:
    """The conditions that runs have in common if they are ranked together.

    Attributes:
        benchmark: the benchmark's name.
        dataset_version: its version.
        dataset_sha256: the hash of its content.
        metric: the metric's name.
        rules: the version of its rules.
        reading: the version of how answers were read.
        protocol: `documented` or `published`.
        options: the metric's options, as JSON text.
        read_as: the reading options that were on.
        items: how many items were asked.
        item_set: which items.
        subset: how they were chosen, if a run says so.
        prompt: the prompt's name; None if it is not known.
        prompt_sha256: its hash; None if it is not known.
        errata: `proposed` if the proposed corrections of ground truths count.
    """

    benchmark: str
    dataset_version: str
    dataset_sha256: str
    metric: str
    rules: int
    reading: int
    protocol: str
    options: str
    read_as: tuple[str, ...]
    items: int
    item_set: str
    subset: str | None = field(compare=False)
    prompt: str | None = field(compare=False)
    prompt_sha256: str | None
    errata: str | None = None

    @property
    def question(self) -> tuple[str, str, str | None]:
        """The question, regardless of the rules of scoring: benchmark, items, prompt."""
        return self.benchmark, self.item_set, self.prompt_sha256 or self.prompt


@dataclass(frozen=True)
class Run:
    """One run of a model.

    Attributes:
        run: its name; None where it has none.
        value: its headline.
        answered: how many items it answered.
        published: its headline as it was published, if that is known.
        signature: how it was scored.
    """

    run: str | None
    value: float
    answered: int
    published: float | None
    signature: str


@dataclass(frozen=True)
class BoardRow:
    """A model in a leaderboard, with all its runs of that kind.

    Attributes:
        rank: the ranks that it may have; None if there are too few items.
        model: its name.
        provider: the provider that ran it; None if that is not known.
        released: the day or month of its release; None if that is not known.
        after_public: whether it was released when the ground truth was public.
        drafted: how many of the ground truths were made from its own drafts, at most in one of its
            runs.
        value: the headline, the mean over its runs.
        judged: the figure by which models are sorted and ranked, the mean over its runs; None if
            no run has it.
        failures: the share of items that it failed on, the mean over its runs, if `judged` leaves
            them out; otherwise None.
        interval: the 95% interval of `judged` over items; None if it has none.
        spread: the lowest and the highest headline of its runs; None with one run.
        runs_apart: whether its runs lie further apart than their intervals allow; see `Standing`.
        better: the models that are significantly better.
        answered: the share of items that were answered, over its runs.
        seconds: mean time of an answer; None where that is not known.
        tokens: mean number of output tokens of an answer; None where that is not known.
        cost_usd: mean cost of a run; None where that is not known.
        item_usd: mean cost of an item, over the runs whose cost is known; None if there are none.
        without_media: the headline of its runs without media, their mean; None if there are none.
        runs: its runs, by name.
        fields: field → `Board.field_figure`, the mean over its runs.
        family: who made it; see `hdbench.report.audit.models.maker_of`.
        open_weights: whether its weights are open; None if that is not known.
        runs_locally: whether a workstation can hold it; None if that is not known.
        parameters: their total number, such as `70B`; None if that is not known.
        licence: the license of the weights; None if that is not known.
        source: an address that says so, or what it is based on.
    """

    rank: Ranks | None
    model: str
    provider: str | None
    released: str | None
    after_public: bool
    drafted: int
    value: float
    judged: float | None
    interval: Interval | None
    spread: tuple[float, float] | None
    runs_apart: bool
    better: tuple[str, ...]
    answered: float
    seconds: float | None
    tokens: float | None
    cost_usd: float | None
    item_usd: float | None
    without_media: float | None
    runs: list[Run]
    failures: float | None = None
    fields: Mapping[str, float] = field(default_factory=dict)
    family: str = ""
    open_weights: bool | None = None
    runs_locally: bool | None = None
    parameters: str | None = None
    licence: str | None = None
    source: str | None = None

    def cost(self, kind: Cost) -> float | None:
        """Return the US dollars for 1,000 items, or the seconds for one; None if not known."""
        if kind == "seconds":
            return self.seconds
        return None if self.item_usd is None else 1_000 * self.item_usd


@dataclass(frozen=True, repr=False)
class Board:
    """A leaderboard.

    Attributes:
        kind: the kind of its runs.
        headline: the benchmark's primary metric.
        judged_by: the figure that ranks: the headline, unless it declares another
            (`hdbench.scoring.metric.Figure.judged_by`).
        higher_is_better: the direction of both.
        rows: the models, the best figure first.
        public_since: the day from which the ground truth was public; None if that is not known.
        people: the figures that people reach against each other; None if not stated.
        field_figure: the figure of a field, higher is better; None if fields have none.
        pair: how the first two models compare by their failures and the rest, if models are ranked
            by these; otherwise None.
    """

    kind: RunKind
    headline: str
    judged_by: str
    higher_is_better: bool
    rows: list[BoardRow]
    public_since: str | None = None
    people: Ceiling | None = None
    field_figure: str | None = None
    pair: ComparedPair | None = None

    def __repr__(self) -> str:
        """Return the best models with their ranks and values."""
        lines = [
            f" {row.rank.shown() if row.rank else '–'} {escaped(row.model)} {_four(row.judged)}"
            for row in self.rows[:_SHOWN]
        ]
        if len(self.rows) > _SHOWN:
            lines.append(f" and {len(self.rows) - _SHOWN:,} more")
        head = f"<Board of {len(self.rows):,} models by {self.judged_by}"
        of = f"on {self.kind.items:,} items of {self.kind.benchmark}"
        return "\n".join([f"{head} {of}", *lines]) + ">"

    def _repr_html_(self) -> str:
        of = f"{self.kind.items:,} items of {self.kind.benchmark}, {self.kind.protocol}"
        table = self.table.without(["value"] if self.judged_by == self.headline else [])
        return block(title=f"{len(self.rows):,} models", lines=[of], tables=[table.drawn()])

    @property
    def table(self) -> Table:
        """A row for each model, best first.

        `value` is the primary metric, `judged` the figure that ranks, with its interval in `low`
        and `high`; `seconds` and `tokens` are means of an answer, `cost_usd` is the price of a run,
        and `item_usd` that of an item.
        """
        rows = [
            vars(row)
            | {"rank": row.rank and row.rank.shown(), "runs": len(row.runs)}
            | {end: row.interval and getattr(row.interval, end) for end in ("low", "high")}
            for row in self.rows
        ]
        titles = {"value": self.headline, "judged": self.judged_by}
        columns = [each._replace(title=titles.get(each.name, "")) for each in _COLUMNS]
        return Table([{name: row[name] for name in _NAMES} for row in rows], columns)

    def records(self) -> list[dict[str, Any]]:
        """Return a record for each model: all that is known of it, with the kind of its runs."""
        of_board = vars(self.kind) | {
            "read_as": " ".join(self.kind.read_as),
            "headline": self.headline,
            "judged_by": self.judged_by,
            "public_since": self.public_since,
        }
        if (people := self.people) is not None:
            low, high = people.interval or (None, None)
            of_board |= {"people": people.value, "people_low": low, "people_high": high}
            of_board |= {"people_items": people.items, "people_annotators": people.annotators}
        records = []
        for row in self.rows:
            low, high = _ends(row.interval)
            lowest, highest = row.spread or (row.value, row.value)
            of_row = {name: value for name, value in vars(row).items() if name not in _NESTED}
            records.append(
                {
                    **of_board,
                    "rank_low": row.rank and row.rank.low,
                    "rank_high": row.rank and row.rank.high,
                    **of_row,
                    "low": low,
                    "high": high,
                    "lowest_run": lowest,
                    "highest_run": highest,
                    "runs": " ".join(run.run or "" for run in row.runs),
                }
            )
        return records

    def to_pandas(self) -> Any:
        """Return `table` as a `pandas.DataFrame`."""
        return self.table.to_pandas()

    def plot(self, *, x: Cost | None = None, language: str = "en") -> "Plot":
        """Draw the models with intervals and ranks, or against what they cost.

        What people reach is a line.

        Args:
            x: `price` (US dollars per 1,000 items) or `seconds` (per item); the line joins the
                models that no other one beats in both. None draws ranks.
            language: one of `hdbench.common.texts.LANGUAGES`.

        Returns:
            A matplotlib figure: `plot.savefig("ranks.pdf")`.

        Raises:
            HdbenchError: matplotlib is not installed, or no run says what it cost.
        """
        with needed("plots", "plots need"):
            from hdbench.common.display.plots import dots  # noqa: PLC0415  imports matplotlib
            from hdbench.common.display.scatter import scatter  # noqa: PLC0415

        figure = figure_heading(self.judged_by, language)
        people = None
        if self.people is not None and self.people.headline == self.judged_by:
            ends = self.people.interval or ()
            people = Dot(say("people", language), self.people.value, *ends)
        rows = [
            (row, row.judged, *_ends(row.interval)) for row in self.rows if row.judged is not None
        ]
        if x is None:
            ranks = [
                Dot(row.model, value, low, high, row.rank.shown() if row.rank else "")
                for row, value, low, high in rows
            ]
            return dots(
                ranks,
                figure=figure,
                higher_is_better=self.higher_is_better,
                line=people,
                notes=say("rank", language) if any(row.note for row in ranks) else "",
                language=language,
                width=_WIDTH,
            )
        if all(row.cost(x) is None for row in self.rows):
            raise HdbenchError("no run says its {cost}", cost=x)
        return scatter(
            [Point(row.model, value, row.cost(x), low, high) for row, value, low, high in rows],
            figure=figure,
            cost=x,
            higher_is_better=self.higher_is_better,
            line=people,
            language=language,
        )

    def plot_fields(self, *, language: str = "en") -> "Plot":
        """Draw a heat map of fields and models.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.

        Raises:
            HdbenchError: matplotlib is not installed, or the metric's fields have no figure.
        """
        with needed("plots", "plots need"):
            from hdbench.common.display.plots import heat_map  # noqa: PLC0415  imports matplotlib

        names = list(dict.fromkeys(name for row in self.rows for name in row.fields))
        if not names:
            raise HdbenchError("{metric} has no figures of fields", metric=self.kind.metric)
        return heat_map(
            [[row.fields.get(name) for row in self.rows] for name in names],
            rows=names,
            columns=[row.model for row in self.rows],
            figure=figure_heading(self.field_figure or "", language),
            higher_is_better=True,
            language=language,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as JSON data."""
        people = None if self.people is None else self.people.model_dump(mode="json")
        return {**asdict(self), "people": people}


def leaderboards(
    results: Mapping[str, Result],
    *,
    facts: Mapping[str, ModelFacts] = MappingProxyType({}),
    seed: int = 0,
) -> list[Board]:
    """Rank the models of each kind of run.

    Runs of different benchmarks or versions of them, protocols, options, item sets or prompts are
    never ranked together. Runs without media are not ranked, but stand beside the same model's runs
    of the same kind. Models are ranked by `rank_models`: its docstring says how. Several runs
    of one model give one row: their mean, and how far they spread.

    Args:
        results: name → result, as `load_runs` gives them. A result without a model counts as one
            of a model with the run's name.
        facts: model → its release, license and the like.
        seed: for the random numbers.

    Returns:
        A leaderboard for each kind, the one with the most runs first.

    Raises:
        HdbenchError: see `rank_models`.
    """
    # Prompts are compared by their hash, or by name if there is none.
    kinds: dict[tuple[RunKind, Any], dict[str, list[Result]]] = defaultdict(
        lambda: defaultdict(list)
    )
    floors: dict[tuple[RunKind, Any, str], list[Result]] = defaultdict(list)
    for name, result in results.items():
        kind, model = kind_of(result), result.model or name
        if result.run.without_media:
            floors[kind, kind.question, model].append(result)
        else:
            kinds[kind, kind.question][model].append(result)
    boards = []
    for (kind, question), models in kinds.items():
        first = next(iter(models.values()))[0]
        standings = rank_models(
            models, headline=first.headline, higher_is_better=first.higher_is_better, seed=seed
        )
        public = first.dataset.public_since
        rows = [
            _row(
                standing,
                models[standing.name],
                floors[kind, question, standing.name],
                facts.get(standing.name),
                public,
            )
            for standing in standings
        ]
        ceilings = (result.dataset.people for runs in models.values() for result in runs)
        people = next((people for people in ceilings if people is not None), None)
        boards.append(
            Board(
                kind=kind,
                headline=first.headline,
                judged_by=judging_figure(first.metric, first.headline),
                higher_is_better=first.higher_is_better,
                rows=rows,
                public_since=public,
                people=people,
                field_figure=_field_figure(first),
                pair=next((standing.pair for standing in standings if standing.pair), None),
            )
        )
    order = list(dict.fromkeys(board.kind.benchmark for board in boards))
    return sorted(
        boards,
        key=lambda board: (
            order.index(board.kind.benchmark),
            -sum(len(row.runs) for row in board.rows),
        ),
    )


def unplaced(results: Mapping[str, Result], boards: Iterable[Board]) -> list[str]:
    """Return the runs without media that no board shows beside a run of the same model."""
    shown = {(board.kind, board.kind.question, row.model) for board in boards for row in board.rows}
    return [
        name
        for name, result in results.items()
        if result.run.without_media
        and (kind_of(result), kind_of(result).question, result.model or name) not in shown
    ]


def kind_of(result: Result) -> RunKind:
    """Return the conditions that a run has in common with those it is ranked with."""
    prompt, dataset = result.run.prompt, result.dataset
    # Programs that transcribe have no prompt, and stand beside models asked for the text alone.
    is_asked = prompt is not None and prompt.name != TEXT_PROMPT
    return RunKind(
        benchmark=dataset.benchmark,
        dataset_version=dataset.dataset_version,
        dataset_sha256=dataset.dataset_sha256,
        metric=result.metric.name,
        rules=result.metric.rules,
        reading=result.reading.version,
        protocol=result.metric.protocol,
        options=json.dumps(dict(result.metric.options), sort_keys=True),
        read_as=result.reading.read_as.names,
        items=len(result.ids),
        item_set=result.item_set,
        subset=result.run.subset,
        prompt=prompt.name if prompt is not None and is_asked else None,
        prompt_sha256=result.run.prompt_sha256 if is_asked else None,
        errata=dataset.errata,
    )


def _four(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _failures(results: Sequence[Result]) -> float | None:
    """Return the mean share of items that runs failed on, if they are judged by all others."""
    first = results[0]
    judged = figure_of(first.metric, judging_figure(first.metric, first.headline))
    if judged is None or judged.leaves_out is None:
        return None
    return fmean(result.rates[judged.leaves_out] for result in results)


def _row(
    standing: Standing,
    results: list[Result],
    floors: list[Result],
    facts: ModelFacts | None,
    public_since: str | None,
) -> BoardRow:
    runs = sorted(map(_run, results), key=lambda run: run.run or "")
    providers = {result.run.provider for result in results}
    items = sum(len(result.ids) for result in results)
    costs = [
        (result.run.cost_usd, len(result.ids))
        for result in results
        if result.run.cost_usd is not None
    ]
    total = fsum(cost for cost, _ in costs)
    paid_items = sum(count for _, count in costs)
    return BoardRow(
        rank=standing.rank,
        model=standing.name,
        provider=providers.pop() if len(providers) == 1 else None,
        after_public=facts is not None and facts.released_after(public_since),
        drafted=max(result.own_drafts for result in results),
        value=standing.value,
        judged=standing.judged,
        failures=_failures(results),
        interval=standing.interval,
        spread=standing.spread,
        runs_apart=standing.runs_apart,
        better=standing.better,
        answered=sum(run.answered for run in runs) / items if items else 0.0,
        seconds=_mean(results, "seconds"),
        tokens=_mean(results, "output_tokens"),
        cost_usd=total / len(costs) if costs else None,
        item_usd=total / paid_items if paid_items else None,
        without_media=fmean(_run(floor).value for floor in floors) if floors else None,
        runs=runs,
        fields=_fields(results),
        family=maker_of({"provider": results[0].run.provider}, standing.name)[0],
        **{name: getattr(facts, name, None) for name in _FACTS},
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _field_figure(result: Result) -> str | None:
    figures = result.metric.field_figures
    return figures[0].name if figures else None


def _fields(results: Sequence[Result]) -> dict[str, float]:
    """Return the figure of each field that a ground truth has, the mean over runs."""
    values: dict[str, list[float]] = {}
    for result in results:
        figure = _field_figure(result)
        for name, rates in result.field_rates().items():
            in_truth = rates.get("true_positives", 1) or rates.get("false_negatives")
            if in_truth and figure is not None and rates.get(figure) is not None:
                values.setdefault(name, []).append(rates[figure])
    return {name: fmean(of_runs) for name, of_runs in values.items()}


def _run(result: Result) -> Run:
    published = (result.run.published or {}).get(result.headline)
    return Run(
        run=result.run.run or None,
        value=result.rates[result.headline],
        answered=result.answered,
        published=published if isinstance(published, float | int) else None,
        signature=result.signature,
    )


def _mean(results: list[Result], quantity: str) -> float | None:
    usages = [result.usage[quantity] for result in results if quantity in result.usage]
    items = sum(used.items for used in usages)
    return sum(used.total for used in usages) / items if items else None
