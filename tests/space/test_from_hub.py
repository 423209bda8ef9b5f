"""The Space on the Hub takes benchmarks and runs of its owner from there."""

import os
import subprocess
import sys

import httpx
import pytest
from helpers.run_folders import write_run
from helpers.waiting import until
from hub.server import serving_hub
from space.servers import APP, serving, wait_for_client

pytestmark = pytest.mark.nightly


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run_files(tmp_path, name):
    run = write_run(
        tmp_path / name, {"sample-01": {"prediction": {}}}, benchmark="hdb/zettelkatalog"
    )
    return {f"zettelkatalog/{name}/{path}": data for path, data in files(run).items()}


@pytest.fixture
def hub(sample, tmp_path):
    with serving_hub() as hub:
        hub.add("datasets", "hdb/zettelkatalog", files(sample / "hdb/zettelkatalog"))
        hub.add("datasets", "hdb/results", run_files(tmp_path, "one"))
        hub.add("datasets", "hdb/else", {"README.md": b"no benchmark"})
        hub.add("datasets", "other/cards", files(sample / "hdb/zettelkatalog"))
        yield hub


def test_a_space_without_benchmarks_of_its_own_takes_its_owners(hub, tmp_path):
    place = tmp_path / "space"
    place.mkdir()
    settings = hub.environment() | {"SPACE_ID": "hdb/scorer", "HF_HOME": str(tmp_path / "home")}
    with serving(APP, cwd=place, **settings) as url:
        (told,) = wait_for_client(url).predict(api_name="/benchmarks")
        assert told["name"] == "zettelkatalog"
        page = f"{url}?tab=leaderboard&benchmark=zettelkatalog"
        until(lambda: "<iframe" in httpx.get(page).text, "the ranking")
        assert "reader-1" in httpx.get(f"{url}board?benchmark=zettelkatalog").text
    assert sorted(each.name for each in (place / "fetched/hdb").iterdir()) == [
        "results",
        "zettelkatalog",
    ]


def test_an_owner_without_benchmarks_is_told_to_publish_one(hub, tmp_path):
    code = "from pathlib import Path\nfrom hdbench.space.context import *\n"
    code += "fetch_namespace('nobody', Path('fetched'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | hub.environment() | {"HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert "nobody: has no benchmark on the Hub: use hdbench publish first" in done.stderr
