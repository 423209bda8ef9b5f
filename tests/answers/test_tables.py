import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.cells import FAULTS, is_blank
from hdbench.answers.csv_lines import read_csv
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import table_of
from hdbench.common.csv_and_excel import as_it_was
from hdbench.common.jsonio import structured
from hdbench.errors import HdbenchError

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
CARDS = AnswerSchema.load(SCRIPTS / "zettelkatalog/answer.schema.json")
LETTERS = AnswerSchema.load(SCRIPTS / "rheinschifffahrt/answer.schema.json")
PAGES = AnswerSchema.load(SCRIPTS / "avisblatt/answer.schema.json")
PAPERS = AnswerSchema.load(SCRIPTS / "sciencemetabench/answer.schema.json")


def table(text, schema=None, encoding="utf-8"):
    return table_answers(table_of(read_csv(text.encode(encoding), "answers.csv")), schema)


def answers(read, model=None):
    return {item_id: read.load(key) for item_id, key in read.runs[model].items()}


def refusal(text, schema=None):
    with pytest.raises(HdbenchError) as caught:
        table(text, schema)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_dotted_columns_become_a_record_with_schema_types():
    read = table(
        "id,author.last_name,publication.title,publication.year,publication.pages\n"
        "00414956,Müller,Die Schweiz,1957,12\n"
        '00415264,,"Lahn, Rhein",1961.0,\n'
        "00415300,Ott,A,um 1900, 8 \n",
        CARDS,
    )
    assert answers(read) == {
        "00414956": {
            "prediction": {
                "author": {"last_name": "Müller"},
                "publication": {"title": "Die Schweiz", "year": 1957, "pages": "12"},
            }
        },
        "00415264": {
            "prediction": {
                "author": {"last_name": ""},
                "publication": {"title": "Lahn, Rhein", "year": 1961, "pages": ""},
            }
        },
        "00415300": {
            "prediction": {
                "author": {"last_name": "Ott"},
                "publication": {"title": "A", "year": "um 1900", "pages": "8"},
            }
        },
    }
    assert read.notes == [
        "answers.csv: cells read as text: 1, the first is "
        "answers.csv:4, column publication.year: 'um 1900'"
    ]


def test_an_empty_cell_is_the_empty_value_of_its_field():
    read = table("id,type.type,publication.title\n1,Reference,\n2,, -\n", CARDS)
    assert answers(read) == {
        "1": {"prediction": {"type": {"type": "Reference"}, "publication": {"title": ""}}},
        "2": {"prediction": None},
    }
    assert answers(table("id,send_date,sender_persons\n1,1926-02-16,\n", LETTERS)) == {
        "1": {"prediction": {"send_date": ["1926-02-16"], "sender_persons": []}}
    }


def test_numbers_and_truth_values_are_read_by_the_schema():
    schema = AnswerSchema(
        {
            "type": "object",
            "properties": {"price": {"type": "number"}, "bound": {"type": "boolean"}},
        }
    )
    read = table("id,price,bound\n1,2.5,TRUE\n2,3,falsch\n3,1e999,maybe\n4,nan,WAHR\n", schema)
    assert [fields["prediction"] for fields in answers(read).values()] == [
        {"price": 2.5, "bound": True},
        {"price": 3, "bound": False},
        {"price": "1e999", "bound": "maybe"},
        {"price": "nan", "bound": True},
    ]


def test_without_a_schema_the_cells_of_a_column_say_what_it_is():
    assert answers(table("id,a.b.c,n,m\n1,x,7,007\n2,y,8,8\n")) == {
        "1": {"prediction": {"a": {"b": {"c": "x"}}, "n": 7, "m": "007"}},
        "2": {"prediction": {"a": {"b": {"c": "y"}}, "n": 8, "m": "8"}},
    }


@pytest.mark.parametrize(
    "header",
    ["Author.Last_Name;PUBLICATION / YEAR", "author_last_name;publication_year"],
)
def test_a_column_is_known_however_its_name_is_spelled(header):
    read = table(f"ID;{header}\n1;Ott;1957\n", CARDS)
    assert answers(read) == {
        "1": {"prediction": {"author": {"last_name": "Ott"}, "publication": {"year": 1957}}}
    }


def test_a_column_that_is_no_field_is_named_and_not_used():
    read = table("id,publication.year,Zustand,a" + ".b" * 90 + "\n1,1957,x,z\n", CARDS)
    assert answers(read)["1"]["prediction"] == {"publication": {"year": 1957}}
    assert read.notes == ["answers.csv: columns that are not used: Zustand, a" + ".b" * 19 + "."]


def test_the_line_for_excel_names_the_delimiter():
    read = table("sep=;\r\nid;text\r\n1;a,b\r\n")
    assert answers(read) == {"1": {"text": "a,b"}}
    assert read.where(read.runs[None]["1"]) == "answers.csv:3"


def test_a_nul_in_an_answer_is_kept_as_models_write_it():
    assert answers(table("id,text\n1,a\0b\n")) == {"1": {"text": "a\0b"}}


def test_a_row_has_the_place_of_its_first_line():
    read = table('id,text\r\n\r\n1,"a\r\nb\r\n"\r\n,\r\n2,c\r\n')
    assert answers(read) == {"1": {"text": "a\r\nb\r\n"}, "2": {"text": "c"}}
    assert [read.where(key) for key in read.runs[None].values()] == [
        "answers.csv:3",
        "answers.csv:7",
    ]


def test_long_cells_are_allowed():
    long = "thinking " * 100_000
    assert answers(table(f"id,text\n1,{long}\n"))["1"]["text"] == long
    assert "answers.csv:2: not CSV: field larger than field limit" in refusal(
        "id,text\n1," + "x" * 2**25
    )


def test_a_model_column_splits_the_file_into_runs():
    read = table("id,model,text\n1,gpt,a\n1,claude,b\n2,gpt,c\n")
    assert list(read.runs) == ["gpt", "claude"]
    assert answers(read, "gpt") == {"1": {"text": "a"}, "2": {"text": "c"}}
    assert answers(read, "claude") == {"1": {"text": "b"}}
    assert list(table("id,model,text\n1,,a\n").runs) == [None]


def test_what_is_about_an_answer_is_read():
    read = table(
        "ID , Text,input_tokens,tokens_output,seconds,error\n"
        '1,a,1196,80,"2,5",\n2,,n/a,,1.5,timed out\n'
    )
    assert answers(read) == {
        "1": {"text": "a", "tokens": {"input": 1196, "output": 80}, "seconds": 2.5},
        "2": {"prediction": None, "seconds": 1.5, "error": "timed out"},
    }


def test_a_prediction_is_the_record_in_its_json():
    read = table('sha256,prediction,cost\nab,"{""doi"": ""10.5/x""}",0.1\ncd,,\n', PAPERS)
    assert answers(read) == {
        "ab": {"prediction": {"doi": "10.5/x"}},
        "cd": {"prediction": None},
    }
    assert read.notes == []


def test_text_and_fields_of_the_record_are_both_read():
    read = table('id,text,publication.year\n1,"{}",1957\n2,"{}",\n', CARDS)
    assert answers(read) == {
        "1": {"text": "{}", "prediction": {"publication": {"year": 1957}}},
        "2": {"text": "{}"},
    }


def test_an_error_in_a_row_without_values_is_no_answer():
    assert answers(table("id,publication.year,error\n1,,refused\n2,1957,late\n", CARDS)) == {
        "1": {"prediction": None, "error": "refused"},
        "2": {"prediction": {"publication": {"year": 1957}}, "error": "late"},
    }


def test_schema_field_takes_precedence_over_answer_column():
    text, year = {"type": "string"}, {"type": "integer"}
    schema = AnswerSchema({"type": "object", "properties": {"text": text, "year": year}})
    assert answers(table("id,text,year\n1,a,1912\n", schema)) == {
        "1": {"prediction": {"text": "a", "year": 1912}}
    }


def test_advertisements_stand_one_a_row():
    read = table(
        "id,date,tags_section,ntokens,text\n"
        "p1,1731-01-02,kauf,3,Es ist zu haben\n"
        "p2,,,,\n"
        "p1,1731-01-02,,,Verloren\n",
        PAGES,
    )
    assert answers(read) == {
        "p1": {
            "prediction": {
                "advertisements": [
                    {
                        "date": "1731-01-02",
                        "tags_section": "kauf",
                        "ntokens": 3,
                        "text": "Es ist zu haben",
                    },
                    {"date": "1731-01-02", "tags_section": "", "text": "Verloren"},
                ]
            }
        },
        "p2": {"prediction": None},
    }
    assert read.where(read.runs[None]["p1"]) == "answers.csv:2"


def test_one_text_a_page_is_the_answer_of_a_model():
    read = table('id,text\np1,"{""advertisements"": []}"\np2,I see nothing\n', PAGES)
    assert answers(read)["p2"] == {"text": "I see nothing"}
    assert read.notes == []
    read = table("id,text\np1,Es ist zu haben\n", PAGES)
    assert answers(read) == {"p1": {"text": "Es ist zu haben"}}
    assert read.notes == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "answers.csv: empty: needs the names of the columns in its first row"),
        ("\n \n", "answers.csv: empty: needs the names of the columns in its first row"),
        ("id,text\n", "answers.csv: has no rows, only names of columns"),
        (
            "id,Farbe,Zustand\n1,a,b\n",
            "answers.csv: needs a column id, and a column text or prediction or fields of an "
            "answer (type.type, author.last_name, author.first_name, publication.title, "
            "publication.year, publication.place, publication.pages, publication.publisher, "
            "publication.format, library_reference.shelfmark and 1 more); it has: id, "
            "Farbe, Zustand",
        ),
        (
            "id,text\n1,a\n2,b\n1,c\n",
            "answers.csv:4: a second answer for id '1', the first is answers.csv:2: keep one",
        ),
        ("id,text\n1,a\n,b\n", "answers.csv:3: has no id: enter it, or delete the row"),
        (
            "id,text\n1,a,b\n",
            "answers.csv:2: has 3 cells, and the header (answers.csv:1) 2: name every column, or "
            "choose the row that does with --header-row; a cell that holds the delimiter is quoted",
        ),
        (
            "id,publication.title\n1,#REF!\n",
            "answers.csv:2, column publication.title: holds the error #REF!: enter the value, "
            "empty the cell, or leave the column out",
        ),
    ],
)
def test_an_unusable_table_is_refused_in_one_line(text, message):
    assert refusal(text, CARDS) == message


def test_a_table_of_too_many_cells_is_refused():
    header = "id," + ",".join(f"c{number}" for number in range(999))
    assert "more than 10,000,000 cells" in refusal(
        header + "\n" + "".join(f"{row}\n" for row in range(10_001))
    )
    assert "more than 1,000 columns" in refusal(header + ",d\n1\n")


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(
    lambda text: (
        text not in FAULTS and as_it_was(text) == text and (not text or not is_blank(text.strip()))
    )
)
latin = st.text("abc ,;\t\"'|\n\räöüß.0", max_size=12).filter(
    lambda text: not text or not is_blank(text.strip())
)


@given(
    st.data(),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_a_table_in_any_dialect_gives_its_records(data, delimiter, encoding, end, is_minimal):
    text = latin if encoding == "cp1252" else words
    rows = data.draw(
        st.dictionaries(
            st.from_regex(r"[0-9a-z]{1,8}", fullmatch=True),
            st.tuples(text, text, st.none() | st.integers(0, 3000), text),
            min_size=1,
        )
    )
    out = io.StringIO()
    # With other line ends Python's writer leaves some line breaks in cells without quotes.
    quoting = csv.QUOTE_MINIMAL if is_minimal and end == "\r\n" else csv.QUOTE_ALL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    header = [
        "id",
        "author.last_name",
        "publication.title",
        "publication.year",
        "publication.pages",
    ]
    writer.writerow(header)
    writer.writerows([item_id, *cells] for item_id, cells in rows.items())
    read = table_answers(table_of(read_csv(out.getvalue().encode(encoding), "answers.csv")), CARDS)
    assert answers(read) == {
        item_id: {
            "prediction": {
                "author": {"last_name": name.strip()},
                "publication": {"title": title.strip(), "pages": more.strip()}
                | ({} if year is None else {"year": year}),
            }
            if name or title or year is not None or more
            else None
        }
        for item_id, (name, title, year, more) in rows.items()
    }


@given(st.binary(max_size=200) | st.text('id,text;"\n\r\0sep=|\t#ä', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(data):
    for schema in (None, CARDS, PAGES):
        try:
            read = table_answers(table_of(read_csv(data, "answers.csv")), schema)
        except HdbenchError as error:
            message = str(error)
        else:
            json.dumps([read.load(key) for run in read.runs.values() for key in run.values()])
            message = "answers.csv"
        assert message.startswith("answers.csv")


@pytest.mark.parametrize("cell", ["['s-Gravenhage]", "{'a'}", "['a', b'b']", "['" + "-" * 50_000])
def test_what_only_looks_like_a_list_of_python_stays_text(cell):
    assert structured(cell) == cell
