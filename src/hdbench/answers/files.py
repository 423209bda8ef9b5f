"""The answers in a file or folder, whatever its form."""

import io
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.answers import plain_form
from hdbench.answers.entries import Container, EntryReader, about, is_empty, shown
from hdbench.answers.forms import (
    ACCEPTED,
    ITEM_ENDINGS,
    OUR_ANSWERS,
    PAGE_ENDINGS,
    PART_ENDINGS,
    RUN_FILE,
    ZIP,
    Folder,
    decode,
    head_of,
    is_one_object,
    open_zip,
    read_whole,
    stem_of,
    unpack,
    without_mark,
)
from hdbench.answers.plain_text import PAGE_BREAK
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import raw_table, rows_table, table_of
from hdbench.common.bounds import MAX_LINE, MAX_WHOLE
from hdbench.common.files import by_numbers, check_name, read_errors
from hdbench.common.jsonio import UNIQUE, parse_file, parse_json, parse_line, plain_id, raw_lines
from hdbench.common.page_text.reading import read_page_text
from hdbench.errors import HdbenchError, Message

MAX_FILE = 2**48
"""Files are smaller than this, so that one number holds the file and the offset in it."""

_REQUEST = re.compile(r"request_([^_]+)_(.+)\.json", re.IGNORECASE | re.DOTALL)


class AnswersSource(NamedTuple):
    """A file of answers that is to be read.

    Attributes:
        path: the file.
        name: what messages call it.
        schema: the form of the benchmark's answers.
        ids: returns the ids of the items, by which a table's column of ids is found if it is not
            called so.
    """

    path: Path
    name: str
    schema: AnswerSchema | None = None
    ids: Callable[[], Iterable[str]] = tuple


def open_container(
    path: Path,
    schema: AnswerSchema | None,
    *,
    name: str | None = None,
    ids: Callable[[], Iterable[str]] = tuple,
) -> Container:
    """Return the answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, or a file in one of the forms in `ACCEPTED`; the files may be
            compressed with gzip or Zstandard. A folder may hold the parts of a run.
        schema: the form of the benchmark's answers.
        name: what messages call it; by default its path.
        ids: returns the ids of the items, by which a table's column of ids is found if it is not
            called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where. What is wrong with a line may be said only when its answer is loaded.
    """
    source = AnswersSource(path, name or str(path), schema, ids)
    with ExitStack() as closing, read_errors(source.name):
        container = _opened(source, closing)
        closing.callback(container.closing.close)
        container.closing = closing.pop_all()
    return container


def _opened(source: AnswersSource, closing: ExitStack, *, is_packed: bool = False) -> Container:
    """Return the answers in a file or folder.

    Args:
        source: the file or folder.
        closing: closes what is opened.
        is_packed: whether it is in a ZIP: a small one could hold any number of packed files.
    """
    path, name = source.path, source.name
    check_name(path)
    if path.is_dir():
        parts = sorted(path.glob(f"part-*-of-*/{OUR_ANSWERS}"))
        parts = [part for part in parts if not part.is_symlink()]
        if parts and not (path / RUN_FILE).exists():
            return open_lines([source._replace(path=part, name=str(part)) for part in parts])
        return _of_folder(Folder(path), source, closing)
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe or device might never end
        raise HdbenchError(
            "{place}: neither a file nor a folder: {accepted}", place=name, accepted=ACCEPTED
        )
    if not is_packed:
        path = unpack(path, name, closing)
    is_packed |= path != source.path
    source, head = source._replace(path=path), head_of(path)
    is_zip = head.startswith(ZIP) and not is_packed
    if is_zip and (folder := open_zip(path, name, closing)) is not None:
        return _of_folder(folder, source, closing, is_packed=True)
    if not head.strip() or without_mark(head).startswith((b"{", b"[")):
        return open_json(source)
    return table_answers(table_of(raw_table(path, name, ACCEPTED)), source.schema, source.ids())


def _of_folder(
    folder: Folder, source: AnswersSource, closing: ExitStack, *, is_packed: bool = False
) -> Container:
    """Return the answers in a folder or ZIP: in one file or its parts, or one per item."""
    folder = folder.within()
    forms = set() if OUR_ANSWERS in folder.names else set(map(plain_form, source.ids()))
    files = [
        source._replace(path=folder.file(name, closing), name=folder.place(name))
        for name in answers_files(folder, forms)
    ]
    if not files:
        return open_items(folder, source.schema, forms)
    if len(files) == 1:
        return _opened(files[0], closing, is_packed=is_packed)
    if not is_packed:
        files = [each._replace(path=unpack(each.path, each.name, closing)) for each in files]
    return open_lines(files)


class AnswerLines:
    """The lines of some files, each found by its place: the file's number and the line's offset.

    Args:
        files: the files, in UTF-8.
    """

    def __init__(self, files: Sequence[AnswersSource]) -> None:
        self.files = files
        self.reader = EntryReader(files[0].schema)
        self._open: IO[bytes] = io.BytesIO()
        self._number = -1

    def load(self, place: int) -> WrittenAnswer:
        """Return the answer in a line, as `Container.load` does."""
        try:
            return self._answer(place, "")
        except (HdbenchError, OSError):  # to find the line takes long, and messages are rare
            with read_errors(self.files[place // MAX_FILE].name):
                return self._answer(place, self.where(place))

    def _answer(self, place: int, where: str) -> WrittenAnswer:
        number, offset = divmod(place, MAX_FILE)
        if number != self._number:
            self.close()
            self._open, self._number = self.files[number].path.open("rb"), number
        self._open.seek(offset)
        return self.reader.entry(parse_line(self._open.readline(MAX_LINE), where, UNIQUE), where)

    def where(self, place: int) -> str:
        """Return the file and the line's number."""
        number, offset = divmod(place, MAX_FILE)
        file = self.files[number]
        lines = (each for each in raw_lines(file.path, name=file.name) if each[1] == offset)
        return f"{file.name}:{next(lines, '?')[0]}"

    def close(self) -> None:
        """Close the file that is open: one at a time, as a process may not open any number."""
        self._open.close()


def open_json(source: AnswersSource) -> Container:
    """Return the answers in a JSON file: lines, a list, or an object id → answer.

    Lines and lists whose entries are not answers are the rows of a table.

    Args:
        source: the file, in UTF-8.

    Raises:
        HdbenchError: it is unusable; the message says where.
    """
    path, name = source.path, source.name
    is_one = is_one_object(path) and path.stat().st_size <= MAX_WHOLE
    if not is_one and not without_mark(head_of(path)).startswith(b"["):
        return open_lines([source])
    reader, container = EntryReader(source.schema), Container()
    answers: list[tuple[str, str, Any]]
    value = parse_file(decode(read_whole(path, name), name), name)
    if isinstance(value, dict) and value and reader.is_one(value):
        value = [value]
    if not value:
        raise HdbenchError("{place}: no predictions in this file", place=name)
    if isinstance(value, list):
        rows = list(objects_in(value, name))
        if reader.are_rows(value):
            return table_answers(rows_table(rows, name), source.schema, source.ids())
        answers = [(where, reader.id(entry, where), entry) for where, entry in rows]
    else:
        # What is empty is so as an empty row of a table is.
        blank = {key: None if is_empty(answer) else answer for key, answer in value.items()}
        answers = [(f'{name}: "{key[:100]}"', key, answer) for key, answer in blank.items()]
    for where, item_id, answer in answers:
        fields = reader.answer(answer, item_id, where)
        container.add(reader.model(answer), item_id, (where, fields))
    return container


def open_lines(files: Sequence[AnswersSource]) -> Container:
    """Return the answers in files of JSON Lines, or in the table whose rows these are.

    Of answers, only the ids and the places of their lines are kept, so that those to a whole
    catalogue fit. What is wrong with a line is said when its answer is loaded, and only what is
    needed to know its id is parsed now.

    Args:
        files: the files in order, in UTF-8, which together are one file of answers.

    Raises:
        HdbenchError: a file cannot be read, there are no answers, or a model has two answers for an
            id; the message names the line.
    """
    lines, first = AnswerLines(files), files[0]
    if lines.reader.are_rows(value for _, value in _objects(files)):
        return table_answers(rows_table(_objects(files), first.name), first.schema, first.ids())
    container = Container(load=lines.load, where=lines.where)
    container.closing.callback(lines.close)
    for number, file in enumerate(files):
        for line, offset, raw in raw_lines(file.path, name=file.name):
            item_id, model = plain_id(raw), None
            # The model may have an escaped letter in its key; a batch's line has two ids.
            may_be_more = b'"model"' in raw or b"\\u006" in raw or b'"custom_id"' in raw
            if may_be_more or not item_id or item_id.isspace():
                where = f"{file.name}:{line}"
                value = parse_line(raw, where, UNIQUE)
                item_id, model = lines.reader.id(value, where), lines.reader.model(value)
            container.add(model, item_id, number * MAX_FILE + offset)
    if not container.runs:
        raise HdbenchError("{place}: no predictions in this file", place=first.name)
    return container


def _objects(files: Sequence[AnswersSource]) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in files:
        for number, _, raw in raw_lines(file.path, name=file.name):
            where = f"{file.name}:{number}"
            yield where, parse_line(raw, where, UNIQUE)


def objects_in(values: list[Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a list, each with its place.

    Args:
        values: the list.
        name: what messages call its file.

    Raises:
        HdbenchError: an entry is not an object.
    """
    for number, entry in enumerate(values, start=1):
        where = Message("{place}: entry {number}", place=name, number=number)
        if not isinstance(entry, dict):
            raise HdbenchError("{place}: must be a JSON object in braces, with an id", place=where)
        yield where, entry


def answers_files(folder: Folder, forms: Collection[str]) -> list[str]:
    """Return the one file that holds all answers, or its parts; none if each item has its own file.

    Parts are in natural order: `part-2` before `part-10`.

    Args:
        folder: the folder.
        forms: the ids of the items, as `plain_form` has them; if they are known, a JSON file that
            is alone and not called like one of them holds all answers.

    Raises:
        HdbenchError: there are several that are not parts, or one together with files of single
            items.
    """
    if OUR_ANSWERS in folder.names:
        return [OUR_ANSWERS]
    items, files = list[str](), list[str]()
    for name in folder.names:
        (items if name.lower().endswith(ITEM_ENDINGS) else files).append(name)
    if not files:
        alone = items[0].lower() if len(items) == 1 else ""
        is_item = not forms or plain_form(stem_of(alone)) in forms or _REQUEST.fullmatch(alone)
        return items if alone.endswith(".json") and not is_item else []
    are_parts = all(name.lower().endswith(PART_ENDINGS) for name in files)
    items = [name for name in items if name != RUN_FILE]
    if items or (len(files) > 1 and not are_parts):
        raise HdbenchError(
            "{place}: holds {first} and {second}: give one file, or a folder of its parts in JSON "
            "Lines or Parquet, or of a file for each item",
            place=folder.name,
            first=files[0],
            second=(files[1:] + items)[0],
        )
    return sorted(files, key=lambda name: by_numbers(Path(name)))


def open_items(
    folder: Folder, schema: AnswerSchema | None, forms: Collection[str] = ()
) -> Container:
    """Return the answers in a folder that has a file for each item.

    Files are `<id>.json`, `<id>.txt` and so on. The JSON is the record, an entry, or a text; what
    is not JSON is also taken for a text. A text is what the model wrote. An item may have both. Or
    they are `request_<run>_<id>.json`, one for each request of humanities_data_benchmark: what its
    framework parsed is the prediction, and what the model wrote is the text. A file with the text
    of a page belongs to the image that it names if no item is called like the file.

    Args:
        folder: the folder.
        schema: the form of the benchmark's answers.
        forms: same as in `answers_files`.

    Raises:
        HdbenchError: there are none.
    """
    requests = {name: match[2] for name in folder.names if (match := _REQUEST.fullmatch(name))}
    ids: dict[str, list[str]] = {}
    for name in sorted(requests or folder.names, key=str.lower):  # of an item, the JSON first
        item_id = requests.get(name) or stem_of(name)
        if forms and name.lower().endswith(PAGE_ENDINGS) and plain_form(item_id) not in forms:
            pages = read_page_text(folder.read(name), folder.place(name)).pages
            image = pages[0].image or ""
            item_id = image if plain_form(image) in forms else item_id
        ids.setdefault(item_id, []).append(name)
    if not ids:
        raise HdbenchError(
            "{place}: no answers here: they must be in files <id>.json or <id>.txt; it holds "
            "{other}",
            place=folder.name,
            other=shown(folder.others),
        )
    container = Container(
        partial(_item, folder, EntryReader(schema)), lambda names: folder.place(names[0])
    )
    container.runs[None] = ids
    return container


def _item(folder: Folder, reader: EntryReader, names: Sequence[str]) -> WrittenAnswer:
    """Return an answer from the files that it is in."""
    fields: WrittenAnswer = {}
    for name in names:
        place, raw, ending = folder.place(name), folder.read(name), name.lower()
        if _REQUEST.fullmatch(name):
            answer = request_fields(parse_line(raw, place, UNIQUE))
        elif ending.endswith(PAGE_ENDINGS):
            answer = {
                "text": PAGE_BREAK.join(page.text for page in read_page_text(raw, place).pages)
            }
        else:
            value: Any = decode(raw, place).rstrip("\r\n")
            if ending.endswith(".json"):
                with suppress(ValueError):  # otherwise what a model wrote, saved unchanged
                    value = parse_json(value, UNIQUE)
            answer = reader.answer(value, stem_of(name), place)
        if fields.keys() & answer.keys() & {"prediction", "text"}:
            raise HdbenchError("{place}: a second answer for its id: keep one", place=place)
        fields |= answer
        if ending.endswith(".md"):
            fields["markdown"] = True
    return fields


def request_fields(request: dict[str, Any]) -> WrittenAnswer:
    """Return the answer in a request file, which has `text` and `parsed`.

    In older files, `response_text` is what was parsed, otherwise the text, which may also be in
    `raw`.

    Example:
        >>> request_fields({"text": "{}", "parsed": {}, "duration": 1.5})
        {'seconds': 1.5, 'prediction': {}, 'text': '{}'}
        >>> request_fields({"response_text": {}, "raw": {"text": "```{}```"}, "test_time": 2.5})
        {'seconds': 2.5, 'prediction': {}, 'text': '```{}```'}
    """
    raw = request.get("raw")
    parsed = [request.get("parsed"), request.get("response_text")]
    texts = [request.get("text"), raw.get("text") if isinstance(raw, dict) else None, parsed[1]]
    fields = about({"duration": request.get("test_time")} | request)
    # Also if it is null: that is how it was scored when it was published.
    fields["prediction"] = next((value for value in parsed if isinstance(value, dict | list)), None)
    text = next((text for text in texts if isinstance(text, str)), None)
    if text is not None:
        fields["text"] = text
    return fields
