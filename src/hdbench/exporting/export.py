"""A run's answers as a file that others work with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hdbench.common.jsonio import whole_file
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.exporting.cells import Cell
from hdbench.exporting.columns import OTHER_FIELDS
from hdbench.exporting.rows import AnswerRows, json_line
from hdbench.exporting.run_answers import RunAnswers

Format = Literal["xlsx", "csv", "jsonl"]


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        path: the file.
        rows: below the head; lines of JSON.
        notes: what a person has to know, a line each.
    """

    path: Path
    rows: int
    notes: Sequence[str]


def export(
    run: Path, form: Format, *, out: Path | None = None, benchmark: str | None = None
) -> Exported:
    r"""Write a run's answers as a table: one row per item, or per advertisement.

    The columns: `id`; `model`, where the file names models; the fields of the schema in its order,
    `publication.title`; fields that the model invented; `status`, what was needed to read the
    answer; `file_name` of the images; `text` or `error` where there is no record; `other_fields`,
    as JSON, of fields beyond `MAX_INVENTED` or with names that no column can have. A list of texts
    is one cell with `|` between them.

    `hdbench score` reads the table again as the same answers, but for what a table cannot hold:

    - null, an empty text and an absent field are all the empty cell, which is read as the empty
      text; a text of white space too. zettel_f1 alone tells them apart: the empty text is right
      where the truth has it, and wrong where it has a value, where null is only missing. So a run
      that leaves fields out or writes null has more true and false positives from its table, and
      as many false negatives; of 33 recorded runs f1_micro rose by 0.005 or fell by 0.032 at most.
    - a number in a field of text is read as text, `184` as `"184"`; a text in a field of numbers as
      a number, `"0012"` as 12. Truth values are `true` and `false`.
    - in a list of texts a `|` separates; white space around a text, empty texts and null are gone.
    - an object or list where the schema has a text, a number or a truth value, is its JSON.
    - an object of a list that is empty is gone, and so are entries that are no objects.
    - a page without a record, which has `error` only, is unanswered, also if it was unparsable.
    - `other_fields` is not read.
    - control characters are signs for them (`␀`); CR LF and CR are LF. `#N/A` and the errors of
      formulas get an apostrophe.
    - CSV: an apostrophe before what might be a formula, which is read as a part of the text. XLSX:
      a text of more than 32,767 characters is cut.
    - which items a run was asked, where these are not all; what answers took (tokens, seconds); and
      each answer is `clean` when it is read again.

    CSV has no types: where Excel opens it, it drops leading zeros of ids, which `hdbench score`
    understands. In XLSX ids are text, and years that are numbers are numbers.

    JSON Lines have one object per item, with `id`, `model`, `status`, `prediction` and `error`, and
    `text` where no record was found in it: the same answers, but that what was found in a text is
    the record that a model gave.

    Args:
        run: a run folder, also one over images of one's own; with `benchmark` answers in any form.
        form: `xlsx`, `csv` or `jsonl`.
        out: the file, which is replaced; without it the run's name in the working directory.
        benchmark: the folder of the built benchmark; without it the one that run.json names.

    Raises:
        HdbenchError: the run or its benchmark is unusable, the table is too large for Excel, or the
            file cannot be written, or is the answers themselves.
    """
    name = run.resolve().name
    path = out or Path(f"{name if run.is_dir() else name.partition('.')[0]}.{form}")
    if path.resolve() == run.resolve():
        raise HdbenchError(f"{path}: is the answers themselves: name another file with -o")
    # Imported here, since the command line names the formats in its help.
    from hdbench.exporting.formats import (  # noqa: PLC0415
        check_size,
        write_csv,
        write_jsonl,
        write_xlsx,
    )

    with RunAnswers.opened(run, benchmark) as answers:
        if form == "jsonl":
            with whole_file(path) as beside:
                lines = write_jsonl(beside, map(json_line, progress(answers.items(), "Writing")))
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

        with whole_file(path) as beside:
            if form == "csv":
                write_csv(beside, head, rows())
            else:
                write_xlsx(beside, head, rows(), [table.widths.get(title, 0) for title in head])
        notes = list(answers.notes)
    if OTHER_FIELDS in table.widths:
        notes.append(f"fields that have no column are in {OTHER_FIELDS}, and not read from there")
    return Exported(path, table.rows, notes)
