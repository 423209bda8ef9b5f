"""A benchmark that is a stratified sample: scored, written, verified, reported and compared."""

import json

import pytest
import yaml
from helpers.run_folders import RIGHT, SPEC
from helpers.strata import sample_of

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import read_record, read_result, write_results

SAID = "estimated for the whole of 12,000 items from a stratified sample of 30"


def write_sampled(folder, items=(20, 10), sizes=(11_400, 600), **row):
    """A benchmark of cards of two types, in hdb/cards, with a column for each."""
    made = folder / "hdb/cards"
    made.mkdir(parents=True, exist_ok=True)
    drawn = sample_of(sizes, dict(enumerate(items)))
    columns = {"stratum": "int32", "type": "string"}
    spec = SPEC | {"columns": columns, "sample": drawn}
    (made / "benchmark.yaml").write_text(json.dumps(spec))
    strata = [place for place, number in enumerate(items) for _ in range(number)]
    rows = [
        {"id": f"{n:04}", "ground_truth": json.dumps(RIGHT), "stratum": place, "type": "ab"[place]}
        for n, place in enumerate(strata)
    ]
    rows[-1] |= row
    (made / "metadata.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return made


def write_answers(path, right=20, items=30):
    """Answers that are right for the first ones, and half right for all but the last, lost one."""
    lines = [
        {"id": f"{n:04}", "prediction": RIGHT if n < right else RIGHT | {"year": 1942}}
        for n in range(items - 1)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def sampled(tmp_path):
    write_sampled(tmp_path)
    write_answers(tmp_path / "answers.jsonl")
    return tmp_path


def result_of(sampled, monkeypatch):
    monkeypatch.chdir(sampled)
    return score("hdb/cards", "answers.jsonl")


def test_the_score_is_an_estimate_for_the_whole(sampled, monkeypatch):
    result = result_of(sampled, monkeypatch)
    # 20 right cards stand for 95 % of the whole, and 9 half right and a lost one for 5 %.
    assert result.rates["f1_macro"] == pytest.approx(0.95 + 0.05 * 0.45)
    title = result.field_rates()["title"]
    assert title["true_positives"] == 29
    assert title["false_negatives"] == 1
    assert title["recall"] == pytest.approx(0.995)
    assert result.estimated == SAID
    assert result.figures["unanswered"] == 1


def test_a_record_keeps_what_estimates_follow_from(sampled, monkeypatch):
    result = result_of(sampled, monkeypatch)
    write_results(sampled / "result.json", [result])
    record = json.loads((sampled / "result.json").read_text())
    assert record["estimated"] == SAID
    assert record["strata"] == [0] * 20 + [1] * 10
    assert "percentile intervals, within strata" in record["intervals"]["method"]
    again = read_result(sampled / "result.json")
    assert again.figures == result.figures
    assert again.field_rates() == result.field_rates()
    assert again.intervals == result.intervals
    assert again.to_dict() == result.to_dict()
    strict = again.strictly()
    assert strict.rates["f1_macro"] == result.rates["f1_macro"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"strata": [0] * 29}, "strata: is not a list of 30 values"),
        ({"strata": [2] * 30}, "strata: is not a list"),
        ({"strata": [True] * 30}, "strata: is not a list"),
        ({"strata": None}, "strata: is not a list"),
        ({"stratum_outcomes": {"7": {}}}, "stratum_outcomes: is not an object of outcomes by"),
        ({"stratum_outcomes": {"0": {"correct": {"a": -1}}, "1": {}}}, "is not an object of count"),
        ({"stratum_outcomes": {"0": 3, "1": {}}}, "stratum_outcomes: is not an object"),
        ({"dataset": {"sample": {"of": 3}}}, "sample.seed: Field required"),
        ({"dataset": {"sample": {**sample_of([1, 2], {}), "of": 4}}}, "have 3 items together"),
    ],
)
def test_a_damaged_record_is_refused(sampled, monkeypatch, change, said):
    record = json.loads(json.dumps(result_of(sampled, monkeypatch).to_dict())) | change
    with pytest.raises(HdbenchError, match=said) as error:
        read_record(record, "result.json")
    assert len(str(error.value).splitlines()) == 1


def test_a_stratified_sample_needs_its_column(sampled):
    spec = json.loads((sampled / "hdb/cards/benchmark.yaml").read_text()) | {"columns": {}}
    (sampled / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec))
    with pytest.raises(HdbenchError, match="sample: a stratified sample needs a column stratum"):
        load_benchmark(str(sampled / "hdb/cards"))


def test_the_commands_say_it(sampled, run_hdbench):
    done = run_hdbench(
        *("score", "hdb/cards", "answers.jsonl", "--json", "result.json", "--details"), cwd=sampled
    )
    assert done.returncode == 0, done.stderr
    assert SAID in done.stdout
    assert "f1_macro          0.9725" in done.stdout
    verified = run_hdbench("verify", "result.json", cwd=sampled)
    assert verified.returncode == 0, verified.stdout
    write_answers(sampled / "other.jsonl", right=0)
    compared = run_hdbench(
        *("compare", "hdb/cards", "answers.jsonl", "other.jsonl"),
        *("--json", "compared.json"),
        cwd=sampled,
    )
    assert SAID in compared.stdout
    [comparison] = json.loads((sampled / "compared.json").read_text())["comparisons"]
    assert comparison["estimated"] == SAID
    assert comparison["figures"]["f1_macro"]["difference"] == pytest.approx(0.95 * 0.5)


def test_it_is_built_like_any_other(tmp_path, run_hdbench):
    folder = tmp_path / "mine"
    folder.mkdir()
    drawn = sample_of([90, 10], {0: 2, 1: 1})
    drawn["strata"][1]["values"] = {}  # the items without a type
    columns = {"stratum": "int32"}
    spec = SPEC | {"name": "mine", "columns": columns, "sample": drawn, "media": "text"}
    del spec["report_errors_at"]
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(spec))
    rows = [
        {"text": f"card {n}", "id": f"a{n}", "ground_truth": RIGHT, "stratum": place}
        for n, place in enumerate([0, 0, 1])
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in {
        "prompt.txt": "Read it.",
        "answer.schema.json": "{}",
        "CHANGELOG.md": "# Changelog\n\n## 1.0.0\n\n- First.\n",
        "README.md": "---\nlicense: cc0-1.0\n---\n# Mine\n",
    }.items():
        (folder / name).write_text(text)
    done = run_hdbench("build", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    built = load_benchmark(str(tmp_path / "hdb/mine"))
    assert built.strata() == {"a0": 0, "a1": 0, "a2": 1}
    assert built.spec.sample.strata[1].values == {}
