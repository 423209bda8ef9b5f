"""Finding the truth values that most good models contradict with one same value."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hdbench.analysis.error_classes import classify, pair
from hdbench.analysis.forms import field_name, form, text_of
from hdbench.audit.models import AskedRun, ask
from hdbench.errors import HdbenchError
from hdbench.results.result import Result
from hdbench.scoring.metric import FieldMatch, Metric, Outcome
from hdbench.scoring.similarity import similarity

MAKERS = 3
"""So many makers at least: two may share their training data, or a habit."""

_LOST = ("unanswered", "unparsable")


@dataclass(frozen=True)
class Finding:
    """A truth value that most good models contradict with one same value.

    Attributes:
        id: the item's.
        field: the field's path; of a value that the truth lacks, without its place in a list.
        truth: the truth's value, as it was scored; None where it has none.
        value: what the models read, in the spelling of most of them; None for nothing.
        agreeing: how many good models give this value.
        good: how many good models there are.
        makers: the makers of those that give it.
        models: their names, the best first.
        runs: the names of their runs.
        similarity: of truth and value, 0.0 to 1.0.
        error_class: of the truth, as if the value were right and the truth an answer: `missing`:
            the truth lacks the value, `invented`: the models read nothing there, `truncated`: the
            truth is a part of the value, `over_specified`: has it as a part, `other_field`: it is
            what another field has; for the others see `hdbench.analysis.error_classes`.
    """

    id: str
    field: str
    truth: Any
    value: Any
    agreeing: int
    good: int
    makers: list[str]
    models: list[str]
    runs: list[str]
    similarity: float
    error_class: str


@dataclass(frozen=True)
class Audit:
    """The truth of a benchmark beside what good models read.

    Attributes:
        benchmark: its name.
        dataset_version: of the benchmark.
        dataset_sha256: of its truths.
        metric: by which values were compared.
        protocol: of the metric.
        headline: the figure by which runs are good.
        items: the number of items.
        of_form: how many more truth values differ in nothing but form from what most good models
            read; they are no findings.
        runs: all runs, the best first.
        findings: in the order of the items, and in each by field.
    """

    benchmark: str | None
    dataset_version: str | None
    dataset_sha256: str | None
    metric: str
    protocol: str
    headline: str
    items: int
    of_form: int
    runs: list[AskedRun]
    findings: list[Finding]


class _Place(NamedTuple):
    """What is contradicted: a value of the truth, or, where `truth` is None, its absence."""

    field: str
    truth: str | None


def audit(runs: Mapping[str, Result]) -> Audit:
    """Find the truth values that most good models, of several makers, contradict with one value.

    - **Good models**: see `hdbench.audit.models.ask`.
    - **Contradict**: the metric does not count the value right. A truth that is absent is
      contradicted by a value, and a value by its absence; but not a value of several, as a person
      of a letter or one of a page's ads: it may have been overlooked. Persons are paired with
      those of the truth that are like them; see `hdbench.analysis.error_classes.pair`. A lost
      answer contradicts nothing.
    - **One same value**: the same `hdbench.analysis.forms.form`, so that `8°` and `in-8` do not
      split the vote; the spelling of most is shown, of equally many that of the best model.
    - **Most**: more than half of all good models, those with other values among them.
    - **Of several makers**: of `MAKERS` or more; see `hdbench.audit.models.maker_of`.

    A truth of the same form as the value (`Seurat` for `SEURAT`) is no finding: only counted. What
    is found may be a slip of the truth, a convention that the prompt does not tell, or an error
    that the models share: a person has to look at the image.

    Args:
        runs: name → result with details, all of the same items.

    Raises:
        HdbenchError: there are no runs; they are not comparable, or a result has no details; the
            good models are of fewer than `MAKERS` makers.
    """
    from hdbench.statistics.comparison import check_comparable  # noqa: PLC0415  slow to import

    if not runs:
        raise HdbenchError(f"no runs: name some of {MAKERS} makers at least")
    first_name, first = next(iter(runs.items()))
    for name, result in runs.items():
        check_comparable(first_name, first, name, result)
        if len(result.per_item) < len(result.ids):
            raise HdbenchError(f"{name}: has no details of its items: score its answers with them")
    asked = ask(runs)
    good = [each for each in asked if each.good]
    makers = sorted({each.maker for each in good})
    if len(makers) < MAKERS:
        raise HdbenchError(
            f"the good models ({len(good)}) are of {len(makers)} makers ({', '.join(makers)}): "
            f"name runs of {MAKERS} at least"
        )

    items = {each.name: {item["id"]: item for item in runs[each.name].per_item} for each in good}
    findings: list[Finding] = []
    of_form = 0
    for item_id in first.ids:
        answers = [(each, items[each.name][item_id]) for each in good]
        found, alike = _of_item(item_id, answers, first.metric)
        findings += found
        of_form += alike
    return Audit(
        benchmark=first.dataset.get("benchmark"),
        dataset_version=first.dataset.get("dataset_version"),
        dataset_sha256=first.dataset.get("dataset_sha256"),
        metric=first.metric.name,
        protocol=first.metric.protocol,
        headline=first.headline,
        items=len(first.ids),
        of_form=of_form,
        runs=asked,
        findings=findings,
    )


def _of_item(
    item_id: str, answers: Sequence[tuple[AskedRun, Mapping[str, Any]]], metric: Metric
) -> tuple[list[Finding], int]:
    """The findings of one item, and how many more differ in form alone."""
    truths: dict[_Place, Any] = {}
    votes: dict[tuple[_Place, str], dict[AskedRun, Any]] = {}
    for run, item in answers:
        if item["status"] in _LOST:
            continue
        matches = [FieldMatch(**match) for match in item["fields"]]
        for match in matches:
            if match.outcome != "spurious":
                truths.setdefault(_place(match), match.reference)
        for match in _contradictions(matches, metric.set_fields):
            by_run = votes.setdefault((_place(match), form(match.prediction, match.field)), {})
            by_run.setdefault(run, match.prediction)

    agreed: dict[tuple[_Place, str], dict[AskedRun, Any]] = {}
    of_form = 0
    for (place, value), by_run in votes.items():
        several = len({run.maker for run in by_run}) >= MAKERS
        if several and len(by_run) > len(answers) / 2:
            if form(truths.get(place), place.field) == value:
                of_form += 1
            else:
                agreed[place, value] = by_run
    values = {key: _value(by_run) for key, by_run in agreed.items()}

    # What the models read in all fields: the truth, but where they contradict it.
    contradicted = {place for place, _ in agreed}
    read = [(place.field, value) for (place, _), value in values.items()]
    read += [(place.field, truth) for place, truth in truths.items() if place not in contradicted]
    findings = []
    for key, by_run in agreed.items():
        place, value = key[0], values[key]
        truth = None if place.truth is None else truths[place]
        findings.append(
            Finding(
                id=item_id,
                field=place.field,
                truth=truth,
                value=value,
                agreeing=len(by_run),
                good=len(answers),
                makers=sorted({run.maker for run in by_run}),
                models=[run.model for run in by_run],
                runs=[run.name for run in by_run],
                similarity=similarity(truth, value),
                error_class=_error_class(place, value, read, metric.person_fields),
            )
        )
    findings.sort(key=lambda finding: finding.field)
    return findings, of_form


def _place(match: FieldMatch) -> _Place:
    truth = text_of(match.reference)
    return _Place(match.field, truth) if truth else _Place(field_name(match.field), None)


def _contradictions(matches: Sequence[FieldMatch], sets: Container[str]) -> Iterator[FieldMatch]:
    """The matches of one answer that say something else than the truth."""
    for match in pair(matches):
        of_several = match.field.endswith("]") or match.field in sets
        if match.outcome != "correct" and (form(match.prediction) or not of_several):
            yield match


def _value(by_run: Mapping[AskedRun, Any]) -> Any:
    """The spelling of most, None for nothing; of equally many that of the best run."""
    spellings = Counter(map(text_of, by_run.values()))
    [(most, _)] = spellings.most_common(1)  # of equals the one counted first
    return next(value for value in by_run.values() if text_of(value) == most) if most else None


def _error_class(
    place: _Place, value: Any, read: Sequence[tuple[str, Any]], persons: Container[str]
) -> str:
    """The class of a truth as if it were the answer, and what the models read the truth."""
    outcome: Outcome = "substituted"
    if place.truth is None:
        outcome = "missing"
    elif value is None:
        outcome = "spurious"
    swapped = FieldMatch(place.field, outcome, value, place.truth, 0.0)
    others = [other for field, other in read if field != place.field]
    return classify(swapped, others, persons) or "different"
