"""Every command with paths, numbers and names that nobody should give it: one line, no traceback.

`{path}` is each of the odd paths in turn, `{number}` and `{name}` each of the odd ones.
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from annotating.pages import write_collection
from helpers.bad_inputs import DEVICES, NAMES, NUMBERS, complaint, odd_paths
from helpers.planned_cards import SCHEMA
from helpers.run_folders import write_cards, write_run

pytestmark = pytest.mark.nightly

PATHS = {
    "score": [
        "score cards {path}",
        "score {path} one.jsonl",
        "score cards one.jsonl --json {path}",
    ],
    "report": ["report cards {path} -o r", "report one.jsonl cards -o {path}"],
    "compare": ["compare cards {path} one.jsonl", "compare {path} {path}"],
    "leaderboard": ["leaderboard {path}", "leaderboard cards one.jsonl {path}"],
    "audit": ["audit cards {path}"],
    "verify": ["verify {path}", "verify r.json --answers {path}"],
    "trust": [
        "trust plan cards {path} runs/one",
        "trust plan {path} runs/one runs/two",
        "trust decide {path}",
        "trust apply {path} -o applied",
        "trust control {path}",
    ],
    "annotate": [
        "annotate {path} --port 0",
        "annotate collection --only {path} --port 0",
    ],
    "agreement": ["agreement {path}"],
    "run": ["run --model m --images {path} --out o"],
    "check": ["check {path}"],
    "publish": ["publish {path} --dry-run"],
}

NAMED = [
    "score {name} one.jsonl",
    "score cards one.jsonl --name {name}",
    "score cards one.jsonl --by {name}",
    "score cards one.jsonl --option {name}",
    "score cards one.jsonl --protocol {name}",
    "score cards one.jsonl --also {name}",
    "report {name} one.jsonl -o r",
    "compare {name} one.jsonl two.jsonl",
    "leaderboard {name} one.jsonl",
    "trust plan {name} runs/one runs/two",
    "trust plan cards runs/one runs/two --fields {name}",
    "demo {name}",
    "build {name}",
    "new {name} collection/images",
    "new own collection/images --fields {name}",
    "new own collection/images --title {name}",
    "run {name} --model x",
    "run cards --model {name} --engine {name}",
]

NUMBERED = [
    "trust plan cards runs/one runs/two --limit {number}",
    "trust plan cards runs/one runs/two --seed {number}",
    "run cards --model m --option timeout={number}",
    "run cards --model m --limit {number} --dry-run",
    "run cards --model m --option temperature={number} --dry-run",
    "run cards --model m --option max_side={number} --dry-run",
    "annotate collection --double {number} --port 0",
    "space --namespace none --port {number}",
]


def cases(commands, values):
    for command in commands:
        for name, value in values.items():
            words = [word.format(path=value, name=value, number=value) for word in command.split()]
            yield f"{command} [{name}]", words


def prepared(folder):
    """A folder with a benchmark, answers, runs, a result and a collection."""
    folder.mkdir()
    write_cards(folder)
    (folder / "hdb/cards/answer.schema.json").write_text(json.dumps(SCHEMA))
    rows = [json.loads(line) for line in (folder / "hdb/cards/metadata.jsonl").open()]
    lines = [{"id": row["id"], "prediction": json.loads(row["ground_truth"])} for row in rows]
    for name in ("one", "two"):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
        answers = {line["id"]: {"prediction": line["prediction"]} for line in lines}
        write_run(folder / "runs" / name, answers, run=name, model=name, benchmark="hdb/cards")
    write_collection(folder / "collection")
    return folder


def wrong(forks, folder, found):
    """What is wrong with how each of some commands ended."""

    def one(case):
        name, words = case
        env = os.environ | {"COLUMNS": "100"}
        try:
            done = forks.run("-m", "hdbench", *words, cwd=folder, env=env, timeout=300)
        except subprocess.TimeoutExpired:
            return name, "does not end"
        return name, complaint(done)

    with ThreadPoolExecutor(2) as pool:
        return {name: why for name, why in pool.map(one, found) if why}


@pytest.mark.parametrize("area", PATHS)
def test_an_odd_path_is_refused_in_one_line(forks, tmp_path, area):
    folder = prepared(tmp_path / "here")
    odd = {name: str(path) for name, path in odd_paths(tmp_path / "odd").items()}
    assert wrong(forks, folder, cases(PATHS[area], odd)) == {}
    replaced = [name for name in DEVICES if not (tmp_path / "odd" / name).is_char_device()]
    assert replaced == []


@pytest.mark.parametrize("command", NAMED)
def test_an_odd_name_is_refused_in_one_line(forks, tmp_path, command):
    folder = prepared(tmp_path / "here")
    assert wrong(forks, folder, cases([command], {ascii(name): name for name in NAMES})) == {}


@pytest.mark.parametrize("command", NUMBERED)
def test_an_odd_number_is_refused_in_one_line(forks, tmp_path, command):
    folder = prepared(tmp_path / "here")
    assert wrong(forks, folder, cases([command], {number[:12]: number for number in NUMBERS})) == {}
