"""`hdbench build results`, from little files of recorded runs."""

import gzip
import json
import shutil
from datetime import date

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from helpers.results import flat_of
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.benchmarks.building.builder import build_results
from hdbench.benchmarks.building.recipe import find_recipe, read_registry
from hdbench.errors import HdbenchError
from hdbench.evaluation.run import Prompt, RunInfo, read_run_info

pytestmark = pytest.mark.nightly

FILES = {
    "avisblatt": "fraktur_adverts.jsonl.gz",
    "rheinschifffahrt": "business_letters.jsonl.gz",
    "zettelkatalog": "library_cards.jsonl.gz",
}

CARD = {"author": {"last_name": "", "first_name": None}, "publication": {"title": "Über\0"}}


def run(name="2026-01-24/T0252", *answers, **changes):
    return {
        "run": name,
        "provider": "someone",
        "model": "some-model",
        "prompt": "prompt.txt",
        "scores": {"f1_micro": 0.7093159000700444, "total_tp": 1519},
        "answers": [
            {"id": item_id, "answer": answer, "text": text} for item_id, answer, text in answers
        ]
        or [{"id": "sample-01", "answer": CARD, "text": "{}"}],
    } | changes


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "recorded"
    folder.mkdir()
    return folder


def write(source, **runs):
    for benchmark, of_benchmark in runs.items():
        lines = [json.dumps(each) + "\n" for each in of_benchmark]
        (source / FILES[benchmark]).write_bytes(gzip.compress("".join(lines).encode()))


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def table(path):
    return pq.read_table(path).to_pylist()


def test_the_folder_has_the_documented_form(source, tmp_path):
    answers = [("sample-01", CARD, '{"a":1}'), ("sample-02", None, "sorry"), ("b", None, " \n")]
    write(source, zettelkatalog=[run("2026-01-24/T0252", *answers)])
    build_results(tmp_path / "hdb", source)
    folder = tmp_path / "hdb/results"
    assert tree(folder).keys() == {
        *("README.md", ".built-by-hdbench", "models.yaml"),
        *("runs.parquet", "zettelkatalog/answers.parquet"),
        "zettelkatalog/2026-01-24_T0252/run.json",
        "zettelkatalog/2026-01-24_T0252/answers.jsonl",
    }
    prompt = read_registry(find_recipe("zettelkatalog").folder)[
        "benchmarks/library_cards/prompts/prompt.txt"
    ]
    assert read_run_info(folder / "zettelkatalog/2026-01-24_T0252") == RunInfo(
        run="2026-01-24/T0252",
        benchmark="hdb/zettelkatalog",
        model="some-model",
        provider="someone",
        date="2026-01-24",
        prompt=Prompt(name="prompt.txt", sha256=prompt),
        items=["sample-01", "sample-02", "b"],
        published={"f1_micro": 0.7093159000700444, "total_tp": 1519},
    )
    lines = (folder / "zettelkatalog/2026-01-24_T0252/answers.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": item_id, "prediction": answer, "text": text} for item_id, answer, text in answers
    ]
    assert table(folder / "runs.parquet") == [
        {
            "run": "2026-01-24/T0252",
            "benchmark": "hdb/zettelkatalog",
            "model": "some-model",
            "provider": "someone",
            "date": date(2026, 1, 24),
            "prompt": "prompt.txt",
            "prompt_sha256": prompt,
            "items": 3,
            "answered": 2,
            "published": '{"f1_micro": 0.7093159000700444, "total_tp": 1519}',
            "reproducible": None,
            "cost_usd": None,
        }
    ]
    first, second, _ = table(folder / "zettelkatalog/answers.parquet")
    assert json.loads(first.pop("prediction")) == CARD
    about = {"run": "2026-01-24/T0252", "model": "some-model", "provider": "someone"}
    unknown = {"tokens": None, "seconds": None, "error": None}
    assert first == {**about, "id": "sample-01", "text": '{"a":1}', **unknown}
    assert second == {**about, "id": "sample-02", "text": "sorry", "prediction": None, **unknown}


hostile_texts = st.text(st.characters() | st.sampled_from('\0\ud800\udc00\u2028\\"'))

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | hostile_texts,
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=10,
)


@settings(max_examples=20, deadline=None)
@given(
    answers=st.lists(
        st.tuples(json_values, st.none() | hostile_texts),
        min_size=1,
        max_size=5,
    )
)
def test_every_answer_comes_back_as_it_was_recorded(tmp_path_factory, answers):
    folder = tmp_path_factory.mktemp("run")
    # What json.loads makes of two halves that stand together is one character.
    answers = json.loads(json.dumps(answers))
    named = [(str(number), *answer) for number, answer in enumerate(answers)]
    write(folder, zettelkatalog=[run("r", *named)])
    build_results(folder / "hdb", folder)
    place = folder / "hdb/results/zettelkatalog"
    lines = (place / "r/answers.jsonl").read_bytes().decode().split("\n")
    assert [json.loads(line) for line in lines[:-1]] == [
        {"id": item_id, "prediction": value, "text": text} for item_id, value, text in named
    ]
    rows = table(place / "answers.parquet")
    assert [row["prediction"] and json.loads(row["prediction"]) for row in rows] == [
        value for _, value, _ in named
    ]
    replaced = str.maketrans(dict.fromkeys(range(0xD800, 0xE000), "\ufffd"))
    assert [row["text"] for row in rows] == [
        text if text is None else text.translate(replaced) for _, _, text in named
    ]


def test_the_card_s_yaml_and_its_numbers_are_of_what_was_built(source, tmp_path):
    write(source, zettelkatalog=[run("2025-01-02/a"), run("2026-01-24/b")], avisblatt=[run("c")])
    build_results(tmp_path / "hdb", source)
    card = (tmp_path / "hdb/results/README.md").read_text()
    _, front, body = card.split("---\n", 2)
    header = yaml.safe_load(front)
    assert header["license"] == "other"
    assert {config["config_name"]: config["data_files"] for config in header["configs"]} == {
        name: [{"split": "test", "path": path}]
        for name, path in {
            "runs": "runs.parquet",
            "avisblatt": "avisblatt/answers.parquet",
            "zettelkatalog": "zettelkatalog/answers.parquet",
        }.items()
    }
    assert [config.get("default") for config in header["configs"]] == [True, None, None]
    text = " ".join(body.split())
    assert "2 benchmarks" in text
    assert "3 runs with 3 answers, of 2025-01-02 to 2026-01-24" in text
    assert "| `zettelkatalog` | 2 |" in text
    assert "business_letters: of those benchmarks it contains no runs" in text
    assert "a part of all runs" in text


def test_the_card_s_calls_load_and_score_what_was_built(
    source, tmp_path, sample, run_hdbench, monkeypatch
):
    sample_card = json.loads(
        (sample / "hdb/zettelkatalog/metadata.jsonl").read_text().split("\n")[0]
    )
    truth = json.loads(sample_card["ground_truth"])
    answers = [("sample-01", truth, json.dumps(truth)), ("sample-02", None, "sorry")]
    write(source, zettelkatalog=[run("2026-01-24/T0252", *answers)])
    place = shutil.copytree(sample, tmp_path / "place")
    done = run_hdbench("build", "results", "--source", source, cwd=place)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(place)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    card = (place / "hdb/results/README.md").read_text()
    code = card.partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(code, names)
    assert names["predictions"] == [truth, None]
    assert list(names["runs"]["run"]) == ["2026-01-24/T0252"]
    commands = card.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert len(commands) == 2
    for command in commands:
        done = run_hdbench(*command.split()[1:], "--json", tmp_path / "result.json", cwd=place)
        assert done.returncode == 0, done.stderr
        result = flat_of(tmp_path / "result.json")
        assert result["items"] == 2
        assert 0 < result["f1_micro"] < 1
        assert command.endswith("--protocol published") == (result["protocol"] == "published")


def test_a_damaged_source_leaves_what_was_built_before(source, tmp_path):
    write(source, zettelkatalog=[run()], avisblatt=[run()])
    build_results(tmp_path / "hdb", source)
    before = tree(tmp_path)
    write(source, zettelkatalog=[run("b"), run("b")])
    with pytest.raises(HdbenchError, match=r"library_cards.jsonl.gz:2: the run 'b'"):
        build_results(tmp_path / "hdb", source)
    after = tree(tmp_path)
    assert {path for path in before if before[path] != after.get(path)} == {
        "recorded/library_cards.jsonl.gz"
    }
    assert after.keys() == before.keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["results"], "https://codeload.github.com/RISE-UNIBAS/humanities_data_benchmark/tar.g"),
        (["results", "--source", "nowhere"], "nowhere: cannot be read: No such file or"),
        (["results", "--sample", "--source", "."], "results: is built on its own, and takes only"),
        (["results", "zettelkatalog", "--source", "."], "results: is built on its own"),
    ],
)
def test_what_cannot_be_built_is_said_in_one_line(tmp_path, run_hdbench, arguments, message):
    # No test reaches the network: at this port, there is no proxy.
    done = run_hdbench("build", *arguments, cwd=tmp_path, HTTPS_PROXY="http://127.0.0.1:9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {message}")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


WRONG = [
    (run("../../away"), "'../../away' cannot name a folder"),
    (run("a.parquet"), "cannot name a folder"),
    ({key: value for key, value in run().items() if key != "scores"}, "'scores'"),
    (run(model=3), "model"),
    (run("a", ("1", None, "x"), ("1", None, "x")), "occurs twice"),
    (run("a", (1, None, "x")), "the answer 1 has an id or a text that is not a string"),
    (run("a", ("1", None, ["x"])), "the answer '1' has an id or a text that is not a string"),
    (run(answers=[{"id": "1", "answer": 1, "tokens": "many"}]), "not a recorded run"),
]


@pytest.mark.parametrize(("line", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_is_no_run_is_refused_with_its_place(source, tmp_path, line, why):
    write(source, zettelkatalog=[line])
    with pytest.raises(HdbenchError, match=r"library_cards\.jsonl\.gz:1: ") as refused:
        build_results(tmp_path / "hdb", source)
    assert why in str(refused.value)
    assert not (tmp_path / "hdb/results").exists()
