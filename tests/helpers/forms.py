"""Files of every form that hdbench reads, as large as one asks for, in each of their dimensions.

A further form is an entry in `FORMS`, and a further dimension one in its `dimensions`: how many
there are in the smaller of two files, and what writes a file with so many.
"""

import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
from helpers.run_folders import SPEC

from hdbench.answers.answers import Answers
from hdbench.answers.columns import propose
from hdbench.answers.files import open_container
from hdbench.answers.records import mapped
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.checks.folder import check_folder
from hdbench.collections.new.matching import match_truths
from hdbench.collections.new.media import MediaFiles, MediaItem
from hdbench.collections.new.truth_files import open_truth
from hdbench.common.validation import read_yaml

TEXT = {"type": "string"}
PERSONS = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}}
SCHEMA = {"properties": {"title": TEXT, "year": {"type": "integer"}, "persons": PERSONS}}
WORD = "Stellingen "

Write = Callable[[Path, int], object]


class Form(NamedTuple):
    """A form of files.

    Attributes:
        read: reads a file or folder, as the command does that is given it.
        dimensions: name → how many there are in the smaller of two files, and what writes a file
            or folder with so many.
    """

    read: Callable[[Path], object]
    dimensions: Mapping[str, tuple[int, Write]]


def read_answers(path: Path) -> None:
    """Read all answers, for the items that the file names."""
    schema = AnswerSchema(SCHEMA)
    container = open_container(path, schema)
    for model, keys in container.runs.items():
        # With zeros before them, so that every id has to be matched by its form.
        answers = Answers(container, model, [f"0{each}" for each in keys], "cards", schema)
        for each in keys:
            answers.take(f"0{each}")
    container.close()


def read_truths(path: Path) -> None:
    """Read ground truths, and find their items among images of the same number."""
    found = open_truth(path)
    if isinstance(found, SourceTable):
        columns = propose(found, paths=None, file_names=[], given={})
        found = mapped(found, columns)
    ids = dict.fromkeys(f"0{each.key}" for each in found.truths)
    match_truths(found, MediaFiles("image", [MediaItem(each, ()) for each in ids], []))


def read_benchmark(path: Path) -> None:
    """Read a benchmark's items, and check its folder."""
    for _ in load_benchmark(str(path)).items():
        pass
    check_folder(path, path)


def jsonl(rows: Iterable[Any]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def wrote(make: Callable[[int], bytes]) -> Write:
    """Write what a function makes."""
    return lambda path, n: path.write_bytes(make(n))


def lines(row: Callable[[int], Any]) -> Write:
    """Write JSON Lines of so many objects."""
    return wrote(lambda n: jsonl(map(row, range(n))))


def one(row: Callable[[int], Any]) -> Write:
    """Write one JSON line, with an object made for the number."""
    return wrote(lambda n: jsonl([row(n)]))


def said(text: Callable[[int], str]) -> Write:
    """Write one answer with what a model wrote."""
    return one(lambda n: {"id": "1", "text": text(n)})


def card(number: int) -> dict[str, Any]:
    """A little record."""
    return {"title": f"{WORD}{number}", "year": 1800 + number % 100}


def answer(number: int) -> dict[str, Any]:
    """An answer."""
    return {"id": f"{number}", "prediction": card(number)}


def table(rows: Iterable[Iterable[Any]], delimiter: str = ",") -> bytes:
    """CSV whose cells need no quotes."""
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows).encode()


def grid(rows: int, columns: int, cell: str = "a", first: str = "id") -> list[list[str]]:
    """A table with ids."""
    header = [first, "title", *(f"column{n}" for n in range(2, columns))][:columns]
    return [header, *([f"{n}", *[cell] * (columns - 1)] for n in range(rows))]


def marks(number: int) -> str:
    """Marks that say a number, and that no field's name has."""
    return f"{number:010b}".replace("0", "!").replace("1", "?")


def tables(write: Callable[[list[list[str]]], bytes], first: str = "id") -> dict[str, Any]:
    """The dimensions that all tables have."""

    def of(rows: Callable[[int], list[list[str]]]) -> Write:
        return wrote(lambda n: write(rows(n)))

    return {
        "rows": (2_000, of(lambda n: grid(n, 3, first=first))),
        "columns": (200, of(lambda n: grid(10, n, first=first))),
        "cell length": (200_000, of(lambda n: grid(2, 3, "a" * n, first=first))),
        "columns of nearly one name": (
            200,
            of(lambda n: [[first, *(f"a{marks(m)}" for m in range(n))], ["1", *["a"] * n]]),
        ),
        "rows of one id": (2_000, of(lambda n: [[first, "title"], *([["1", "a"]] * n)])),
        "values in a cell": (
            5_000,
            of(
                lambda n: [
                    [first, "persons[].name"],
                    *([f"{m}", "|".join(["Ott"] * n)] for m in range(3)),
                ]
            ),
        ),
    }


def workbook(rows: list[list[str]]) -> bytes:
    """XLSX."""
    data = io.BytesIO()
    with xlsxwriter.Workbook(data) as book:
        sheet = book.add_worksheet()
        for number, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                sheet.write_string(number, column, cell[:32_000])
    return data.getvalue()


def zipped(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A ZIP."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def of_one_name(n: int) -> bytes:
    """A ZIP whose members all have the same name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return zipped([("1.json", b"{}")] * n)


def in_folder(members: Callable[[int], Iterable[tuple[str, bytes]]]) -> Write:
    """Write a folder of files."""

    def write(path: Path, n: int) -> None:
        path.mkdir()
        for name, content in members(n):
            (path / name).write_bytes(content)

    return write


def parquet(columns: Callable[[int], dict[str, Any]]) -> Write:
    """Write Parquet."""

    def write(path: Path, n: int) -> None:
        pq.write_table(pa.table(columns(n)), path)

    return write


def cards(n: int) -> list[tuple[str, bytes]]:
    """A file for each item."""
    return [(f"{number}.json", json.dumps(card(number)).encode()) for number in range(n)]


def nested(n: int, begin: str = '{"a": ', end: str = "}") -> str:
    """Objects in one another."""
    return begin * n + "1" + end * n


def page(regions: str, key: int = 1) -> bytes:
    """PAGE XML."""
    return f'<PcGts><Page imageFilename="{key}.jpg">{regions}</Page></PcGts>'.encode()


def text_line(text: str = "Wort", number: int = 0) -> str:
    """A line in PAGE XML."""
    unicode = f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv>"
    return (
        f'<TextLine id="l{number}" custom="readingOrder {{index:{number};}}">{unicode}</TextLine>'
    )


def region(inner: str, number: int = 0) -> str:
    """A region in PAGE XML."""
    return f'<TextRegion id="r{number}">{inner}</TextRegion>'


def pages(make: Callable[[int], str]) -> Write:
    """Write PAGE XML with such regions."""
    return wrote(lambda n: page(make(n)))


def reading_order(n: int) -> str:
    """Regions, and the order in which they are read."""
    references = "".join(f'<RegionRefIndexed index="{m}" regionRef="r{n - m}"/>' for m in range(n))
    order = f"<ReadingOrder><OrderedGroup>{references}</OrderedGroup></ReadingOrder>"
    return order + "".join(region(text_line(), number) for number in range(n))


def alto(blocks: str, before: str = "") -> bytes:
    """ALTO."""
    name = "<sourceImageInformation><fileName>1.jpg</fileName></sourceImageInformation>"
    text = f"<Layout><Page><PrintSpace>{blocks}</PrintSpace></Page></Layout>"
    return f"<alto><Description>{name}</Description>{before}{text}</alto>".encode()


def strings(n: int, number: int = 0) -> str:
    """A line in ALTO."""
    inner = '<String CONTENT="Wort"/>' * n
    return f'<TextLine ID="l{number}">{inner}</TextLine>'


HOCR_PAGE = "<div class=ocr_page title='image 1.jpg'>"
HOCR_LINE = "<span class=ocr_line>Wort</span><br>"


def hocr(inside: Callable[[int], str]) -> Write:
    """Write a page of hOCR."""
    return wrote(lambda n: f"<html>{HOCR_PAGE}{inside(n)}</div></html>".encode())


def blocks(make: Callable[[int], str]) -> Write:
    """Write ALTO with such blocks."""
    return wrote(lambda n: alto(make(n)))


def in_order(n: int) -> bytes:
    """ALTO with an order in which lines are read."""
    references = "".join(f'<ElementRef REF="l{n - m}"/>' for m in range(n))
    order = f"<ReadingOrder><OrderedGroup>{references}</OrderedGroup></ReadingOrder>"
    return alto(f"<TextBlock>{''.join(strings(1, m) for m in range(n))}</TextBlock>", order)


def marcxml(records: Iterable[str]) -> bytes:
    """MARCXML."""
    return f"<collection>{''.join(records)}</collection>".encode()


def marc_record(*fields: str, key: int = 1) -> str:
    """A record of MARCXML."""
    return f'<record><controlfield tag="001">{key}</controlfield>{"".join(fields)}</record>'


def marc_field(*subfields: str, tag: str = "245") -> str:
    """A field of MARCXML."""
    inner = "".join(f'<subfield code="{each[0]}">{each[1:]}</subfield>' for each in subfields)
    return f'<datafield tag="{tag}" ind1=" " ind2=" ">{inner}</datafield>'


def marc21(fields: list[tuple[str, bytes]]) -> bytes:
    """A record of ISO 2709; its numbers bound how long one may be."""
    directory, data = b"", b""
    for tag, content in fields:
        directory += f"{tag}{len(content) + 1:04}{len(data):05}".encode()
        data += content + b"\x1e"
    base = 24 + len(directory) + 1
    leader = f"{base + len(data) + 1:05}nam a22{base:05} a 4500".encode()
    return leader + directory + b"\x1e" + data + b"\x1d"


def marc21_book(key: int, titles: int = 1) -> bytes:
    """A book in ISO 2709."""
    return marc21([("001", b"%d" % key), *[("245", b"10\x1faDie Stadt")] * titles])


def benchmark(rows: Callable[[int], Iterable[dict[str, Any]]], **spec: Any) -> Write:
    """Write a benchmark's folder."""

    def write(path: Path, n: int) -> None:
        path.mkdir()
        said = {**SPEC, "media": "text", **spec}
        (path / "benchmark.yaml").write_text(json.dumps(said))
        (path / "answer.schema.json").write_text(json.dumps(SCHEMA))
        (path / "metadata.jsonl").write_bytes(jsonl(rows(n)))

    return write


def item(number: int, **truth: Any) -> dict[str, Any]:
    """An item of a benchmark."""
    record = json.dumps(truth or card(number))
    return {"id": f"{number}", "text": f"{WORD}{number}", "ground_truth": record}


def nearly(number: int) -> str:
    """Ids that are nearly alike."""
    return f"{'ab' * 20}_{number:06}_{'cd' * 20}"


def letters(text: str) -> str:
    """The same letters in a fixed random order."""
    return "".join(random.Random(1).sample(text, len(text)))


ANSWERS: dict[str, Form] = {
    "JSON Lines": Form(
        read_answers,
        {
            "answers": (2_000, lines(answer)),
            "ids nearly alike": (1_000, lines(lambda n: {"id": nearly(n), "prediction": card(n)})),
            "length of an id": (200_000, one(lambda n: {"id": "1" * n, "prediction": {}})),
            "keys of a record": (
                20_000,
                one(lambda n: {"id": "1", "prediction": {f"k{m}": m for m in range(n)}}),
            ),
            "objects in a list": (
                5_000,
                one(lambda n: {"id": "1", "prediction": {"persons": [{"name": "Ott"}] * n}}),
            ),
            "keys of one name": (
                20_000,
                wrote(lambda n: b'{"id": "1", "prediction": {' + b'"a": 1, ' * n + b'"b": 1}}\n'),
            ),
            "depth": (
                20_000,
                wrote(lambda n: f'{{"id": "1", "prediction": {nested(n)}}}'.encode()),
            ),
            "blank lines": (200_000, wrote(lambda n: jsonl([answer(1)]) + b"\n" * n)),
        },
    ),
    "JSON": Form(
        read_answers,
        {
            "answers": (
                2_000,
                wrote(lambda n: json.dumps([answer(m) for m in range(n)], indent=1).encode()),
            ),
            "ids": (
                2_000,
                wrote(lambda n: json.dumps({str(m): card(m) for m in range(n)}, indent=1).encode()),
            ),
            "keys of one name": (20_000, wrote(lambda n: b"{" + b'"1": {},\n' * n + b'"2": {}}')),
            "depth": (20_000, wrote(lambda n: b"[" * n + b"]" * n)),
            "digits": (20_000, wrote(lambda n: b'[{"id": "1", "prediction": ' + b"1" * n + b"}]")),
        },
    ),
    "a model's text": Form(
        read_answers,
        {
            "characters": (200_000, said(lambda n: "a" * n)),
            "opening braces": (5_000, said(lambda n: "{" * n)),
            "empty objects": (2_000, said(lambda n: "{}" * n)),
            "records": (200, said(lambda n: json.dumps(card(1)) * n)),
            "fences": (2_000, said(lambda n: "```json\n" * n)),
            "quotation marks": (10_000, said(lambda n: '{"title": ' + '"' * n)),
            "backslashes": (20_000, said(lambda n: '{"title": "' + "\\" * n)),
            "thoughts": (5_000, said(lambda n: "<think>" * n)),
            "key and colon": (5_000, said(lambda n: "title: \n" * n)),
            "entities": (10_000, said(lambda n: '{"title": "' + "&amp;" * n + '"}')),
            "comments": (5_000, said(lambda n: '{"title": 1, ' + "/*" * n)),
            "a list cut off": (2_000, said(lambda n: '{"persons": [' + '{"name": "Ott"}, ' * n)),
            "every sign": (2_000, said(lambda n: letters("{}[]\"',:\\`\n<>/&%1a" * (n // 10)))),
        },
    ),
    "CSV": Form(read_answers, tables(table)),
    "XLSX": Form(read_answers, tables(workbook)),
    "ZIP": Form(
        read_answers,
        {
            "members": (1_000, wrote(lambda n: zipped(cards(n)))),
            "members of one name": (1_000, wrote(of_one_name)),
            "length of a name": (5_000, wrote(lambda n: zipped([(f"{'a' * n}.json", b"{}")]))),
        },
    ),
    "a folder": Form(
        read_answers,
        {
            "files": (500, in_folder(cards)),
        },
    ),
    "gzip": Form(
        read_answers,
        {"answers": (2_000, wrote(lambda n: gzip.compress(jsonl(map(answer, range(n))))))},
    ),
    "Zstandard": Form(
        read_answers,
        {
            "answers": (
                2_000,
                wrote(lambda n: pa.compress(jsonl(map(answer, range(n))), "zstd", asbytes=True)),
            )
        },
    ),
    "Parquet": Form(
        read_answers,
        {
            "rows": (
                2_000,
                parquet(lambda n: {"id": [str(m) for m in range(n)], "text": ["{}"] * n}),
            ),
            "columns": (
                100,
                parquet(
                    lambda n: {"id": ["1"], "title": ["a"], **{f"k{m}": ["a"] for m in range(n)}}
                ),
            ),
        },
    ),
}


TRUTHS: dict[str, Form] = {
    "CSV of ground truths": Form(read_truths, tables(table, "Dateiname")),
    "JSON of ground truths": Form(
        read_truths,
        {
            "entries": (
                2_000,
                wrote(lambda n: json.dumps([{"id": str(m), **card(m)} for m in range(n)]).encode()),
            ),
            "depth": (20_000, wrote(lambda n: nested(n).encode())),
        },
    ),
    "a folder of texts": Form(
        read_truths,
        {
            "files": (500, in_folder(lambda n: [(f"{m}.txt", b"Wort") for m in range(n)])),
            "length of a text": (500_000, in_folder(lambda n: [("1.txt", b"Wort\n" * (n // 5))])),
        },
    ),
    "MARC21": Form(
        read_truths,
        {
            "records": (300, wrote(lambda n: b"".join(marc21_book(m) for m in range(n)))),
            "fields": (500, wrote(lambda n: marc21_book(1, n))),
        },
    ),
    "MARCXML": Form(
        read_truths,
        {
            "records": (
                300,
                wrote(lambda n: marcxml(marc_record(marc_field("aDie"), key=m) for m in range(n))),
            ),
            "fields": (1_000, wrote(lambda n: marcxml([marc_record(*[marc_field("aDie")] * n)]))),
            "subfields": (
                2_000,
                wrote(lambda n: marcxml([marc_record(marc_field(*["aDie"] * n))])),
            ),
            "depth": (
                60,
                wrote(
                    lambda n: (
                        b"<collection>"
                        + b"<x>" * n
                        + b"</x>" * n
                        + marcxml([marc_record(marc_field("aDie"))])[12:]
                    )
                ),
            ),
        },
    ),
    "PAGE XML": Form(
        read_truths,
        {
            "regions": (1_000, pages(lambda n: "".join(region(text_line(), m) for m in range(n)))),
            "regions in order": (1_000, pages(reading_order)),
            "depth": (60, pages(lambda n: "<TextRegion>" * n + text_line() + "</TextRegion>" * n)),
        },
    ),
    "hOCR": Form(
        read_truths,
        {
            "lines": (2_000, hocr(lambda n: HOCR_LINE * n)),
            "words": (5_000, hocr(lambda n: f"<i class=ocr_line>{'<i>Wort </i>' * n}</i>")),
            "depth": (60, hocr(lambda n: "<div class=ocr_carea>" * n + HOCR_LINE)),
        },
    ),
    "ALTO": Form(
        read_truths,
        {
            "blocks": (1_000, blocks(lambda n: f"<TextBlock>{strings(1)}</TextBlock>" * n)),
            "lines in order": (1_000, wrote(in_order)),
            "depth": (
                60,
                blocks(
                    lambda n: (
                        "<ComposedBlock>" * n
                        + f"<TextBlock>{strings(1)}</TextBlock>"
                        + "</ComposedBlock>" * n
                    )
                ),
            ),
        },
    ),
}


OTHERS: dict[str, Form] = {
    "a benchmark": Form(
        read_benchmark,
        {
            "items": (500, benchmark(lambda n: map(item, range(n)))),
            "ids nearly alike": (
                300,
                benchmark(lambda n: ({**item(m), "id": nearly(m)} for m in range(n))),
            ),
            "fields of a ground truth": (
                2_000,
                benchmark(lambda n: [item(1, **{f"k{m}": m for m in range(n)})]),
            ),
        },
    ),
    "YAML": Form(
        read_yaml,
        {
            "keys": (1_000, wrote(lambda n: "".join(f"k{m}: 1\n" for m in range(n)).encode())),
            "depth": (100, wrote(lambda n: b"[" * n + b"]" * n)),
            "aliases of aliases": (
                25,
                wrote(
                    lambda n: (
                        b"a0: &a0 [1]\n"
                        + b"".join(
                            b"a%d: &a%d [*a%d, *a%d]\n" % (m, m, m - 1, m - 1) for m in range(1, n)
                        )
                    )
                ),
            ),
            "aliases": (1_000, wrote(lambda n: b"a: &a [1]\nb: [" + b"*a, " * n + b"]")),
        },
    ),
}

FORMS = ANSWERS | TRUTHS | OTHERS
