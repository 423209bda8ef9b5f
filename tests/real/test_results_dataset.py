"""The published runs as the dataset `hdb/results`."""

import json
from collections import Counter

import datasets
import pytest
from helpers.lost_answers import RECORDED, Recorded
from helpers.raw_results import SCRIPT, packed, raw_files
from helpers.results import flat_of

from hdbench.benchmarks.model_facts import read_model_facts
from hdbench.evaluation.run import read_run_info

pytestmark = pytest.mark.nightly

RUNS = {
    "zettelkatalog": 33,
    "avisblatt": 59,
    "rheinschifffahrt": 135,
    "bibliography": 57,
    "blacklist": 43,
    "companylists": 77,
    "manuscripts": 31,
    "advertxml": 42,
}

COMPANIES = ("companylists", "company_lists", "record_f1", "f1_macro")
ALL = (
    *RECORDED,
    Recorded("bibliography", "bibliographic_data", "record_f1", "similarity"),
    Recorded("blacklist", "blacklist_cards", "record_f1", "similarity"),
    Recorded(*COMPANIES),
    Recorded("manuscripts", "medieval_manuscripts", "text_cer", "cer"),
    Recorded("advertxml", "book_advert_xml", "text_cer", "similarity"),
)

OUR_NAMES = {
    "micro_precision": "precision_micro",
    "micro_recall": "recall_micro",
    "total_instances": "items",
    "total_tp": "true_positives",
    "total_fp": "false_positives",
    "total_fn": "false_negatives",
}


@pytest.fixture
def built(published):
    assert (
        "hdb/results: 477 runs (advertxml 42, avisblatt 59, bibliography 57, blacklist 43, "
        "companylists 77, manuscripts 31, rheinschifffahrt 135, zettelkatalog 33), "
        "19489 answers\n"
    ) in published.said
    return published.folder


@pytest.fixture(params=ALL, ids=[recorded.name for recorded in ALL])
def recorded(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["cached", "streaming"])
def load(request, built, monkeypatch, tmp_path):
    monkeypatch.chdir(built)
    return lambda *config: datasets.load_dataset(
        "hdb/results", *config, split="test", streaming=request.param, cache_dir=str(tmp_path)
    )


def test_the_rows_of_a_benchmark_are_its_answers_as_recorded(load, recorded, shared):
    rows = [
        tuple(row[key] for key in ("run", "model", "provider", "id", "text", "prediction"))
        for row in load(recorded.name)
    ]
    assert [(*about, prediction and json.loads(prediction)) for *about, prediction in rows] == [
        (run["run"], run["model"], run["provider"], each["id"], each.get("text"), each["answer"])
        for run in recorded.runs(shared)
        for each in run["answers"]
    ]


def test_the_rows_of_runs_are_the_runs_as_recorded(load, shared):
    rows = list(load("runs"))
    assert rows == list(load())
    source = shared / "upstream/humanities_data_benchmark"
    pinned = {
        path: sha256
        for sha256, path in map(str.split, (source / "SHA256SUMS").read_text().splitlines())
        if "/prompts/" in path
    }
    expected = {
        f"hdb/{recorded.name}": [
            {
                "run": run["run"],
                "model": run["model"],
                "provider": run["provider"],
                "date": run["run"][:10],
                "prompt": run["prompt"],
                "prompt_sha256": pinned[f"benchmarks/{recorded.folder}/prompts/{run['prompt']}"],
                "items": len(run["answers"]),
                "answered": sum(
                    each["answer"] is not None or bool((each.get("text") or "").strip())
                    for each in run["answers"]
                ),
                "published": json.dumps(run["scores"]),
                "reproducible": run.get("reproducible"),
                "cost_usd": None,  # which JSON Lines do not have
            }
            for run in recorded.runs(shared)
        ]
        for recorded in ALL
    }
    assert {name.removeprefix("hdb/"): len(runs) for name, runs in expected.items()} == RUNS
    for name, runs in expected.items():
        found = [row | {"date": str(row["date"])} for row in rows if row["benchmark"] == name]
        assert found == [{"benchmark": name} | run for run in runs]


def test_each_run_s_folder_has_its_answers_as_recorded(built, recorded, shared):
    place = built / "hdb/results" / recorded.name
    runs = recorded.runs(shared)
    assert {path.name for path in place.iterdir() if path.is_dir()} == {
        run["run"].replace("/", "_") for run in runs
    }
    lines = (built / "hdb" / recorded.name / "metadata.jsonl").read_text().splitlines()
    order = [json.loads(line)["id"] for line in lines]
    for run in runs:
        folder = place / run["run"].replace("/", "_")
        text = (folder / "answers.jsonl").read_bytes().decode()
        answers = [json.loads(line) for line in text.split("\n")[:-1]]
        assert answers == [
            {"id": each["id"], "prediction": each["answer"], "text": each.get("text")}
            for each in run["answers"]
        ]
        info = read_run_info(folder)
        assert info.items == [answer["id"] for answer in answers]
        assert info.items == [item_id for item_id in order if item_id in info.items]
        assert (info.run, info.model, info.provider) == (run["run"], run["model"], run["provider"])
        assert info.published == run["scores"]
        assert info.reproducible == run.get("reproducible")


def test_the_runs_whose_figures_cannot_be_reproduced_are_marked(load):
    marked = [row["benchmark"] for row in load("runs") if row["reproducible"] is False]
    assert Counter(marked) == {"hdb/bibliography": 18, "hdb/companylists": 10}


def test_building_it_again_gives_the_same_bytes(built, shared, run_hdbench, tmp_path):
    command = ("build", "results", "--source", shared / "recorded")
    done = run_hdbench(*command, cwd=tmp_path, new=True)  # with another hash seed
    assert done.returncode == 0, done.stderr
    first, second = built / "hdb/results", tmp_path / "hdb/results"
    paths = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert paths == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    assert len(paths) == 2 * 477 + 8 + 4
    assert all((first / path).read_bytes() == (second / path).read_bytes() for path in paths)


def test_an_older_run_is_reproduced_from_its_texts(built, shared, run_hdbench, tmp_path):
    """Its recorded answers, of which some are missing, do not give the published figures."""
    name = "2025-10-28/T0364"
    [run] = [run for run in Recorded(*COMPANIES).runs(shared) if run["run"] == name]
    assert run["reproducible"] is False
    for answer in run["answers"]:
        if answer["answer"] is None:
            answer["answer"] = SCRIPT.parsed_text(answer["text"])
    files = raw_files({"company_lists": [run]}, SCRIPT.parsed_text)
    requests = [json.loads(data) for path, data in files.items() if "/request_" in path]
    assert all("parsed" not in request for request in requests if request.get("text"))
    (tmp_path / "copy.tar.gz").write_bytes(packed(files))
    done = run_hdbench(
        *("build", "results", "--source", "copy.tar.gz"),
        cwd=tmp_path,
        HDBENCH_CACHE=str(tmp_path / "cache"),
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb/results/companylists/2025-10-28_T0364"
    info = read_run_info(folder)
    assert info.reproducible is True
    done = run_hdbench(
        *("score", "hdb/companylists", folder, "--protocol", "published"),
        *("--json", tmp_path / "result.json"),
        cwd=built,
    )
    assert done.returncode == 0, done.stderr
    result = flat_of(tmp_path / "result.json")
    figures = {key: result[OUR_NAMES.get(key, key)] for key in info.published}
    assert figures == info.published


def test_something_is_said_of_every_model_and_of_no_other(built, shared):
    models = {run["model"] for recorded in ALL for run in recorded.runs(shared)}
    assert read_model_facts(built / "hdb/results").keys() == models
