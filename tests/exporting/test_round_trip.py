"""Records through the real files and back, by hypothesis."""

import json
import re
from pathlib import Path

import pytest
import python_calamine
from helpers.exported import SCRIPTS, csv_rows, make_benchmark, write_answers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.api import score
from hdbench.output.exporting.export import export

CARD = {
    "type": ["type"],
    "author": ["last_name", "first_name"],
    "publication": ["title", "place", "pages", "publisher", "format"],
    "library_reference": ["shelfmark", "subjects"],
}
LETTER = ["letter_title", "send_date", "sender_persons", "receiver_persons"]
# What has to be right in XML, CSV, Excel, and in both at once.
ODD = [
    "_x000D_",
    "_x0041_ _x0042_",
    "<r>a</r>",
    "a & b",
    'a,"b"',
    "a;b",
    "\u00a0a\u00ad",
    "a\tb\nc",
]
TEXT = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))
    | st.sampled_from(ODD)
    | st.text("_x0041<>/r&", max_size=12)
).filter(lambda text: text == "" or not text.isspace())
# Where a table cannot hold a difference, as `export` says, is tested by hand.
SAFE = TEXT.filter(lambda text: not text.lstrip(" \"'").startswith(tuple("=+-@＝＋－＠#")))
SAFE = SAFE.filter(lambda text: ";" not in text and not re.search("_x[0-9a-fA-F]{4}_x", text))
CARDS = st.fixed_dictionaries(
    {group: st.fixed_dictionaries(dict.fromkeys(names, SAFE)) for group, names in CARD.items()}
)
YEARS = st.integers(-(10**15) + 1, 10**15 - 1)
NAMES = (
    st.text(max_size=8)
    | st.sampled_from(
        ["id", "text", "status", "error", "type", "author", "publication", "metadata"]
    )
    | st.sampled_from(
        ["year", "title", "advertisements", "sender_persons", "file_name", "a.b", "="]
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module", params=["csv", "xlsx"])
def form(request):
    return request.param


PAGE = {"entries": [{"id": "7", "type": "book", "title": "Stellingen"}, {"id": "8", "status": "x"}]}


def test_the_id_of_a_listed_object_is_not_the_items(form, tmp_path):
    benchmark = make_benchmark(tmp_path, "bibliography", {"page_1": PAGE})
    path = Path(benchmark) / "answer.schema.json"
    schema = json.loads(path.read_text())
    schema["$defs"]["entry"]["properties"]["status"] = {"type": "string"}
    path.write_text(json.dumps(schema))
    answers = write_answers(tmp_path, {"id": "page_1", "prediction": PAGE})
    out = tmp_path / f"table.{form}"
    export(answers, form, out=out, benchmark=benchmark)
    read = open_container(out, AnswerSchema(schema))
    listed = read.load(read.runs[None]["page_1"])["prediction"]["entries"]
    filled = [{name: value for name, value in each.items() if value} for each in listed]
    assert filled == PAGE["entries"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A benchmark of each kind, with two items."""
    found = {}
    for name in ("zettelkatalog", "avisblatt", "rheinschifffahrt", "sciencemetabench"):
        folder = tmp_path_factory.mktemp(name)
        make_benchmark(folder, name, {"0001": {}, "0002": {}})
        found[name] = folder
    return found


def through(folder, name, form, *predictions):
    """Records as they are read again from a table."""
    answers = write_answers(
        folder,
        *({"id": f"000{at}", "prediction": each} for at, each in enumerate(predictions, start=1)),
    )
    path = folder / f"table.{form}"
    export(answers, form, out=path, benchmark=str(folder / "hdb" / name))
    schema = AnswerSchema.load(SCRIPTS / name / "answer.schema.json")
    read = open_container(path, schema)
    return [read.load(read.runs[None][f"000{at}"]) for at in range(1, len(predictions) + 1)]


@settings(deadline=None, max_examples=6)
@given(record=CARDS, year=YEARS)
def test_a_card_comes_back_as_it_was(record, year, folders, form):
    record["publication"]["year"] = year
    (answer,) = through(folders["zettelkatalog"], "zettelkatalog", form, record)
    assert answer["prediction"] == record


@settings(deadline=None, max_examples=6)
@given(
    ads=st.lists(
        st.fixed_dictionaries(
            {"date": SAFE, "tags_section": SAFE, "ntokens": YEARS, "text": SAFE},
        ),
        max_size=4,
    )
)
def test_a_page_comes_back_as_it_was(ads, folders, form):
    record = {"advertisements": ads}
    (answer,) = through(folders["avisblatt"], "avisblatt", form, record)
    assert answer["prediction"] == record


@settings(deadline=None, max_examples=6)
@given(
    record=st.fixed_dictionaries(
        dict.fromkeys(
            LETTER,
            st.lists(SAFE.map(str.strip).filter(lambda text: text and "|" not in text), max_size=3),
        )
    ).filter(lambda record: any(record.values()))
)
@example(record={name: ["<r>", "_x0000_ _x0041_", "</r>"] for name in LETTER})
def test_a_letter_comes_back_as_it_was(record, folders, form):
    (answer,) = through(folders["rheinschifffahrt"], "rheinschifffahrt", form, record)
    assert answer["prediction"] == record


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["zettelkatalog", "avisblatt", "rheinschifffahrt", "sciencemetabench"]
)
@settings(deadline=None, max_examples=6)
@given(first=JSON, second=st.dictionaries(NAMES, JSON, max_size=5))
def test_whatever_a_model_answers_is_a_table_that_is_read_again(name, first, second, folders, form):
    both = through(folders[name], name, form, first, second)
    assert len(both) == 2


@settings(deadline=None, max_examples=6)
@given(record=st.dictionaries(NAMES, JSON, max_size=5))
def test_both_forms_have_the_same_cells(record, folders):
    folder = folders["zettelkatalog"]
    for form in ("csv", "xlsx"):
        through(folder, "zettelkatalog", form, record)
    head, *rows = csv_rows(folder / "table.csv")
    book = python_calamine.CalamineWorkbook.from_path(folder / "table.xlsx")
    found = book.get_sheet_by_index(0).to_python()
    assert found[0] == head
    for ours, theirs in zip(rows, found[1:], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            if isinstance(other, float):
                assert float(one) == other
            else:
                assert one.replace("'", "") == other.replace("'", "")


@pytest.mark.nightly
def test_the_samples_have_the_same_figures_from_their_tables(tmp_path, run_hdbench):
    names = ["zettelkatalog", "avisblatt", "rheinschifffahrt", "sciencemetabench"]
    done = run_hdbench("build", *names, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        folder = str(tmp_path / "hdb" / name)
        answers = tmp_path / "hdb" / name / "example_predictions.jsonl"
        given = _numbers(score(folder, answers))
        if name == "zettelkatalog":  # where an absent field and an empty one are not the same
            given = {figure: given[figure] for figure in ("false_negatives", "answered", "items")}
        for form in ("csv", "xlsx"):
            path = tmp_path / f"{name}.{form}"
            export(answers, form, out=path, benchmark=folder)
            read = _numbers(score(folder, path))
            assert {figure: read[figure] for figure in given} == given, (name, form)


@pytest.mark.nightly
def test_gold_has_the_same_figures_from_every_samples_table(tmp_path, run_hdbench):
    names = sorted(path.parent.name for path in SCRIPTS.glob("*/sample"))
    done = run_hdbench("build", *names, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        folder = tmp_path / "hdb" / name
        rows = map(json.loads, (folder / "metadata.jsonl").read_text().splitlines())
        gold = tmp_path / f"{name}.jsonl"
        truths = [(row["id"], _record(row["ground_truth"])) for row in rows]
        lines = [{"id": item, "prediction": truth} for item, truth in truths if truth is not None]
        gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
        expected = _numbers(score(str(folder), gold))
        for form in ("csv", "xlsx"):
            table = tmp_path / f"{name}.{form}"
            export(gold, form, out=table, benchmark=str(folder))
            assert _numbers(score(str(folder), table)) == expected, (name, form)


def _record(truth):
    return json.loads(truth) if isinstance(truth, str) else truth


def test_lists_come_back_whatever_is_in_their_texts(folders, form):
    records = [
        {"sender_persons": ["Ott; Frey"], "receiver_persons": ["Ott / Frey"]},
        {"sender_persons": ["Huber"], "receiver_persons": [{"name": "Ott | Frey"}]},
    ]
    found = through(folders["rheinschifffahrt"], "rheinschifffahrt", form, *records)
    kept = [{name: value for name, value in each["prediction"].items() if value} for each in found]
    assert kept == records


def _numbers(result):
    figures = json.loads(json.dumps(result.figures()))
    return {name: value for name, value in figures.items() if isinstance(value, int | float)}
