"""`hdbench demo`, as the first thing that a person runs."""

import re

import pytest
from helpers.results import flat_of

from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import recipe_names


@pytest.fixture
def demo(tmp_path, run_hdbench):
    return lambda: run_hdbench("demo", cwd=tmp_path)


@pytest.fixture(scope="module")
def ran(tmp_path_factory, run_hdbench):
    """A folder in which the demo ran, and how it ended."""
    folder = tmp_path_factory.mktemp("ran")
    return folder, run_hdbench("demo", cwd=folder)


def row(output, name):
    """The cells of the one row of a table that begins so."""
    (line,) = (line for line in output.splitlines() if line.split()[:1] == [name])
    return line.split()[1:]


def test_it_builds_loads_scores_and_prints(ran):
    _, done = ran
    assert done.returncode == 0, done.stderr
    assert 'load_dataset("hdb/zettelkatalog", split="test")' in done.stdout
    assert 'evaluate.load("hdb/zettel_f1")' in done.stdout

    # By hand, card by card. Right: 8 + 11 + 0 + 0 + 9 + 0 + 9 + 6. False positives: 3 on card 1 and
    # one each on 5 and 7. Missed: 3 + 0 + 11 + 11 + 1 + 9 + 2 + 0.
    tp, fp, fn = 43, 5, 37
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    macro = (8 / 11 + 1 + 0 + 0 + 9 / 10 + 0 + 18 / 21 + 1) / 8
    assert row(done.stdout, "precision_micro")[0] == f"{precision:.4f}"
    assert row(done.stdout, "recall_micro")[0] == f"{recall:.4f}"
    assert row(done.stdout, "f1_micro")[0] == f"{2 * tp / (2 * tp + fp + fn):.4f}"
    assert row(done.stdout, "f1_macro")[0] == f"{macro:.4f}"
    assert "2 of 8 cards need no correction; on average " in done.stdout
    assert "3 cards without a usable answer count as complete failures. F1 (micro) " in done.stdout
    assert "8 items: 5 answered, 2 unanswered, 1 unparsable" in done.stdout
    assert "8 items: too few for an interval" in done.stdout
    assert "95%" not in done.stdout
    # Right on cards 1, 2, 5 (three letters of 67 misread), 7 and 8; missed on the three others.
    assert row(done.stdout, "publication.title") == ["5", "0", "3", "1.000", "0.625", "0.769"]
    assert row(done.stdout, "publication.year") == ["3", "1", "4", "0.750", "0.429", "0.545"]
    worst = re.findall(r"^ *(sample-\d\d) ", done.stdout, re.MULTILINE)
    assert worst == ["sample-03", "sample-04", "sample-06", "sample-01", "sample-07"]


def test_the_commands_it_names_next_work(ran, tmp_path, run_hdbench):
    folder, done = ran
    output = done.stdout
    (command,) = re.findall(r"hdbench (score .*)", output)
    done = run_hdbench(*command.split(), "--json", tmp_path / "result.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = flat_of(tmp_path / "result.json")
    low, high = result["intervals"]["item_ranges"]["f1_micro"]
    assert row(output, "f1_micro") == [
        f"{result['f1_micro']:.4f}",
        f"{low:.4f}",
        "to",
        f"{high:.4f}",
    ]
    assert result["dataset_version"].endswith("+sample")


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("version", [None, "1.0.0", "1.0.0+sample"])
def test_it_never_replaces_what_it_did_not_make(demo, tmp_path, version):
    theirs = tmp_path / "hdb/zettelkatalog"
    theirs.mkdir(parents=True)
    (theirs / "metadata.jsonl").write_text("{}\n")
    if version:  # a benchmark of that name, but not built here
        (theirs / "benchmark.yaml").write_text(f"name: zettelkatalog\nversion: {version}\n")
    before = contents(tmp_path)
    done = demo()
    assert done.returncode == 2
    assert done.stderr.startswith("error: hdb/zettelkatalog")
    assert len(done.stderr.splitlines()) == 1
    assert contents(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in recipe_names() if name != "zettelkatalog"])
def test_every_benchmark_has_a_demo(tmp_path, run_hdbench, name):
    done = run_hdbench("demo", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spec = find_recipe(name).spec
    assert f'load_dataset("hdb/{name}", split="{spec.split}")' in done.stdout
    options = spec.protocols.get("documented", {})
    given = "".join(f", {option}={value!r}" for option, value in options.items())
    assert f'metric.compute(predictions=…, references=items["ground_truth"]{given})' in done.stdout
    assert re.findall(r"valid JSON counted: (\w+)", done.stdout) == [spec.headline]
    value, lowest, _, highest = row(done.stdout, spec.headline)  # of single items, from and to
    assert 0 < float(value) < 1
    assert float(lowest) < float(highest)
    assert re.search(r"^\d+ items: too few for an interval$", done.stdout, re.MULTILINE)
    assert "Worst items" in done.stdout
