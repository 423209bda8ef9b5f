"""Work and money for an item and for the whole, with intervals: of a model, and of the rule."""

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
    """An amount, for one item and for all.

    Attributes:
        per_item: for an item of the whole, on average; for a number of items, their share.
        whole: for all of them.
    """

    per_item: Estimate
    whole: Estimate


class Known(Strict):
    """An amount that not all answers say.

    Attributes:
        items: how many say it.
        amount: as if the others were like these; None if none says it.
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
        keystrokes: to correct them.
        hours: of a person who looks at every value.
        wages: what these cost, in US dollars; None without a wage.
        input_tokens: what the model reads.
        output_tokens: what it writes.
        seconds: what it takes, one answer after the other.
        usd: what the model costs, in US dollars; None if that is not known.
        usd_from: where that is from: a price list, or what the run says about itself.
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
    """Work that remains if values are taken over that runs agree on, down to a threshold.

    Attributes:
        threshold: the least trust score of values that are taken over; None if all are looked at.
        taken_over: the share of values that are taken over, 0.0 to 1.0.
        looks: values that a person looks at.
        unseen: items at which nobody looks.
        no_edit: items of which no value that is looked at is wrong, counted in both ways.
        remaining: values that are taken over and wrong, counted in both ways.
        keystrokes: to correct the values that are looked at.
        hours: of a person who looks at them.
        wages: what these cost, in US dollars; None without a wage.
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
        total: how many items the whole has.
        design: how the measured items stand for it.
        pace: how fast a person works.
        wage: what an hour of a person costs, in US dollars; None if that is not said.
    """

    total: int
    design: Design
    pace: Pace
    wage: float | None

    def amounts(self, *columns: Column) -> list[Amount]:
        """Return the amounts of numbers that each item has."""
        return [self._of(found) for found in means(np.column_stack(columns), self.design)]

    def items(self, flags: Flags) -> Amount:
        """Return the amount of items for which something holds."""
        return self._of(share(flags, self.design))

    def known(self, values: Sequence[float | None]) -> Known:
        """Return the amount of a number that not all items have."""
        there = {place: value for place, value in enumerate(values) if value is not None}
        if not there:
            return Known(items=0, amount=None)
        column = np.array([[value] for value in there.values()], np.float64)
        found = means(column, self.design.of(list(there)))[0]
        return Known(items=len(there), amount=self._of(found))

    def wages(self, hours: Amount) -> Amount | None:
        """Return what a person's time costs."""
        if self.wage is None:
            return None
        return Amount(per_item=hours.per_item.times(self.wage), whole=hours.whole.times(self.wage))

    def fixed(self, per_item: float, items: int) -> Known:
        """Return the amount of a number that is known for all items together only."""
        return Known(items=items, amount=self._of(Estimate(per_item)))

    def _of(self, per_item: Estimate) -> Amount:
        return Amount(per_item=per_item, whole=per_item.times(self.total))


def model_forecast(
    run: MeasuredRun, scale: Scale, prices: Mapping[str, Price] | None
) -> ModelForecast:
    """Return what a model's answers cost.

    Args:
        run: what was measured.
        scale: what makes amounts of it.
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
        found = scale.known([price.usd(tokens, seconds) for tokens, seconds in used])
        if found.items:
            return found, "prices"
    if run.recorded_usd is not None:
        return scale.fixed(run.recorded_usd, len(run.work)), "run"
    return None, None


def rule_forecast(
    measured: MeasuredRule, scale: Scale, threshold: float | None, fields: Sequence[int]
) -> RuleForecast:
    """Return what is left to do at a threshold.

    Args:
        measured: trust scores and errors.
        scale: what makes amounts of them.
        threshold: the least trust score of values that are taken over; None if all are looked at.
        fields: the places of the fields whose values may be taken over.
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
        *((each & taken).sum(axis=1) for each in wrong.values()),
    )
    looked_at, typed, hours, passed = amounts[:4]
    all_values = passed.per_item.value + looked_at.per_item.value
    return RuleForecast(
        threshold=threshold,
        taken_over=passed.per_item.value / all_values,
        looks=looked_at,
        unseen=scale.items(looks == 0),
        no_edit={
            right: scale.items(~((each & ~taken).any(axis=1) | in_lists))
            for right, each in wrong.items()
        },
        remaining=dict(zip(wrong, amounts[4:], strict=True)),
        keystrokes=typed,
        hours=hours,
        wages=scale.wages(hours),
    )
