"""Models that were released when a benchmark's ground truth was public, marked in leaderboards."""

import csv
import io
import json

import pytest
import yaml
from helpers.run_folders import RIGHT, SPEC, write_run

from hdbench.api import score
from hdbench.benchmarks.model_facts import read_model_facts
from hdbench.benchmarks.spec import read_spec
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import read_result, write_results
from hdbench.evaluation.verify import verify

KNOWN = {"open_weights": None, "parameters": None, "licence": None, "runs_locally": None}
RELEASED = {"new": "2025-06-02", "month": "2025-07", "same": "2025-06", "old": "2024-01-31"}


@pytest.fixture
def here(cards, monkeypatch):
    spec = SPEC | {"public_since": "2025-06-01"}
    (cards / "hdb/cards/benchmark.yaml").write_text(yaml.safe_dump(spec))
    facts = {
        model: KNOWN | {"source": "its name", "released": day} for model, day in RELEASED.items()
    }
    for model in (*RELEASED, "unknown"):
        answers = {f"000{number}": {"prediction": RIGHT} for number in range(4)}
        write_run(cards / "hdb/results/cards" / model, answers, run=model, model=model)
    (cards / "hdb/results/models.yaml").write_text(yaml.safe_dump(facts))
    monkeypatch.chdir(cards)
    return cards


def test_the_mark_is_data_in_csv_and_json(here, run_hdbench):
    done = run_hdbench("leaderboard", "hdb/results", "--format", "csv", cwd=here)
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert {name: row["after_public"] for name, row in rows.items()} == {
        "new": "True",
        "month": "True",
        "same": "False",
        "old": "False",
        "unknown": "False",
    }
    assert {row["public_since"] for row in rows.values()} == {"2025-06-01"}
    assert (rows["month"]["released"], rows["unknown"]["released"]) == ("2025-07", "")
    done = run_hdbench("leaderboard", "hdb/results", "--format", "json", cwd=here)
    (board,) = json.loads(done.stdout)["leaderboards"]
    assert board["public_since"] == "2025-06-01"
    by_model = {row["model"]: (row["released"], row["after_public"]) for row in board["rows"]}
    assert by_model["new"] == ("2025-06-02", True)
    assert by_model["unknown"] == (None, False)


def test_a_result_keeps_the_day_and_is_verified_without_it(here):
    write_results(here / "r.json", [score("hdb/cards", here / "hdb/results/cards/old")])
    assert read_result(here / "r.json").dataset.public_since == "2025-06-01"
    (here / "hdb/cards/benchmark.yaml").write_text(yaml.safe_dump(SPEC))
    assert verify(here / "r.json") == []
    spoilt = json.loads((here / "r.json").read_text())
    spoilt["dataset"]["public_since"] = "soon"
    (here / "r.json").write_text(json.dumps(spoilt))
    with pytest.raises(HdbenchError, match="public_since: "):
        read_result(here / "r.json")


@pytest.mark.parametrize("day", ["soon", "2025", "2025-13", "2025-6-1", 2025])
def test_what_is_no_date_is_refused(here, day):
    facts = {"new": KNOWN | {"source": "x", "released": day}}
    (here / "hdb/results/models.yaml").write_text(yaml.safe_dump(facts))
    with pytest.raises(HdbenchError, match=r"new.released: "):
        read_model_facts(here / "hdb/results")
    (here / "hdb/cards/benchmark.yaml").write_text(
        yaml.safe_dump(SPEC | {"public_since": f"x{day}"})
    )
    with pytest.raises(HdbenchError, match="public_since: "):
        read_spec(here / "hdb/cards/benchmark.yaml")
