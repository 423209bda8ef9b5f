"""Finding the ground-truth values that most good models contradict with the same value."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answer import LOST
from hdbench.answers.csv_lines import read_csv
from hdbench.common.bounds import MAX_WHOLE
from hdbench.common.display.table import Column, Table
from hdbench.common.files import read_errors
from hdbench.common.jsonio import write_json
from hdbench.common.validation import check_file
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message, shortened
from hdbench.evaluation.result import Result
from hdbench.report.audit.models import MAKERS, AskedRun, ask
from hdbench.scoring.error_classes import classify, column_of, field_name, form, pair, text_of
from hdbench.scoring.metric import FieldMatch, Metric, Outcome, ValueForm
from hdbench.scoring.text_equality import similarity
from hdbench.statistics.comparison import check_comparable

_ENTRY = re.compile(r"\](?=\.)")
"""The end of a list entry's path within the path of one of its fields."""


@dataclass(frozen=True)
class Finding:
    """A ground-truth value that most good models contradict with the same value.

    Attributes:
        id: the item's id.
        field: the field's path, without a position in a list if the ground truth lacks the entry.
        truth: the ground-truth value, as it was scored; None if there is none.
        value: what the models read, in the most common spelling; None for nothing.
        agreeing: how many good models give this value.
        good: how many good models there are.
        makers: the makers of the models that give it.
        models: their names, the best first.
        runs: the names of their runs.
        similarity: that of the ground truth and the value, 0.0 to 1.0.
        error_class: the class of the ground truth, as if the value were right and the ground truth
            an answer: `missing`: it lacks the value, `invented`: the models read nothing there,
            `truncated`: it is a part of the value, `over_specified`: the value is a part of it,
            `other_field`: it is what another field has; for the others see
            `hdbench.scoring.error_classes`.
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
    """A benchmark's ground truth compared with what good models read.

    Attributes:
        benchmark: its name.
        dataset_version: the benchmark's version.
        dataset_sha256: the hash of its ground truth.
        metric: the metric that compared values.
        protocol: the metric's protocol.
        headline: the figure that decides which runs are good.
        items: the number of items.
        of_form: how many more ground-truth values differ only in form from what most good models
            read; they are not findings.
        runs: all runs, the best first.
        findings: in the order of the items, and within each by field.
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

    @property
    def table(self) -> Table:
        """A row for each finding."""
        rows = [
            {
                "id": finding.id,
                "field": finding.field,
                "ground truth": finding.truth,
                "models read": finding.value,
                "agreement": f"{finding.agreeing} of {finding.good}",
                "makers": ", ".join(finding.makers),
                "class": finding.error_class,
            }
            for finding in self.findings
        ]
        return Table(
            rows,
            [
                Column("id", title=Message("id")),
                Column("field", "field", Message("field")),
                Column("ground truth", "value", Message("ground truth")),
                Column("models read", "value", Message("models read")),
                Column("agreement", title=Message("agree")),
                Column("makers"),
                Column("class", "word", Message("class")),
            ],
        )


class _Contested(NamedTuple):
    """Contradicted claim: a value of the ground truth or, if `truth` is None, its absence."""

    field: str
    truth: str | None


def audit(runs: Mapping[str, Result]) -> Audit:
    """Find ground-truth values that most good models, by several makers, contradict with one value.

    - **Good models**: see `hdbench.report.audit.models.ask`.
    - **Contradict**: the metric does not count the value as right. An absent ground truth is
      contradicted by a value, and a value by its absence; but not one of several values, such as a
      person in a letter or one of a page's entries: it may have been overlooked. What an entry
      lacks is contradicted by a value in the entries that the metric paired with it. Persons are
      paired with those in the ground truth that are like them; see
      `hdbench.scoring.error_classes.pair`. A lost answer contradicts nothing.
    - **One value**: the same `hdbench.scoring.error_classes.form`, so that `8°` and `in-8` do not
      split the vote; the most common spelling is shown, and in a tie, that of the best model.
    - **Most**: more than half of all good models, including those with other values.
    - **By several makers**: by `MAKERS` or more; see `hdbench.report.audit.models.maker_of`.

    A ground truth with the same form as the value (`Seurat` for `SEURAT`) is not a finding: it is
    only counted. A finding may be a slip in the ground truth, a convention that the prompt does not
    mention, or an error that the models share: a person has to look at the image.

    Args:
        runs: name → result with details, all for the same items.

    Raises:
        HdbenchError: there are no runs; they are not comparable, or a result has no details; the
            good models are by fewer than `MAKERS` makers.
    """
    if not runs:
        raise HdbenchError("no runs: name runs from at least {makers} makers", makers=MAKERS)
    first_name, first = next(iter(runs.items()))
    for name, result in runs.items():
        check_comparable(first_name, first, name, result)
        if len(result.per_item) < len(result.ids):
            raise HdbenchError(
                "{name}: has no details of its items: score its answers with --details", name=name
            )
    all_runs = ask(runs)
    good = [run for run in all_runs if run.good]
    makers = sorted({run.maker for run in good})
    if len(makers) < MAKERS:
        not_asked = [
            Message("{name}: {why}", name=run.name, why=run.why_not)
            for run in all_runs
            if run.why_not
        ]
        raise HdbenchError(
            "{good} good models by {count} makers ({makers}) are too few: add runs from at least "
            "{least} makers, as two may share an error{others}",
            good=len(good),
            count=len(makers),
            makers=", ".join(makers) or Message("none"),
            least=MAKERS,
            others=Message(" (not asked: {runs})", runs=shortened(not_asked)) if not_asked else "",
        )

    findings: list[Finding] = []
    of_form = 0
    for item_id, answers in _answers(runs, good):
        item_findings, alike = _of_item(item_id, answers, first.metric)
        findings += item_findings
        of_form += alike
    return Audit(
        benchmark=first.dataset.benchmark or None,
        dataset_version=first.dataset.dataset_version or None,
        dataset_sha256=first.dataset.dataset_sha256 or None,
        metric=first.metric.name,
        protocol=first.metric.protocol,
        headline=first.headline,
        items=len(first.ids),
        of_form=of_form,
        runs=all_runs,
        findings=findings,
    )


def _answers(
    runs: Mapping[str, Result], good: Sequence[AskedRun]
) -> Iterator[tuple[str, list[tuple[AskedRun, dict[str, Any]]]]]:
    """Yield each item's id and the good runs' answers to it."""
    items = [(run, {item["id"]: item for item in runs[run.name].per_item}) for run in good]
    for item_id in next(iter(runs.values())).ids:
        yield item_id, [(run, items_by_id[item_id]) for run, items_by_id in items]


def _is_agreed(by_run: Mapping[AskedRun, Any], good: int) -> bool:
    """Return whether most good models, by several makers, give a value."""
    return len({run.maker for run in by_run}) >= MAKERS and len(by_run) > good / 2


def _finding(
    item_id: str,
    field: str,
    truth: Any,
    by_run: Mapping[AskedRun, Any],
    *,
    good: int,
    error_class: str = "",
) -> Finding:
    value = _value(by_run)
    return Finding(
        id=item_id,
        field=field,
        truth=truth,
        value=value,
        agreeing=len(by_run),
        good=good,
        makers=sorted({run.maker for run in by_run}),
        models=[run.model for run in by_run],
        runs=[run.name for run in by_run],
        similarity=similarity(truth, value),
        error_class=error_class,
    )


def _of_item(
    item_id: str, answers: Sequence[tuple[AskedRun, Mapping[str, Any]]], metric: Metric
) -> tuple[list[Finding], int]:
    """Return the findings of one item, and how many more differ only in form."""
    truths: dict[_Contested, Any] = {}
    votes: dict[tuple[_Contested, str], dict[AskedRun, Any]] = {}
    for run, item in answers:
        if item["status"] in LOST:
            continue
        matches = [FieldMatch(**match) for match in item["fields"]]
        expected = [match for match in matches if match.outcome != "spurious"]
        entries = {entry for match in expected for entry in _entries(match.field)}
        for match in expected:
            truths.setdefault(_place(match, entries), match.reference)
        for match in _contradictions(matches, metric.set_fields):
            value = form(match.prediction, _kind(match.field, metric))
            by_run = votes.setdefault((_place(match, entries), value), {})
            by_run.setdefault(run, match.prediction)

    agreed: dict[tuple[_Contested, str], dict[AskedRun, Any]] = {}
    of_form = 0
    for (claim, value), by_run in votes.items():
        if _is_agreed(by_run, len(answers)):
            if form(truths.get(claim), _kind(claim.field, metric)) == value:
                of_form += 1
            else:
                agreed[claim, value] = by_run
    # What the models read in all fields: the ground truth, except where they contradict it.
    contradicted = {claim for claim, _ in agreed}
    readings = [(claim.field, _value(by_run)) for (claim, _), by_run in agreed.items()]
    readings += [
        (claim.field, truth) for claim, truth in truths.items() if claim not in contradicted
    ]
    findings = []
    for (claim, _), by_run in agreed.items():
        truth = None if claim.truth is None else truths[claim]
        error = _error_class(claim, _value(by_run), readings, metric)
        findings.append(
            _finding(item_id, claim.field, truth, by_run, good=len(answers), error_class=error)
        )
    findings.sort(key=lambda finding: finding.field)
    return findings, of_form


def _kind(field: str, metric: Metric) -> ValueForm | None:
    return metric.value_forms.get(field_name(field))


def _place(match: FieldMatch, entries: Container[str]) -> _Contested:
    """Return the claim that a match is about.

    Args:
        match: the outcome for a field.
        entries: the paths of the ground truth's entries.
    """
    truth = text_of(match.reference)
    if truth:
        return _Contested(match.field, truth)
    entry = ""
    if match.record != "invented":  # its path is the answer's
        entry = next((path for path in _entries(match.field)[::-1] if path in entries), "")
    return _Contested(entry + field_name(match.field[len(entry) :]), None)


def _entries(path: str) -> list[str]:
    """Return the paths of the entries of lists that a field is in, the outermost first."""
    return [path[: match.end()] for match in _ENTRY.finditer(path)]


def _contradictions(matches: Sequence[FieldMatch], sets: Container[str]) -> Iterator[FieldMatch]:
    """Yield the matches of one answer that differ from the ground truth."""
    for match in pair(matches):
        of_several = match.field.endswith("]") or match.field in sets or match.record is not None
        if match.outcome != "correct" and (form(match.prediction) or not of_several):
            yield match


def _value(by_run: Mapping[AskedRun, Any]) -> Any:
    """Return the most common spelling, None for nothing; in a tie, that of the best run."""
    spellings = Counter(map(text_of, by_run.values()))
    [(most, _)] = spellings.most_common(1)  # in a tie, the one counted first
    return next(value for value in by_run.values() if text_of(value) == most) if most else None


def _error_class(
    claim: _Contested, value: Any, readings: Sequence[tuple[str, Any]], metric: Metric
) -> str:
    """Return the error class of a ground truth as if the models' values were right."""
    outcome: Outcome = "substituted"
    if claim.truth is None:
        outcome = "missing"
    elif value is None:
        outcome = "spurious"
    swapped = FieldMatch(claim.field, outcome, value, claim.truth, 0.0)
    column = column_of(claim.field)
    other_values = [reading for field, reading in readings if column_of(field) != column]
    return classify(swapped, other_values, metric.person_fields, metric.value_forms) or "different"


class FoundField(NamedTuple):
    """A finding as the file has it.

    Attributes:
        field: the field's path.
        read: what the models read; empty for nothing.
        said: how many of them, and by which makers.
    """

    field: str
    read: str
    said: str


def check_ending(path: Path) -> None:
    """Refuse a file that an audit cannot be written to.

    Raises:
        HdbenchError: it ends neither in .csv nor in .json.
    """
    if path.suffix.lower() not in {".csv", ".json"}:
        raise HdbenchError("{place}: must end in .csv or .json", place=path)


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit, as CSV or JSON by the file's ending.

    Raises:
        HdbenchError: it cannot be written.
    """
    if path.suffix.lower() == ".json":
        write_json(path, asdict(audit))
        return
    write_whole(path, audit.table.to_csv())


def read_audited(path: Path) -> Mapping[str, Sequence[FoundField]] | None:
    """Return item → what an audit found in it, from its CSV file; None for other files.

    The file may have been cut, sorted and saved by a spreadsheet program.

    Raises:
        HdbenchError: it cannot be read.
    """
    if path.suffix.lower() != ".csv":
        return None
    check_file(path, MAX_WHOLE, Message("a list of items"))
    with read_errors(path):
        data = path.read_bytes()
    rows = (row.cells for row in read_csv(data, str(path)).rows)
    head = [title.strip().casefold() for title in next(rows, [])]
    if not {"id", "field", "models read"} <= set(head):
        return None
    fields: dict[str, list[FoundField]] = defaultdict(list)
    for cells in rows:
        found = dict(zip(head, cells, strict=False))
        if found.get("id") and found.get("field"):
            agreement = found.get("agreement", "").replace(" of ", "/")  # in no language
            said = filter(None, (agreement, found.get("makers")))
            fields[found["id"]].append(
                FoundField(found["field"], found["models read"], ": ".join(said))
            )
    return dict(fields)
