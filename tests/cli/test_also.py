"""`--also`: the figures of the same answers under other rules, side by side."""

import json

import pytest
from helpers.results import flat_of
from helpers.run_folders import SPEC

from hdbench.answers.answers import AnswerReader
from hdbench.evaluation.score import Settings, score_under

PAGE = {"entries": [{"name": "Abegg"}, {"name": "Boreux"}, {"name": "Cuno"}]}
SHIFTED = {"entries": [{"name": "Boreux"}, {"name": "Cuno"}]}  # the first entry is left out
SPELLED = {"entries": [{"name": "ABEGG"}, {"name": "BOREUX"}, {"name": "CUNO"}]}

SCHEMA = {"type": "object", "properties": {"entries": {"type": "array"}}}
OPTIONS = {"documented": {"root_list": "entries"}, "published": {"lists": "position"}}


@pytest.fixture
def pages(tmp_path):
    """A working directory with a benchmark of one page with three entries, in hdb/pages."""
    made = tmp_path / "hdb/pages"
    made.mkdir(parents=True)
    spec = {"name": "pages", "metric": "record_f1", "protocols": OPTIONS, "report_errors_at": None}
    (made / "benchmark.yaml").write_text(json.dumps(SPEC | spec))
    (made / "answer.schema.json").write_text(json.dumps(SCHEMA))
    (made / "metadata.jsonl").write_text(
        json.dumps({"id": "p1", "ground_truth": json.dumps(PAGE)}) + "\n"
    )
    return tmp_path


@pytest.fixture
def score(pages, run_hdbench):
    def run(answers, *arguments):
        return run_hdbench("score", "hdb/pages", answers, *arguments, cwd=pages)

    return run


def write(folder, name, prediction, **more):
    (folder / name).write_text(json.dumps({"id": "p1", "prediction": prediction, **more}) + "\n")


def rows(text):
    """The table of figures under several rules: figure → its cells."""
    table = text.partition("Under other rules")[2]
    lines = [line.split() for line in table.splitlines()]
    return {line[0]: line[1:] for line in lines if len(line) > 1 and line[1][:1].isdigit()}


def test_an_entry_left_out_costs_everything_by_position(pages, score):
    write(pages, "a.jsonl", SHIFTED)
    done = score("a.jsonl", "--also", "lists=position", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    # Aligned: two of three are found, and nothing is invented. By position nothing is equal.
    assert found["recall_micro"] == ["0.6667", "0.0000", "-0.6667"]
    assert found["precision_micro"] == ["1.0000", "0.0000", "-1.0000"]
    assert found["f1_micro"] == ["0.8000", "0.0000", "-0.8000"]
    assert found["f1_records"] == ["0.8000"]  # by position no item of a list is missed or invented
    record = flat_of(pages / "r.json")
    assert (record["recall_micro"], list(record["also"])) == (2 / 3, ["lists=position"])
    under = record["also"]["lists=position"]
    assert under["figures"]["recall_micro"] == 0.0
    assert under["metric"]["protocol"] == "documented"
    assert under["metric"]["options"]["root_list"] == "entries"  # the benchmark's own option stays


def test_a_protocol_starts_afresh_and_options_are_added(pages, score):
    write(pages, "a.jsonl", SPELLED)
    rules = ["published", "lists=position", 'published,normalize=["casefold"]', "documented"]
    also = [part for each in rules for part in ("--also", each)]
    option = ("--option", 'normalize=["casefold"]')
    done = score("a.jsonl", *option, *also, "--json", "r.json")
    assert done.returncode == 0, done.stderr
    record = flat_of(pages / "r.json")
    assert record["f1_micro"] == 1.0
    assert {name: each["figures"]["f1_micro"] for name, each in record["also"].items()} == {
        "published": 0.0,
        "lists=position": 1.0,
        'published,normalize=["casefold"]': 1.0,
        "documented": 0.0,
    }
    assert "also" not in json.loads(json.dumps(record["also"]["published"]))


def test_each_protocol_reads_answers_in_its_own_way(pages, score):
    """Under `published`, a null prediction is null, whatever text stands beside it."""
    write(pages, "a.jsonl", None, text=f"```json\n{json.dumps(PAGE)}\n```")
    done = score("a.jsonl", "--also", "published", "--also", "lists=position", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    record = flat_of(pages / "r.json")
    assert (record["f1_micro"], record["status"]["unwrapped"]) == (1.0, 1)
    published, position = record["also"].values()
    assert (published["figures"]["f1_micro"], published["status"]["unanswered"]) == (0.0, 1)
    assert (position["figures"]["f1_micro"], position["status"]["unwrapped"]) == (1.0, 1)


def test_answers_are_read_once_for_each_way_of_reading(pages, monkeypatch):
    write(pages, "a.jsonl", SHIFTED)
    read, answer = [], AnswerReader.answer

    def counted(reader, item_id, *about):
        read.append((item_id, reader.read_as.as_given))
        return answer(reader, item_id, *about)

    monkeypatch.setattr(AnswerReader, "answer", counted)
    by_position = Settings(options={"lists": "position"})
    rules = [Settings(), by_position, Settings("published"), Settings(options={"threshold": 0.5})]
    found = score_under(str(pages / "hdb/pages"), pages / "a.jsonl", rules)
    assert read == [("p1", False), ("p1", True)]
    assert [result[None].figures["true_positives"] for result in found] == [2, 0, 0, 2]
