"""The class of each error, by stated rules, and the figure that forgives differences of form.

Pure functions on what `Metric.explain` returns for one item after another.

| class | rule, the first that holds | reference → answer |
|---|---|---|
| `missing` | the reference has a letter or digit, the answer none | 1912 → "," |
| `other_field` | the reference has none, the answer is what another field has | (none) → Bern |
| `invented` | the reference has none, the answer has | (none) → Berlin |
| `case` | equal except for capitals (and ſ, ß) | Bern → BERN |
| `white_space` | equal also without white space | De Witt → Dewitt |
| `punctuation` | equal also without signs, or equal in `form` | X,184 → X.184; 8° → In-8 |
| `diacritics` | equal also without diacritics, or with ae, oe, ue for umlauts | Vène → Vene |
| `other_field` | the answer is what another field has | 1902 → Zwickau |
| `truncated` | the answer's words are a piece of the reference's | Maurice Edmond → Maurice |
| `over_specified` | the reference's words are a piece of the answer's | Thieme → Thieme Verlag |
| `number_or_date` | both have digits; all words are numbers, or digits differ alone | 1917 → 1918 |
| `truncated` | the reference's text begins with the answer's | Sklavenhandel → Sklavenh |
| `ocr` | the edit distance is small | Ludvig → Ludwig |
| `different` | all others | Glaser → Blanke |

The first three also depend on what the metric calls missing and spurious. From `punctuation` on,
the forms are compared. A truncated answer has at least `TRUNCATED_SHARE` of the reference, a value
of another field has at least `OTHER_FIELD_LENGTH` letters and digits, and `ocr` has a distance of
at most `OCR_DISTANCE`. Numbers may be Roman ones, if there are others. White space and signs
between two digits always separate them: "12-20" is not "1220". The same field of another object in
a list is not another field: many companies of a list are in one city.
"""

import re
import reprlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from hdbench.common.jsonio import is_too_deep
from hdbench.scoring.metric import NO_FORMS, FieldMatch, ValueForm

# The form of a value: what remains of it when the way it is written is disregarded

_UNIFIED = str.maketrans(
    dict.fromkeys("’‘‚‛′´`ʼ‹›＇", "'")
    | dict.fromkeys("“”„‟″«»＂", '"')
    | dict.fromkeys("‐‑‒–—―−⁃", "-")
    | dict.fromkeys("º˚", "°")
    | {"\N{SOFT HYPHEN}": None}
)
_SPACED_SIGN = re.compile(r" ?([^\w\s]) ?")
_INDEX = re.compile(r"\[\d+\]")

_FORMAT = re.compile(r"""(?:in[-.]?\s?)?([0-9]{1,2})\s?(?:[°'".-]|vo|to|mo|o)*""")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_EXTENT = re.compile(r"(?<![^\W\d_])(?:s|pp?|bl)(?![^\W\d_])\.?|[\[\]()]")

_WORD = re.compile(r"[^\W_]+")
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ħ": "h", "æ": "ae", "œ": "oe"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def text_of(value: Any) -> str:
    """Return a JSON value as the text that metrics compare: its `str()`; for nothing, no text.

    Example:
        >>> text_of(1924), text_of(None), text_of([])
        ('1924', '', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        if not value:
            return ""
        return reprlib.repr(value) if is_too_deep(value) else str(value)
    return "" if value is None else str(value)


def field_name(path: str) -> str:
    """Return a field's path without the places in lists.

    Example:
        >>> field_name("advertisements[3].text")
        'advertisements.text'
    """
    return _INDEX.sub("", path)


def column_of(path: str) -> str:
    """Return a field's path, the same for all objects of a list.

    Example:
        >>> column_of("advertisements[3].text"), column_of("subjects[3]")
        ('advertisements.text', 'subjects[3]')
    """
    return field_name(path) if "]." in path else path


def form(value: Any, kind: ValueForm | None = None) -> str:
    """Return a value without the freedom in how to write it; applying this again changes nothing.

    NFKC, case folded (also ſ to s and ß to ss), one kind of quotes and one of dashes, no space
    around a sign, other white space as one space. In addition, by the kind of value:

    - `book_format`: the number in `8°`, `8'`, `8 °`, `in-8`, `8vo`; any other as it is.
    - `year`: its four digits, if there is one group of four.
    - `extent`: without `S.`, `p.`, `pp.`, `Bl.`, brackets, and signs at the ends.

    Args:
        value: a JSON value.
        kind: what kind of value it is; see `Metric.value_forms`.

    Example:
        >>> form("„Ueber  die Ehe“ – ein Vortrag")
        '"ueber die ehe"-ein vortrag'
        >>> form("In-8°", "book_format"), form("[1924?]", "year"), form("X, 184 S.", "extent")
        ('8', '1924', 'x,184')
    """
    text = _plain(text_of(value))
    if kind == "book_format":
        number = _FORMAT.fullmatch(text)
        return number.group(1) if number else text
    if kind == "year":
        years = _YEAR.findall(text)
        return years[0] if len(years) == 1 else text
    if kind == "extent":
        return _stable(text, _plain_extent)
    return text


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits in a text."""
    return _WORD.findall(text)


def joined(parts: Sequence[str]) -> str:
    """Return parts with nothing between them, except a space between two digits.

    Example:
        >>> joined(["X", "184"]), joined(["12", "20"])
        ('X184', '12 20')
    """
    pieces: list[str] = []
    for part in parts:
        if pieces and pieces[-1][-1].isdigit() and part[0].isdigit():
            pieces.append(" ")
        pieces.append(part)
    return "".join(pieces)


def key(text: str) -> str:
    """Return a text's letters and digits."""
    return joined(words_of(text))


def without_diacritics(text: str) -> set[str]:
    """Return a lower-case text without its diacritics, and one with umlauts as two letters.

    Example:
        >>> sorted(without_diacritics("müller"))
        ['mueller', 'muller']
    """
    return {
        "".join(
            character
            for character in unicodedata.normalize("NFKD", spelt).translate(_PLAIN_LETTERS)
            if not unicodedata.combining(character)
        )
        for spelt in (text, text.translate(_UMLAUTS))
    }


def _plain(text: str) -> str:
    return _stable(text, _plain_once)


def _stable(text: str, step: Callable[[str], str]) -> str:
    """Repeat a step until it changes nothing: one can make way for the next."""
    while (next_text := step(text)) != text:
        text = next_text
    return text


def _plain_once(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).casefold()
    return _SPACED_SIGN.sub(r"\1", " ".join(folded.split()))


def _plain_extent(text: str) -> str:
    return _plain(_EXTENT.sub(" ", text)).strip(" .,;:")


ErrorClass = Literal[
    "missing",
    "invented",
    "case",
    "white_space",
    "punctuation",
    "diacritics",
    "other_field",
    "truncated",
    "over_specified",
    "number_or_date",
    "ocr",
    "different",
]
ERROR_CLASSES: tuple[ErrorClass, ...] = get_args(ErrorClass)

OCR_DISTANCE = 0.25
"""Maximum edit distance of an OCR-like error, divided by the length of the longer form."""

TRUNCATED_SHARE = 0.25
"""Minimum share of the reference's letters and digits that a truncated answer has."""

PAIRED_SIMILARITY = 0.7
"""Minimum similarity of a missing and a spurious person to be one; in any word order."""

OTHER_FIELD_LENGTH = 3
"""Minimum number of letters and digits in a value of another field: a shorter one is often
chance."""

PAGE_SIMILARITY = 0.5
"""Minimum share of a page's characters that need no edit, if others are taken for confused: where
lines are in another order, letters meet by chance."""

MAX_EXAMPLE = 20
"""Maximum number of characters of an example before and after what was confused."""

_BEFORE_WORD = re.compile(r".*\s", re.DOTALL)
_AFTER_WORD = re.compile(r"\s.*", re.DOTALL)
_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[0-9]+|m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")


class ConfusionExample(NamedTuple):
    """A place where characters were confused.

    Attributes:
        item: the item's number, from 0.
        field: the path of the text.
        truth: the reference's text.
        place: where in it the characters begin.
        confused: these, and what the answer has for them.
    """

    item: int
    field: str
    truth: str
    place: int
    confused: tuple[str, str]

    @property
    def words(self) -> str:
        """The word in which that was so, right and wrong."""
        old, new = self.confused
        before = self.truth[max(0, self.place - MAX_EXAMPLE) : self.place]
        after = self.truth[self.place + len(old) : self.place + MAX_EXAMPLE]
        before, after = _BEFORE_WORD.sub("", before), _AFTER_WORD.sub("", after)
        return f"{before}{old}{after} → {before}{new}{after}"


class ErrorSummary(NamedTuple):
    """Number of errors of each class.

    Attributes:
        total: class → number of errors.
        fields: field, with a list's items as one → class → number of errors.
        confusions: one or two characters in the reference and in the answer → how often the former
            were read as the latter, in errors of the class `ocr`.
        examples: the same pairs → the first place where that was so.
    """

    total: Counter[ErrorClass]
    fields: dict[str, Counter[ErrorClass]]
    confusions: Counter[tuple[str, str]]
    examples: dict[tuple[str, str], ConfusionExample]


class FormCounts(NamedTuple):
    """Counts in which values that differ only in form are right."""

    true_positives: int
    false_positives: int
    false_negatives: int


def classify(
    match: FieldMatch,
    record_values: Collection[Any] = (),
    persons: Container[str] = (),
    forms: Mapping[str, ValueForm] = NO_FORMS,
) -> ErrorClass | None:
    """Return the class of one error, by this module's rules; None if the metric finds no error.

    A person's name "Last, First" is also taken as "First Last", and the earlier class counts. Two
    values with the same text that the metric considers different are `different`.

    Args:
        match: what became of a field, by any metric; paired, if it is one of a set of values.
        record_values: what the ground truth has in its other fields.
        persons: the fields whose values are names of persons; see `Metric.person_fields`.
        forms: what kind of values a field has; see `Metric.value_forms`.

    Example:
        >>> classify(FieldMatch("publisher", "substituted", "Thieme", "Thieme Verlag", 0.63))
        'over_specified'
        >>> classify(FieldMatch("author.last_name", "spurious", None, "Bern", 0.0), ["Bern", 1924])
        'other_field'
    """
    return _classify(match, _keys(record_values), persons, forms)


def errors(
    matches: Sequence[FieldMatch],
    persons: Container[str] = (),
    forms: Mapping[str, ValueForm] = NO_FORMS,
) -> list[tuple[FieldMatch, ErrorClass]]:
    """Return the errors of one item with their classes, after `pair`.

    Args:
        matches: what `Metric.explain` returns. For an item without an answer, all are missing.
        persons: see `classify`.
        forms: see `classify`.
    """
    values: dict[str, list[Any]] = {}
    for match in matches:
        values.setdefault(column_of(match.field), []).append(match.reference)
    own = {field: _keys(references) for field, references in values.items()}
    fields_with = Counter(key for keys in own.values() for key in keys)
    classified = []
    for match in pair(matches):
        elsewhere = _Elsewhere(fields_with, own[column_of(match.field)])
        if error := _classify(match, elsewhere, persons, forms):
            classified.append((match, error))
    return classified


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """The keys of all fields but one; a set for each field would take quadratic time."""

    fields_with: Mapping[str, int]
    own: frozenset[str]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.fields_with.get(key, 0) > (key in self.own)


def pair(matches: Sequence[FieldMatch]) -> list[FieldMatch]:
    """Return the matches of one item, a missing and a spurious value of a set being one match.

    A set is a field with several values and no places, such as the persons of a letter. The most
    similar two are paired first, if their similarity is at least `PAIRED_SIMILARITY`; two values
    that are both numbers or dates are always paired. Values with places in a list (Avisblatt's ads)
    have been paired by their metric, and so have the items of lists that are records.

    Example:
        >>> missing = FieldMatch("sender_persons", "missing", "Muster, Anna", None, 0.0)
        >>> spurious = FieldMatch("sender_persons", "spurious", None, "Frau Anna Muster", 0.0)
        >>> [match.outcome for match in pair([missing, spurious])]
        ['substituted']
    """
    truths, answers = (
        [
            (position, match.field, words_of(form(value)))
            for position, match in enumerate(matches)
            if match.outcome == outcome and not match.field.endswith("]") and match.record is None
            for value in (match.reference if outcome == "missing" else match.prediction,)
        ]
        for outcome in ("missing", "spurious")
    )
    candidates = [
        (-alike, position, other)
        for position, field, words in truths
        for other, other_field, other_words in answers
        if field == other_field and (alike := _likeness(words, other_words)) >= PAIRED_SIMILARITY
    ]
    paired: dict[int, FieldMatch | None] = {}
    for alike, position, other in sorted(candidates):
        if position not in paired and other not in paired:
            value = matches[other].prediction
            paired[position] = matches[position]._replace(
                outcome="substituted", prediction=value, similarity=-alike
            )
            paired[other] = None
    remaining = (paired.get(position, match) for position, match in enumerate(matches))
    return [match for match in remaining if match]


def summarise(
    items: Iterable[Sequence[tuple[FieldMatch, ErrorClass]]],
    *,
    pages: bool = False,
    watched: Container[str] = (),
) -> ErrorSummary:
    """Count the classes of all errors, and the characters that were confused.

    Args:
        items: what `errors` returns, item by item.
        pages: whether values are texts of pages: in these, characters of all classes count.
        watched: characters that also count if they were left out, as confused with nothing.
    """
    fields: dict[str, Counter[ErrorClass]] = {}
    counted: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], ConfusionExample] = {}
    for number, match, error in (
        (number, *each) for number, of_item in enumerate(items) for each in of_item
    ):
        fields.setdefault(field_name(match.field), Counter())[error] += 1
        if error != "ocr" and not pages:
            continue
        truth = unicodedata.normalize("NFC", text_of(match.reference))
        answer = unicodedata.normalize("NFC", text_of(match.prediction))
        if error == "ocr" or Levenshtein.normalized_similarity(truth, answer) >= PAGE_SIMILARITY:
            for old, new, place in confused(truth, answer, watched):
                if not any(map(str.isspace, old + new)):
                    counted[old, new] += 1
                    example = ConfusionExample(number, match.field, truth, place, (old, new))
                    examples.setdefault((old, new), example)
    total: Counter[ErrorClass] = Counter()
    for _, counts in sorted(fields.items()):
        total.update(counts)
    return ErrorSummary(total, dict(sorted(fields.items())), counted, examples)


def confused(
    truth: str, answer: str, watched: Container[str] = ()
) -> Iterator[tuple[str, str, int]]:
    """Yield characters of a reference, one or two, that are one or two others in the answer.

    Derived from the edit operations of the Levenshtein distance; adjacent ones are taken together,
    two characters for two as one for one each. Longer replacements, and what was only left out or
    added, are not confused.

    Args:
        truth: the reference, in NFC as the answer.
        answer: the answer.
        watched: see `summarise`.

    Yields:
        What was confused, with what, and where in the reference it begins.

    Example:
        >>> list(confused("Haſe im Kern", "Hafe in Kem"))
        [('ſ', 'f', 2), ('m', 'n', 6), ('rn', 'm', 10)]
    """
    at_truth = at_answer = 0
    blocks = Levenshtein.editops(truth, answer).as_matching_blocks()
    for block in blocks:  # the last one is empty, at both ends
        old, new = truth[at_truth : block.a], answer[at_answer : block.b]
        if len(old) == len(new) <= 2:  # noqa: PLR2004
            for offset, pair in enumerate(zip(old, new, strict=True)):
                yield *pair, at_truth + offset
        elif {len(old), len(new)} == {1, 2}:
            yield old, new, at_truth
        else:
            for offset, sign in enumerate(old):
                if sign in watched:
                    yield sign, "", at_truth + offset
        at_truth, at_answer = block.a + block.size, block.b + block.size


def form_counts(
    items: Iterable[Sequence[FieldMatch]], forms: Mapping[str, ValueForm] = NO_FORMS
) -> FormCounts:
    """Return the counts for the figure `f1_form`, for metrics that count fields: cards and letters.

    What the metric counts as right is right, and so is a pair of values, after `pair`, with the
    same `form`. Each field has the weight 1.

    Args:
        items: what `Metric.explain` returns, item by item.
        forms: see `classify`.
    """
    counts: Counter[str] = Counter()
    for match in chain.from_iterable(map(pair, items)):
        is_forgiven = match.outcome == "substituted" and (
            _form(match.reference, match, forms) == _form(match.prediction, match, forms)
        )
        counts["correct" if is_forgiven else match.outcome] += 1
    wrong = counts["substituted"]
    return FormCounts(counts["correct"], wrong + counts["spurious"], wrong + counts["missing"])


def _classify(  # noqa: PLR0911  one return per rule
    match: FieldMatch,
    other_keys: Container[str],
    persons: Container[str],
    forms: Mapping[str, ValueForm],
) -> ErrorClass | None:
    if match.outcome == "correct":
        return None
    truth, answer = text_of(match.reference), text_of(match.prediction)
    has_truth, has_answer = bool(words_of(truth)), bool(words_of(answer))
    if match.outcome == "missing" or (has_truth and not has_answer):
        return "missing"
    if match.outcome == "spurious" or (has_answer and not has_truth):
        is_other = key(form(answer)) in other_keys
        return "other_field" if is_other else "invented"
    if truth == answer:
        return "different"
    folded, folded_answer = _folded(truth), _folded(answer)
    if folded == folded_answer:
        return "case"
    if joined(folded.split()) == joined(folded_answer.split()):
        return "white_space"
    answer = _form(answer, match, forms)
    readings = [
        _form(name, match, forms) for name in _readings(truth, is_person=match.field in persons)
    ]
    classes = [_compare_forms(reading, answer, other_keys) for reading in readings]
    return min(classes, key=ERROR_CLASSES.index)


def _form(value: Any, match: FieldMatch, forms: Mapping[str, ValueForm]) -> str:
    return form(value, forms.get(field_name(match.field)))


def _compare_forms(  # noqa: PLR0911  one return per rule
    truth: str, answer: str, other_keys: Container[str]
) -> ErrorClass:
    words, answer_words = words_of(truth), words_of(answer)
    truth_key, answer_key = joined(words), joined(answer_words)
    if truth == answer or truth_key == answer_key:
        return "punctuation"
    if without_diacritics(truth_key) & without_diacritics(answer_key):
        return "diacritics"
    if answer_key in other_keys:
        return "other_field"
    share = len(answer_key) / len(truth_key) if truth_key else 0.0
    if share >= TRUNCATED_SHARE and _holds(words, answer_words):
        return "truncated"
    if _holds(answer_words, words):
        return "over_specified"
    if _differ_in_numbers(words, answer_words):
        return "number_or_date"
    if share >= TRUNCATED_SHARE and truth_key.startswith(answer_key):
        return "truncated"
    distance = Levenshtein.normalized_distance(truth, answer, score_cutoff=OCR_DISTANCE)
    return "ocr" if distance <= OCR_DISTANCE else "different"


def _readings(truth: str, *, is_person: bool) -> list[str]:
    """Return a reference's text, and a person's name also in the other order."""
    last, comma, first = truth.partition(",")
    return [truth, f"{first} {last}"] if comma and is_person else [truth]


def _keys(values: Iterable[Any]) -> frozenset[str]:
    forms = (key(form(value)) for value in values)
    return frozenset(text for text in forms if len(text) >= OTHER_FIELD_LENGTH)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether a part's words are among the words, contiguously."""
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(words)} "


def _differ_in_numbers(words: Sequence[str], others: Sequence[str]) -> bool:
    texts = "".join(words), "".join(others)
    if not all(map(_DIGITS.search, texts)):
        return False
    return _are_numbers([*words, *others]) or _DIGITS.sub("", texts[0]) == _DIGITS.sub("", texts[1])


def _are_numbers(words: Iterable[str]) -> bool:
    return all(map(_NUMBER.fullmatch, words))


def _likeness(truth: Sequence[str], answer: Sequence[str]) -> float:
    """Return the similarity of two values' words, 0.0 to 1.0; at least 0.7 for numbers or dates."""
    alike = fuzz.token_sort_ratio(" ".join(truth), " ".join(answer)) / 100
    if truth and answer and _are_numbers([*truth, *answer]):
        return max(alike, PAIRED_SIMILARITY)
    return alike
