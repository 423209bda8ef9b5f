"""How fast Avisblatt CER is: PYTHONPATH=tests python -m speed.avisblatt_cer

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import gzip
import json
from pathlib import Path

from reference import avisblatt_cer as naive
from speed.timing import medians

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.avisblatt_cer import AvisblattCer

SHARED = Path(__file__).parents[3] / "shared"
CONTINUED = {"image_4": "Es wird zum Verkauf angetragen"}
ROUNDS = 3


def main() -> None:
    """Score the recorded pages, beside the plain transcription of the published rules.

    The transcription gives two figures, and measures each edit distance in plain Python; hdbench
    gives all its figures, those by text alone too, for which it compares every ad with every other.
    """
    if not SHARED.is_dir():
        print("no ../shared beside this checkout: there are no recorded answers to score")
        return
    with gzip.open(SHARED / "recorded/fraktur_adverts.jsonl.gz", "rt") as file:
        answers = [answer for line in file for answer in json.loads(line)["answers"]]
    source = SHARED / "upstream/humanities_data_benchmark/benchmarks/fraktur_adverts"
    truths = {}
    for file in (source / "ground_truths").glob("*.json"):
        ads = json.loads(file.read_text())
        if isinstance(ads, dict):
            ads = [ad for group in ads.values() for ad in group]
        truths[file.stem] = {
            "advertisements": ads,
            "continued_section": CONTINUED.get(file.stem, ""),
        }
    pairs = [(answer["answer"], truths[answer["id"]]) for answer in answers]
    ads = sum(len(truth["advertisements"]) for _, truth in pairs)
    print(f"{len(pairs)} recorded pages, {ads} truth ads, medians of {ROUNDS} rounds")

    def hdbench(protocol):
        metric = AvisblattCer(protocol)
        prepared = {name: metric.prepare(truth) for name, truth in truths.items()}
        candidates = [(Answer(a["answer"]), prepared[a["id"]]) for a in answers]
        figures = score_items(metric, candidates).figures()
        return figures["fuzzy"], figures["cer"]

    tasks = {
        "hdbench, published": lambda: hdbench("published"),
        "hdbench, documented": lambda: hdbench("documented"),
        "transcription, published": lambda: naive.protocol_scores(pairs, "published"),
    }
    seconds = medians(tasks, ROUNDS)
    for name, taken in seconds.items():
        print(
            f"{name:26} {len(pairs) / taken:8,.0f} pages/s   "
            f"time {taken / seconds['hdbench, published']:.1f}"
        )
    same = hdbench("published") == naive.protocol_scores(pairs, "published")
    print(f"hdbench and the transcription give {'identical' if same else 'DIFFERENT'} figures")


if __name__ == "__main__":
    main()
