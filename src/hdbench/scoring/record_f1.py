"""Records of any form, with lists compared by content: F1 over their fields (`hdb/record_f1`)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from hdbench.scoring.metric import (
    ANSWERED,
    COUNTED,
    COUNTS,
    EFFORT,
    FIELD_FIGURES,
    INDEX,
    OUTCOMES,
    PERFECT,
    REQUESTED,
    Corrected,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    Outcome,
    RecordOutcome,
    added_plainly,
    cached_f1,
    f1,
    figure_names,
    micro_rates_without,
    only_if,
    plain,
    rates_of_fields,
    ratio,
    renamed,
    rounded,
    truncated,
)
from hdbench.scoring.records.compare import (
    DEFAULTS,
    ByPath,
    Fields,
    Pair,
    all_missing,
    compare_by_path,
    compare_fields,
    joined,
    pairs,
    read_options,
)
from hdbench.scoring.records.tree import (
    NO_CHECKS,
    Record,
    as_written,
    most_compared,
    segments_of,
    take_apart,
)
from hdbench.scoring.text_equality import OtherFormError

RECORDS = ("records_found", "records_missed", "records_invented")


class _Compared(NamedTuple):
    """A record, or an item of a list, with what became of its fields and the values compared.

    Attributes:
        pair: the record or item.
        fields: what became of its fields.
        alike: path → similarity of the values that were compared and are not equal.
        references: path → value of what the ground truth has.
        predictions: path → value of what the answer has.
        is_escaped: whether there may be `escaped` keys in paths.
    """

    pair: Pair
    fields: Fields
    alike: Mapping[str, float]
    references: Mapping[str, Any]
    predictions: Mapping[str, Any]
    is_escaped: bool


class RecordF1(Metric):
    """Precision, recall and F1 over the fields of records of any form.

    A field is a leaf of the record, at any depth. A field in both records is a true positive if the
    similarity of the values reaches the threshold, otherwise one false positive and one false
    negative; a field only in the answer is a false positive, one only in the ground truth is a
    false negative.

    The items of a list are first paired: `aligned` lists by what they hold, in any order, so that
    as many fields as possible match, then so that the summed similarity is greatest, then with as
    few pairs as possible; `ordered` lists likewise, but pairs do not cross; lists by `position` as
    they come. Two items can be a pair if a field matches, or if the similarity is 0.5 or more per
    field of the ground truth. An item without a counterpart is missed or invented, with all its
    fields.

    No field of a ground truth is ever left out: an object or list where it has a value is a miss,
    and what it holds is invented. An empty text equals an empty text, and counts nothing where the
    other side has no value. An item without an answer misses every field, empty texts included.

    Paths in options are dotted; `[]` is each item of a list, `*` any one key. A path covers
    everything below it, and the most specific one counts: compared segment by segment from the
    left, a literal comes before `*`, and a longer path before its own beginning.

    Args:
        protocol: `documented` or `published`; a benchmark states the options of each.
        lists: `aligned`, `ordered` or `position`; or path → one of these.
        compare: `similarity`, `exact`, `number`, `date`, `boolean` or `cer` (1 − CER); or path →
            one of these. `number`, `date` and `boolean` can have parameters:
            `{"number": {"locale": "de-CH"}}`, `{"date": {"formats": ["%d.%m.%Y"]}}`,
            `{"boolean": {"true": ["ja"], "false": ["nein"]}}`.
        threshold: the similarity from which two values match, 0.0 to 1.0; or path → similarity.
        normalize: what is done to texts on both sides, in order: `nfc`, `nfkc`, `lowercase`,
            `casefold`, `whitespace`, `punctuation`, `long_s`; or path → such a list.
        blank: the values that count as absent, on both sides, before texts are normalized.
        ignore: paths that are not scored, nor used to pair items.
        weights: path → weight ≥ 0 of its true and false positives and negatives. They do not
            influence how items are paired, nor `similarity`.
        root_list: the name of the list as which a bare list is read where a record is expected.
        leaves: `union`: the fields of both sides; `truth`: only those of the ground truth.
        parents: `drop` leaves out a path from which another goes on with a dot.
        absent: `compare`: two absent values are alike; `skip`: they count nothing.
        dotted_keys: `split` looks up a key with a dot or bracket by its parts: it is not found.
        unanswered: `failure`, or `empty_object`: an item without an answer is one with `{}`.
        round: `{"item": DIGITS, "run": DIGITS}`: rounds figures of items and of the run.
        sum: `exact`: sums are rounded once; `plain`: they are added from left to right.
        figures: name → `{"of": FIGURE, "scale": FACTOR}`: figures under another name.
        similarity: in Python, a function of two values that takes the place of `similarity`: from
            0.0 to 1.0, higher is better. A result names it, and is not computed again by its name.

    `leaves` to `figures` exist to reproduce published results. `leaves`, `parents`, `absent` and
    `dotted_keys` need `lists: position`.

    A key with a dot or bracket is a key of its own: `{"a.b": …}` is not `{"a": {"b": …}}`. It
    cannot be named in a path; `*` covers it, but not in `weights`.

    Raises:
        HdbenchError: the protocol is unknown, or an option is unusable.

    Example:
        >>> metric = RecordF1()
        >>> page = metric.prepare({"entries": [{"name": "Abegg"}, {"name": "Boreux"}]})
        >>> metric.score({"entries": [{"name": "Boreux"}]}, page).statistics["true_positives"]
        1
    """

    name: ClassVar[str] = "record_f1"
    rules: ClassVar[int] = 3
    statistics: ClassVar[tuple[str, ...]] = (
        *COUNTS,
        "f1",
        "similarity",
        "perfect",
        *RECORDS,
        *EFFORT,
    )
    item_figure: ClassVar[str] = "similarity"
    figures: ClassVar[tuple[Figure, ...]] = (
        *Figure.rates("f1_micro", divided_by=(COUNTS,)),
        *Figure.rates("f1_macro"),
        *Figure.rates("precision_micro", divided_by=(ANSWERED,)),
        *Figure.rates("recall_micro", divided_by=(REQUESTED,)),
        *Figure.rates("similarity"),
        Figure("f1_records", "rate", True, always=False, divided_by=(RECORDS,)),
        *COUNTED,
        *PERFECT,
        *Figure.counts("records_found", higher_is_better=True),
        *Figure.counts("records_missed", "records_invented", higher_is_better=False),
    )
    field_figures: ClassVar[tuple[Figure, ...]] = FIELD_FIGURES
    has_form_counts: ClassVar[bool] = True
    corrected: ClassVar[Corrected | None] = "field"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = tuple(DEFAULTS)

    def __init__(self, protocol: str = "documented", **options: Any) -> None:
        super().__init__(protocol)
        self._read = read_options(
            self.canonical(options), figure_names(self), canonical=not self._published
        )
        self._rules = self._read.rules
        self._has_weights = self._read.has_weights
        self._unanswered_is_empty = self._read.values["unanswered"] == "empty_object"
        self._total = math.fsum if self._read.values["sum"] == "exact" else added_plainly

    @property
    def options(self) -> dict[str, Any]:
        """The options and their values; a function by its name."""
        given = self._read.values["similarity"]
        name = getattr(given, "__qualname__", given)
        return {**self._read.values, "similarity": name if given is None else str(name)}

    @property
    def signed_options(self) -> dict[str, Any]:
        """The options that are not the defaults: a signature is one line."""
        return {name: value for name, value in self.options.items() if value != DEFAULTS[name]}

    def as_record(self, prediction: Any) -> Any:
        """A bare list as a record that has it under the name that `root_list` states."""
        if isinstance(prediction, list) and self._read.root_list is not None:
            return {self._read.root_list: prediction}
        return prediction

    def prepare(self, reference: dict[str, Any]) -> Record:
        """The fields and lists of a ground truth.

        Raises:
            HdbenchError: a path in an option cannot name a key of it.
        """
        value = self.canonical(reference)
        self._read.check_keys(value)
        record = take_apart(value, self._rules)
        record.expect(self._rules)
        record.rewritten = value is not reference
        return record

    def score(self, record: dict[str, Any] | None, prepared: Record) -> ItemScore:
        """The counts of one item.

        Args:
            record: the answer, a JSON object; None counts as a complete failure.
            prepared: the item's ground truth, from `prepare`.

        Returns:
            `true_positives`, `false_positives`, `false_negatives` (weighted), `f1`, `similarity`
            (the mean over the ground truth's fields; both 0.0 to 1.0, higher is better), `perfect`:
            1 if the answer needs no edit; `records_found`, `records_missed`, `records_invented`:
            items of lists that are not by position; `EFFORT`: the fields that do not match, and all
            fields, without those of weight 0.
        """
        if record is None and self._unanswered_is_empty:
            record = {}
        if self._read.by_path is not None and record is not None:
            return self._score_by_path(record, prepared)
        try:
            answered = take_apart(record or {}, self._rules)
            compared = [
                self._compare(pair, unanswered=record is None)
                for pair in pairs(Pair("", prepared, answered), self._rules)
            ]
        except OtherFormError:
            return self.score(self.canonical(record), prepared)._replace(rewritten=True)
        fields = compared[0].fields
        alike = [*compared[0].alike.values()]
        if len(compared) > 1:  # it has lists
            fields = {outcome: paths.copy() for outcome, paths in fields.items()}
            for item in compared[1:]:
                for outcome, paths in item.fields.items():
                    fields[outcome] += [joined(item.pair.prefix, path) for path in paths]
                alike += item.alike.values()
        both = len(fields["correct"]) + len(fields["substituted"])
        number = both + len(fields["missing"])
        mean = self._total([both - len(alike), *alike]) / number if number else 1.0
        if record is None:
            mean = 0.0
        if self._rules.has_escaped:
            fields = {outcome: [*map(as_written, paths)] for outcome, paths in fields.items()}
        statistics = self._statistics(fields, mean, exact=record is not None and not alike)
        if len(compared) == 1:
            return ItemScore(statistics, fields, compared, {}, prepared.rewritten)
        statistics |= _count_items(compared, fields, unanswered=record is None)
        return ItemScore(statistics, fields, compared, _not_compared(compared), prepared.rewritten)

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each field of one item, errors first."""
        matches: dict[Outcome, list[FieldMatch]] = {outcome: [] for outcome in OUTCOMES[::-1]}
        records: dict[str, RecordOutcome | None] = {}
        for pair, fields, alike, references, predictions, is_escaped in score.compared:
            record = _unpaired(pair, records)
            for outcome, paths in fields.items():
                for path in paths:
                    field = joined(pair.prefix, path)
                    matches[outcome].append(
                        FieldMatch(
                            as_written(field) if is_escaped else field,
                            outcome,
                            references.get(path),
                            predictions.get(path),
                            alike.get(path, float(outcome == "correct")),
                            record,
                        )
                    )
        return [match for group in matches.values() for match in group]

    def total(self, column: Sequence[float]) -> float:
        """Added up and rounded once, or plainly from left to right, as `sum` states."""
        return self._total(column)

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over items.

        Micro: from the summed counts. `f1_macro`, `similarity`: the mean over items. All rates are
        from 0.0 to 1.0, higher is better. `f1_records` is None where there are no lists.
        """
        tp, fp, fn = (plain(totals[name]) for name in COUNTS)
        found, missed, invented = (plain(totals[name]) for name in RECORDS)
        rates: dict[str, Any] = {
            "f1_micro": f1(tp, fp, fn),
            "f1_macro": ratio(totals["f1"], totals["items"]),
            "precision_micro": ratio(tp, tp + fp),
            "recall_micro": ratio(tp, tp + fn),
            "similarity": ratio(totals["similarity"], totals["items"]),
        }
        if (digits := self._read.digits.get("run")) is not None:
            rates = {name: rounded(rate, digits) for name, rate in rates.items()}
        figures = rates | {
            "f1_records": only_if(found + invented + missed, f1(found, invented, missed)),
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
            "items_perfect": truncated(totals["perfect"]),
            "records_found": found,
            "records_missed": missed,
            "records_invented": invented,
        }
        return figures | renamed(figures | {"items": totals["items"]}, self._read.figures)

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, float]]
    ) -> dict[str, dict[str, Any]]:
        """Field → unweighted counts, precision, recall, F1; the items of a list as one field.

        `entries[]` counts the items of the list themselves: found, invented and missed.
        """
        return rates_of_fields(outcomes)

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """The micro rates without a field, with items paired as they are with it."""

        def weight(path: str) -> float:  # items of lists are not fields
            return 0.0 if path.endswith("[]") else self._weight(path)

        return micro_rates_without(outcomes, field, weight)

    def _compare(self, pair: Pair, *, unanswered: bool) -> _Compared:
        """Return what became of the fields of a record or item."""
        truth, answer = pair.truth, pair.answer
        references = truth.leaves if truth is not None else {}
        predictions = answer.leaves if answer is not None else {}
        if unanswered:
            fields, alike = all_missing(references)
        else:
            checks = truth.checks if truth is not None else NO_CHECKS
            fields, alike = compare_fields(references, predictions, self._rules, checks)
        return _Compared(pair, fields, alike, references, predictions, self._rules.has_escaped)

    def _score_by_path(self, record: dict[str, Any], prepared: Record) -> ItemScore:
        """The counts of one item whose records are compared by path."""
        how = self._read.by_path or ByPath()
        answer = self.canonical(record)
        fields, alike, similarities, references, predictions = compare_by_path(
            prepared.value, answer, how, self._rules
        )
        number = len(similarities)
        mean = self._total(list(similarities.values())) / number if number else 1.0
        pair = Pair("", prepared, None)
        compared = [_Compared(pair, fields, alike, references, predictions, is_escaped=False)]
        statistics = self._statistics(fields, mean, exact=not alike)
        rewritten = prepared.rewritten or answer is not record
        return ItemScore(statistics, fields, compared, rewritten=rewritten)

    def _statistics(
        self, fields: Mapping[Outcome, Sequence[str]], similarity: float, *, exact: bool
    ) -> dict[str, float]:
        """The statistics of one item.

        Args:
            fields: outcome → the fields that had it.
            similarity: the mean over the ground truth's fields.
            exact: whether the answer's values are the ground truth's wherever they match.
        """
        is_perfect = exact and not (
            fields["substituted"] or fields["missing"] or fields["spurious"]
        )
        weigh = self._weigh if self._has_weights else len
        correct, substituted, missing, spurious = map(weigh, fields.values())
        tp, fp, fn = correct, substituted + spurious, substituted + missing
        item_f1 = cached_f1(tp, fp, fn)
        if "item" in self._read.digits:
            item_f1 = round(item_f1, self._read.digits["item"])
            similarity = round(similarity, self._read.digits["item"])
        if self._has_weights:
            correct, substituted, missing, spurious = map(self._counted, fields.values())
        corrections = substituted + missing + spurious
        return {
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
            "f1": item_f1,
            "similarity": similarity,
            "perfect": int(is_perfect),
            "records_found": 0,
            "records_missed": 0,
            "records_invented": 0,
            "corrections": corrections,
            "values": correct + corrections,
        }

    def _weigh(self, paths: Sequence[str]) -> float:
        """The weights of some fields, added up."""
        return math.fsum(map(self._weight, paths))

    def _counted(self, paths: Sequence[str]) -> int:
        """Return how many of some fields count at all."""
        return sum(self._weight(path) > 0 for path in paths)

    def _weight(self, path: str) -> float:
        return self._read.weights[segments_of(path)]


def _count_items(
    compared: Sequence[_Compared], fields: Mapping[Outcome, list[str]], *, unanswered: bool
) -> dict[str, float]:
    """The items of lists that were found, missed and invented; each goes to the fields as well."""
    counts: dict[str, float] = dict.fromkeys(RECORDS, 0)
    outcome: Outcome
    for (prefix, truth, answer), *_ in compared:
        if not prefix:
            continue
        if truth is not None and answer is not None:
            name, outcome = "records_found", "correct"
        elif truth is not None and (truth.size if unanswered else truth.filled):
            name, outcome = "records_missed", "missing"
        elif answer is not None and answer.filled:
            name, outcome = "records_invented", "spurious"
        else:
            continue
        counts[name] += 1
        item = truth if truth is not None else answer
        if item is not None and item.leaves.keys() != {""}:  # a list of values is a field itself
            fields[outcome].append(as_written(INDEX.sub("[]", prefix)))
    return counts


def _not_compared(compared: Sequence[_Compared]) -> Counter[str]:
    """List → how many of the answer's items are too many to be compared."""
    counts: Counter[str] = Counter()
    for (prefix, truth, answer), *_ in compared:
        if truth is None or answer is None:
            continue
        for path, items in truth.lists.items():
            more = len(answer.lists.get(path, ())) - most_compared(len(items))
            if more > 0:
                counts[as_written(INDEX.sub("[]", joined(prefix, path)))] += more
    return counts


def _unpaired(pair: Pair, records: dict[str, RecordOutcome | None]) -> RecordOutcome | None:
    """Whether an item of a list lacks a counterpart; a plain value is a field of what it is in.

    Args:
        pair: the item and its counterpart, after what it is in.
        records: path → what was found so far; the latest, as a missed and an invented item can have
            the same path, and what is in an item follows it at once.
    """
    record: RecordOutcome | None = None
    item = pair.truth if pair.truth is not None else pair.answer
    if item is not None and item.leaves.keys() == {""}:
        of_list = pair.prefix[: pair.prefix.rfind("[")]
        record = records.get(of_list[: of_list.rfind("]") + 1])
    elif pair.prefix and pair.answer is None:
        record = "missed"
    elif pair.prefix and pair.truth is None:
        record = "invented"
    records[pair.prefix] = record
    return record
