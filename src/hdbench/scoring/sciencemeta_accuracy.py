"""ScienceMetaBench: similarity of bibliographic fields (`hdb/sciencemeta_accuracy`).

The method is ScienceMetaBench's (OpenDataLab, 2025). Its description and its published example
follow the same rule, so both protocols score alike, except that `published` compares texts as they
are. They also differ in what they score: `published` takes a corrected ground truth as it was
published, and treats an answer that is only an error as a record.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from hdbench.common.bounds import MAX_CHARACTER_PAIRS, MAX_DEPTH
from hdbench.common.jsonio import is_too_deep
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import (
    ANSWERED,
    COUNTS,
    EFFORT,
    LESS,
    PERFECT,
    REQUESTED,
    Corrected,
    Divisors,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    Outcome,
    added,
    check_fields,
    check_flag,
    is_any,
    mean,
    only_if,
    plain,
    ratio,
    truncated,
)

# Forms of a bibliographic field in which the same thing is equal however it is written

IDENTIFIERS = ("doi", "isbn", "pub_time")
"""The fields that `canonical` knows."""

_DOI_PREFIX = re.compile(r"(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:?")
_ISBN_PREFIX = re.compile(r"isbn(?:-?1[03](?=[\s:]))?")
_SEPARATOR = re.compile(r"[,;、|/]")
_NAME_SEPARATOR = re.compile(r"[,;、|]")
_NO_ISBN = re.compile(r"[^0-9x]")
_ISBN_10 = re.compile(r"[0-9]{9}[0-9x]")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


def normalize(text: str) -> str:
    r"""A text in Unicode's NFKC form, each run of white space as one space, none at the ends.

    Example:
        >>> normalize("选辑（文史部分）\n")
        '选辑(文史部分)'
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def canonical(field: str, text: str) -> str:
    """An identifier in one form, however it was written.

    A DOI: without white space, resolver or `doi:`, and final punctuation. An ISBN: each of those
    that the text lists, as 13 digits. A `pub_time`: its first four-digit year. Text in which
    nothing of the kind is found is only normalised. Case is folded.

    Args:
        field: one of `IDENTIFIERS`.
        text: the field's text.

    Returns:
        The canonical form, empty only for blank text.

    Example:
        >>> canonical("doi", "https://doi.org/10.1186/S41038-017-0090-Z.")
        '10.1186/s41038-017-0090-z'
        >>> canonical("isbn", "3-16-148410-X") == canonical("isbn", "ISBN 978-3-16-148410-0")
        True
        >>> canonical("pub_time", "2021年5月")
        '2021'
    """
    plain = normalize(text).casefold()
    if field == "doi":
        canonical_text = _DOI_PREFIX.sub("", "".join(plain.split()), count=1).rstrip(".,;")
    elif field == "isbn":
        parts = (_NO_ISBN.sub("", _ISBN_PREFIX.sub("", part)) for part in _SEPARATOR.split(plain))
        canonical_text = ",".join(sorted({_isbn_13(part) for part in parts if part}))
    else:
        year = _YEAR.search(plain)
        canonical_text = year.group() if year else ""
    return canonical_text or plain


def names(text: str) -> frozenset[str]:
    """The names or keywords that a text lists, without order.

    They are separated by commas, semicolons, `、` or bars; they are normalised, and case is folded.

    Example:
        >>> sorted(names("MIHAI Carmen,Grosu Catalin， "))
        ['grosu catalin', 'mihai carmen']
    """
    parts = (part.strip() for part in _NAME_SEPARATOR.split(normalize(text).casefold()))
    return frozenset(part for part in parts if part)


def _isbn_13(isbn: str) -> str:
    """A valid 10-digit ISBN as the 13-digit one; anything else as it is."""
    if not _ISBN_10.fullmatch(isbn):
        return isbn
    digits = [10 if sign == "x" else int(sign) for sign in isbn]
    if sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11:
        return isbn
    longer = "978" + isbn[:9]
    weighted = sum(int(sign) * (3 if position % 2 else 1) for position, sign in enumerate(longer))
    return longer + str(-weighted % 10)


# How alike two texts of a field are: the ratio of `difflib.SequenceMatcher`, computed faster

try:
    from cydifflib import SequenceMatcher  # difflib's own procedure, compiled
except ImportError:  # there is no wheel for Python 3.14 yet
    from difflib import SequenceMatcher


def as_text(value: Any) -> str:
    """A field's value as the text to compare: for null the empty text, otherwise its `str()`.

    Raises:
        HdbenchError: it is an object or list that is nested too deep.

    Example:
        >>> as_text(1917), as_text(None)
        ('1917', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list) and is_too_deep(value):
        raise HdbenchError("a field's value is nested more than {most} deep", most=MAX_DEPTH)
    return "" if value is None else str(value)


def is_too_long(a: str, b: str) -> bool:
    """Return whether comparing two texts would take unbounded time."""
    return len(a) * len(b) > MAX_CHARACTER_PAIRS


def field_similarity(reference: str, prediction: str, *, autojunk: bool = True) -> float:
    """Return how alike two texts of a field are, ignoring case. Not symmetric.

    1.0 if they are equal; 0.0 if one is empty; 1.0 if they are equal in lower case; otherwise
    difflib's ratio of them in lower case, `2 * matching characters / characters of both`, to three
    decimals. 0.0 if they are too long to be compared.

    The description does not say that similarities are rounded before any mean is taken, but only
    then do the figures of its published example come out.

    Args:
        reference: the reference text.
        prediction: the answer's text.
        autojunk: same as in `difflib.SequenceMatcher`.

    Returns:
        A similarity from 0.0 to 1.0, higher is better.

    Example:
        >>> field_similarity("Springer Nature", "springer")
        0.696
    """
    if reference == prediction:
        return 1.0
    if not reference or not prediction:
        return 0.0
    a, b = reference.lower(), prediction.lower()
    if a == b:
        return 1.0
    if is_too_long(reference, prediction):
        return 0.0
    return round(sequence_ratio(a, b, autojunk=autojunk), 3)


def sequence_ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """Exactly `difflib.SequenceMatcher(None, a, b, autojunk).ratio()`. Not symmetric.

    Args:
        a: the first text.
        b: the second text; from 200 characters on, `autojunk` begins no match with a character that
            makes up more than about one in a hundred of it.
        autojunk: same as in difflib.

    Returns:
        A ratio from 0.0 to 1.0, higher is better; 1.0 for two empty texts.

    Example:
        >>> sequence_ratio("abcd", "bcde")
        0.75
    """
    ratio: float = SequenceMatcher(None, a, b, autojunk).ratio()
    return ratio


_PAPER = ("doi", "title", "author", "keyword", "abstract", "pub_time")
_BOOK = ("isbn", "title", "author", "abstract", "category", "pub_time", "publisher")

FIELDS = {"paper": _PAPER, "textbook": _BOOK, "ebook": _BOOK, "book": _BOOK}
"""Kind of record → its fields; a `book` is one whose ground truth does not say which kind it is."""

_SETS = ("author", "keyword")
_SET_RATES = {"precision": ANSWERED, "recall": REQUESTED, "f1": COUNTS}
"""Rate of a set → the counts by which it is divided."""


def _statistics() -> Iterator[str]:
    """The names of an item's statistics."""
    yield from ("accuracy", "perfect", "too_long")
    for kind, fields in FIELDS.items():
        yield f"{kind}.items"
        for field in fields:
            for figure in ("similarity", "both_empty", "no_autojunk", "normalized"):
                yield f"{kind}.{field}.{figure}"
            if field in IDENTIFIERS:
                yield f"{kind}.{field}.canonical"
    for field in _SETS:
        for count in COUNTS:
            yield f"{field}.{count}"
    yield from EFFORT


_RECORDS: Divisors = tuple((f"{kind}.items",) for kind in FIELDS)
"""The numbers of records by which the fields of a kind are divided."""

_FILLED: Divisors = tuple(
    (f"{kind}.items", f"{LESS}{kind}.{field}.both_empty")
    for kind, fields in FIELDS.items()
    for field in fields
)
"""The numbers of pairs that are not both empty, for each field of a kind."""


def _accuracies(
    suffix: str, *, always: bool = True, divided_by: Divisors = _RECORDS
) -> tuple[Figure, ...]:
    return (
        *Figure.rates(f"overall_accuracy{suffix}", always=always, divided_by=divided_by),
        *Figure.rates(f"field_accuracy{suffix}", always=always, table=True),
    )


class PreparedBibliography(NamedTuple):
    """A ground truth, with what scoring needs from it.

    Attributes:
        kind: one of `FIELDS`.
        sha256: the hash of the file that it describes; None if the ground truth does not say.
        values: field → value, as it is.
        texts: field → the text that is compared.
        rewritten: whether it was not written in canonical form.
    """

    kind: str
    sha256: Any
    values: dict[str, Any]
    texts: dict[str, str]
    rewritten: bool


class SciencemetaAccuracy(Metric):
    """Mean similarity of the fields of bibliographic records.

    A record's fields follow from its kind, which is the ground truth's `kind`: `paper`, `textbook`
    or `ebook`. Without one, a ground truth that has `doi` or `keyword` is a paper, and any other is
    a `book`. It must have at least one of its kind's fields. An answer's other keys do not count.

    Degenerate cases: null, `""` and an absent field are the same, and any two of them are equal. An
    unanswered record scores 0.0 in every field, even in empty ones. Without records, accuracy is
    0.0. Texts that are too long to be compared (`MAX_CHARACTER_PAIRS`) and not equal score 0.0, and
    are counted in `too_long`.

    Args:
        protocol: `documented` or `published`.
        no_autojunk: also report accuracy without difflib's `autojunk`.
        normalize_text: also report accuracy after NFKC, and with white space normalised.
        canonical_identifiers: also report accuracy with `doi`, `isbn` and `pub_time` counted as
            right if they are equal in canonical form, and as wrong otherwise.
        sets: also report precision, recall and F1 of `author` and `keyword` as sets.

    Raises:
        HdbenchError: the protocol is unknown, or an option is not true or false.

    Example:
        >>> metric = SciencemetaAccuracy()
        >>> truth = metric.prepare({"doi": "", "title": "On Growth and Form", "pub_time": "1917"})
        >>> answer = {"doi": None, "title": "ON GROWTH AND FORM", "pub_time": 1942}
        >>> [match.similarity for match in metric.explain(metric.score(answer, truth))]
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]
    """

    name: ClassVar[str] = "sciencemeta_accuracy"
    rules: ClassVar[int] = 2
    statistics: ClassVar[tuple[str, ...]] = tuple(_statistics())
    item_figure: ClassVar[str] = "accuracy"
    figures: ClassVar[tuple[Figure, ...]] = (
        *_accuracies(""),
        *Figure.rates("kinds", table=True),
        *_accuracies("_without_both_empty", divided_by=_FILLED),
        *(
            figure
            for suffix in ("_no_autojunk", "_normalized", "_canonical")
            for figure in _accuracies(suffix, always=False)
        ),
        *(
            Figure(
                f"{rate}_{field}",
                "rate",
                True,
                always=False,
                divided_by=(tuple(f"{field}.{count}" for count in counts),),
            )
            for field in _SETS
            for rate, counts in _SET_RATES.items()
        ),
        *Figure.counts("both_empty"),
        *Figure.counts("field_both_empty", table=True),
        *Figure.counts("too_long"),
        *PERFECT,
    )
    field_figures: ClassVar[tuple[Figure, ...]] = (
        *Figure.rates("accuracy"),
        *Figure.counts("both_empty", "items"),
    )
    corrected: ClassVar[Corrected | None] = "field"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = (
        "no_autojunk",
        "normalize_text",
        "canonical_identifiers",
        "sets",
    )

    def __init__(
        self,
        protocol: str = "documented",
        *,
        no_autojunk: bool = False,
        normalize_text: bool = False,
        canonical_identifiers: bool = False,
        sets: bool = False,
    ) -> None:
        super().__init__(protocol)
        self.no_autojunk = check_flag("no_autojunk", no_autojunk)
        self.normalize_text = check_flag("normalize_text", normalize_text)
        self.canonical_identifiers = check_flag("canonical_identifiers", canonical_identifiers)
        self.sets = check_flag("sets", sets)

    def prepare(self, reference: dict[str, Any]) -> PreparedBibliography:
        """The fields of a ground truth.

        Raises:
            HdbenchError: its kind is unknown, it has none of the kind's fields, or a value is
                nested too deep.
        """
        record = self.canonical(reference)
        kind = _kind(record)
        check_fields(self.name, record, FIELDS[kind])
        values = {field: record.get(field) for field in FIELDS[kind]}
        texts = {field: as_text(value) for field, value in values.items()}
        rewritten = record is not reference
        return PreparedBibliography(kind, record.get("sha256"), values, texts, rewritten)

    def score(self, record: dict[str, Any] | None, prepared: PreparedBibliography) -> ItemScore:
        """The similarities of one record's fields, and counts.

        Args:
            record: the answer, a JSON object; None counts as a complete failure.
            prepared: the ground truth, from `prepare`.

        Returns:
            `accuracy`, the mean of the record's own similarities (0.0 to 1.0, higher is better);
            `perfect`: 1 if each field is right to the letter, including case; `too_long`: fields
            that were not compared; `<kind>.items`; and for `<kind>.<field>` the `similarity`,
            whether reference and answer are `both_empty`, and, each 0 without its option,
            `no_autojunk`, `normalized` and `canonical`; the counts of sets of names; `EFFORT`: the
            fields whose similarity is not 1.0, and all fields of the kind.

        Raises:
            HdbenchError: the answer names another file's `sha256`, or is nested too deep.
        """
        kind = prepared.kind
        statistics: dict[str, float] = {"accuracy": 0.0, "perfect": 0, "too_long": 0}
        statistics[f"{kind}.items"] = 1
        answers = dict.fromkeys(prepared.texts, "")
        alike = [0.0] * len(answers)
        answer = self.canonical(record)
        if answer is not None:
            _check_same(answer.get("sha256"), prepared.sha256)
            answers = {field: as_text(answer.get(field)) for field in prepared.texts}
            alike = self._compare(prepared, answers, statistics)
        statistics["corrections"] = len(alike) - alike.count(1.0)
        statistics["values"] = len(alike)
        if self.sets:
            _count_names(prepared.texts, answers, statistics)
        return ItemScore(
            statistics,
            compared=(prepared, answer or {}, answers, alike),
            rewritten=prepared.rewritten or answer is not record,
        )

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each field of one record, in the order of its kind's fields."""
        prepared, record, answers, similarities = score.compared
        matches = []
        for (field, reference), alike in zip(prepared.texts.items(), similarities, strict=True):
            outcome = _outcome(reference, answers[field], alike)
            value = record.get(field)
            matches.append(FieldMatch(field, outcome, prepared.values[field], value, alike))
        return matches

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """Accuracy from the statistics added up over records, 0.0 to 1.0, higher is better.

        Field accuracy is the mean over all records whose kind has the field; overall accuracy is
        the mean over a kind's fields, and over the kinds if there are several.
        """
        kinds = {kind: _field_accuracy(totals, [kind]) for kind in _kinds(totals)}
        return {
            **_figures(totals, "similarity"),
            "kinds": {
                kind: {
                    "overall_accuracy": mean(accuracy.values()),
                    "field_accuracy": accuracy,
                    "items": truncated(totals[f"{kind}.items"]),
                }
                for kind, accuracy in kinds.items()
            },
            **_figures(totals, "similarity", "_without_both_empty", without_empty=True),
            **self._beside(totals),
            "both_empty": sum(_both_empty(totals).values()),
            "field_both_empty": _both_empty(totals),
            "too_long": truncated(totals["too_long"]),
            "items_perfect": truncated(totals["perfect"]),
        }

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, float]]
    ) -> dict[str, dict[str, Any]]:
        """Field → accuracy, pairs of two empty values, and records whose kind has the field."""
        kinds = _kinds(totals)
        empty = _both_empty(totals)
        return {
            field: {
                "accuracy": accuracy,
                "both_empty": empty[field],
                "items": _items(totals, kinds, field),
            }
            for field, accuracy in _field_accuracy(totals, kinds).items()
        }

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """Overall accuracy over the other fields."""
        by_kind = [_field_accuracy(totals, [kind]) for kind in _kinds(totals)]
        means = [
            mean([accuracy for name, accuracy in fields.items() if name != field])
            for fields in by_kind
        ]
        return {"overall_accuracy": mean(means)}

    def _compare(
        self,
        prepared: PreparedBibliography,
        answers: Mapping[str, str],
        statistics: dict[str, float],
    ) -> list[float]:
        """The similarities of an answered record's fields; what follows is put into statistics."""
        alike = []
        for field, reference in prepared.texts.items():
            prediction = answers[field]
            name = f"{prepared.kind}.{field}"
            similarity = field_similarity(reference, prediction)
            alike.append(similarity)
            statistics[f"{name}.similarity"] = similarity
            statistics[f"{name}.both_empty"] = int(not reference and not prediction)
            if not similarity:
                statistics["too_long"] += is_too_long(reference, prediction)
            if self.no_autojunk:
                statistics[f"{name}.no_autojunk"] = field_similarity(
                    reference, prediction, autojunk=False
                )
            if self.normalize_text:
                statistics[f"{name}.normalized"] = field_similarity(
                    normalize(reference), normalize(prediction)
                )
            if self.canonical_identifiers and field in IDENTIFIERS:
                same = canonical(field, reference) == canonical(field, prediction)
                statistics[f"{name}.canonical"] = int(same)
        statistics["accuracy"] = mean(alike)
        statistics["perfect"] = int(answers == prepared.texts)
        return alike

    def _beside(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures that the options add."""
        figures: dict[str, Any] = {}
        if self.no_autojunk:
            figures |= _figures(totals, "no_autojunk", "_no_autojunk")
        if self.normalize_text:
            figures |= _figures(totals, "normalized", "_normalized")
        if self.canonical_identifiers:
            figures |= _figures(totals, "canonical", "_canonical")
        if self.sets:
            for field in _SETS:
                records = _items(totals, _kinds(totals), field)
                if is_any(records):
                    for name, rate in _set_figures(totals, field).items():
                        figures[name] = only_if(records, rate)
        return figures


def _kind(reference: Mapping[str, Any]) -> str:
    kind = reference.get("kind")
    if kind is None:
        return "paper" if "doi" in reference or "keyword" in reference else "book"
    if not isinstance(kind, str) or kind not in FIELDS:
        raise HdbenchError(
            "kind: {kind} must be one of {choices}", kind=repr(kind), choices=", ".join(FIELDS)
        )
    return kind


def _check_same(answered: Any, expected: Any) -> None:
    if answered and expected and answered != expected:
        raise HdbenchError(
            "the answer is for sha256 {answered}, the reference for {expected}: predictions "
            "and references must be in the same order",
            answered=repr(answered),
            expected=repr(expected),
        )


def _outcome(reference: str, prediction: str, alike: float) -> Outcome:
    if alike == 1.0:
        return "correct"
    if not prediction:
        return "missing"
    return "substituted" if reference else "spurious"


def _count_names(
    references: Mapping[str, str], answers: Mapping[str, str], statistics: dict[str, float]
) -> None:
    for field in _SETS:
        if field in references:
            expected, found = names(references[field]), names(answers[field])
            statistics[f"{field}.true_positives"] = len(expected & found)
            statistics[f"{field}.false_positives"] = len(found - expected)
            statistics[f"{field}.false_negatives"] = len(expected - found)


def _kinds(totals: Mapping[str, float]) -> list[str]:
    """The kinds of which there are records."""
    return [kind for kind in FIELDS if is_any(totals[f"{kind}.items"])]


def _kinds_with(field: str, kinds: Sequence[str]) -> list[str]:
    return [kind for kind in kinds if field in FIELDS[kind]]


def _items(totals: Mapping[str, float], kinds: Sequence[str], field: str) -> float:
    """The number of records of some kinds that have a field."""
    return plain(sum(totals[f"{kind}.items"] for kind in _kinds_with(field, kinds)))


def _field_accuracy(
    totals: Mapping[str, float],
    kinds: Sequence[str],
    figure: str = "similarity",
    *,
    without_empty: bool = False,
) -> dict[str, float]:
    """Field → the mean of a figure; without pairs of two empty values, if requested.

    A field with no pairs left has no mean.
    """
    accuracy = {}
    for field in dict.fromkeys(field for kind in kinds for field in FIELDS[kind]):
        # What is not an identifier has no canonical form, and is compared as usual.
        used = "similarity" if figure == "canonical" and field not in IDENTIFIERS else figure
        columns = [f"{kind}.{field}" for kind in _kinds_with(field, kinds)]
        amount = added([totals[f"{column}.{used}"] for column in columns])
        pairs = _items(totals, kinds, field)
        if without_empty:
            empty = plain(sum(totals[f"{column}.both_empty"] for column in columns))
            amount, pairs = amount - empty, pairs - empty
        if is_any(pairs):
            accuracy[field] = ratio(amount, pairs, math.nan)
    return accuracy


def _figures(
    totals: Mapping[str, float], figure: str, suffix: str = "", *, without_empty: bool = False
) -> dict[str, Any]:
    """Overall and field accuracy for one figure."""
    kinds = _kinds(totals)
    by_kind = [
        _field_accuracy(totals, [kind], figure, without_empty=without_empty) for kind in kinds
    ]
    return {
        f"overall_accuracy{suffix}": mean(
            [mean(fields.values(), math.nan) for fields in by_kind if fields]
        ),
        f"field_accuracy{suffix}": _field_accuracy(
            totals, kinds, figure, without_empty=without_empty
        ),
    }


def _both_empty(totals: Mapping[str, float]) -> dict[str, float]:
    """Field → the number of its pairs of two empty values."""
    kinds = _kinds(totals)
    return {
        field: truncated(
            sum(totals[f"{kind}.{field}.both_empty"] for kind in _kinds_with(field, kinds))
        )
        for field in _field_accuracy(totals, kinds)
    }


def _set_figures(totals: Mapping[str, float], field: str) -> dict[str, float]:
    """Precision, recall and F1 of a field's names, from their counts over all records."""
    tp, fp, fn = (totals[f"{field}.{count}"] for count in COUNTS)
    return {
        f"precision_{field}": ratio(tp, tp + fp),
        f"recall_{field}": ratio(tp, tp + fn),
        f"f1_{field}": ratio(2 * tp, 2 * tp + fp + fn),
    }
