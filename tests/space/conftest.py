import json
import os
import random
import shutil

import pytest
import yaml
from helpers.run_folders import write_run
from space.servers import APP, forks, free_port, serving, wait_for_client

MODELS = {
    "reader-large": {"open_weights": False, "parameters": "not published", "runs_locally": False},
    "reader-small": {"open_weights": True, "parameters": "8B", "runs_locally": True},
    "reader-tiny": {"open_weights": True, "parameters": "2B", "runs_locally": True},
}
RIGHT = {"reader-large": 0.95, "reader-small": 0.85, "reader-tiny": 0.5}
COPIES = 3


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    """Where the server keeps its temporary files."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def url(sample, scratch):
    """The address of the Space over the sample, served by the command line."""
    command = ["-m", "hdbench", "space", "--port", str(free_port())]
    env = os.environ | {"TMPDIR": str(scratch)}
    reading, writing = map(open, os.pipe(), "rw")
    with reading:
        with writing:
            server = forks().start(*command, cwd=sample, env=env, stdout=writing)
        try:
            address = reading.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            yield address
        finally:
            server.terminate()
            server.wait(timeout=180)
    assert [each.name for each in scratch.iterdir() if each.name.startswith("hdbench")] == []


@pytest.fixture(scope="session")
def samples_url(samples):
    """The address of a Space over the samples of all benchmarks."""
    with serving(APP, cwd=samples) as url:
        wait_for_client(url)
        yield url


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Two models of random weights: one whose answers soon end, and one that takes seconds."""
    from helpers.tiny_llava import save_tiny_llava  # noqa: PLC0415  slow to import

    folder = tmp_path_factory.mktemp("secret-models")
    save_tiny_llava(folder / "slow")
    shutil.copytree(folder / "slow", folder / "quick")
    for model, ends in {
        "quick": {"eos_token_id": list(range(2, 300, 4))},
        "slow": {"max_time": 8.0},  # seconds for an answer, on every machine
    }.items():
        path = folder / model / "generation_config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | ends))
    return folder


@pytest.fixture(scope="session")
def furnished_url(shown, models):
    """The address of a Space over `shown` that runs a model."""
    model, contact = str(models / "quick"), "mailto:ub@example.org"
    settings = {"HDBENCH_MODELS": model, "HDBENCH_CONTACT": contact}
    with serving(APP, cwd=shown, **settings) as url:
        wait_for_client(url)
        yield url


@pytest.fixture(scope="session")
def shown(sample, tmp_path_factory):
    """The sample's cards, three times each so that models can be told apart, and three runs."""
    folder = tmp_path_factory.mktemp("shown")
    shutil.copytree(sample / "hdb", folder / "hdb")
    cards = folder / "hdb/zettelkatalog"
    rows = [json.loads(line) for line in (cards / "metadata.jsonl").open()]
    rows = [row | {"id": f"{row['id']}-{copy}"} for copy in range(COPIES) for row in rows]
    (cards / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    examples = (cards / "example_predictions.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in examples]
    lines = [each | {"id": f"{each['id']}-{copy}"} for copy in range(COPIES) for each in lines]
    (cards / "example_predictions.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    chance = random.Random(1)
    for model, right in RIGHT.items():
        answers = {row["id"]: {"prediction": read(row, right, chance)} for row in rows}
        run = {"run": f"2026-01-24_{model}", "benchmark": "hdb/zettelkatalog", "model": model}
        run["prompt"] = {"name": "prompt.txt"}
        write_run(folder / "hdb/results/zettelkatalog" / run["run"], answers, **run)
    facts = {
        model: {"licence": "MIT" if each["open_weights"] else "proprietary", "source": "made up"}
        | each
        for model, each in MODELS.items()
    }
    (folder / "hdb/results/models.yaml").write_text(yaml.safe_dump(facts))
    return folder


def read(row, right, chance):
    """An answer in which a value of so many is right, and the others lack their last letter."""

    def each(value):
        if isinstance(value, dict):
            return {key: each(child) for key, child in value.items()}
        return value if not isinstance(value, str) or chance.random() < right else value[:-1]

    return each(json.loads(row["ground_truth"]))
