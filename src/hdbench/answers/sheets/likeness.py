"""Likeness of a table's columns to a benchmark's fields, by their names."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from hdbench.answers.sheets.fields import FieldPath
from hdbench.answers.sheets.words import meanings, plain, spellings
from hdbench.errors import Message

ALIKE = 80
"""Minimum similarity of two names, in percent, that are not the same."""

SAME, SAME_END, MEANT = 1.0, 0.95, 0.85
"""Likeness of a heading that is a field's path or title, its path's last name, or a word for it."""


class ColumnLikeness(NamedTuple):
    """Likeness of a column and a field.

    Attributes:
        score: from 0.0 to 1.0, higher is better.
        field: the field's index.
        why: the reason, for a person to check.
        sure: whether it is more than a similar spelling.
    """

    score: float
    field: int
    why: str
    sure: bool


class TargetFields:
    """The fields of a benchmark, to be found by the headings of columns.

    Args:
        paths: the fields.

    Example:
        >>> fields = TargetFields([FieldPath("publication.year", "integer")])
        >>> next(fields.like("Erscheinungsjahr"))
        ColumnLikeness(score=0.85, field=0, why='means year', sure=True)
    """

    def __init__(self, paths: Sequence[FieldPath]) -> None:
        self._paths = paths
        self._exact: dict[str, dict[int, float]] = defaultdict(dict)
        self._meant: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
        for index, field in enumerate(paths):
            last = field.path.replace("[]", "").rpartition(".")[2]
            for name, score in ((last, SAME_END), (field.path, SAME), (field.title, SAME)):
                for spelling in spellings(name):
                    self._exact[spelling][index] = score
            for text in {field.path, field.title}:
                if words := meanings(text):
                    self._meant[words[-1]].append((index, words))
        self._names = list(self._exact)

    def like(self, heading: str) -> Iterator[ColumnLikeness]:
        """Yield the fields that are like a column's heading, in no order."""
        name, words = plain(heading), meanings(heading)
        exact: dict[int, float] = {}
        for spelling in spellings(heading):
            for index, score in self._exact.get(spelling, {}).items():
                exact[index] = max(score, exact.get(index, 0.0))
        for index, score in exact.items():
            yield ColumnLikeness(score, index, Message("has the field's name"), sure=True)
        for word in set(words):
            for index, field_words in self._meant.get(word, []):
                if set(words) <= set(field_words):
                    score = MEANT + 0.02 * min(len(set(words)) - 1, 4)
                    meaning = Message(word.replace("_", " "))
                    why = Message("means {what}", what=meaning)
                    yield ColumnLikeness(score, index, why, sure=True)
        for alike, ratio, _ in process.extract(
            name, self._names, scorer=fuzz.ratio, processor=None, score_cutoff=ALIKE, limit=5
        ):
            for index in self._exact[alike]:
                why = Message("is spelled like the field")
                yield ColumnLikeness(0.8 * ratio / 100, index, why, sure=False)

    def near(self, heading: str) -> list[str]:
        """Return the paths of the fields whose names mean what the heading does, and more.

        Example:
            >>> TargetFields([FieldPath("author.last_name", "text")]).near("Verfasser")
            ['author.last_name']
        """
        words = set(meanings(heading))
        return [
            self._paths[index].path
            for index in sorted(
                {
                    index
                    for fields in self._meant.values()
                    for index, field_words in fields
                    if words and words <= set(field_words)
                }
            )
        ]
