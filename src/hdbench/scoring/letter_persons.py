"""The persons of a letter's ground truth, and what each of them may be called."""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError
from hdbench.scoring.letter_values import parts, read_marks, with_marks
from hdbench.scoring.person_names import read_name


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
