"""Rheinschifffahrt: F1 over the date, senders and receivers of letters (`hdb/letters_f1`).

The method is that of the business letters benchmark (RISE, University of Basel, 2022-2025).
`documented` is its description read literally; `published` is what its published results were
computed with. Wherever the two differ, it is noted.
"""

import ast
import math
import re
import reprlib
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from hdbench.common.bounds import MAX_DEPTH, MAX_LITERAL
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import (
    ANSWERED,
    COUNTED,
    COUNTS,
    EFFORT,
    FIELD_FIGURES,
    PERFECT,
    REQUESTED,
    Corrected,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    Outcome,
    added,
    check_fields,
    check_flag,
    counts_and_rates,
    f1,
    plain,
    ratio,
    rounded,
    truncated,
)

# What a name in a letter names: a person by surname, or an organisation or office
#
# General rules for German, and a little English and French; no list of names of real people. They
# serve figures shown next to the score, never the score itself.

_LONGEST = 200
"""Maximum number of characters in a name; anything longer is text, and names nobody."""

_ADDRESS = re.compile(r"(?:herrn?|hr|frau|fräulein|frl|monsieur|madame|mr|mrs|dr|prof)\b")
"""Forms of address for one person. "Herren" is not among them: it often addresses a firm."""

_FIRM = re.compile(
    r"\b(?:ag|a\.\s?-\s?g|gmbh|g\.\s?m\.\s?b\.\s?h|ltd|inc|fa\.|firma|gebr\.|gebrüder)(?!\w)"
    # With initials alone ("A. G. Meier"), only the end of a part tells a firm from a person.
    r"|\b(?:a\.\s?g|s\.\s?a|e\.\s?v)\.?\s*(?=[,;(]|$)"
    r"|(?:&|\+|\bund|\bu\.|\bet)\s*(?:co|cie|comp|söhne|fils|sons)\b"
)

_BODY = re.compile(
    # German compounds these words with others, so they are looked for within words …
    r"gesellschaft|genossenschaft|verein|verband|vorstand|departement|department|direktion"
    r"|redaktion|schriftleitung|gesch(?:ä|ae)ftsleitung|kommission|komitee|ausschuss|kanzlei"
    r"|ministerium|behörde|partei|ausstellung|bureau|büro|société|compagnie|association|committee"
    # … and these at the end of words, or on their own.
    r"|(?:amt|amtes|werk|werke|bank|verwaltung|zeitung|nachrichten)\b"
    r"|\b(?:company|council|society|office|ministry|government|corporation|party|conseil|comité)\b"
)

_OFFICE = (
    r"(?:\w*(?:präsident|direktor|sekretär|inspektor|delegiert|vorsteher|vorsitzend|geschäftsführer"
    r"|redaktor|redakteur|mitglied|minister|notar|advokat|prokurist|ingenieur)(?:in|innen|en|er|e|s)?"
    r"|\w+(?:leiter|leiters|leiterin)"
    r"|(?:regierungs|verwaltungs|bundes|national|stände|stadt|gemeinde)r[aä]t(?:es|s|e|en|in)?"
    r"|president|director|secretary|manager|chairman|editor)"
)
_OFFICES_AT_END = re.compile(rf"(?:(?:^|\s)(?:&\s|und\s)?{_OFFICE})+$")
_OFFICE_OF = re.compile(rf"\b({_OFFICE})\s+(?:der|des|of|für)\b.*")

_NO_SURNAME = re.compile(
    r"herr|herrn|herren|hr|frau|fräulein|frl|monsieur|madame|mr|mrs|dr|prof|der|die|das|den|dem|an"
    r"|sig|gez|ppa"
)
_BESIDE = re.compile(r",|\(|\b[ci]\s?/")
"""Where a person's name ends: "…, Präsident", "… (Basel)", "… i/Fa. …", "… c/o …"."""

_GENERATION = frozenset({"jun", "junior", "jr", "sen", "senior", "sr"})

_HYPHEN = re.compile(r"\s*[-‐-–]\s*")
_ALLIANCE = re.compile(r"(?:-(?:(?:von|van|vom|zu|zur|de|du|der|den|la|le)\s+)*[^\s-]+)+$")
"""The part of a Swiss double name after its hyphen: "-Wackernagel", "-von Planta"."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class NamedBy(NamedTuple):
    """What a name refers to.

    Attributes:
        surname: the person's, in lower case; None if no person is named by one.
        is_organisation: whether it names an organisation or an office.
    """

    surname: str | None
    is_organisation: bool


@lru_cache(maxsize=4096)  # a collection's letters name the same few people again and again
def _read(name: str) -> NamedBy:
    text = unicodedata.normalize("NFC", name).casefold().strip()
    head = _OFFICE_OF.sub(r"\1", _BESIDE.split(text, maxsplit=1)[0]).strip(" .:;")
    person, offices = _OFFICES_AT_END.subn("", head)
    words = _WORD.findall(_ALLIANCE.sub("", _HYPHEN.sub("-", person)))
    while words and words[-1] in _GENERATION:
        words.pop()
    last = words[-1] if words else ""
    is_named = len(last) > 1 and not _NO_SURNAME.fullmatch(last)
    if is_named and _ADDRESS.match(text) and not _is_body(head):
        return NamedBy(last, False)  # whatever follows: his firm, his office
    is_organisation = bool(offices) or _is_body(text)
    return NamedBy(last if is_named and not is_organisation else None, is_organisation)


def _is_body(text: str) -> bool:
    return bool(_FIRM.search(text) or _BODY.search(text))


def read_name(name: str) -> NamedBy:
    """The surname in a person's name, or whether it is the name of an organisation or office.

    The surname is the last word before the first comma, bracket, "i/" or "c/o", without the second
    part of a double name joined by a hyphen (the Swiss alliance name) and without "jun." and the
    like; capitals are ignored. One letter, a title, an article or an office is not a surname.

    A name is an organisation if it has a company marker (AG, A.-G., GmbH, & Co., Fa.) or a word for
    a body (-gesellschaft, -verein, Direktion, Departement, Vorstand, -amt, Council, …) anywhere; it
    is an office if it ends in a word for one (Präsident, Direktor, Geschäftsführer, …) or has such
    a word before "der", "des", "für" or "of". But one person's form of address at the beginning,
    together with a surname with no such marker before the first comma, makes it a person, whatever
    follows.

    Args:
        name: a name as a letter, a model or an authority file has it.

    Example:
        >>> read_name("Herrn P. Muster - Beispiel, i/Fa. Muster & Co.")
        NamedBy(surname='muster', is_organisation=False)
        >>> read_name("Muster-von Beispiel, Max").surname
        'muster'
        >>> read_name("Der Präsident")
        NamedBy(surname=None, is_organisation=True)
        >>> read_name("Muster, Beispiel & Co.")
        NamedBy(surname=None, is_organisation=True)
    """
    # Checked here, so that the cache never holds a long text.
    return _read(name) if len(name) <= _LONGEST else NamedBy(None, False)


# Reading an answer about a letter: the object that holds it, and the values of a key


_MARKS = {"correspondence": ("<<", ">>"), "function": ("<", ">")}
"""What a person was inferred from → the brackets around the name in the description's texts."""


def metadata(record: dict[str, Any] | None) -> dict[str, Any]:
    """The object that holds the categories; an empty one if there is none."""
    inner = record.get("metadata", record) if record else {}
    if isinstance(inner, str):
        inner = _read_object(inner)
    return inner if isinstance(inner, dict) else {}


def _read_object(text: str) -> Any:
    """The value of a text that is JSON or a Python literal; None if it is neither."""
    try:
        return parse_json(text)
    except ValueError:
        pass
    if len(text) > MAX_LITERAL or sum(map(text.count, "([{")) > MAX_DEPTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's parser warns about odd escapes
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def parts(value: Any) -> list[Any]:
    """The items of a list, or of a text in which `|` separates them; otherwise the value itself."""
    if isinstance(value, str):
        return value.split("|")
    return value if isinstance(value, list) else [value]


def first_text(value: Any) -> str | None:
    """The first value, as the published results took it: only null and "null" count as none."""
    first = next(iter(parts(value)), None)
    return None if first is None or as_text(first) == "null" else as_text(first)


def as_text(value: Any) -> str:
    """A value as text without white space around it."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) else reprlib.repr(value)


def read_marks(name: str) -> tuple[str, str | None]:
    """Return a name without the brackets of an inferred person, and what they say.

    Example:
        >>> read_marks("<Muster, Hans>"), read_marks("<<Muster, Maria>>"), read_marks("Muster")
        (('Muster, Hans', 'function'), ('Muster, Maria', 'correspondence'), ('Muster', None))
    """
    for inferred, (opening, closing) in _MARKS.items():
        if name.startswith(opening) and name.endswith(closing):
            return name[len(opening) : -len(closing)].strip(), inferred
    return name, None


def with_marks(name: str, inferred: str) -> str:
    """Return the name of an inferred person in the brackets that say what it was inferred from."""
    opening, closing = _MARKS[inferred]
    return f"{opening}{name}{closing}"


# The persons of a letter's ground truth, and what each of them may be called


class PreparedPersons(NamedTuple):
    """The persons of one category of a letter.

    Attributes:
        names: each person's name.
        known_as: name or alternate name → the names of the persons who have it.
        surnames: surname → the names of the persons who have it.
        left_out: the names of inferred persons that do not count, with their marks.
    """

    names: tuple[str, ...]
    known_as: dict[str, tuple[str, ...]]
    surnames: dict[str, tuple[str, ...]]
    left_out: frozenset[str]


def prepare_persons(
    category: str, persons: Any, wanted: Mapping[str | None, bool], *, published: bool
) -> PreparedPersons:
    """The persons of one category of a ground truth.

    Args:
        category: the category.
        persons: its value: a list of persons, or one. A person is an object or a name, which may
            have marks; a text can have several names, with `|` between them.
        wanted: what a person was inferred from, None if it was not → whether it counts.
        published: whether the protocol is `published`.

    Raises:
        HdbenchError: a person is neither a name nor an object with a text as its name and a list
            of alternate names, or was inferred from something unknown.
    """
    names: dict[str, None] = {}
    known_as: dict[str, dict[str, None]] = {}
    surnames: dict[str, dict[str, None]] = {}
    bare: dict[str, str] = {}
    left_out: set[str] = set()
    for person in parts(persons):
        if person is None:
            continue
        authority_name, others, inferred = _person(category, person)
        name = authority_name.strip()
        if name in ("", "null", "None"):
            continue
        texts = _known_as(authority_name, others, published=published)
        marked = {} if inferred is None else {with_marks(text, inferred): text for text in texts}
        if not wanted[inferred]:
            left_out.update(marked)
            continue
        names[name] = None
        bare |= marked
        for text in texts:
            known_as.setdefault(text, {})[name] = None
            if surname := read_name(text).surname:
                surnames.setdefault(surname, {})[name] = None
    known_as |= {marked: known_as[text] for marked, text in bare.items()}
    return PreparedPersons(
        tuple(names),
        {text: tuple(found) for text, found in known_as.items()},
        {surname: tuple(found) for surname, found in surnames.items()},
        frozenset(left_out),
    )


def names_in(persons: Any, wanted: Mapping[str | None, bool]) -> Iterator[Any]:
    """Yield the names of an answer's persons: texts as they are, and the names of objects.

    Args:
        persons: a list of persons, one person, or a text in which `|` separates names.
        wanted: see `prepare_persons`; an object whose `inferred` is not wanted is left out.
    """
    for person in parts(persons):
        if not (isinstance(person, dict) and "name" in person):
            yield person
        elif not any(
            person.get("inferred") == inferred and not counts for inferred, counts in wanted.items()
        ):
            yield person["name"]


def _known_as(name: str, others: list[str], *, published: bool) -> Iterable[str]:
    """Return what a person may be called."""
    if not published:
        return {text.strip() for text in (name, *others)} - {"", "null", "None"}
    # The published ground truths have the name without the spaces that the authority file has
    # around it, so such a person was not found there, and the alternate names were not known.
    return {name, *others} if name == name.strip() else {name.strip()}


def _person(category: str, person: Any) -> tuple[str, list[str], str | None]:
    """A person's name and alternate names, as the authority file has them, and the inference."""
    if isinstance(person, str):
        text, inferred = read_marks(person.strip())
        return text, [], inferred
    if not isinstance(person, dict) or person.get("inferred") not in (
        None,
        "function",
        "correspondence",
    ):
        raise HdbenchError(
            "{category}: {person} is not a person of a ground truth",
            category=category,
            person=reprlib.repr(person),
        )
    name, others = person.get("name"), person.get("alternateName")
    others = [] if others is None else others
    if not isinstance(name, str | None) or not isinstance(others, list):
        raise HdbenchError(
            "{category}: {person} must have a name and a list of names",
            category=category,
            person=reprlib.repr(person),
        )
    others = [other for other in others if isinstance(other, str)]
    return name or "", others, person.get("inferred")


PERSONS = ("sender_persons", "receiver_persons")
CATEGORIES = ("send_date", *PERSONS)


def _divided_by(counts: Sequence[str]) -> tuple[str, ...]:
    """Name some counts of all categories."""
    return tuple(f"{category}.{count}" for category in CATEGORIES for count in counts)


class PreparedLetter(NamedTuple):
    """A ground truth, in the form that answers are compared with.

    Attributes:
        dates: the dates; under published, only the first, None if it is null.
        persons: the senders and the receivers, except those that the options leave out.
        rewritten: whether it was not written in canonical form.
    """

    dates: tuple[str | None, ...]
    persons: tuple[PreparedPersons, PreparedPersons]
    rewritten: bool


_Compared = tuple[dict[str, str], list[str | None], list[str]]
"""What became of a category: reference value → the answer's value, for those that both have; those
that the answer misses; those that only the answer has."""


class LettersF1(Metric):
    """Precision, recall and F1 over a letter's date, senders and receivers.

    Each category compares sets: what both have is a true positive, what only the answer has is a
    false positive, and what only the ground truth has is a false negative. A predicted name is a
    person in the ground truth if it is exactly the person's name or one of the alternate names; two
    names of one person are one true positive, and a name that two persons share stands for both.

    A person is a name, a person object of a ground truth, or `{"name": …}`; a text can have several
    names, with `|` between them. Inferred persons of a ground truth (`inferred` in an object, `<…>`
    or `<<…>>` around a name in a text) do not count unless an option asks for them. An answer's
    objects with the same `inferred` are left out, too, whomever they name, and a name in brackets
    is if the ground truth has that person inferred in the same way; any other one in brackets is a
    wrong value. So each ground truth is a perfect answer to itself (published: if its persons are
    objects, and it has a date).

    Differences under `published`: only the first date on either side is compared, and a ground
    truth without a date costs a false negative; the text "None" is a value, and so is an empty text
    as a date; `<…>` and `<<…>>` around a predicted name are removed, whomever it names; a person
    whose name in the authority file begins or ends with white space is found by that name, without
    the white space, but not by alternate names; an empty name finds a person who has an empty
    alternate name; both F1 scores are rounded to 2 decimals.

    Degenerate cases: null, "null", "None" and empty texts are not values. White space around a
    value is ignored. Numbers are compared by their text; anything else that is not a text is a
    wrong value. A zero denominator gives 0.0, so a letter with nothing to find in which nothing was
    found has an F1 of 0.0, but is perfect. A missing answer costs every value in the ground truth.

    Args:
        protocol: `documented` or `published`.
        inferred_from_function: also ask for persons inferred from their function.
        inferred_from_correspondence: also ask for persons inferred from the correspondence.
        skip_signatures: leave out letters with signatures.
        skip_non_signatures: leave out letters without signatures.

    Raises:
        HdbenchError: the protocol is unknown; an option is not true or false; inferred persons are
            asked for under `published`, whose results never count them; both kinds of letters are
            skipped.

    Example:
        >>> metric = LettersF1()
        >>> truth = metric.prepare({
        ...     "send_date": ["1929-03-12"],
        ...     "sender_persons": [{"name": "Muster, Anna", "alternateName": ["Frau Muster"]}],
        ... })
        >>> answer = {"send_date": "1929-03-12", "sender_persons": ["Frau Muster", "Muster AG"]}
        >>> metric.score({"metadata": answer}, truth).statistics["sender_persons.true_positives"]
        1
        >>> metric.score({"metadata": answer}, truth).statistics["false_positives_organisations"]
        1
    """

    name: ClassVar[str] = "letters_f1"
    rules: ClassVar[int] = 3
    statistics: ClassVar[tuple[str, ...]] = (
        *(f"{group}.{count}" for group in (*CATEGORIES, "surname") for count in COUNTS),
        "false_positives_organisations",
        "f1",
        "perfect",
        *EFFORT,
    )
    item_figure: ClassVar[str] = "f1"
    figures: ClassVar[tuple[Figure, ...]] = (
        *Figure.rates("f1_micro", divided_by=(_divided_by(COUNTS),)),
        *Figure.rates(
            "f1_macro",
            divided_by=tuple(
                tuple(f"{category}.{count}" for count in COUNTS) for category in CATEGORIES
            ),
        ),
        *Figure.rates("precision_micro", divided_by=(_divided_by(ANSWERED),)),
        *Figure.rates("recall_micro", divided_by=(_divided_by(REQUESTED),)),
        *Figure.rates("f1_surname", divided_by=(tuple(f"surname.{count}" for count in COUNTS),)),
        *COUNTED,
        *Figure.counts("false_positives_organisations", higher_is_better=False),
        *PERFECT,
        *Figure.rates("categories", table=True),
    )
    field_figures: ClassVar[tuple[Figure, ...]] = FIELD_FIGURES
    set_fields: ClassVar[tuple[str, ...]] = CATEGORIES
    person_fields: ClassVar[tuple[str, ...]] = PERSONS
    has_form_counts: ClassVar[bool] = True
    corrected: ClassVar[Corrected | None] = "value"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = (
        "inferred_from_function",
        "inferred_from_correspondence",
        "skip_signatures",
        "skip_non_signatures",
    )

    def __init__(
        self,
        protocol: str = "documented",
        *,
        inferred_from_function: bool = False,
        inferred_from_correspondence: bool = False,
        skip_signatures: bool = False,
        skip_non_signatures: bool = False,
    ) -> None:
        super().__init__(protocol)
        self.inferred_from_function = inferred_from_function
        self.inferred_from_correspondence = inferred_from_correspondence
        self.skip_signatures = skip_signatures
        self.skip_non_signatures = skip_non_signatures
        for name, value in self.options.items():
            if check_flag(name, value) and self._published and name.startswith("inferred"):
                raise HdbenchError(
                    "{name}: the published results never count inferred persons; choose the "
                    "protocol documented",
                    name=name,
                )
        if skip_signatures and skip_non_signatures:
            raise HdbenchError(
                "skip_signatures and skip_non_signatures together leave out every letter"
            )
        self._wanted = {
            None: True,
            "function": inferred_from_function,
            "correspondence": inferred_from_correspondence,
        }
        self._no_values = ("", "null") if self._published else ("", "null", "None")

    def prepare(self, reference: dict[str, Any]) -> PreparedLetter | None:
        """The values of a ground truth; None for a letter that an option leaves out.

        Raises:
            HdbenchError: it has none of the three categories; a person is neither a name nor an
                object with a text as its name and a list of alternate names, or was inferred from
                something unknown; or it does not say whether the letter has signatures, though an
                option needs that.
        """
        letter = self.canonical(reference)
        if self._is_skipped(letter):
            return None
        check_fields(self.name, letter, CATEGORIES)
        dates: tuple[str | None, ...]
        dates = tuple(self._values(letter.get("send_date")))
        if self._published:
            dates = (first_text(letter.get("send_date")),)
        senders, receivers = (
            prepare_persons(name, letter.get(name), self._wanted, published=self._published)
            for name in PERSONS
        )
        return PreparedLetter(dates, (senders, receivers), letter is not reference)

    def right_answer(self, reference: dict[str, Any]) -> dict[str, Any]:
        """A letter's ground truth with the persons that count, by their names."""
        names = {
            field: [
                name
                for text in names_in(reference[field], self._wanted)
                if isinstance(text, str)
                for name, inferred in [read_marks(text)]
                if self._wanted[inferred]
            ]
            for field in PERSONS
            if reference.get(field) is not None
        }
        return {**reference, **names}

    def score(self, record: dict[str, Any] | None, prepared: PreparedLetter) -> ItemScore:
        """The counts of one letter.

        Args:
            record: the answer, `{"metadata": {…}}` or the inner object; None counts as a complete
                failure.
            prepared: the letter's ground truth, from `prepare`.

        Returns:
            True positives, false positives and false negatives of each category, and of all three
            with persons also found by surname; the false positives that are organisations or
            offices; the `f1` of the letter (0.0 to 1.0, higher is better), `perfect`: 1 if it has
            no error, and `EFFORT`, for which a missing and a spurious value of one category are a
            single value to be corrected.
        """
        counts: list[int] = []
        more = explained = organisations = corrections = 0
        written = metadata(record)
        answer = self.canonical(written)
        compared = self._compare(answer, prepared)
        for (correct, missing, spurious), persons in zip(
            compared, (None, *prepared.persons), strict=True
        ):
            counts += (len(correct), len(spurious), len(missing))
            corrections += max(len(spurious), len(missing))
            if spurious and persons is not None:
                persons_meant: set[str] = set()
                for name in spurious:
                    surname, is_organisation = read_name(name)
                    organisations += is_organisation
                    if surname in persons.surnames:
                        explained += 1
                        persons_meant.update(persons.surnames[surname])
                more += len(persons_meant.difference(correct))
        tp, fp, fn = sum(counts[::3]), sum(counts[1::3]), sum(counts[2::3])
        perfect = int(record is not None and not fp and not fn)
        by_surname = (tp + more, fp - explained, fn - more)
        effort = (corrections, tp + corrections)
        figures = (*counts, *by_surname, organisations, _letter_f1(tp, fp, fn), perfect, *effort)
        statistics = dict(zip(self.statistics, figures, strict=True))
        rewritten = prepared.rewritten or answer is not written
        return ItemScore(statistics, compared=compared, rewritten=rewritten)

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each date and name of one letter, errors first."""
        wrong: list[FieldMatch] = []
        absent: list[FieldMatch] = []
        right: list[FieldMatch] = []
        for name, (correct, missing, spurious) in zip(CATEGORIES, score.compared, strict=True):
            wrong += [FieldMatch(name, "spurious", None, value, 0.0) for value in spurious]
            absent += [FieldMatch(name, "missing", value, None, 0.0) for value in missing]
            right += [
                FieldMatch(name, "correct", reference, value, 1.0)
                for reference, value in correct.items()
            ]
        return wrong + absent + right

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over letters.

        Micro: from the counts summed over letters and categories. Macro F1: the mean of the three
        categories' F1, each from its sums over letters. All are from 0.0 to 1.0, higher is better;
        under published, the two F1 scores are rounded to 2 decimals.
        """
        categories = self.field_rates(totals, {})
        tp, fp, fn = (sum(rates[count] for rates in categories.values()) for count in COUNTS)
        micro = f1(tp, fp, fn)
        macro = added([rates["f1"] for rates in categories.values()]) / len(CATEGORIES)
        return {
            "f1_micro": rounded(micro, 2) if self._published else micro,
            "f1_macro": rounded(macro, 2) if self._published else macro,
            "precision_micro": ratio(tp, tp + fp),
            "recall_micro": ratio(tp, tp + fn),
            "f1_surname": f1(*(totals[f"surname.{count}"] for count in COUNTS)),
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
            "false_positives_organisations": truncated(totals["false_positives_organisations"]),
            "items_perfect": truncated(totals["perfect"]),
            "categories": categories,
        }

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, float]]
    ) -> dict[str, dict[str, Any]]:
        """Category → its counts, precision, recall and F1, from its sums over letters."""
        return {
            category: counts_and_rates(*(plain(totals[f"{category}.{count}"]) for count in COUNTS))
            for category in CATEGORIES
        }

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """The rates of the other categories; those that are rounded are rounded here too."""
        emptied = {f"{field}.{count}": 0 for count in COUNTS} if field in CATEGORIES else {}
        rates = self.rates({**totals, **emptied})
        if emptied:  # the mean was over all three, and this one is now 0.0
            others = [rates["categories"][name]["f1"] for name in CATEGORIES if name != field]
            macro = math.fsum(others) / len(others)
            rates["f1_macro"] = round(macro, 2) if self._published else macro
        names = ("f1_micro", "f1_macro", "precision_micro", "recall_micro")
        return {name: rates[name] for name in names}

    def _is_skipped(self, reference: Mapping[str, Any]) -> bool:
        if not self.skip_signatures and not self.skip_non_signatures:
            return False
        signed = reference.get("has_signatures")
        if not isinstance(signed, bool):
            option = "skip_signatures" if self.skip_signatures else "skip_non_signatures"
            raise HdbenchError(
                "{option}: has_signatures of a ground truth must be true or false, not {signed}",
                option=option,
                signed=repr(signed),
            )
        return self.skip_signatures if signed else self.skip_non_signatures

    def _compare(self, answer: dict[str, Any], prepared: PreparedLetter) -> tuple[_Compared, ...]:
        """Return what became of each category, in order."""
        senders, receivers = prepared.persons
        return (
            self._compare_dates(answer.get("send_date"), prepared.dates),
            self._compare_persons(answer.get("sender_persons"), senders),
            self._compare_persons(answer.get("receiver_persons"), receivers),
        )

    def _compare_dates(self, value: Any, dates: tuple[str | None, ...]) -> _Compared:
        if self._published:
            first = first_text(value)
            predicted = {} if first is None else {first: None}
        else:
            predicted = self._values(value)
        correct = {date: date for date in dates if date is not None and date in predicted}
        return (
            correct,
            [date for date in dates if date not in correct],
            [date for date in predicted if date not in correct],
        )

    def _compare_persons(self, value: Any, persons: PreparedPersons) -> _Compared:
        correct: dict[str, str] = {}
        spurious: list[str] = []
        names, known_as, _, left_out = persons
        answered = [*names_in(value, self._wanted)]
        for text in self._values(answered, keep_empty="" in known_as):
            if text in known_as:
                for name in known_as[text]:
                    correct.setdefault(name, text)
            elif text not in left_out:
                spurious.append(text)
        return correct, [name for name in names if name not in correct], spurious

    def _values(self, value: Any, *, keep_empty: bool = False) -> dict[str, None]:
        """The distinct values of a list, or of a text in which `|` separates them, in order."""
        values: dict[str, None] = {}
        for part in parts(value):
            if part is None:
                continue
            text = as_text(part)
            if self._published and text[:1] == "<":
                text, _ = read_marks(text)
            if text not in self._no_values or (keep_empty and not text):
                values[text] = None
        return values


@lru_cache(maxsize=4096)  # letters have few values, so the same counts come again and again
def _letter_f1(true_positives: int, false_positives: int, false_negatives: int) -> float:
    return f1(true_positives, false_positives, false_negatives)
