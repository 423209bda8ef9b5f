"""A run's headline as the Hub takes it, read back by huggingface_hub's own classes."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from helpers.exported import make_benchmark, write_answers
from huggingface_hub import ModelCard, eval_result_entries_to_yaml, parse_eval_result_entries

from hdbench import __version__
from hdbench.answers import ReadAs
from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.evaluation.score import Settings
from hdbench.output.exporting.hub_results import hub_results
from hdbench.results.files import write_results
from hdbench.scoring.zettel_f1 import ZettelF1

TRUTH = {"publication": {"title": "Stellingen", "place": "Basel"}}
PAGE = {"date": "1731-01-02", "tags_section": "Verkauf", "ntokens": 2, "text": "ein Haus"}
PAGES = {each: {"advertisements": [{**PAGE, "tags": []}]} for each in "abcdefghijklmnopqrst"}


def make_run(folder: Path, *ids: str, **info) -> Path:
    """A run that answers some of the cards, rightly."""
    run = folder / "runs/one"
    run.mkdir(parents=True)
    about = {"run": "one", "benchmark": "hdb/zettelkatalog", "model": "Qwen/Qwen3", **info}
    (run / "run.json").write_text(json.dumps(about))
    lines = [json.dumps({"id": each, "prediction": TRUTH}) for each in ids]
    (run / "answers.jsonl").write_text("\n".join(lines))
    return run


@pytest.fixture
def cards(tmp_path, monkeypatch):
    """A benchmark of four cards in hdb, below the working directory."""
    make_benchmark(tmp_path, "zettelkatalog", dict.fromkeys("abcd", TRUTH))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entry(run, **options):
    [found] = parse_eval_result_entries(yaml.safe_load(hub_results(run, "eval-results", **options)))
    return found


def index(run, **options):
    """The one result in a model's card, and the model's name."""
    card = ModelCard(f"---\n{hub_results(run, 'model-index', **options)}---\n# A model\n")
    [found] = card.data.eval_results
    return card.data.model_name, found


def edit(path: Path, **keys) -> None:
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | keys))


def test_hub_reads_the_result_of_a_run(cards, run_hdbench):
    make_run(cards, "a", "b", "c", date="2026-01-24")
    done = run_hdbench("export", "runs/one", "--format", "eval-results", cwd=cards)
    assert done.returncode == 0, done.stderr
    data = yaml.safe_load(done.stdout)
    [found] = parse_eval_result_entries(data)
    assert eval_result_entries_to_yaml([found]) == data
    assert (found.dataset_id, found.task_id) == ("hdb/zettelkatalog", "documented")
    assert found.date == "2026-01-24"
    # Three of four cards with both fields right: precision 1, recall 6 / 8.
    assert found.value == 2 * 6 / (2 * 6 + 0 + 2)
    assert found.value == score("hdb/zettelkatalog", cards / "runs/one").figures()["f1_micro"]
    # A folder has no commit, the run is none of hdb/results, and the protocol is the default one.
    assert data[0].keys() == {"dataset", "value", "date"}
    assert data[0]["dataset"].keys() == {"id", "task_id"}


def test_note_is_the_protocol_unless_it_is_the_default(cards):
    found = entry(make_run(cards, "a"), protocol="published")
    assert (found.task_id, found.notes) == ("published", "protocol published")


COMMIT = "0123456789" * 4


@pytest.mark.parametrize(
    ("place", "at"),
    [
        ("hdb/results/zettelkatalog/2026 01#1", "main"),
        (f"datasets--hdb--results/snapshots/{COMMIT}/zettelkatalog/2026 01#1", COMMIT),
        ("someone/results/zettelkatalog/2026 01#1", None),
        ("hdb/results/avisblatt/2026 01#1", None),
        ("hdb/results/zettelkatalog/mine/2026 01#1", None),
    ],
)
def test_the_source_is_the_run_in_the_dataset_of_recorded_runs(place, at, cards):
    run = cards / place
    run.parent.mkdir(parents=True)
    make_run(cards, "a").rename(run)
    result = cards / "result.json"
    write_results(result, [score("hdb/zettelkatalog", run)])
    url = f"https://huggingface.co/datasets/hdb/results/tree/{at}/zettelkatalog/2026%2001%231"
    for found in (entry(run), entry(result)):
        assert found.source_url == (url if at else None)
        assert found.source_name == (f"hdbench {__version__}" if at else None)


def test_the_index_of_a_models_card_has_the_same(cards, run_hdbench):
    run = make_run(cards, "a", "b", "c", date="2026-01-24")
    done = run_hdbench(
        "export", run, "--format", "model-index", "--protocol", "published", "-o", "i", cwd=cards
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    model, found = index(run, protocol="published")
    assert yaml.safe_load((cards / "i").read_text()) == yaml.safe_load(
        hub_results(run, "model-index", protocol="published")
    )
    result = score("hdb/zettelkatalog", run, Settings("published"))
    assert model == "Qwen/Qwen3"
    assert (found.dataset_type, found.dataset_name) == ("hdb/zettelkatalog", "Zettelkatalog")
    assert (found.dataset_split, found.dataset_revision) == ("test", "hdbench-1.1.1")
    assert found.dataset_args == {
        "version": "1.1.1",
        "metadata_sha256": result.dataset.dataset_sha256,
        "date": "2026-01-24",
    }
    assert (found.metric_type, found.metric_name) == ("hdb/zettel_f1", "f1_micro")
    assert found.metric_config == "published"
    assert found.metric_value == result.figures()["f1_micro"]
    assert found.metric_args == {
        "protocol": "published",
        "higher_is_better": True,
        "items": 4,  # too few for an interval
        "answered": 3,
        "signature": result.figures()["signature"],
    }


def test_a_result_says_what_its_run_says(cards):
    run = make_run(cards, "a", "b", date="2026-01-24")
    path = cards / "result.json"
    write_results(path, [score("hdb/zettelkatalog", run)])
    for form in ("eval-results", "model-index"):
        assert hub_results(path, form) == hub_results(run, form)


def test_a_headline_of_which_lower_is_better_is_turned(tmp_path):
    benchmark = make_benchmark(tmp_path, "avisblatt", PAGES)
    edit(Path(benchmark) / "benchmark.yaml", headline="cer", higher_is_better=False)
    wrong = {"advertisements": [{**PAGE, "text": "ein Hans"}]}  # 1 of 8 characters
    answers = write_answers(
        tmp_path,
        *({"id": each, "prediction": {"advertisements": [PAGE]}} for each in "abcdefghijklmnopqrs"),
        {"id": "t", "prediction": wrong},
    )
    result = score(benchmark, answers)
    cer, interval = result.figures()["cer"], result.intervals.figures["cer"]
    assert 0 < cer < 0.5
    assert interval.low < interval.high
    found = entry(answers, benchmark=benchmark)
    assert found.value == 1 - cer
    _, same = index(answers, benchmark=benchmark)
    assert (same.metric_name, same.metric_value) == ("1 - cer", 1 - cer)
    assert same.metric_args["interval_95"] == [1 - interval.high, 1 - interval.low]


@pytest.mark.parametrize("why", ["part", "sample", "options", "strict"])
def test_incomparable_result_is_not_ranked_and_the_card_says_so(why, cards):
    run = make_run(cards, "a", **({"items": ["a", "b"]} if why == "part" else {}))
    if why == "sample":
        edit(cards / "hdb/zettelkatalog/benchmark.yaml", version="1.0.0+sample")
    settings = {
        "options": Settings(options={"threshold": 0.8}),
        "strict": Settings(read_as=ReadAs(strict=True)),
    }
    path = cards / "result.json"
    write_results(path, [score("hdb/zettelkatalog", run, settings.get(why, Settings()))])
    said = {
        "part": "a score on 2 of 4 items",
        "sample": "a score on version 1.0.0+sample",
        "options": "scored with threshold",
        "strict": "scored with strict",
    }[why]
    with pytest.raises(HdbenchError, match="--format model-index") as raised:
        hub_results(path, "eval-results")
    assert said in str(raised.value)
    _, found = index(path)
    assert found.dataset_args["not_comparable"] == said
    assert found.metric_args.get("threshold") == (0.8 if why == "options" else None)


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_own_options_of_a_benchmark_are_rules_and_others_named(protocol, cards):
    own = {"documented": {"threshold": 0.8}, "published": {"threshold": 0.9}}
    edit(cards / "hdb/zettelkatalog/benchmark.yaml", protocols=own)
    run = make_run(cards, "a", "b")
    assert entry(run, protocol=protocol).task_id == protocol
    _, found = index(run, protocol=protocol)
    assert "not_comparable" not in found.dataset_args
    assert "threshold" not in found.metric_args
    assert f"threshold:{own[protocol]['threshold']}" in found.metric_args["signature"]
    # What is the metric's default is not this benchmark's.
    default = ZettelF1(protocol).options["threshold"]
    path = cards / "result.json"
    settings = Settings(protocol, options={"threshold": default})
    write_results(path, [score("hdb/zettelkatalog", run, settings)])
    with pytest.raises(HdbenchError, match="scored with threshold"):
        hub_results(path, "eval-results")
    assert index(path)[1].metric_args["threshold"] == default


@pytest.mark.parametrize(
    ("media", "task"), [("image", "image-to-text"), ("text", "text-generation")]
)
def test_the_task_of_a_card_fits_what_the_benchmark_shows(media, task, cards):
    edit(cards / "hdb/zettelkatalog/benchmark.yaml", media=media)
    assert index(make_run(cards, "a"))[1].task_type == task


def test_a_local_path_is_below_hdb_and_an_id_of_the_hub_stays(tmp_path, monkeypatch):
    make_benchmark(tmp_path, "zettelkatalog", dict.fromkeys("ab", TRUTH))
    answers = write_answers(tmp_path, {"id": "a", "prediction": TRUTH})
    folder = tmp_path / "hdb/zettelkatalog"
    assert entry(answers, benchmark=str(folder)).dataset_id == "hdb/zettelkatalog"
    theirs = tmp_path / "someone/theircards"
    shutil.copytree(folder, theirs)
    edit(theirs / "benchmark.yaml", name="theircards", report_errors_at=None)
    monkeypatch.chdir(tmp_path)
    assert entry(answers, benchmark="someone/theircards").dataset_id == "someone/theircards"
    assert entry(answers, benchmark="../" + f"{tmp_path.name}/someone/theircards").dataset_id == (
        "hdb/theircards"
    )


def test_a_snapshot_of_the_hub_gives_its_commit(tmp_path):
    make_benchmark(tmp_path, "zettelkatalog", dict.fromkeys("ab", TRUTH))
    snapshot = tmp_path / "datasets--hdb--zettelkatalog/snapshots" / COMMIT
    shutil.copytree(tmp_path / "hdb/zettelkatalog", snapshot)
    answers = write_answers(tmp_path, {"id": "a", "prediction": TRUTH})
    assert entry(answers, benchmark=str(snapshot)).dataset_revision == COMMIT
    _, found = index(answers, benchmark=str(snapshot))
    assert (found.dataset_revision, found.dataset_type) == (COMMIT, "hdb/zettelkatalog")


def test_a_result_that_was_scored_from_the_hub_has_its_commit(cards):
    result = score("hdb/zettelkatalog", make_run(cards, "a"))
    dataset = result.dataset.model_copy(update={"dataset_revision": COMMIT})
    write_results(cards / "result.json", [replace(result, dataset=dataset)])
    assert entry(cards / "result.json").dataset_revision == COMMIT
    assert index(cards / "result.json")[1].dataset_revision == COMMIT


def test_a_models_name_cannot_add_to_the_card(cards):
    name = "m\n  results: []\n- name: other\x00\x1b[31m: {a} <b> 'c' \"d\""
    run = make_run(cards, "a", model=name)
    model, found = index(run)
    assert model == name
    assert found.metric_name == "f1_micro"


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_what_cannot_be_exported_is_an_error_in_one_line(form, cards, run_hdbench):
    answers = write_answers(
        cards,
        {"id": "a", "model": "one", "prediction": TRUTH},
        {"id": "a", "model": "two", "prediction": TRUTH},
    )
    (cards / "no.json").write_text("{}")
    for arguments, said in (
        (["hdb/zettelkatalog", answers], "holds 2 runs (one, two)"),
        ([answers], "name the benchmark of these answers before them"),
        (["no.json"], "not a result of hdbench score --json"),
        (["none"], "none: cannot be read"),
    ):
        done = run_hdbench("export", *arguments, "--format", form, cwd=cards)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


def test_a_table_has_no_protocol(cards, run_hdbench):
    run = make_run(cards, "a")
    done = run_hdbench("export", run, "--format", "csv", "--protocol", "published", cwd=cards)
    assert done.returncode == 2
    assert "--protocol only matters for scores: --format csv writes the answers" in done.stderr
