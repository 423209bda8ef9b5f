"""Forecast of the cost of an entire collection, as plain data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hdbench import __version__
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.checked import Strict
from hdbench.errors import HdbenchError
from hdbench.results.files import answers_sha256
from hdbench.scoring.metric import ProtocolName
from hdbench.statistics.acceptance import GRID
from hdbench.statistics.bootstrap import MIN_ITEMS
from hdbench.statistics.means import LEVEL, RESAMPLES, Design
from hdbench.trust.decision import Decision, Warned, Wrong, decide
from hdbench.trust.forecasting.amounts import (
    ModelForecast,
    RuleForecast,
    Scale,
    model_forecast,
    rule_forecast,
)
from hdbench.trust.forecasting.measuring import Measured, measure
from hdbench.trust.forecasting.price_list import Price
from hdbench.trust.forecasting.work import DEFAULT_PACE, PACE_SOURCE, Pace, check_amount
from hdbench.trust.plan import Plan, Right
from hdbench.trust.sealed import read_sealed


class Promise(Strict):
    """Promise of a plan's decision about the values that are accepted.

    Attributes:
        plan: the plan's hash.
        holds: whether nothing voids the promise.
        fields: the fields of which values are accepted; none if nothing is.
        wrong: how many of them are wrong, by rate and by bound, for each criterion.
    """

    plan: str
    holds: bool
    fields: tuple[str, ...]
    wrong: dict[Right, Wrong]


class Forecast(Strict):
    """A forecast.

    Attributes:
        hdbench: the version that made it.
        benchmark: the benchmark whose items were checked.
        benchmark_version: its version.
        protocol: the rules of its metric.
        items: how many items were checked.
        total: the number of items in the population.
        fields: the fields that an item has one value of.
        level: the nominal share of intervals that contain the true amount.
        method: how intervals are computed.
        keystrokes_per_minute: how fast a person types: an assumption.
        seconds_per_look: how long a person looks at a value: an assumption.
        pace_source: the source of the defaults of these two.
        wage: cost of an hour of a person in US dollars.
        models: the cost of each model.
        rule: the work that the rule leaves: by the plan's decision or, without a plan, for each
            threshold; in the first one, all values are looked at. Empty with one run.
        rule_usd: cost of all models together in US dollars; None if unknown.
        promise: the promise of the plan's decision; None without a plan.
        notices: the notices, the most serious first.
    """

    forecast: Literal[1] = 1
    hdbench: str
    benchmark: str
    benchmark_version: str
    protocol: ProtocolName
    items: int
    total: int
    fields: tuple[str, ...]
    level: float
    method: str
    keystrokes_per_minute: float
    seconds_per_look: float
    pace_source: str
    wage: float | None
    models: tuple[ModelForecast, ...]
    rule: tuple[RuleForecast, ...]
    rule_usd: float | None
    promise: Promise | None
    notices: tuple[Warned, ...]


@dataclass(frozen=True)
class ForecastOptions:
    """Options of a forecast.

    Attributes:
        total: the number of items in the population; by default as the benchmark or plan says.
        pace: how fast a person works.
        wage: cost of an hour of a person in US dollars.
        prices: model → price.
        plan: the file of a plan; without one, the rule is described for all thresholds.
        protocol: the rules of the benchmark's metric.
    """

    total: int | None = None
    pace: Pace = DEFAULT_PACE
    wage: float | None = None
    prices: Mapping[str, Price] | None = None
    plan: Path | None = None
    protocol: ProtocolName = "documented"


METHOD = (
    f"bootstrap-t over items, {RESAMPLES:,} resamples, seed 0; for shares of items, Clopper-Pearson"
)


def forecast(benchmark: Benchmark, runs: Sequence[Path], options: ForecastOptions) -> Forecast:
    """Return the cost of the entire collection, estimated from the items that were checked.

    Args:
        benchmark: the items, those that were checked with their truth.
        runs: the models' answers to them, in order of preference.
        options: the options.

    Raises:
        HdbenchError: pace or wage make no sense; there is nothing to forecast from; the size of the
            population is unknown; the plan is for other runs; see also `decide`.
    """
    check_amount("--keystrokes-per-minute", options.pace.keystrokes_per_minute, least=1)
    check_amount("--seconds-per-look", options.pace.seconds_per_look)
    check_amount("--wage", options.wage or 0)
    by_answers = _by_answers(runs)
    plan = decision = None
    if options.plan is not None:
        plan = read_sealed(options.plan, Plan)
        if plan.scores is not None:
            raise HdbenchError(
                "{plan}: its trust scores come from {scores}, and a forecast only knows the "
                "agreement of runs: leave out --plan",
                plan=options.plan,
                scores=plan.scores.path,
            )
        runs = _in_order(plan, by_answers, options)
        decision = decide(plan, benchmark, options.plan)
    total = _total(benchmark, options, plan)
    measured = measure(benchmark, runs, plan=plan, protocol=options.protocol)
    items = len(measured.items)
    if total < items:
        raise HdbenchError(
            "--total {total:,}: {items:,} items were checked already", total=total, items=items
        )
    scale = Scale(total, _design(benchmark, measured, plan), options.pace, options.wage)
    models = tuple(model_forecast(run, scale, options.prices) for run in measured.runs)
    return Forecast(
        hdbench=__version__,
        benchmark=benchmark.id,
        benchmark_version=benchmark.spec.version,
        protocol=options.protocol,
        items=items,
        total=total,
        fields=tuple(measured.fields),
        level=LEVEL,
        method=METHOD + (", both within strata" if scale.design.sample else ""),
        keystrokes_per_minute=options.pace.keystrokes_per_minute,
        seconds_per_look=options.pace.seconds_per_look,
        pace_source=PACE_SOURCE,
        wage=options.wage,
        models=models,
        rule=tuple(_rule(measured, scale, decision)),
        rule_usd=_total_usd(models),
        promise=None if decision is None else _promise(decision),
        notices=(
            *_sample_notices(benchmark, items, total, decision),
            *_other_notices(measured, models, options.prices),
        ),
    )


def _total(benchmark: Benchmark, options: ForecastOptions, plan: Plan | None) -> int:
    if plan is not None:
        if options.total not in (None, plan.whole.of):
            raise HdbenchError(
                "--total {total:,}: the sample of {plan} was drawn from {of:,} items: leave out "
                "--total",
                total=options.total,
                plan=options.plan,
                of=plan.whole.of,
            )
        return plan.whole.of
    if options.total is not None:
        return options.total
    if benchmark.spec.sample is None:
        raise HdbenchError(
            "{benchmark}: does not say what it is a sample of: give the number of items of the "
            "whole collection with --total",
            benchmark=benchmark.id,
        )
    return benchmark.spec.sample.of


def _in_order(plan: Plan, runs: Mapping[str, Path], options: ForecastOptions) -> list[Path]:
    """Return the runs in the plan's order."""
    if options.protocol != "documented":
        raise HdbenchError(
            "--protocol {protocol}: plans are decided by documented", protocol=options.protocol
        )
    for run in plan.runs:
        if run.sha256 not in runs:
            raise HdbenchError(
                "{place}: {plan} was made for these answers, and they are not among the runs that "
                "are given",
                place=run.path,
                plan=options.plan,
            )
    if len(runs) > len(plan.runs):
        raise HdbenchError(
            "{plan}: was made for {planned} of these {given} runs",
            plan=options.plan,
            planned=len(plan.runs),
            given=len(runs),
        )
    return [runs[run.sha256] for run in plan.runs]


def _by_answers(runs: Sequence[Path]) -> dict[str, Path]:
    """Return hash of the answers → run; refuse the same answers twice."""
    by_answers: dict[str, Path] = {}
    for path in runs:
        first = by_answers.setdefault(answers_sha256(path), path)
        if first is not path:
            raise HdbenchError(
                "{place}: the same answers as {first}: give each run once", place=path, first=first
            )
    return by_answers


def _design(benchmark: Benchmark, measured: Measured, plan: Plan | None) -> Design:
    """Return how the measured items represent the population; a plan's are drawn in proportion."""
    strata = {} if plan is not None else benchmark.strata()
    if not strata:
        return Design.simple(len(measured.items))
    return Design(benchmark.spec.sample, [strata[item.id] for item in measured.items])


def _rule(measured: Measured, scale: Scale, decision: Decision | None) -> list[RuleForecast]:
    if measured.rule is None:
        return []
    columns = range(len(measured.fields))
    if decision is None:
        return [
            rule_forecast(measured.rule, scale, threshold, columns) for threshold in (None, *GRID)
        ]
    outcome = decision.outcome
    threshold = None if outcome is None else outcome.threshold
    names = () if outcome is None else outcome.fields
    decided = [column for column in columns if measured.fields[column] in names]
    return [rule_forecast(measured.rule, scale, threshold, decided)]


def _promise(decision: Decision) -> Promise:
    outcome = decision.outcome
    return Promise(
        plan=decision.plan,
        holds=decision.holds,
        fields=() if outcome is None else outcome.fields,
        wrong={} if outcome is None else outcome.wrong,
    )


def _total_usd(models: Sequence[ModelForecast]) -> float | None:
    amounts = [model.usd.amount for model in models if model.usd is not None]
    if len(amounts) < len(models):
        return None
    return sum(amount.whole.value for amount in amounts if amount is not None)


def _sample_notices(
    benchmark: Benchmark, items: int, total: int, decision: Decision | None
) -> Iterator[Warned]:
    """Yield the most serious notices: reasons why the items may not represent the population."""
    sample = benchmark.spec.sample
    if decision is not None:
        yield from (warned for warned in decision.warnings if warned.voids)
    elif sample is None and total > items:
        yield Warned.of("forecast_not_drawn", items=items, total=total)
    elif sample is not None and sample.of != total:
        yield Warned.of("forecast_other_whole", of=sample.of, total=total)


def _other_notices(
    measured: Measured, models: Sequence[ModelForecast], prices: Mapping[str, Price] | None
) -> Iterator[Warned]:
    """Yield all other notices, the most serious first."""
    items = len(measured.items)
    if items < MIN_ITEMS:
        yield Warned.of("forecast_few_items", items=items, least=MIN_ITEMS)
    if measured.not_asked:
        yield Warned.of("forecast_not_asked", number=measured.not_asked, items=items)
    drafted = sum(bool(item.provenance and item.provenance.run) for item in measured.items)
    if drafted:
        yield Warned.of("forecast_drafted", number=drafted, items=items)
    if measured.without_truth:
        yield Warned.of("forecast_without_truth", fields=", ".join(measured.without_truth))
    if measured.in_lists:
        yield Warned.of("forecast_in_lists")
    for run, model in zip(measured.runs, models, strict=True):
        yield from _model_notices(model, items, has_price=prices is None or run.model in prices)


def _model_notices(model: ModelForecast, items: int, *, has_price: bool) -> Iterator[Warned]:
    if model.answered < items:
        missing = items - model.answered
        yield Warned.of("forecast_unanswered", model=model.model, number=missing, items=items)
    tokens = min(model.input_tokens.items, model.output_tokens.items)
    seconds = model.seconds.items
    if min(tokens, seconds) < items:
        counts = {"tokens": tokens, "seconds": seconds, "items": items}
        yield Warned.of("forecast_usage", model=model.model, **counts)
    if not has_price:
        yield Warned.of("forecast_no_price", model=model.model)
