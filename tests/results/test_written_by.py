"""Files of earlier versions are refused in one line that says what to do."""

import json

import pytest
from helpers.run_folders import RIGHT, write_cards, write_run

from hdbench.api import read_result, score
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import write_results
from hdbench.evaluation.run import read_run_info


@pytest.fixture
def here(tmp_path, monkeypatch):
    write_cards(tmp_path)
    write_run(tmp_path / "run", {"0000": {"prediction": RIGHT}})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("version", ["0.2.0", "0.2", None, 3])
def test_a_result_of_an_earlier_version_is_to_be_scored_again(here, version):
    path = here / "r.json"
    write_results(path, [score("hdb/cards", "run")])
    assert read_result(path).metric.name == "zettel_f1"
    record = json.loads(path.read_text())
    record["versions"]["hdbench"] = version
    path.write_text(json.dumps(record))
    with pytest.raises(HdbenchError, match=r"r\.json: of hdbench before 0\.3: score the answers"):
        read_result(path)


def test_a_run_that_an_earlier_version_asked_is_to_be_run_again(here):
    path = here / "run/run.json"
    about = json.loads(path.read_text())
    read_run_info(here / "run")
    path.write_text(json.dumps(about | {"sittings": [{"items": 4}]}))
    with pytest.raises(HdbenchError, match=r"run\.json: of hdbench before 0\.3: run the model"):
        read_run_info(here / "run")
    path.write_text(json.dumps(about | {"sittings": [{"items": 4}], "hdbench": "0.10.1"}))
    assert read_run_info(here / "run").model == about["model"]
