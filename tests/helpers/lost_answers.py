"""What the harness lost in the published runs: a Markdown table of the runs that it concerns.

`python tests/helpers/lost_answers.py [SHARED]`, where SHARED is the folder with the published data.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import NamedTuple

from reference import letters_f1 as naive

from hdbench.reading.schema import AnswerSchema
from hdbench.reading.text import read_text
from hdbench.results.items import Candidate, score_items
from hdbench.scoring import make_metric

ROOT = Path(__file__).parents[2]
UPSTREAM = "upstream/humanities_data_benchmark/benchmarks"


class Recorded(NamedTuple):
    """A benchmark whose published runs are recorded."""

    name: str
    folder: str
    metric: str
    headline: str

    def runs(self, shared):
        with gzip.open(shared / f"recorded/{self.folder}.jsonl.gz", "rt") as file:
            return [json.loads(line) for line in file]

    def schema(self):
        return AnswerSchema.load(ROOT / f"dataset_scripts/{self.name}/answer.schema.json")

    def truths(self, shared):
        """The published truths, read here without hdbench."""
        folder = shared / UPSTREAM / self.folder / "ground_truths"
        files = {file.stem: file for file in folder.glob("*.json") if file.stem != "persons"}
        files.pop("letterFALSE", None)
        values = {name: json.loads(file.read_text()) for name, file in files.items()}
        if self.name == "zettelkatalog":
            return {name: value["response_text"] for name, value in values.items()}
        if self.name == "avisblatt":
            return {name: page(name, value) for name, value in values.items()}
        authority = json.loads((folder / "persons.json").read_text())
        return {
            name: naive.ground_truth(value, authority, "documented")
            for name, value in values.items()
        }


RECORDED = (
    Recorded("zettelkatalog", "library_cards", "zettel_f1", "f1_micro"),
    Recorded("avisblatt", "fraktur_adverts", "avisblatt_cer", "fuzzy"),
    Recorded("rheinschifffahrt", "business_letters", "letters_f1", "f1_micro"),
)


def page(name, ads):
    """One page's truth: its ads as one list, and the section that began on the page before."""
    if isinstance(ads, dict):
        ads = [ad for group in ads.values() for ad in group]
    section = {"image_4": "Es wird zum Verkauf angetragen"}.get(name)
    return {"advertisements": ads} | ({"continued_section": section} if section else {})


def is_lost(answer):
    """Whether there is a text and nothing that was parsed."""
    parsed = answer["answer"]
    return bool((answer["text"] or "").strip()) and (parsed is None or set(parsed) == {"error"})


def rows(recorded, shared):
    """Run, model, lost answers, those read now, and the headline without and with them."""
    schema, metric = recorded.schema(), make_metric(recorded.metric)
    truths = {name: metric.prepare(truth) for name, truth in recorded.truths(shared).items()}
    for run in recorded.runs(shared):
        lost = {answer["id"]: answer for answer in run["answers"] if is_lost(answer)}
        if not lost:
            continue
        read = {name: read_text(answer["text"], schema) for name, answer in lost.items()}
        usable = {name: reading.value for name, reading in read.items() if is_record(reading)}
        before = {answer["id"]: answer["answer"] for answer in run["answers"]}
        figures = [
            score_items(
                metric, [Candidate(name, truths[name], answers[name]) for name in before]
            ).figures()[recorded.headline]
            for answers in (before, before | usable)
        ]
        yield run["run"], run["model"], len(before), len(lost), len(usable), *figures


def is_record(reading):
    return reading.status not in ("unparsable", "unanswered")


def table(recorded, shared):
    """The lines of the Markdown table of one benchmark."""
    headline = f"`{recorded.headline}` as recorded"
    yield f"| run | model | items | lost | read now | {headline} | with them |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for run, model, items, lost, usable, before, after in rows(recorded, shared):
        yield f"| {run} | {model} | {items} | {lost} | {usable} | {before:.4f} | {after:.4f} |"


def main():
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    if not shared.is_dir():
        sys.exit(f"{shared}: no such folder: give the one with the published data")
    for recorded in RECORDED:
        print(f"\n{recorded.name}\n", *table(recorded, shared), sep="\n")


if __name__ == "__main__":
    main()
