"""Work and money per item and in total, with intervals, for a model and for the rule."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hdbench.common.checked import Strict
from hdbench.statistics.means import Design, Estimate, means, share
from hdbench.trust.decision import passing
from hdbench.trust.forecasting.measuring import MeasuredRule, MeasuredRun
from hdbench.trust.forecasting.price_list import Price
from hdbench.trust.forecasting.work import Pace
from hdbench.trust.plan import Right

Column = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Amount(Strict):
    """An amount, per item and in total.

    Attributes:
        per_item: the mean over the items of the population; for a number of items, their share.
        whole: the total over the population.
    """

    per_item: Estimate
    whole: Estimate


class Known(Strict):
    """An amount that only some answers may state.

    Attributes:
        items: how many answers state it.
        amount: the amount as if all others were alike; None if no answer states it.
    """

    items: int
    amount: Amount | None


class ModelForecast(Strict):
    """Cost of one model's answers if a person checks every value.

    Attributes:
        model: its name.
        path: where its run is.
        answered: how many of the checked items it has a record for.
        untouched: items that need no edit.
        edits: values that are wrong to the letter.
        keystrokes: keystrokes to correct them.
        hours: hours of a person who looks at every value.
        wages: cost of these hours in US dollars; None without a wage.
        input_tokens: tokens that the model reads.
        output_tokens: tokens that it writes.
        seconds: seconds that it takes, one answer after the other.
        usd: cost of the model in US dollars; None if unknown.
        usd_from: the source of this cost: a price list, or the run itself.
        price: the price that was used.
    """

    model: str
    path: str
    answered: int
    untouched: Amount
    edits: Amount
    keystrokes: Amount
    hours: Amount
    wages: Amount | None
    input_tokens: Known
    output_tokens: Known
    seconds: Known
    usd: Known | None
    usd_from: Literal["prices", "run"] | None
    price: Price | None


class RuleForecast(Strict):
    """Work that remains if values that runs agree on are accepted, down to a threshold.

    Attributes:
        threshold: the least trust score of values that are accepted; None if all are looked at.
        taken_over: the share of values that are accepted, 0.0 to 1.0.
        looks: values that a person looks at.
        unseen: items at which nobody looks.
        no_edit: items without a wrong value among those looked at, by each criterion.
        remaining: values that are accepted and wrong, by each criterion.
        keystrokes: keystrokes to correct the values that are looked at.
        hours: hours of a person who looks at them.
        wages: cost of these hours in US dollars; None without a wage.
    """

    threshold: float | None
    taken_over: float
    looks: Amount
    unseen: Amount
    no_edit: dict[Right, Amount]
    remaining: dict[Right, Amount]
    keystrokes: Amount
    hours: Amount
    wages: Amount | None


class Scale(NamedTuple):
    """Scale that turns measurements into amounts.

    Attributes:
        total: the number of items in the population.
        design: how the measured items represent it.
        pace: how fast a person works.
        wage: cost of an hour of a person in US dollars; None if unknown.
    """

    total: int
    design: Design
    pace: Pace
    wage: float | None

    def amounts(self, *columns: Column) -> list[Amount]:
        """Return the amount of each column, which has a number for every item."""
        estimates = means(np.column_stack(columns), self.design)
        return [self._amount(estimate) for estimate in estimates]

    def items(self, flags: Flags) -> Amount:
        """Return the amount of items for which something holds."""
        return self._amount(share(flags, self.design))

    def known(self, values: Sequence[float | None]) -> Known:
        """Return the amount of a number that only some items may have."""
        known = {item: value for item, value in enumerate(values) if value is not None}
        if not known:
            return Known(items=0, amount=None)
        column = np.array([[value] for value in known.values()], np.float64)
        estimate = means(column, self.design.of(list(known)))[0]
        return Known(items=len(known), amount=self._amount(estimate))

    def wages(self, hours: Amount) -> Amount | None:
        """Return the cost of a person's time."""
        if self.wage is None:
            return None
        return Amount(per_item=hours.per_item.times(self.wage), whole=hours.whole.times(self.wage))

    def fixed(self, per_item: float, items: int) -> Known:
        """Return the amount of a number that is only known for all items together."""
        return Known(items=items, amount=self._amount(Estimate(per_item)))

    def _amount(self, per_item: Estimate) -> Amount:
        return Amount(per_item=per_item, whole=per_item.times(self.total))


def model_forecast(
    run: MeasuredRun, scale: Scale, prices: Mapping[str, Price] | None
) -> ModelForecast:
    """Return the cost of a model's answers.

    Args:
        run: the measurements.
        scale: the scale that turns them into amounts.
        prices: model → price.
    """
    work = np.array(run.work, np.float64)
    looks, edits, keystrokes = work.T
    columns = scale.amounts(edits, keystrokes, scale.pace.hours(looks, keystrokes))
    hours = columns[2]
    price = (prices or {}).get(run.model)
    usd, usd_from = _usd(run, scale, price)
    return ModelForecast(
        model=run.name,
        path=run.path,
        answered=run.answered,
        untouched=scale.items(edits == 0),
        edits=columns[0],
        keystrokes=columns[1],
        hours=hours,
        wages=scale.wages(hours),
        input_tokens=scale.known([read for read, _ in run.tokens]),
        output_tokens=scale.known([written for _, written in run.tokens]),
        seconds=scale.known(run.seconds),
        usd=usd,
        usd_from=usd_from,
        price=price if usd_from == "prices" else None,
    )


def _usd(
    run: MeasuredRun, scale: Scale, price: Price | None
) -> tuple[Known | None, Literal["prices", "run"] | None]:
    if price is not None:
        used = zip(run.tokens, run.seconds, strict=True)
        usd = scale.known([price.usd(tokens, seconds) for tokens, seconds in used])
        if usd.items:
            return usd, "prices"
    if run.recorded_usd is not None:
        return scale.fixed(run.recorded_usd, len(run.work)), "run"
    return None, None


def rule_forecast(
    measured: MeasuredRule, scale: Scale, threshold: float | None, fields: Sequence[int]
) -> RuleForecast:
    """Return the work that remains at a threshold.

    Args:
        measured: trust scores and errors.
        scale: the scale that turns them into amounts.
        threshold: the least trust score of values that are accepted; None if all are looked at.
        fields: the positions of the fields whose values may be accepted.
    """
    taken: Flags = np.zeros(measured.scores.shape, np.bool_)
    if threshold is not None:
        taken[:, fields] = passing(measured.scores[:, fields], threshold)
    wrong: dict[Right, Flags] = {
        "letter": measured.keystrokes > 0,
        "threshold": measured.wrong,
    }
    always = np.array(measured.always, np.float64)
    looks = (~taken).sum(axis=1) + always[:, 0]
    in_lists = always[:, 1] > 0
    keystrokes = np.where(taken, 0, measured.keystrokes).sum(axis=1) + always[:, 2]
    amounts = scale.amounts(
        looks,
        keystrokes,
        scale.pace.hours(looks, keystrokes),
        taken.sum(axis=1),
        *((errors & taken).sum(axis=1) for errors in wrong.values()),
    )
    looked_at, typed, hours, passed = amounts[:4]
    all_values = passed.per_item.value + looked_at.per_item.value
    return RuleForecast(
        threshold=threshold,
        taken_over=passed.per_item.value / all_values,
        looks=looked_at,
        unseen=scale.items(looks == 0),
        no_edit={
            right: scale.items(~((errors & ~taken).any(axis=1) | in_lists))
            for right, errors in wrong.items()
        },
        remaining=dict(zip(wrong, amounts[4:], strict=True)),
        keystrokes=typed,
        hours=hours,
        wages=scale.wages(hours),
    )
