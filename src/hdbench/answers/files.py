"""The form of a file or folder of answers, recognized by its contents and not by its name."""

import stat
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.container import AnswersSource, Container
from hdbench.answers.encodings import UTF16_MARKS, write_as_utf8
from hdbench.answers.folders import answers_files, open_items
from hdbench.answers.forms import (
    JSON_LINES,
    ZIP,
    accepted,
    head_of,
    of_other_kind,
    other_kind,
    without_mark,
)
from hdbench.answers.json_files import LinesFile, open_json, open_lines, read_whole
from hdbench.answers.members import Folder, Zip
from hdbench.answers.records import table_answers
from hdbench.answers.run_parts import run_parts
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import csv_table, workbook_table
from hdbench.answers.unpacking import Unpacked, check_packed_once, check_unpacked, unpack
from hdbench.common.names import check_name
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError


def open_container(
    path: Path,
    schema: AnswerSchema | None,
    *,
    name: str | None = None,
    all_are_loaded: bool = False,
    ids: Iterable[str] = (),
) -> Container:
    """Return the answers in a file or folder, whatever its form.

    Args:
        path: a folder, a ZIP, or a file in one of `FORMS`; the files may be compressed with gzip or
            Zstandard. A folder may hold the parts of a run.
        schema: the form of the benchmark's answers.
        name: what messages call it; by default its path.
        all_are_loaded: see `open_lines`.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.

    Raises:
        HdbenchError: there is nothing, it is something else, or it is unusable; the message says
            where.
    """
    source = AnswersSource(path, name or str(path), schema, all_are_loaded, ids)
    with ExitStack() as closing, read_errors(source.name):
        folder = tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True)
        opener = _Opener(closing, Path(closing.enter_context(folder)))
        container = opener.opened(source)
        closing.callback(container.closing.close)
        container.closing = closing.pop_all()
    return container


class _Opener(NamedTuple):
    """Opens files and folders of answers.

    Attributes:
        closing: closes what is opened.
        scratch: a folder for copies, which is deleted then.
    """

    closing: ExitStack
    scratch: Path

    def opened(self, source: AnswersSource) -> Container:
        """Return the answers in a file or folder."""
        path, name = source.path, source.name
        mode = path.stat().st_mode
        check_name(path)
        if stat.S_ISDIR(mode):
            if parts := run_parts(path):
                paths = [part.answers for part in parts if part.answers]
                return open_lines([LinesFile(each, str(each)) for each in paths], source)
            return self.of_members(Folder(path), source)
        if not stat.S_ISREG(mode):  # a pipe or device might never end
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=name, accepted=accepted()
            )
        return self.of_file(source)

    def of_members(self, members: Folder | Zip, source: AnswersSource) -> Container:
        """Return the answers in a folder or ZIP: in one file or its parts, or one per item."""
        names = answers_files(members, source.schema)
        if not names:
            return open_items(members, source.schema, source.ids)
        is_packed = isinstance(members, Zip)
        files = [
            LinesFile(members.unpacked(name, self.scratch), members.place(name)) for name in names
        ]
        if len(files) == 1:
            [(path, name)] = files
            return self.of_file(source._replace(path=path, name=name), is_packed=is_packed)
        size, plain = 0, []
        for path, name in files:
            copy = self.plain(path, name, is_packed=is_packed)
            if kind := other_kind(copy.head):
                raise of_other_kind(kind, name, accepted())
            if not path.stat().st_size and not name.lower().endswith(JSON_LINES):
                raise HdbenchError(
                    "{place}: is empty, so it was cut off: write it again", place=name
                )
            if is_packed and copy.path != path:
                # A small ZIP could hold any number of parts that are small too.
                size += copy.path.stat().st_size
                check_unpacked(size, name)
            plain.append(LinesFile(copy.path, name))
        return open_lines(plain, source)

    def of_file(self, source: AnswersSource, *, is_packed: bool = False) -> Container:
        """Return the answers in a file, which may have been unpacked already."""
        name = source.name
        path, head, is_packed = self.plain(source.path, name, is_packed=is_packed)
        source = source._replace(path=path)
        if not head.strip():
            raise HdbenchError("{place}: no predictions in this file: it is empty", place=name)
        kind, is_zip = other_kind(head), head.startswith(ZIP)
        if is_zip:
            archive = Zip(path, name)
            self.closing.callback(archive.close)
            kind = archive.office_kind()
            if kind is None:
                check_packed_once(name, is_packed=is_packed)
                return self.of_members(archive, source)
        if kind:
            raise of_other_kind(kind, name, accepted())
        if is_zip:
            return table_answers(workbook_table(path, name), source.schema, source.ids)
        # Further down, a NUL may come from a model: recorded answers have some.
        if b"\0" in head.partition(b"\n")[0]:
            raise HdbenchError(
                "{place}: this is not text: {accepted}", place=name, accepted=accepted()
            )
        if without_mark(head).startswith((b"{", b"[")):
            return open_json(source)
        table = csv_table(read_whole(path, name), name)
        return table_answers(table, source.schema, source.ids)

    def plain(self, path: Path, name: str, *, is_packed: bool) -> Unpacked:
        """Return a file that is not packed and, if it is a text, in UTF-8."""
        plain = unpack(path, name, self.scratch, is_packed=is_packed)
        if not plain.head.startswith(UTF16_MARKS):
            return plain
        copy = Path(tempfile.mkdtemp(dir=self.scratch), "answers")
        write_as_utf8(plain.path, copy, name)
        return plain._replace(path=copy, head=head_of(copy))
