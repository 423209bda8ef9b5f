"""Agreement of people who annotated the same items: `agreement.json` of a built benchmark."""

from typing import Annotated

from pydantic import Field

from hdbench.common.validation import Strict

AGREEMENT = "agreement.json"
"""The file, in the dataset's folder: figures alone, without names and values."""

Count = Annotated[int, Field(ge=0, le=2**53)]


Finite = Annotated[float, Field(ge=-(2**53), le=2**53, allow_inf_nan=False)]
Ends = tuple[Finite, Finite]


class IntervalEstimate(Strict):
    """A figure with its interval.

    Attributes:
        value: the figure; None where it is not defined.
        interval: both ends of its 95% interval over items; None if there are too few.
    """

    value: Finite | None
    interval: Ends | None = None


class FieldAgreement(Strict):
    """Agreement of people in one field.

    Attributes:
        units: how many values were entered by several people for the same thing.
        items: how many items these are from.
        share: of two people's values for the same thing, how many are the same to the letter: from
            0.0 to 1.0, higher is better.
        alpha: Krippendorff's alpha, nominal: 1.0 if all agree, 0.0 if they agree as often as by
            chance, below if less. None if all values are equal: chance alone would do as well.
        alpha_similarity: the same, with 1 − similarity as the distance of two values. None also if
            there are too many different values to compare each with each.
    """

    units: Count
    items: Count
    share: IntervalEstimate
    alpha: IntervalEstimate
    alpha_similarity: IntervalEstimate


class Ceiling(Strict):
    """Score of people against each other by the benchmark's own rules.

    Attributes:
        headline: the figure.
        value: its mean over all ordered pairs of people.
        interval: both ends of its 95% interval over items; None if there are too few.
        annotators: how many people.
        items: how many items were scored.
    """

    headline: str
    value: Annotated[Finite, Field(ge=0)]
    interval: Ends | None = None
    annotators: Annotated[int, Field(ge=2, le=2**53)]
    items: Annotated[int, Field(ge=1, le=2**53)]


class Agreement(Strict):
    """Agreement of people who annotated the same items of a benchmark.

    Attributes:
        annotators: how many people.
        items: how many items two or more of them annotated.
        without_truth: for how many of these at least one of them entered nothing, or said that
            nobody can know it.
        metric: the metric of the ceiling.
        method: how intervals are computed.
        level: their nominal coverage.
        resamples: how often items were drawn.
        seed: the seed of the random numbers.
        fields: field, such as `persons[].name` → the agreement in it.
        ceiling: what people reach against each other; None if nothing can be scored.
    """

    annotators: Count
    items: Count
    without_truth: Count
    metric: str
    method: str
    level: Finite
    resamples: Count
    seed: Count
    fields: dict[str, FieldAgreement]
    ceiling: Ceiling | None = None
