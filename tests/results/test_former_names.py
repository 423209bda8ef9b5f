"""Results in which figures have the names that they had in hdbench 0.2."""

import json
import re
import shutil

import pytest

from hdbench.results.files import read_result, to_record
from hdbench.results.record import with_current_names

FORMER = {"f1_micro": "ad_f1", "precision_micro": "ad_precision", "recall_micro": "ad_recall"}


def as_before(text):
    """A result, or a `benchmark.yaml`, with the names that figures had."""
    return re.sub(r"\b(f1|precision|recall)_micro\b", r"ad_\1", text)


@pytest.fixture(scope="module")
def built(tmp_path_factory, run_hdbench):
    """A folder with pages of advertisements, ranked by `f1_micro`, and the results of two runs."""
    folder = tmp_path_factory.mktemp("pages")
    assert run_hdbench("build", "avisblatt", "--sample", cwd=folder).returncode == 0
    spec = folder / "hdb/avisblatt/benchmark.yaml"
    spec.write_text(re.sub(r"(?m)^headline: .*$", "headline: f1_micro", spec.read_text()))
    rows = (folder / "hdb/avisblatt/example_predictions.jsonl").read_text().splitlines()
    (folder / "a.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "b.jsonl").write_text("\n".join(rows[:-1]) + "\n")
    for run in "ab":
        result = ["--json", f"{run}.json", "--details", "--also", "published"]
        done = run_hdbench("score", "hdb/avisblatt", f"{run}.jsonl", *result, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def before(built, tmp_path):
    """The same with the old names: in both results and as the benchmark's headline."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    for path in (
        tmp_path / "a.json",
        tmp_path / "b.json",
        tmp_path / "hdb/avisblatt/benchmark.yaml",
    ):
        path.write_text(as_before(path.read_text()))
    assert {*FORMER.values(), "fuzzy"} <= json.loads((tmp_path / "a.json").read_text()).keys()
    return tmp_path


def test_a_result_is_read_as_if_written_now(before, built):
    old, new = (read_result(folder / "a.json") for folder in (before, built))
    assert to_record(old, details=True) == to_record(new, details=True)
    assert old.headline == "f1_micro"


def test_verify_compares_figures_by_their_names_now(before, run_hdbench):
    done = run_hdbench("verify", "a.json", cwd=before)
    assert (done.returncode, done.stdout.count("equal under rules")) == (0, 2), done.stdout
    record = json.loads((before / "a.json").read_text())
    record["ad_f1"] = 2.0
    record["also"]["published"]["ad_recall"] = 3.0
    (before / "a.json").write_text(json.dumps(record))
    done = run_hdbench("verify", "a.json", cwd=before)
    assert done.returncode == 1
    changed = re.findall(r"^  (\w+: [\d.]+) →", done.stdout, re.MULTILINE)
    assert changed == ["f1_micro: 2.0", "recall_micro: 3.0"]


def test_commands_treat_old_results_and_benchmarks_as_current(before, built, run_hdbench):
    for command in (
        ["compare", "a.json", "b.json", "--json", "out.json"],
        ["leaderboard", "a.json", "b.json", "--format", "json"],
        ["score", "hdb/avisblatt", "b.jsonl", "--json", "again.json"],
        ["report", "hdb/avisblatt", "a.json", "-o", "report"],
    ):
        now, then = (run_hdbench(*command, cwd=folder) for folder in (built, before))
        assert (then.returncode, then.stdout) == (now.returncode, now.stdout) == (0, now.stdout), (
            then.stderr + now.stderr
        )
    for file in ("out.json", "again.json"):
        assert (before / file).read_text() == (built / file).read_text()
    assert "ad_f1" not in (before / "report/index.html").read_text()


def test_every_part_of_a_record_that_has_figures_is_renamed():
    intervals = {"f1_micro": [0.2, 0.4], "fuzzy": [0.1, 0.2]}
    record = {
        "metric": "avisblatt_cer",
        "headline": "f1_micro",
        "f1_micro": 0.3,
        "strictly": {"recall_micro": 0.1},
        "intervals": {"figures": intervals, "item_ranges": intervals, "without": {"cer": "why"}},
        "people": {"headline": "f1_micro", "value": 0.9},
        "by": {"column": "c", "groups": [{"value": "f1_micro", "f1_micro": 0.3}]},
        "runs": {"f1_micro": 1},
    }
    old = json.loads(as_before(json.dumps(record)))
    old["by"]["groups"][0]["value"] = "f1_micro"  # a value of a column, as anything may be
    old["runs"] = {"f1_micro": 1}
    old["outcomes"] = {"correct": {"ad_f1": 1}}  # a field
    assert with_current_names(old) == record | {"outcomes": {"correct": {"ad_f1": 1}}}


def test_a_figure_that_an_option_named_keeps_its_name():
    record = {"metric": "record_f1", "f1_records": 0.5, "records_f1": 50.0}
    assert with_current_names(record) == record


@pytest.mark.parametrize("value", [None, [], "ad_f1", {"ad_f1": 1}, {"metric": "x", "ad_f1": 1}])
def test_what_is_not_a_record_stays_as_it_is(value):
    assert with_current_names(value) == value
