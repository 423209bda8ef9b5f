"""The forms in which files hold answers, each declared once: `FORMS`."""

import codecs
from typing import NamedTuple

from hdbench.errors import Message


class AnswerForm(NamedTuple):
    """A form of answers as it declares itself; nothing else in hdbench lists forms or endings.

    Attributes:
        name: as in messages.
        endings: the extensions of its files, by which they are found in a folder or ZIP, and which
            are not part of a run's name; what a file is, its content decides.
        reader: what reads a file, as `module:function`; it takes an `AnswersSource` and returns a
            `Container`. Imported when it is first used.
        signature: how a file begins, with one of these; none where its `part` says it.
        part: the file that a ZIP holds if it is an office document of this form.
        is_text: whether white space and a byte order mark may stand before the signature, and NUL
            bytes in the first line are refused.
        is_rewritten: whether its `reader` instead writes the file as JSON Lines: from a path to
            another, with the file's name in messages as the third argument.
        in_parts: whether a run may be in several such files.
    """

    name: str
    endings: tuple[str, ...]
    reader: str
    signature: tuple[bytes, ...] = ()
    part: str | None = None
    is_text: bool = True
    is_rewritten: bool = False
    in_parts: bool = False

    def begins(self, head: bytes) -> bool:
        """Return whether a file that begins like this has this form.

        Args:
            head: its first block that is not blank.
        """
        if self.is_text:
            head = head.removeprefix(codecs.BOM_UTF8).lstrip()
        return head.startswith(self.signature)


JSON_LINES = AnswerForm(
    "JSON Lines",
    (".jsonl", ".ndjson"),
    "hdbench.answers.json_files:open_json",
    signature=(b"{", b"["),
    in_parts=True,
)

CSV = AnswerForm("CSV", (".csv", ".tsv"), "hdbench.answers.table_files:open_csv")
"""The form of a text that no other form begins like."""

FORMS: list[AnswerForm] = [
    JSON_LINES._replace(name="JSON", endings=(".json",), in_parts=False),
    JSON_LINES,
    AnswerForm(
        "Parquet",
        (".parquet",),
        "hdbench.answers.unpacking:write_as_lines",
        signature=(b"PAR1",),
        is_text=False,
        is_rewritten=True,
        in_parts=True,
    ),
    CSV,
    AnswerForm(
        "XLSX",
        (".xlsx",),
        "hdbench.answers.table_files:open_workbook",
        part="xl/workbook.xml",
        is_text=False,
    ),
    AnswerForm(
        "ODS",
        (".ods",),
        "hdbench.answers.table_files:open_workbook",
        part="META-INF/manifest.xml",
        is_text=False,
    ),
]
"""Forms of answers in the order in which messages list them."""

PAGE_ENDINGS = (".xml", ".hocr", ".html", ".htm")
"""Extensions of files with the text of a page: PAGE XML, ALTO and hOCR."""

ITEM_ENDINGS = (".json", ".txt", ".md", *PAGE_ENDINGS)
"""Extensions of files with the answer to one item, which are in a folder or ZIP."""

NO_ANSWERS = frozenset({"mets.xml", "metadata.xml"})
"""Names of files that programs for transcriptions put beside those of pages."""

PACKED_ENDINGS = (".gz", ".zst")
"""Extensions that may follow that of a compressed file."""

ZIP_ENDING = ".zip"


def form_of(head: bytes) -> AnswerForm:
    """Return the form of a file that is not packed, by its beginning.

    Args:
        head: its first block that is not blank.

    Example:
        >>> form_of(b'{"id": "1"}').name, form_of(b"PAR1").name, form_of(b"id;text").name
        ('JSON', 'Parquet', 'CSV')
    """
    return next((form for form in FORMS if form.begins(head)), CSV)


def accepted() -> Message:
    """Return what answers are read from, for messages."""
    return Message(
        "answers are read from {forms}, a folder or a ZIP of <id>.json, <id>.txt, <id>.md or "
        "<id>.xml (PAGE, ALTO)",
        forms=", ".join(form.name for form in FORMS),
    )


def forms_in_parts() -> str:
    """Return the forms of which a run may be in several files, for messages."""
    return ", ".join(form.name for form in FORMS if form.in_parts)


def folder_endings() -> tuple[str, ...]:
    """Return the extensions of files that can hold answers in a folder or ZIP."""
    endings = [ending for form in FORMS for ending in form.endings]
    lines = [ending for form in FORMS if form.in_parts and form.is_text for ending in form.endings]
    packed = [f"{ending}{packing}" for ending in lines for packing in PACKED_ENDINGS]
    return tuple(dict.fromkeys((*ITEM_ENDINGS, *endings, *packed)))


def endings() -> tuple[str, ...]:
    """Return the extensions of files that can be given as answers; they may follow each other."""
    return (*folder_endings(), *PACKED_ENDINGS, ZIP_ENDING)


def is_part(name: str, form: AnswerForm) -> bool:
    """Return whether a file is meant as a part of a run in a form, by its name.

    Args:
        name: the file's name; after the ending of a text, that of a compressed file may follow.
        form: one with `in_parts`.
    """
    name = name.lower()
    if form.is_text:
        for packing in PACKED_ENDINGS:
            name = name.removesuffix(packing)
    return name.endswith(form.endings)
