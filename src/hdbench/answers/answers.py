"""The answers of a run, one for each item of a benchmark, by ids as people write them."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from hdbench.answers.answer import TEXTS, Answer, ReadAs, WrittenAnswer
from hdbench.answers.entries import Container
from hdbench.answers.field_paths import FieldNames
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import at_least, read_text, read_value
from hdbench.errors import HdbenchError

_ENDING = re.compile(r"\.(json|txt|jpe?g|png|tiff?|webp|gif|bmp|jp2|pdf|xml|md)$", re.IGNORECASE)
_FOLDER = re.compile(r"[/\\]")
_BETWEEN = re.compile(r"[\W_]+")
_PAGE = re.compile(r"(?P<item>.+?)[-_. ](?:p|page|s|seite)?[-_. ]?\d+$", re.IGNORECASE)


class Matched(NamedTuple):
    """Result of matching ids.

    Attributes:
        ids: the benchmark's id → the file's id, for those that differ.
        unknown: the file's ids that fit none of the benchmark's, or several, in order.
        number: how many ids the benchmark has.
    """

    ids: dict[str, str]
    unknown: list[str]
    number: int


def match_ids(file_ids: Iterable[str], item_ids: Iterable[str]) -> Matched:
    """Find the item of each id that is not exactly one of the benchmark's.

    Such an id fits the item from which it differs only by leading zeros, which Excel drops, by a
    file's folder or extension, by case, or by the composition of characters, which macOS changes;
    otherwise by what is between its words and numbers; otherwise by a page number at its end, if no
    other id is a page of the same item.

    Args:
        file_ids: the ids in the file.
        item_ids: the benchmark's ids.

    Raises:
        HdbenchError: two ids fit the same item.

    Example:
        >>> match_ids(["414956", "00415264.jpg"], ["00414956", "00415264"]).ids
        {'00414956': '414956', '00415264': '00415264.jpg'}
        >>> match_ids(["Kasten3 0001"], ["Kasten3_0001.jpg"]).ids
        {'Kasten3_0001.jpg': 'Kasten3 0001'}
    """
    given, items = dict.fromkeys(file_ids), set(item_ids)
    left = [item_id for item_id in given if item_id not in items]
    by_form: dict[str, list[str]] = defaultdict(list)
    by_parts: dict[str, list[str]] = defaultdict(list)
    for item in items.difference(given) if left else ():
        by_form[plain_form(item)].append(item)
        by_parts[form_of_parts(item)].append(item)
    by_parts.pop("", None)  # of names without a letter or digit
    fitting: dict[str, list[str]] = defaultdict(list)
    unknown = []
    for item_id in left:
        candidates = (
            by_form.get(plain_form(item_id))
            or by_parts.get(form_of_parts(item_id))
            or by_form.get(form_without_page(item_id), [])
        )
        if len(candidates) == 1:
            fitting[candidates[0]].append(item_id)
        else:
            unknown.append(item_id)
    for item, ids in fitting.items():
        if len(ids) > 1:
            raise HdbenchError(
                "the ids {first!r} and {second!r} both look like {item!r} of the benchmark: "
                "give one answer for each item, under its id",
                first=ids[0],
                second=ids[1],
                item=item,
            )
    matched = {item: ids[0] for item, ids in fitting.items()}
    return Matched(matched, unknown, len(items))


def plain_form(item_id: str) -> str:
    """Return an id without the parts that may differ: folder, extension, leading zeros and case.

    Example:
        >>> plain_form("Scans/00415264.JPG"), plain_form("415264")
        ('415264', '415264')
    """
    name = _FOLDER.split(unicodedata.normalize("NFC", item_id.strip()))[-1]
    name = _ENDING.sub("", name).casefold()
    return (name.lstrip("0") or "0") if name.isdecimal() else name


def form_of_parts(item_id: str) -> str:
    """Return the words and numbers of an id, whatever is between them; empty if it has none.

    Example:
        >>> form_of_parts("Kasten3 0001"), form_of_parts("scans/kasten3_0001.jpg")
        ('kasten3_0001', 'kasten3_0001')
    """
    return _BETWEEN.sub("_", plain_form(item_id)).strip("_")


def has_ending(name: str) -> bool:
    """Return whether a text ends as the name of an image, or of another file of an item.

    Example:
        >>> has_ending("0001.tif"), has_ending("Bd. 1")
        (True, False)
    """
    return _ENDING.search(name.strip()) is not None


def form_without_page(item_id: str) -> str:
    """Return the form of the item that an id looks like a page of; empty if it does not.

    Example:
        >>> form_without_page("b0012_p3.jpg")
        'b0012'
    """
    page = _PAGE.match(_ENDING.sub("", item_id.strip()))
    return plain_form(page["item"]) if page else ""


MOST_IDS = 1_000
"""Maximum number of a file's ids by which its benchmark is recognized."""

LONGEST_ID = 200
"""Maximum length of an id in characters: no benchmark has a longer one."""


class UnknownIdsError(HdbenchError):
    """A file has ids that the benchmark does not have.

    Args:
        template: see `HdbenchError`.
        ids: the first ids of the file, known or not, each cut to `LONGEST_ID` characters.
        values: see `HdbenchError`.
    """

    def __init__(self, template: str, /, ids: Sequence[str] = (), **values: object) -> None:
        super().__init__(template, **values)
        self.ids = ids


class AnswerReader:
    """Reads answers as files have them.

    A given prediction takes precedence over the text it was read from, unless it is not a record,
    such as null or `{"error": …}`: then the text is read, because it is often the harness that lost
    an answer.

    Args:
        schema: what an answer looks like.
        read_as: how the answers are read.
    """

    def __init__(self, schema: AnswerSchema | None, read_as: ReadAs = ReadAs()) -> None:
        self._schema = schema or AnswerSchema({})
        self.names = FieldNames(self._schema)
        self.read_as = read_as

    def answer(self, item_id: str, fields: WrittenAnswer | None) -> Answer:
        """Return the answer to an item; `unanswered` if there is none.

        Args:
            item_id: the item.
            fields: the answer as its file has it.
        """
        if fields is None:
            return Answer(None, "unanswered", id=item_id)
        read, get = self._renamed(self._read(fields)), fields.get
        text = get("text") or (given if isinstance(given := get("prediction"), str) else None)
        about = text, get("markdown", False), get("tokens"), get("seconds"), get("error")
        return Answer._make((*read[:3], item_id, *about, read.confidences))

    def _read(self, fields: WrittenAnswer) -> Answer:
        text, prediction = fields.get("text") or "", fields.get("prediction")
        if "prediction" in fields:
            if self.read_as.as_given:
                if prediction is None:
                    return Answer(None, "unanswered")
                if isinstance(prediction, dict):
                    return Answer(prediction)
                return Answer(prediction, "unparsable", "other")
            answer = read_value(prediction, self._schema)
            if answer.is_record or not text.strip():
                return answer
        return read_text(text, self._schema)

    def _renamed(self, answer: Answer) -> Answer:
        """Return an answer whose keys may be a field's titles with the field's names."""
        # In what is not a record, no object has a field of the schema.
        is_other = answer.kind in ("other", *TEXTS) and "{" in str(answer.prediction)
        found = at_least("unwrapped", read_value(answer.prediction)) if is_other else answer
        record = found.prediction
        if not isinstance(record, dict) or self.read_as.as_given:
            return answer
        renamed = self.names.renamed(record)
        if renamed is record:
            return answer
        return at_least(found.status, read_value(renamed, self._schema))


class Answers:
    """One run's answers, looked up by the benchmark's ids.

    Args:
        container: the file or folder.
        run: which of its runs.
        ids: the ids of the benchmark.
        benchmark: its name, for messages.
        schema: what an answer looks like.
        left_out: ids in the file that are not the benchmark's, and do not count.

    Attributes:
        number: how many items there are.
        reader: how the answers are read.
        renamed: the benchmark's id → the file's id, for those that differ.

    Raises:
        UnknownIdsError: an id is not one of the benchmark's.
        HdbenchError: two ids fit the same item.
    """

    def __init__(
        self,
        container: Container,
        run: str | None,
        ids: Iterable[str],
        benchmark: str,
        schema: AnswerSchema | None,
        *,
        left_out: Collection[str] = (),
    ) -> None:
        self._container, self._keys = container, container.runs[run]
        if left_out:
            self._keys = {each: key for each, key in self._keys.items() if each not in left_out}
        self.reader = AnswerReader(schema)
        self.renamed, unknown, self.number = match_ids(self._keys, ids)
        if unknown:
            raise UnknownIdsError(
                "{place}: {benchmark} has no id {id!r}: is this file for another benchmark or "
                "version?",
                [item_id[:LONGEST_ID] for item_id in islice(self._keys, MOST_IDS)],
                place=container.where(self._keys[unknown[0]]),
                benchmark=benchmark,
                id=unknown[0],
            )

    def take(self, item_id: str, reader: AnswerReader | None = None) -> Answer:
        """Return the answer to an item; see `AnswerReader.answer`.

        Args:
            item_id: the item.
            reader: reads it in another way than `reader`.

        Raises:
            HdbenchError: it cannot be loaded.
        """
        key = self.key(item_id)
        written = None if key is None else self._container.load(key)
        return (reader or self.reader).answer(item_id, written)

    def key(self, item_id: str) -> Any:
        """Return the key of the answer to an item in its container; None if there is none."""
        return self._keys.get(self.renamed.get(item_id, item_id))
