"""Zettelkatalog on the real data: built from the published files, and every recorded run."""

import gzip
import hashlib
import json
import re
from collections import Counter

import jsonschema
import pytest
from datasets import load_dataset
from helpers.plain_evaluate import evaluate
from helpers.prompt_form import as_the_prompt_asks, fields_of_prompt, fields_of_schema
from helpers.results import flat_of
from PIL import Image
from reference import zettel_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.evaluation.score import score_items
from hdbench.scoring.zettel_f1 import ZettelF1

LEFT_OUT = {"00604370", "00604375"}
PROPOSED = {
    *("00414956", "00415305", "00421787", "00425278", "00443771", "00447867", "00567894"),
    *("00575005", "00584452", "00589241", "00599509", "00610280", "00614130", "00658520"),
    "00664128",
}


@pytest.fixture(scope="module")
def source(shared):
    return shared / "upstream/humanities_data_benchmark"


@pytest.fixture(scope="module")
def truths(source):
    """The published truths, read here without hdbench."""
    files = sorted((source / "benchmarks/library_cards/ground_truths").glob("*.json"))
    return {
        file.stem: json.loads(file.read_text())["response_text"]
        for file in files
        if file.stem not in LEFT_OUT
    }


@pytest.fixture(scope="module")
def runs(shared):
    with gzip.open(shared / "recorded/library_cards.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def built(published):
    return published.folder


@pytest.mark.slow
def test_the_dataset_has_263_rows_with_images_and_exact_truths(
    built, truths, source, monkeypatch, tmp_path
):
    monkeypatch.chdir(built)
    rows = load_dataset("hdb/zettelkatalog", split="test", cache_dir=str(tmp_path))
    assert rows.column_names[:4] == ["id", "image", "sha256", "ground_truth"]
    assert len(rows) == 263
    columns = ("ground_truth", "ground_truth_published", "ground_truth_proposed")
    counted, as_published, proposed = (
        dict(zip(rows["id"], rows[column], strict=True)) for column in columns
    )
    assert as_published == counted == truths
    assert {card for card in truths if proposed[card] != truths[card]} == PROPOSED
    for row in rows:
        original = source / f"benchmarks/library_cards/images/{row['id']}.jpg"
        assert hashlib.sha256(original.read_bytes()).hexdigest() == row["sha256"]
        with Image.open(original) as image:
            assert row["image"].tobytes() == image.tobytes()
    assert sum(year is None for year in rows["year"]) == 4
    assert rows["year"].count(0) == 1  # as published; the proposed correction is no year
    assert rows["year"][rows["id"].index("00658246")] == 1924  # the one that is a text


def test_streaming_gives_the_same_rows(built, truths, monkeypatch, tmp_path):
    monkeypatch.chdir(built)
    rows = load_dataset("hdb/zettelkatalog", streaming=True, cache_dir=str(tmp_path))["test"]
    streamed = {row["id"]: (row["ground_truth"], row["image"].size) for row in rows}
    assert {card: truth for card, (truth, _) in streamed.items()} == truths
    assert all(width > 900 for _, (width, _) in streamed.values())


def test_the_card_names_what_was_left_out_and_what_is_proposed(built):
    card = (built / "hdb/zettelkatalog/README.md").read_text()
    for item in LEFT_OUT:
        assert f"`{item}` is left out: its truth has another, older schema" in card
    left_out, proposed = card.split("Corrections of values that are proposed")
    assert not re.findall(r"^- `(\d{8})`, `", left_out, re.MULTILINE)
    found = re.findall(r"^- `(\d{8})`, `", proposed, re.MULTILINE)
    assert (set(found), len(found)) == (PROPOSED, 24)
    assert "not corrected yet" not in " ".join(card.split())


def test_every_truth_rewritten_as_the_prompt_asks_is_perfect(built, truths, monkeypatch):
    monkeypatch.chdir(built)
    result = evaluate.load("hdb/zettel_f1").compute(
        predictions=[as_the_prompt_asks("zettelkatalog", truth) for truth in truths.values()],
        references=list(truths.values()),
    )
    assert result["f1_micro"] == result["f1_macro"] == 1.0
    assert result["items_perfect"] == result["answered"] == 263


def test_published_prompt_and_schema_name_the_same_fields(built):
    schema = json.loads((built / "hdb/zettelkatalog/answer.schema.json").read_text())
    prompt = (built / "hdb/zettelkatalog/prompt.txt").read_text()
    assert fields_of_prompt(prompt) == fields_of_schema(schema)


def test_every_truth_as_an_answer_fits_the_schema(built, truths):
    schema = json.loads((built / "hdb/zettelkatalog/answer.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    unfit = Counter(
        error.message
        for truth in truths.values()
        for error in validator.iter_errors(as_the_prompt_asks("zettelkatalog", truth))
    )
    # The prompt asks for no editor, which 72 truths have as null, and one year is a text there.
    assert unfit == {
        "Additional properties are not allowed ('editor' was unexpected)": 72,
        "'1924' is not of type 'integer'": 1,
    }


def test_every_recorded_run_under_published_to_the_last_digit(runs, truths):
    metric = ZettelF1("published")
    prepared = {card: metric.prepare(truth) for card, truth in truths.items()}
    assert len(runs) == 33
    for run in runs:
        answers = {answer["id"]: answer for answer in run["answers"]}
        candidates = [
            (Answer(answers[card]["answer"], id=card), prepared[card]) for card in answers
        ]
        result = score_items(metric, candidates, details=True)
        figures = result.figures
        assert {
            "f1_micro": figures["f1_micro"],
            "f1_macro": figures["f1_macro"],
            "micro_precision": figures["precision_micro"],
            "micro_recall": figures["recall_micro"],
            "total_instances": figures["items"],
            "total_tp": figures["true_positives"],
            "total_fp": figures["false_positives"],
            "total_fn": figures["false_negatives"],
        } == run["scores"], run["run"]
        for item in result.per_item:
            if recorded := answers[item["id"]].get("score"):
                for name in ("true_positives", "false_positives", "false_negatives"):
                    assert item[name] == recorded[name]
                assert item["f1"] == recorded["f1_score"]


def test_the_command_line_gives_the_same_as_the_metric(built, runs, run_hdbench, monkeypatch):
    run = next(run for run in runs if run["run"] == "2026-01-24/T0252")
    lines = [{"id": a["id"], "prediction": a["answer"]} for a in reversed(run["answers"])]
    (built / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run_hdbench(
        *("score", "hdb/zettelkatalog", "run.jsonl", "--protocol", "published"),
        *("--json", "result.json"),
        cwd=built,
    )
    assert done.returncode == 0, done.stderr
    result = flat_of(built / "result.json")
    assert (result["answered"], result["unanswered"]) == (196, 67)
    monkeypatch.chdir(built)
    cards = load_dataset("hdb/zettelkatalog", split="test")
    answers = {line["id"]: line["prediction"] for line in lines}
    computed = evaluate.load("hdb/zettel_f1", "published").compute(
        predictions=[answers[card] for card in cards["id"]],
        references=cards["ground_truth_published"],
    )
    assert {name: result[name] for name in computed} == computed
    assert result["f1_macro"] == run["scores"]["f1_macro"]


def test_documented_agrees_with_the_naive_reference_on_every_run(runs, truths):
    metric = ZettelF1()
    prepared = {card: metric.prepare(truth) for card, truth in truths.items()}
    for run in runs:
        pairs = [(answer["answer"], truths[answer["id"]]) for answer in run["answers"]]
        candidates = [(Answer(a["answer"]), prepared[a["id"]]) for a in run["answers"]]
        figures = score_items(metric, candidates).figures
        micro, macro, tp, fp, fn = naive.score(pairs)
        assert (figures["true_positives"], figures["false_positives"]) == (tp, fp)
        assert (figures["false_negatives"], figures["f1_micro"]) == (fn, micro)
        assert figures["f1_macro"] == pytest.approx(macro, abs=1e-12)
