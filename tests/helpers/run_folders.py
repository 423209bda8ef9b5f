"""Run folders for tests, and the benchmark of little cards that they answer."""

import json

from hdbench.evaluation.run import RunInfo

SPEC = {
    "name": "cards",
    "title": "Cards",
    "version": "1.0.0",
    "metric": "zettel_f1",
    "headline": "f1_micro",
    "higher_is_better": True,
    "media": "image",
    "split": "test",
    "licence": "cc0-1.0",
    "citation": "",
    "report_errors_at": "https://huggingface.co/datasets/hdb/cards/discussions/new",
}
RIGHT = {"title": "Stellingen", "year": 1924}
INFO = {"run": "2026-01-24/T1", "benchmark": "hdb/cards", "model": "reader-1"}


def write_run(folder, answers, **info):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(INFO | info))
    lines = [json.dumps({"id": item_id, **answer}) + "\n" for item_id, answer in answers.items()]
    (folder / "answers.jsonl").write_text("".join(lines))
    return folder


def write_cards(folder):
    """A benchmark of four little cards in the folder's hdb/cards, without images."""
    made = folder / "hdb/cards"
    made.mkdir(parents=True)
    (made / "benchmark.yaml").write_text(json.dumps(SPEC))  # JSON is YAML
    truth = json.dumps({"title": "Stellingen", "year": 1924})
    rows = [{"id": f"000{number}", "ground_truth": truth} for number in range(4)]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def run_info(**about):
    """What a run says about itself, as a result has it."""
    return RunInfo(**{"run": "", "benchmark": "", "model": ""} | about)
