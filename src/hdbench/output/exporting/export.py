"""A run's answers as a file that others can work with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hdbench.answers.run_names import run_name
from hdbench.common.excel import xlsx_writer
from hdbench.common.jsonio import whole_file
from hdbench.common.progress import progress
from hdbench.common.regular_files import without_links
from hdbench.errors import HdbenchError, Message
from hdbench.output.exporting.cells import Cell
from hdbench.output.exporting.columns import OTHER_FIELDS
from hdbench.output.exporting.formats import check_size, write_jsonl, write_parquet, write_table
from hdbench.output.exporting.rows import AnswerRows, json_line
from hdbench.output.exporting.run_answers import RunAnswers

Format = Literal["xlsx", "csv", "jsonl", "parquet"]


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        path: the file.
        rows: the rows below the header, or lines of JSON.
        notes: notes for the user, one line each.
    """

    path: Path
    rows: int
    notes: Sequence[str]


def export(
    run: Path,
    form: Format,
    *,
    out: Path | None = None,
    benchmark: str | None = None,
    called: str | None = None,
) -> Exported:
    r"""Write a run's answers as a table: one row per item, or per object that it lists.

    The columns: `id`; `model`, if the file names models; the fields of the schema in its order, as
    `publication.title`, with the list's name before those that mean something else in a table
    (`entries.id`); fields that the model invented; `status`, what was needed to read the
    answer; `file_name` of the images; `text` or `error` if there is no record; `other_fields`, as
    JSON, with fields beyond `MAX_INVENTED` or with names that no column can have. A list of texts
    is one cell with `|` between them.

    `hdbench score` reads the table back as the same answers, except for what a table cannot hold:

    - null, an empty text and an absent field all become the empty cell, which is read as the empty
      text; so does a text of white space. For zettel_f1 the empty text is right
      where the reference has it, and wrong where it has a value, where null is only missing. So a
      run that leaves fields out or writes null has more true and false positives from its table,
      and as many false negatives; in 33 recorded runs f1_micro rose by at most 0.005 or fell by at
      most 0.032.
    - a number in a text field is read as text, `184` as `"184"`; a text in a number field as a
      number, `"0012"` as 12. Booleans are `true` and `false`.
    - in a list of texts a `|` separates, and follows a single text that has a semicolon or such;
      white space around a text, empty texts and null are lost.
    - an object or list where the schema has a text, a number or a boolean becomes its JSON.
    - an empty object in a list is lost, and so are entries that are not objects.
    - a page without a record, which has `error` only, is unanswered, even if it was unparsable.
    - `other_fields` is read only for the schema's fields beside a list of objects.
    - control characters become symbols for them (`␀`); CR LF and CR become LF. `#N/A` and formula
      errors get an apostrophe.
    - CSV: an apostrophe before what might be a formula, which is read as part of the text. XLSX:
      a text of more than 32,767 characters is cut.
    - which items a run was asked, if not all; what answers took (tokens, seconds); and
      each answer is `clean` when it is read back.

    CSV has no types: if Excel opens it, it drops leading zeros of ids, which `hdbench score`
    understands. In XLSX ids are text, and years that are numbers are numbers.

    JSON Lines have one object per item, with `id`, `model`, `status`, `prediction` and `error`, and
    `text` if no record was found in it: the same answers, except that what was found in a text is
    the record that a model gave. Parquet has the same as columns of texts, with `prediction` as
    JSON. Both are written as they are read, whatever their size.

    Args:
        run: a run folder, also one over own images; with `benchmark` also answers in any form.
        form: `xlsx`, `csv`, `jsonl` or `parquet`.
        out: the file, which is replaced; by default the run's name in the working directory.
        benchmark: the folder of the built benchmark; by default the one that run.json names.
        called: what messages call a file of answers; by default its path.

    Raises:
        HdbenchError: the run or its benchmark is unusable, the table is too large for Excel,
            xlsxwriter is not installed, or the file cannot be written, or is the answers
            themselves.
    """
    path = out or Path(f"{run_name(run)}.{form}")
    if without_links(path) == without_links(run):
        raise HdbenchError(
            "{place}: holds the answers themselves: name another file with -o", place=path
        )
    if form == "xlsx":
        xlsx_writer()  # a missing package is reported before all the answers are read
    with RunAnswers.opened(run, benchmark, called) as answers:
        if form in ("jsonl", "parquet"):
            write = write_jsonl if form == "jsonl" else write_parquet
            with whole_file(path) as beside:
                lines = write(beside, map(json_line, progress(answers.items(), "Writing")))
            return Exported(path, lines, answers.notes)
        table = AnswerRows(answers.schema)
        table.see(progress(answers.items(), "Reading"))
        head = table.head
        if form == "xlsx":
            check_size(table.rows, len(head))

        def rows() -> Iterator[list[Cell]]:
            for item in progress(answers.items(), "Writing"):
                for row in table.of(item):
                    yield [row.get(title, "") for title in head]

        write_table(path, form, head, rows(), [table.widths.get(title, 0) for title in head])
        notes = list(answers.notes)
    if OTHER_FIELDS in table.widths:
        notes.append(
            Message(
                "fields without a column are in {column}; only those of the schema are read back "
                "from there",
                column=OTHER_FIELDS,
            )
        )
    return Exported(path, table.rows, notes)
