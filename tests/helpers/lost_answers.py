"""What the harness lost in the published runs: a Markdown table of the runs that it concerns.

`python tests/helpers/lost_answers.py [SHARED]`, where SHARED is the folder with the published data.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from reference import letters_f1 as naive

from hdbench.answers.answer import Answer
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import read_text
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.evaluation.score import score_items
from hdbench.scoring import make_metric

ROOT = Path(__file__).parents[2]
UPSTREAM = "upstream/humanities_data_benchmark"

FOLDERS = {
    "bibliography": "bibliographic_data",
    "blacklist": "blacklist_cards",
    "companylists": "company_lists",
    "manuscripts": "medieval_manuscripts",
    "advertxml": "book_advert_xml",
}
"""The benchmarks of records, lists and transcriptions, and what their folders are called."""


def runs_of(shared, folder):
    """The recorded runs of a benchmark."""
    with gzip.open(shared / f"recorded/{folder}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


class Recorded(NamedTuple):
    """A benchmark with a metric of its own whose published runs are recorded."""

    name: str
    folder: str
    metric: str
    headline: str

    def runs(self, shared):
        return runs_of(shared, self.folder)

    def schema(self):
        return AnswerSchema.load(ROOT / f"dataset_scripts/{self.name}/answer.schema.json")

    def truths(self, shared):
        """The published truths, read here without hdbench."""
        folder = shared / UPSTREAM / "benchmarks" / self.folder / "ground_truths"
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
    is_error = isinstance(parsed, dict) and set(parsed) == {"error"}
    return bool((answer.get("text") or "").strip()) and (parsed is None or is_error)


def rows(runs, schema, metric, truths, headline):
    """Run, model, lost answers, those read now, and the headline without and with them."""
    truths = {name: metric.prepare(truth) for name, truth in truths.items()}
    for run in runs:
        lost = {answer["id"]: answer for answer in run["answers"] if is_lost(answer)}
        if not lost:
            continue
        read = {name: read_text(answer["text"], schema) for name, answer in lost.items()}
        usable = {name: reading.prediction for name, reading in read.items() if is_record(reading)}
        before = {answer["id"]: metric.as_record(answer["answer"]) for answer in run["answers"]}
        figures = [
            score_items(
                metric, [(Answer(answers[name], id=name), truths[name]) for name in before]
            ).figures[headline]
            for answers in (before, before | usable)
        ]
        yield run["run"], run["model"], len(before), len(lost), len(usable), *figures


def is_record(reading):
    return reading.status not in ("unparsable", "unanswered")


def markdown(rows, headline):
    """The lines of the Markdown table."""
    yield f"| run | model | items | lost | read now | `{headline}` as recorded | with them |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for run, model, items, lost, usable, before, after in rows:
        yield f"| {run} | {model} | {items} | {lost} | {usable} | {before:.4f} | {after:.4f} |"


def table(recorded, shared):
    """The table of a benchmark with a metric of its own."""
    metric, truths = make_metric(recorded.metric), recorded.truths(shared)
    found = rows(recorded.runs(shared), recorded.schema(), metric, truths, recorded.headline)
    return list(markdown(found, recorded.headline))


def table_of(benchmark, shared):
    """The table of a benchmark of records, lists or transcriptions, from its built folder."""
    spec = benchmark.spec
    truths = {item.id: item.ground_truth for item in benchmark.items()}
    runs = runs_of(shared, FOLDERS[spec.name])
    metric = spec.make_metric("documented")
    found = rows(runs, benchmark.answer_schema(), metric, truths, spec.headline)
    return list(markdown(found, spec.headline))


def main():
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    if not shared.is_dir():
        sys.exit(f"{shared}: no such folder: give the one with the published data")
    for recorded in RECORDED:
        print(f"\n{recorded.name}\n", *table(recorded, shared), sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for name in FOLDERS:
            out = Path(folder) / "hdb"
            build(find_recipe(name), out, source=shared / UPSTREAM, accept_licence=True)
            benchmark = load_benchmark(str(out / name))
            print(f"\n{name}\n", *table_of(benchmark, shared), sep="\n")


if __name__ == "__main__":
    main()
