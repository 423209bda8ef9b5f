"""What a person asks of a plan, and which wishes cannot be met."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError, Message
from hdbench.statistics.acceptance import CONFIDENCE, by_betting, by_rule, least_items
from hdbench.trust.values import fields_of

Right = Literal["letter", "threshold"]
VerdictName = Literal["rule", "exact"]

RIGHTS: tuple[Right, ...] = ("letter", "threshold")

MAX_LIMIT = 0.5
"""The highest limit: with more wrong values than right ones, nothing is worth taking over."""


@dataclass(frozen=True)
class PlanOptions:
    """What a person asked for; see `hdbench.trust.plan.Plan`.

    Attributes:
        number: how many items are to be checked.
        limit: see `Plan`.
        confidence: see `Plan`.
        fields: paths; without any, all that an item has one value of.
        right: see `Plan`.
        verdict: see `Plan`.
        by: columns of the benchmark whose values make strata; none for a simple sample.
        seed: of the draw.
        scores: a table of trust scores; without it, the agreement of the runs is the score.
    """

    number: int
    limit: float = 0.05
    confidence: float = CONFIDENCE
    fields: Sequence[str] = ()
    right: Right = "letter"
    verdict: VerdictName = "rule"
    by: Sequence[str] = ()
    seed: int = 0
    scores: Path | None = None


def check_wish(wish: PlanOptions) -> None:
    """Refuse what no plan can promise.

    Raises:
        HdbenchError: the confidence is not calibrated, the limit makes no sense, the sample is too
            small for it, or the exact verdict is to decide from a stratified sample.
    """
    if wish.confidence != CONFIDENCE:
        raise HdbenchError(
            "--confidence {confidence}: only {possible} is possible: the rule was calibrated for "
            "it, and nobody has tested what it promises at another confidence",
            confidence=f"{wish.confidence:g}",
            possible=f"{CONFIDENCE:g}",
        )
    if not 0 < wish.limit <= MAX_LIMIT:
        raise HdbenchError(
            "--limit {limit}: must be above 0 and at most {most}",
            limit=f"{wish.limit:g}",
            most=f"{MAX_LIMIT:g}",
        )
    least = least_items(wish.limit, wish.confidence)
    if wish.number < least:
        raise HdbenchError(
            "-n {number}: too few: at least {least:,} items have to be checked to show that at "
            "most {limit:.3g} of the values are wrong, even if no error is found; 150 or more are "
            "usual",
            number=wish.number,
            least=least,
            limit=wish.limit,
        )
    if wish.by and wish.verdict == "exact":
        raise HdbenchError(
            "--verdict exact: needs a simple random sample: leave out --by, or decide by the rule"
        )


def check_number(wish: PlanOptions, fields: int, items: int) -> None:
    """Refuse a sample from which nothing could be shown with so few fields.

    Args:
        wish: what was asked for.
        fields: how many values of an item may be taken over.
        items: how many items there are.

    Raises:
        HdbenchError: there are too few items; even without any error the verdict would be that
            nothing can be taken over, and the message says how many have to be checked.
    """
    if items < least_items(wish.limit, wish.confidence):
        raise HdbenchError(
            "{items:,} items are too few: values of one item go wrong together, so that nothing "
            "can be promised from so few: look at every value",
            items=items,
        )
    if _is_enough(wish, fields, wish.number):
        return
    low, high = wish.number, 2 * wish.number
    while not _is_enough(wish, fields, high) and high < items:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_enough(wish, fields, middle) else (middle, high)
    values = Message("1 value each" if fields == 1 else "{count} values each", count=fields)
    raise HdbenchError(
        "-n {number}: too few: with {values}, at least {least:,} items have to be checked to show "
        "that at most {limit:.3g} of the values are wrong, even if no error is found",
        number=wish.number,
        values=values,
        least=high,
        limit=wish.limit,
    )


def _is_enough(wish: PlanOptions, fields: int, number: int) -> bool:
    verdict = (
        by_rule(wish.limit, wish.confidence)
        if wish.verdict == "rule"
        else by_betting(fields, wish.limit, wish.confidence)
    )
    _, holds = verdict(np.full(number, fields), np.zeros(number, dtype=np.int64))
    return holds


def chosen_fields(benchmark: Benchmark, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """The fields whose values may be taken over, and those left out as items have several of them.

    Args:
        benchmark: the benchmark.
        wanted: the paths that were asked for; none for all.

    Returns:
        Their paths; if fields were asked for, no others count as left out.

    Raises:
        HdbenchError: the benchmark does not say its fields; a field does not exist, or an item may
            have several values of it.
    """
    schema = benchmark.answer_schema()
    if schema is None:
        raise HdbenchError(
            "{benchmark}: has no answer.schema.json, which names its fields", benchmark=benchmark.id
        )
    single, several = fields_of(schema)
    known = [field.path for field in single]
    names = list(dict.fromkeys(name.removesuffix("[]") for name in wanted)) or known
    for name in names:
        if any(path == name or path.startswith(f"{name}[]") for path in several):
            raise HdbenchError(
                "--fields {field}: an item may have several values of it, and these go wrong "
                "together: choose among {known}",
                field=name,
                known=", ".join(known) or Message("the fields of other benchmarks"),
            )
        if name not in known:
            raise HdbenchError(
                "--fields {field}: no such field; {benchmark} has {known}{hint}",
                field=name,
                benchmark=benchmark.id,
                known=", ".join(known) or Message("none"),
                hint=did_you_mean(name, known),
            )
    for field in single:
        if field.path in names and not schema.type_of(field.names):
            raise HdbenchError(
                "{benchmark}: {field}: its name has a dot, which stands between names: rename it, "
                "or choose others with --fields",
                benchmark=benchmark.id,
                field=field.path,
            )
    if not names:
        raise HdbenchError(
            "{benchmark}: an item may have several values of every field ({fields}), and these go "
            "wrong together: nothing can be promised about them",
            benchmark=benchmark.id,
            fields=", ".join(several[:5]),
        )
    return names, [] if wanted else several
