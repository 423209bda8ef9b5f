"""Names as people write them: with the namespace or without it, and with slips."""

from pathlib import Path

import pytest
from helpers.run_folders import RIGHT, write_run

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.recipe import find_recipe, plain_folder
from hdbench.benchmarks.spec import read_spec
from hdbench.errors import HdbenchError
from hdbench.integrations.publishing import find_repositories
from hdbench.scoring import make_metric

pytestmark = pytest.mark.nightly

BOTH = ("zettelkatalog", "hdb/zettelkatalog")


@pytest.fixture
def here(cards, monkeypatch):
    monkeypatch.chdir(cards)
    write_run(Path("run"), {f"000{number}": {"prediction": RIGHT} for number in range(4)})
    return cards


def test_namespace_of_benchmark_and_metric_is_optional(here):
    assert load_benchmark("cards") == load_benchmark("hdb/cards")
    assert make_metric("hdb/zettel_f1").name == "zettel_f1"
    spec = here / "hdb/cards/benchmark.yaml"
    spec.write_text(spec.read_text().replace('"zettel_f1"', '"hdb/zettel_f1"'))
    assert read_spec(spec).metric == "zettel_f1"
    one, other = map(find_recipe, BOTH)
    assert one.folder == other.folder
    assert plain_folder("hdb/zettelkatalog") is None


def test_a_folder_of_that_name_counts_only_if_it_is_a_benchmark(here):
    Path("cards").mkdir()  # images, perhaps
    assert load_benchmark("cards").id == "hdb/cards"
    Path("run/benchmark.yaml").write_text(Path("hdb/cards/benchmark.yaml").read_text())
    assert load_benchmark("run").id == "run"
    Path("hdb/cards/benchmark.yaml").unlink()
    with pytest.raises(HdbenchError, match=r"^cards: no benchmark here \(no cards/benchmark.yaml"):
        load_benchmark("cards")


def test_built_collection_is_rebuilt_from_the_collection(here):
    Path("cards").mkdir()
    Path("cards/benchmark.yaml").write_text(Path("hdb/cards/benchmark.yaml").read_text())
    assert plain_folder("hdb/cards") == Path("cards")
    assert find_recipe("hdb/cards").folder == Path("cards")


def test_a_repository_to_publish_is_named_either_way(here):
    (here / "hdb/cards/README.md").write_text("---\nlicense: cc0-1.0\n---\n")
    for name in ("cards", "hdb/cards"):
        found = find_repositories(Path("hdb"), endpoint="https://hub", only=[name])
        assert [each.id for each in found] == ["hdb/cards"]
    with pytest.raises(HdbenchError, match="did you mean cards"):
        find_repositories(Path("hdb"), endpoint="https://hub", only=["hdb/card"])


ANSWERS = "hdb/zettelkatalog/example_predictions.jsonl"
COMMANDS = {
    "score": ("score", "NAME", ANSWERS),
    "report": ("report", "NAME", ANSWERS, "-o", "out"),
    "compare": ("compare", "NAME", ANSWERS, "other.jsonl"),
    "leaderboard": ("leaderboard", "NAME", ANSWERS, "other.jsonl"),
    "run": ("run", "NAME", "--model", "o/m", "--dry-run"),
    "images": ("run", "NAME", "--images", "scans", "--model", "o/m", "--dry-run"),
    "new": ("new", "letters", "scans", "--like", "NAME"),
    "plan": ("trust", "plan", "NAME", ANSWERS, "other.jsonl"),
    "build": ("build", "NAME", "--sample"),
    "demo": ("demo", "NAME"),
    "publish": ("publish", "--dry-run", "--only", "NAME"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_both_names(samples, run_hdbench, tmp_path, command):
    said = []
    for name in BOTH:
        cwd = tmp_path / name.replace("/", "-")
        cwd.mkdir()
        (cwd / "hdb").symlink_to(samples / "hdb")
        (cwd / "scans").symlink_to(samples / "hdb/zettelkatalog/images")
        lines = (samples / ANSWERS).read_text().splitlines(keepends=True)
        (cwd / "other.jsonl").write_text("".join(lines[1:]))
        given = [name if each == "NAME" else each for each in COMMANDS[command]]
        done = run_hdbench(*given, cwd=cwd)
        # Eight items are too few for a plan, which is said when the benchmark has been loaded.
        assert done.returncode == (2 if command == "plan" else 0), done.stderr
        said.append(done.stdout + done.stderr)
    assert said[0] == said[1]
    assert said[0]
