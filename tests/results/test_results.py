"""A result as a record: written, read back, and refused where it is damaged."""

import hashlib
import json
import math
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hdbench.answers.answer import Answer
from hdbench.api import score, score_runs
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import item_set
from hdbench.evaluation.result_file import read_result, read_results, write_results
from hdbench.evaluation.run import answers_sha256
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric

RIGHT = {"title": "Stellingen", "year": 1924}
WRONG = {"title": "Stellingen", "year": 1942}

TRUTHS = {
    "zettel_f1": {"title": "Stellingen", "year": 1924, "author": {"last_name": "Müller"}},
    "letters_f1": {
        "send_date": ["1926-02-16"],
        "sender_persons": [{"name": "Meyer, Hans", "alternateName": ["H. Meyer"]}],
        "receiver_persons": [],
    },
    "sciencemeta_accuracy": {"kind": "ebook", "title": "On Growth", "isbn": "978"},
    "avisblatt_cer": {
        "date": "1731-01-02",
        "tags_section": "Es wird zum Verkauff offerirt",
        "advertisements": [{"date": "1731-01-02", "text": "1. Rother Wein", "ntokens": 3}],
    },
}
OPTIONS = {
    "zettel_f1": [{}, {"threshold": 0.5}, {"weights": {"title": 2.5}}],
    "letters_f1": [{}],
    "sciencemeta_accuracy": [{}, {"sets": True, "no_autojunk": True}],
    "avisblatt_cer": [{}, {"normalize": ["NFC", "case"]}],
}
TEXTS = st.text(st.characters(), max_size=8)  # lone surrogates too
LEAVES = st.none() | st.booleans() | st.integers(-9, 3000) | st.floats() | TEXTS
KEYS = st.sampled_from(
    [*{key for truth in TRUTHS.values() for key in truth}, "text", "last_name"]
) | TEXTS.filter(lambda key: key != "sha256")
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@pytest.mark.parametrize("name", TRUTHS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), answers=st.lists(VALUES | st.just("right"), min_size=1, max_size=5))
def test_what_is_written_is_read_again(name, data, answers, tmp_path):
    protocol = data.draw(st.sampled_from(["documented", "published"]))
    metric = make_metric(name, protocol, **data.draw(st.sampled_from(OPTIONS[name])))
    truth = metric.prepare(TRUTHS[name])
    candidates = [
        (
            Answer(
                TRUTHS[name] if answer == "right" else answer,
                data.draw(st.sampled_from(["clean", "unwrapped"])),
                id=f"{number}\ud800",
            ),
            truth,
        )
        for number, answer in enumerate(answers)
    ]
    result = score_items(metric, candidates, details=data.draw(st.booleans()))
    path = tmp_path / "result.json"
    write_results(path, [result])
    again = read_result(path)
    assert again == result
    assert (again.figures, again.totals) == (result.figures, result.totals)
    assert again.field_rates() == result.field_rates()
    assert again.strictly().totals == result.strictly().totals
    written = path.read_bytes()
    write_results(path, [again])
    assert path.read_bytes() == written


def test_columns_of_zeros_are_left_out(tmp_path):
    metric = make_metric("sciencemeta_accuracy")
    truth = metric.prepare(TRUTHS["sciencemeta_accuracy"])
    write_results(tmp_path / "r.json", [score_items(metric, [(Answer(None, id="a"), truth)])])
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["statistics"] == {"ebook.items": [1], "corrections": [7], "values": [7]}
    assert read_result(tmp_path / "r.json").statistics["accuracy"] == [0]


def test_a_column_stands_in_one_line(tmp_path):
    metric = make_metric("zettel_f1")
    truth = metric.prepare(RIGHT)
    result = score_items(metric, [(Answer(RIGHT, id=each), truth) for each in "abc"])
    write_results(tmp_path / "r.json", [result])
    lines = (tmp_path / "r.json").read_text().splitlines()
    assert '  "ids": ["a", "b", "c"],' in lines
    assert '    "f1": [1.0, 1.0, 1.0],' in lines


def test_item_sets_of_other_items_or_numbers_differ():
    assert item_set(["a", "b"]) != item_set(["a", "c"])
    assert item_set(["a", "b"]) != item_set(["ab"])
    assert item_set(["b", "a"]) == item_set(["a", "b"])


def test_result_that_is_read_keeps_its_scoring_versions(cards, monkeypatch):
    scored(cards, monkeypatch)
    others = {"rapidfuzz": "1", "json_repair": "2", "numpy": "2", "scipy": "1", "python": "3"}
    edit(cards, versions={"hdbench": "0.9.7", **others})
    signature = read_result(cards / "result.json").signature
    assert signature.endswith("|rules:4|reading:4|rapidfuzz:1|json_repair:2|hdbench:0.9.7")


def test_runs_are_read_by_their_models(cards, monkeypatch):
    monkeypatch.chdir(cards)
    lines = [
        {"id": f"000{number}", "model": model, "prediction": answer}
        for model, answer in (("a", RIGHT), ("b", WRONG))
        for number in range(4)
    ]
    (cards / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_results(cards / "runs.json", list(score_runs("hdb/cards", "p.jsonl").values()))
    results = read_results(cards / "runs.json")
    rates = {name: result.figures["f1_micro"] for name, result in results.items()}
    assert rates == {"a": 1.0, "b": 0.5}
    with pytest.raises(HdbenchError, match=r"runs.json: holds 2 runs: use read_results"):
        read_result(cards / "runs.json")
    edit(cards, "runs.json", runs=[json.loads((cards / "runs.json").read_text())["runs"][0]] * 2)
    with pytest.raises(HdbenchError, match=r"runs.json: runs: two are called 'a'"):
        read_results(cards / "runs.json")


def test_a_result_without_a_model_has_the_name_of_its_file(cards, monkeypatch):
    scored(cards, monkeypatch)
    assert list(read_results(cards / "result.json")) == ["result"]


def test_folder_hash_is_that_of_the_sha256sum_list(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "b.txt").write_text("two")
    (folder / "a.json").write_text("{}")
    expected = subprocess.run(
        "sha256sum a.json b.txt | sha256sum", cwd=folder, shell=True, capture_output=True, text=True
    ).stdout.split()[0]
    assert answers_sha256(folder) == expected
    (folder / ".DS_Store").write_text("not an answer")
    assert answers_sha256(folder) == expected
    (folder / "a.json").rename(folder / "c.json")
    assert answers_sha256(folder) != expected


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"x" * 3_000_000)
    assert answers_sha256(tmp_path / "a.jsonl") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def scored(cards, monkeypatch):
    monkeypatch.chdir(cards)
    (cards / "p.jsonl").write_text(json.dumps({"id": "0000", "prediction": RIGHT}))
    write_results(cards / "result.json", [score("hdb/cards", "p.jsonl")])


def edit(folder, name="result.json", **changes):
    """Change values by their paths: `metric.rules`; `...` takes one out."""
    value = json.loads((folder / name).read_text())
    for path, child in changes.items():
        *parents, key = path.split(".")
        part = value
        for parent in parents:
            part = part[parent]
        part[key] = child
        if child is ...:
            del part[key]
    (folder / name).write_text(json.dumps(value))


COLUMN = [1, 0, 0, 0]


def said(key, values):
    """A warning of a record, all of it right but for what it says."""
    about = {"kind": "truncated", "message": "cut off", "count": 1, "of": 2, "ids": ["0000"]}
    return about | {"key": key, "values": values}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"statistics": ...}, "not a result with per-item statistics"),
        ({"metric": ...}, "not a result with per-item statistics"),
        ({"metric": 1}, "metric: is not an object with name, rules, protocol and options"),
        ({"metric.name": "x" * 9999}, "metric: no "),
        ({"metric.name": 1}, "metric.name: Input should be a valid string"),
        ({"metric.rules": 5}, "metric: scored under rules 5 of zettel_f1, and this hdbench"),
        ({"metric.rules": "1"}, "metric.rules: "),
        ({"metric.protocol": "x"}, "metric: no protocol"),
        ({"metric.options": {"x": 1}}, "metric: zettel_f1 has no option 'x'"),
        ({"metric.options": {"protocol": 1}}, "metric: zettel_f1 has no option 'protocol'"),
        ({"metric.options": {"threshold": 7}}, "metric: threshold"),
        ({"metric.options": []}, "metric.options: "),
        ({"versions": {"hdbench": "1.0.0"}}, "versions.rapidfuzz: "),
        ({"answers": {"path": 3, "sha256": ""}}, "answers.path: "),
        ({"model": 3}, "model: "),
        ({"ids": ["0000", "0001", "0002", "0002"]}, "ids: is not a list of texts that"),
        ({"ids": ["0000", "0001", "0002", 3]}, "ids: is not a list of texts that"),
        ({"ids": ["0000", "0001", "0002"]}, "statuses: is not a list of 3 values"),
        ({"ids": ...}, "ids: Field required"),
        ({"statistics": []}, "statistics: is not an object"),
        ({"statistics": {"\x1b" * 999: COLUMN}}, "zettel_f1 has no such statistic"),
        ({"statistics": {"f1": COLUMN[1:]}}, "statistics: f1: is not a list of 4 values"),
        ({"statistics": {"f1": "1111"}}, "statistics: f1: is not a list of 4 values"),
        ({"statistics": {"f1": [math.nan, 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"statistics": {"f1": [math.inf, 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"statistics": {"f1": [10**400, 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"statistics": {"f1": [-1, 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"statistics": {"f1": [True, 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"statistics": {"f1": ["1", 0, 0, 0]}}, "statistics: f1: not all are finite"),
        ({"outcomes": {"correct": {"title": -1}}}, "outcomes: is not an object of counts"),
        ({"outcomes": {"correct": ["title"]}}, "outcomes: is not an object of counts"),
        ({"outcomes": {"wrong": {}}}, "outcomes: are not all of correct, "),
        ({"statuses": ["clean"] * 3}, "statuses: is not a list of 4 values"),
        ({"statuses": ["clean"] * 3 + ["lost"]}, "statuses: are not all of clean, "),
        ({"statuses": 7}, "statuses: is not a list of 4 values"),
        ({"kinds": {"0001": "poem"}}, "kinds: are not all of thoughts, "),
        ({"kinds": ["xml"]}, "kinds: are not all of thoughts, "),
        ({"item_weights": [1, 1, 1]}, "item_weights: is not a list of 4 values"),
        ({"item_weights": [1, 1, 1, -1]}, "item_weights: not all are finite"),
        ({"dataset.headline": "f1"}, "dataset: headline: 'f1' is not a rate of zettel_f1: choose "),
        ({"dataset.headline": "true_positives"}, "'true_positives' is not a rate of zettel_f1"),
        ({"dataset.dataset_sha256": 1}, "dataset.dataset_sha256: Input should be a valid string"),
        ({"reading.strict": "yes"}, "reading.strict: "),
        ({"reading.notes": [1]}, "reading.notes: is not a list of texts"),
        ({"strict_statistics": ["0000"]}, "strict_statistics: is not an object of ids"),
        ({"strict_statistics": {"0000": 3}}, "strict_statistics: is not an object of ids"),
        ({"strict_statistics": {"0000": {"x": 1}}}, "x: zettel_f1 has no such statistic"),
        ({"strict_statistics": {"0000": {"f1": -1}}}, "f1: not all are finite numbers"),
        ({"per_item": [{}]}, "per_item: is not a list of 4 values"),
        ({"per_item": [{"id": "0000"}] * 4}, "per_item: 0: is not that item with its status"),
        ({"worst": [{}]}, "worst: 0: is not that item with its status"),
        ({"reading.schema_violations": {"year": 1}}, "schema_violations: is not an object of cou"),
        ({"reading.warnings": [{"message": "x"}]}, "warnings: not all have kind, message"),
        ({"reading.warnings": [said("nothing", {})]}, "warnings: not all have kind, message"),
        (
            {"reading.warnings": [said("truncated", {"count": "x", "given": 1})]},
            "warnings: not all have",
        ),
        ({"reading.warnings": [said("answers", {"number": [1]})]}, "warnings: not all have"),
        ({"reading.warnings": [said("example", {"shown": "x" * 10_000})]}, "warnings: not all"),
        ({"runs": {}}, "runs: is not a list of results"),
        ({"runs": []}, "runs: is not a list of results"),
        ({"runs": [7]}, "runs[0]: not a result with per-item statistics"),
    ],
)
def test_a_damaged_result_is_named_by_file_and_key(cards, monkeypatch, changes, message):
    scored(cards, monkeypatch)
    edit(cards, **changes)
    with pytest.raises(HdbenchError) as error:
        read_results("result.json")
    line = str(error.value)
    assert line.startswith("result.json: ")
    assert message in line
    assert "\n" not in line
    assert len(line) < 700


def test_sums_from_which_no_finite_figure_follows_are_refused(tmp_path):
    metric = make_metric("avisblatt_cer")
    truth = metric.prepare(TRUTHS["avisblatt_cer"])
    write_results(tmp_path / "r.json", [score_items(metric, [(Answer(None, id="a"), truth)])])
    edit(tmp_path, "r.json", statistics={"scored_ads": [1e-300], "fuzzy_sum": [2**53]})
    with pytest.raises(HdbenchError, match=r"r\.json: the file: no figures follow"):
        read_result(tmp_path / "r.json")


def test_a_result_that_is_too_large_or_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.evaluation.result_file.MAX_RESULT", 2**20)
    (tmp_path / "large.json").write_bytes(b"{" + b" " * 2**20)
    with pytest.raises(HdbenchError, match="larger than 1 MiB"):
        read_result(tmp_path / "large.json")
    with pytest.raises(HdbenchError, match="cannot be read: No such file"):
        read_result(tmp_path / "none.json")
    with pytest.raises(HdbenchError, match="not a file"):
        read_result(tmp_path)
