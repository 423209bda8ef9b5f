import datetime
import re
import tracemalloc
import zipfile

import openpyxl
import pytest
from helpers.forms import workbook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hdbench.answers.cells import FAULTS, is_blank
from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import read_table
from hdbench.common.csv_and_excel import as_it_was
from hdbench.errors import HdbenchError

CARDS = AnswerSchema(
    {
        "type": "object",
        "properties": {
            "publication": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "year": {"type": "integer"},
                    "pages": {"type": "string"},
                },
            },
            "send_date": {"type": "array", "items": {"type": "string"}},
        },
    }
)
FEWER = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "answers.xlsx"


def write(file, rows, title="Sheet1"):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    workbook.save(file)


def change(file, part, make):
    """Put another text into one part of a workbook; None adds it."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = make(parts.get(part, b""))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def name_part_often(file, number):
    """Give a workbook as many sheets, of which each is its first one."""
    sheets = "".join(
        f'<sheet name="S{n}" sheetId="{n}" r:id="rId1"/>' for n in range(1, number + 1)
    )
    space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    named = f'<sheets xmlns:r="{space}">{sheets}</sheets>'.encode()
    change(file, "xl/workbook.xml", lambda xml: re.sub(rb"<sheets>.*</sheets>", named, xml))


def answers(read):
    return {item_id: read.load(key) for item_id, key in read.runs[None].items()}


def refusal(file, schema=None):
    with pytest.raises(HdbenchError) as caught:
        open_container(file, schema, name="answers.xlsx")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_dates_of_a_spreadsheet_are_read_in_iso_form(file):
    write(
        file,
        [
            ["id", "publication.pages", "publication.title", "send_date"],
            ["1", "12", "a", datetime.date(1926, 2, 16)],
            ["2", datetime.date(2026, 5, 3), datetime.time(3, 45), "1926"],
            ["3", datetime.datetime(2026, 5, 3, 12, 30), "b", None],
        ],
    )
    read = open_container(file, CARDS, name="answers.xlsx")
    assert [fields["prediction"] for fields in answers(read).values()] == [
        {"publication": {"pages": "12", "title": "a"}, "send_date": ["1926-02-16"]},
        {"publication": {"pages": "2026-05-03", "title": "03:45:00"}, "send_date": ["1926"]},
        {"publication": {"pages": "2026-05-03T12:30:00", "title": "b"}, "send_date": []},
    ]
    assert read.notes == [
        "answers.xlsx: Sheet1: read as id → id, publication.pages → publication.pages, "
        "publication.title → publication.title, send_date → send_date[]",
    ]


def test_blank_rows_and_columns_around_a_table_are_passed_over(file):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["C3"], sheet["D3"] = "id", "text"
    sheet["C6"], sheet["D6"] = "1", "a"
    sheet["C9"], sheet["D9"] = "2", "b"
    workbook.save(file)
    read = open_container(file, None, name="answers.xlsx")
    assert answers(read) == {"1": {"text": "a"}, "2": {"text": "b"}}
    assert read.where(read.runs[None]["2"]) == "answers.xlsx: Sheet, row 9"


def test_the_fullest_visible_sheet_is_read_and_others_are_named(file):
    workbook = openpyxl.Workbook()
    workbook.active.title = "About"
    workbook.active.append(["made by", "me"])
    hidden = workbook.create_sheet("Hidden")
    hidden.append(["id", "text"])
    hidden.sheet_state = "hidden"
    workbook.create_sheet("Empty")
    for row in (["id", "text"], ["1", "a"]):
        workbook.create_sheet("Answers") if "Answers" not in workbook else None
        workbook["Answers"].append(row)
    workbook.save(file)
    read = open_container(file, None, name="answers.xlsx")
    assert answers(read) == {"1": {"text": "a"}}
    assert read.notes == [
        "answers.xlsx: Answers: only this sheet, the fullest, was read: delete it to read About"
    ]


def test_formula_error_is_refused_and_missing_value_is_empty(file):
    rows = [["id", "publication.title", "send_date"], ["1", "a", "b"], ["2", "#N/A", "b"]]
    write(file, rows)
    read = open_container(file, CARDS, name="answers.xlsx")
    assert answers(read)["2"]["prediction"]["publication"] == {"title": ""}
    assert read.notes == [
        "answers.xlsx: Sheet1: read as id → id, publication.title → publication.title, "
        "send_date → send_date[]",
        "answers.xlsx: Sheet1: cells read as empty: 1, the first is answers.xlsx: Sheet1, row 3, "
        "column publication.title: '#N/A'",
    ]
    write(file, [*rows, ["3", "#DIV/0!", "b"]])
    assert refusal(file, CARDS) == (
        "answers.xlsx: Sheet1, row 4, column publication.title: holds the error #DIV/0!: "
        "enter the value, empty the cell, or leave the column out"
    )


def test_a_formula_has_the_value_that_was_saved(file):
    write(file, [["id", "text"], ["1", "=A2"]])
    saved = b'<c r="B2" t="str"><f>A2</f><v>Basel</v></c>'
    change(
        file,
        "xl/worksheets/sheet1.xml",
        lambda xml: re.sub(rb'<c r="B2".*?</c>', saved, xml, flags=re.DOTALL),
    )
    assert answers(open_container(file, None, name="answers.xlsx")) == {"1": {"text": "Basel"}}


@pytest.mark.filterwarnings("error")
def test_a_workbook_without_styles_is_read_in_silence(file):
    write(file, [["id", "title"], ["1", "Zoo"]])
    change(file, "xl/styles.xml", lambda data: re.sub(b"<cellStyles.*</cellStyles>", b"", data))
    assert len(read_table(file).rows) == 1


def test_a_truncated_workbook_is_refused(file):
    write(file, [["id", "text"], *([str(n), "a"] for n in range(100))])
    data = file.read_bytes()
    for length in range(97, len(data), 97):
        file.write_bytes(data[:length])
        assert refusal(file).startswith("answers.xlsx: cannot be read: ")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(file):
    write(file, [["id", "text"], ["1", "a"]])
    spaces = b" " * 2**20
    with (
        zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/bomb.xml", "w") as part,
    ):
        for _ in range(513):
            part.write(spaces)
    assert file.stat().st_size < 2**22
    assert "larger than 512 MiB" in refusal(file)


def test_a_zip_bomb_that_lies_about_its_size_is_refused(file):
    write(file, [["id", "text"], ["1", "a"]])
    change(file, "xl/worksheets/sheet1.xml", lambda xml: xml + b" " * 2**24)
    with zipfile.ZipFile(file) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    data = file.read_bytes()
    file.write_bytes(data.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    assert refusal(file).startswith("answers.xlsx: a damaged workbook")


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"])
def test_entities_are_never_expanded(file, part):
    write(file, [["id", "text"], ["1", "a"]])
    entities = "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12))
    laughs = f'<!DOCTYPE a [<!ENTITY a0 "lol">{entities}]><sst xmlns="{MAIN}">'
    change(file, part, lambda _: f"{laughs}<si><t>&a11;</t></si></sst>".encode())
    assert refusal(file) == "answers.xlsx: defines a document type"


def test_external_links_are_not_followed(file):
    write(file, [["id", "text"], ["1", "a"]])
    link = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Target="file:///etc/passwd" TargetMode="External"/>'
        "</Relationships>"
    )
    change(file, "xl/externalLinks/_rels/externalLink1.xml.rels", lambda _: link.encode())
    change(file, "xl/externalLinks/externalLink1.xml", lambda _: b"<a/>")
    assert answers(open_container(file, None, name="answers.xlsx")) == {"1": {"text": "a"}}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "cells",
    [
        '<row r="1"><c r="A1"/></row><row r="100000"><c r="XFD100000"><v>1</v></c></row>',
        '<row r="99999"><c r="XFC5"><v>1</v></c></row><row><c r="A1"/><c><v>1</v></c></row>',
        '<row><c r="a1"/><c r="zzz9999999"><v>1</v></c></row>',
        '<x:row xmlns:x="u" r="9999999"><x:c r="&#90;ZZ9999999"><x:v>1</x:v></x:c></x:row>',
    ],
)
def test_cells_in_far_corners_do_not_fill_the_memory(file, cells):
    write(file, [["id", "text"], ["1", "a"]])
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    change(file, "xl/worksheets/sheet1.xml", lambda _: sheet.encode())
    tracemalloc.start()
    try:
        refusal(file)
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()


def test_a_part_that_many_sheets_share_is_read_once(file):
    write(file, [["id", "text"], *([str(number), "a"] for number in range(5_000))])
    name_part_often(file, 1_001)
    read = open_container(file, None, name="answers.xlsx")
    assert (len(read.runs[None]), read.notes) == (5_000, [])


def test_nesting_of_any_depth_is_no_harm(file):
    write(file, [["id", "text"], ["1", "a"]])
    deep = b"<a>" * 300_000 + b"</a>" * 300_000 + b"</worksheet>"
    change(file, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b"</worksheet>", deep))
    assert refusal(file).startswith("answers.xlsx: a damaged workbook")


@FEWER
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=8), st.integers(0, 30))
def test_damage_anywhere_in_a_part_is_read_or_refused(file, place, put, part):
    write(file, [["id", "publication.year", "d"], ["1", 1957, datetime.date(1926, 2, 16)]])
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()

    def damage(data):
        at = place % (len(data) + 1)
        return data[:at] + put + data[at + len(put) :]

    change(file, names[part % len(names)], damage)
    try:
        open_container(file, CARDS, name="answers.xlsx")
        message = "answers.xlsx"
    except HdbenchError as error:
        message = str(error)
    assert message.startswith("answers.xlsx")


words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.just("\n"), max_size=12
).filter(
    lambda text: (
        text not in FAULTS
        and as_it_was(text) == text
        and not is_blank(text.strip())
        and not text.startswith("=")
        and (not text or not text.isspace())
    )
)


@FEWER
@given(
    st.dictionaries(
        st.integers(0, 10**9) | st.from_regex(r"0[0-9a-z]{1,8}", fullmatch=True),
        st.tuples(
            words,
            st.none()
            | st.integers(0, 3000)
            | st.integers(1, 40).map(lambda quarters: quarters / 4),
            words,
        ),
        min_size=1,
        max_size=20,
    )
)
def test_a_workbook_gives_its_records(file, rows):
    write(
        file,
        [
            ["id", "publication.title", "publication.year", "publication.pages"],
            *([item_id, *cells] for item_id, cells in rows.items()),
        ],
    )

    def year(value):
        whole = value is not None and value == int(value)
        return {} if value is None else {"year": int(value) if whole else str(value)}

    assert answers(open_container(file, CARDS, name="answers.xlsx")) == {
        str(item_id): {
            "prediction": {
                "publication": {"title": title.strip(), "pages": more.strip(), **year(value)}
            }
            if title.strip() or value is not None or more.strip()
            else None
        }
        for item_id, (title, value, more) in rows.items()
    }


def test_long_text_shared_by_many_cells_is_not_copied(file):
    file.write_bytes(workbook([["id", "text"], *([f"{n}", "LONG"] for n in range(2_000))]))
    change(file, "xl/sharedStrings.xml", lambda xml: xml.replace(b"LONG", b"a" * 100_000))
    assert file.stat().st_size < 100_000
    assert refusal(file) == (
        "answers.xlsx: Sheet1, row 1344: more than 10,000,000 cells, rows times columns, or 128 "
        "million characters in them, where a text that several cells share counts for each: delete "
        "empty rows and columns, or split the table"
    )
    with pytest.raises(HdbenchError, match="or 128 million characters in them"):
        read_table(file)


def test_what_a_sheet_says_of_its_size_fills_no_memory(file):
    write(file, [["id", "text"], ["1", "a"]])
    merged = b'<mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells></worksheet>'
    change(
        file,
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"').replace(
            b"</worksheet>", merged
        ),
    )
    assert answers(open_container(file, None, name="answers.xlsx")) == {"1": {"text": "a"}}


def test_a_merged_cell_gives_its_value_to_every_row_it_covers(file):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["id", "publication.title"], ["1", "Faust"], ["2", None], ["3", "Zoo"]):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    workbook.save(file)
    read = open_container(file, CARDS, name="answers.xlsx")
    titles = [fields["prediction"]["publication"]["title"] for fields in answers(read).values()]
    assert titles == ["Faust", "Faust", "Zoo"]
    assert read.notes[0] == (
        "answers.xlsx: Sheet: rows with the value of a merged cell that covers them: 1"
    )


def test_dates_before_1900_are_dates(file):
    """LibreOffice keeps them as negative numbers; what no date can be is an error with its cell."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.append(["id", "publication.title"])
    sheet.append(["1", -36522])
    sheet["B2"].number_format = "yyyy-mm-dd"
    workbook.save(file)
    read = open_container(file, CARDS, name="answers.xlsx")
    assert answers(read)["1"]["prediction"] == {"publication": {"title": "1800-01-01"}}
    sheet["B2"] = 0
    sheet["B2"].number_format = "yyyy-mm-dd"
    workbook.save(file)
    assert "Sheet: no date in B2: enter it as text" in refusal(file, CARDS)


OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
ODS = f"""<office:document-content xmlns:office="{OFFICE}"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Karten"><table:table-row>
<table:table-cell office:value-type="string"><text:p>id</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Titel</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>publication.year</text:p></table:table-cell>
</table:table-row><table:table-row>
<table:table-cell office:value-type="string"><text:p>001</text:p></table:table-cell>
<table:table-cell office:value-type="string" table:number-rows-spanned="2"><text:p>Ehe</text:p>
</table:table-cell>
<table:table-cell office:value-type="float" office:value="1800"><text:p>1800</text:p>
</table:table-cell></table:table-row><table:table-row>
<table:table-cell office:value-type="date" office:date-value="1799-01-05"/>
<table:covered-table-cell/>
<table:table-cell table:number-columns-repeated="16000"/></table:table-row>
<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>"""


def open_document(file, content):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<a/>")
        archive.writestr("content.xml", content)


def test_a_workbook_of_libreoffice_is_read(file):
    open_document(file, ODS)
    read = open_container(file, CARDS, name="answers.ods")
    assert answers(read) == {
        "001": {"prediction": {"publication": {"title": "Ehe", "year": 1800}}},
        "1799-01-05": {"prediction": {"publication": {"title": "Ehe"}}},
    }


def test_repeated_cells_of_libreoffice_are_counted(file):
    open_document(
        file,
        ODS.replace(
            'repeated="1048000"><table:table-cell/>',
            'repeated="9999999"><table:table-cell office:value-type="float" office:value="1"/>',
        ),
    )
    with pytest.raises(HdbenchError, match="more than 10,000,000 cells"):
        open_container(file, CARDS, name="answers.ods")
