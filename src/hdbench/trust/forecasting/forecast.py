"""The forecast: what a whole collection will cost, as plain data."""

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
from hdbench.trust.forecasting.work import DEFAULT_PACE, PACE_SOURCE, Pace
from hdbench.trust.plan import Plan, Right, read_plan


class Promise(Strict):
    """Promise of a plan's decision about the values that are taken over.

    Attributes:
        plan: the plan's hash.
        holds: whether nothing voids the promise.
        fields: the fields of which values are taken over; none if nothing is.
        wrong: how many of them are wrong, by rate and by bound, counted in both ways.
    """

    plan: str
    holds: bool
    fields: tuple[str, ...]
    wrong: dict[Right, Wrong]


class Forecast(Strict):
    """A forecast.

    Attributes:
        hdbench: the version that made it.
        benchmark: what was checked.
        benchmark_version: its version.
        protocol: the rules of its metric.
        items: how many items were checked.
        total: how many items the whole has.
        fields: the fields that an item has one value of.
        level: the nominal share of intervals that contain the true amount.
        method: how intervals are computed.
        keystrokes_per_minute: how fast a person types: an assumption.
        seconds_per_look: how long a person looks at a value: an assumption.
        pace_source: where the defaults of these two are from.
        wage: what an hour of a person costs, in US dollars.
        models: what each model costs.
        rule: what the rule leaves to do: by the plan's decision or, without a plan, for each
            threshold; all values are looked at in the first one. Empty with one run.
        rule_usd: what all models together cost, in US dollars; None if that is not known.
        promise: what the plan's decision says; None without a plan.
        notices: what to know.
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
        total: how many items the whole has; what the benchmark or the plan says, if not given.
        pace: how fast a person works.
        wage: what an hour of a person costs, in US dollars.
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


MOST = 1_000_000
"""The highest pace and wage: more is a slip."""

METHOD = (
    f"bootstrap-t over items, {RESAMPLES:,} resamples, seed 0; for shares of items, Clopper-Pearson"
)


def forecast(benchmark: Benchmark, runs: Sequence[Path], wish: ForecastOptions) -> Forecast:
    """Return what the whole will cost, from the items that were checked.

    Args:
        benchmark: the items, those that were checked with their truth.
        runs: what models answered to them, the one that is preferred first.
        wish: what was asked for.

    Raises:
        HdbenchError: pace or wage make no sense; there is nothing to forecast from; the size of the
            whole is not known; the plan is of other runs, or see `decide`.
    """
    _check(wish)
    given = _by_answers(runs)
    plan = decision = None
    if wish.plan is not None:
        plan = read_plan(wish.plan)
        if plan.scores is not None:
            raise HdbenchError(
                "{plan}: its trust scores come from {scores}, and a forecast only knows the "
                "agreement of runs: leave out --plan",
                plan=wish.plan,
                scores=plan.scores.path,
            )
        runs = _in_order(plan, given, wish)
        decision = decide(plan, benchmark, wish.plan)
    total = _total(benchmark, wish, plan)
    measured = measure(benchmark, runs, plan=plan, protocol=wish.protocol)
    items = len(measured.items)
    if total < items:
        raise HdbenchError(
            "--total {total:,}: {items:,} items were checked already", total=total, items=items
        )
    scale = Scale(total, _design(benchmark, measured, plan), wish.pace, wish.wage)
    models = tuple(model_forecast(run, scale, wish.prices) for run in measured.runs)
    return Forecast(
        hdbench=__version__,
        benchmark=benchmark.id,
        benchmark_version=benchmark.spec.version,
        protocol=wish.protocol,
        items=items,
        total=total,
        fields=tuple(measured.fields),
        level=LEVEL,
        method=METHOD + (", both within strata" if scale.design.sample else ""),
        keystrokes_per_minute=wish.pace.keystrokes_per_minute,
        seconds_per_look=wish.pace.seconds_per_look,
        pace_source=PACE_SOURCE,
        wage=wish.wage,
        models=models,
        rule=tuple(_rule(measured, scale, decision)),
        rule_usd=_together(models),
        promise=None if decision is None else _promise(decision),
        notices=(
            *_of_sample(benchmark, items, total, decision),
            *_of_measured(measured, models, wish.prices),
        ),
    )


def _check(wish: ForecastOptions) -> None:
    for option, value, least in (
        ("--keystrokes-per-minute", wish.pace.keystrokes_per_minute, 1),
        ("--seconds-per-look", wish.pace.seconds_per_look, 0),
        ("--wage", wish.wage or 0, 0),
    ):
        if not least <= value <= MOST:
            raise HdbenchError(
                "{option} {value}: must be from {least} to {most:,}",
                option=option,
                value=f"{value:g}",
                least=least,
                most=MOST,
            )


def _total(benchmark: Benchmark, wish: ForecastOptions, plan: Plan | None) -> int:
    if plan is not None:
        if wish.total not in (None, plan.whole.of):
            raise HdbenchError(
                "--total {total:,}: the sample of {plan} was drawn from {of:,} items: leave out "
                "--total",
                total=wish.total,
                plan=wish.plan,
                of=plan.whole.of,
            )
        return plan.whole.of
    if wish.total is not None:
        return wish.total
    if benchmark.spec.sample is None:
        raise HdbenchError(
            "{benchmark}: does not say what it is a sample of: give the number of items of the "
            "whole collection with --total",
            benchmark=benchmark.id,
        )
    return benchmark.spec.sample.of


def _in_order(plan: Plan, runs: Mapping[str, Path], wish: ForecastOptions) -> list[Path]:
    """Return the runs in the plan's order."""
    if wish.protocol != "documented":
        raise HdbenchError(
            "--protocol {protocol}: plans are decided by documented", protocol=wish.protocol
        )
    for run in plan.runs:
        if run.sha256 not in runs:
            raise HdbenchError(
                "{place}: {plan} was made for these answers, and they are not among the runs that "
                "are given",
                place=run.path,
                plan=wish.plan,
            )
    if len(runs) > len(plan.runs):
        raise HdbenchError(
            "{plan}: was made for {planned} of these {given} runs",
            plan=wish.plan,
            planned=len(plan.runs),
            given=len(runs),
        )
    return [runs[run.sha256] for run in plan.runs]


def _by_answers(runs: Sequence[Path]) -> dict[str, Path]:
    """Return hash of the answers → run; refuse the same answers twice."""
    found: dict[str, Path] = {}
    for path in runs:
        known = found.setdefault(answers_sha256(path), path)
        if known is not path:
            raise HdbenchError(
                "{place}: the same answers as {first}: give each run once", place=path, first=known
            )
    return found


def _design(benchmark: Benchmark, measured: Measured, plan: Plan | None) -> Design:
    """Return how the measured items stand for the whole; a plan's are drawn in proportion."""
    strata = {} if plan is not None else benchmark.strata()
    if not strata:
        return Design.simple(len(measured.items))
    return Design(benchmark.spec.sample, [strata[item.id] for item in measured.items])


def _rule(measured: Measured, scale: Scale, decision: Decision | None) -> list[RuleForecast]:
    if measured.rule is None:
        return []
    every = range(len(measured.fields))
    if decision is None:
        return [
            rule_forecast(measured.rule, scale, threshold, every) for threshold in (None, *GRID)
        ]
    outcome = decision.outcome
    threshold = None if outcome is None else outcome.threshold
    names = () if outcome is None else outcome.fields
    places = [place for place in every if measured.fields[place] in names]
    return [rule_forecast(measured.rule, scale, threshold, places)]


def _promise(decision: Decision) -> Promise:
    outcome = decision.outcome
    return Promise(
        plan=decision.plan,
        holds=decision.holds,
        fields=() if outcome is None else outcome.fields,
        wrong={} if outcome is None else outcome.wrong,
    )


def _together(models: Sequence[ModelForecast]) -> float | None:
    known = [each.usd.amount for each in models if each.usd is not None]
    if len(known) < len(models):
        return None
    return sum(amount.whole.value for amount in known if amount is not None)


def _of_sample(
    benchmark: Benchmark, items: int, total: int, decision: Decision | None
) -> Iterator[Warned]:
    """Yield the gravest notices: why the items may not stand for the whole."""
    sample = benchmark.spec.sample
    if decision is not None:
        yield from (each for each in decision.warnings if each.voids)
    elif sample is None and total > items:
        yield Warned.of("forecast_not_drawn", items=items, total=total)
    elif sample is not None and sample.of != total:
        yield Warned.of("forecast_other_whole", of=sample.of, total=total)


def _of_measured(
    measured: Measured, models: Sequence[ModelForecast], prices: Mapping[str, Price] | None
) -> Iterator[Warned]:
    """Yield all other notices, the gravest first."""
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
    for run, each in zip(measured.runs, models, strict=True):
        yield from _of_model(each, items, has_price=prices is None or run.model in prices)


def _of_model(model: ModelForecast, items: int, *, has_price: bool) -> Iterator[Warned]:
    if model.answered < items:
        missing = items - model.answered
        yield Warned.of("forecast_unanswered", model=model.model, number=missing, items=items)
    tokens = min(model.input_tokens.items, model.output_tokens.items)
    seconds = model.seconds.items
    if min(tokens, seconds) < items:
        known = {"tokens": tokens, "seconds": seconds, "items": items}
        yield Warned.of("forecast_usage", model=model.model, **known)
    if not has_price:
        yield Warned.of("forecast_no_price", model=model.model)
