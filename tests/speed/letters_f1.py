"""How fast Letters F1 is: PYTHONPATH=tests python -m speed.letters_f1

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import gzip
import json
from pathlib import Path
from typing import Any

from reference import letters_f1 as naive
from speed.timing import medians

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.letters_f1 import LettersF1

SHARED = Path(__file__).parents[3] / "shared"
FOLDER = SHARED / "upstream/humanities_data_benchmark/benchmarks/business_letters/ground_truths"
ROUNDS = 5
COUNTS = ("true_positives", "false_positives", "false_negatives")


def main() -> None:
    """Score the recorded answers, beside two plain scripts with the same results."""
    if not SHARED.is_dir():
        print("no ../shared beside this checkout: there are no recorded answers to score")
        return
    with gzip.open(SHARED / "recorded/business_letters.jsonl.gz", "rt") as file:
        answers = [answer for line in file for answer in json.loads(line)["answers"]]
    authority = json.loads((FOLDER / "persons.json").read_text())
    print(f"{len(answers)} recorded answers, {len(authority)} persons, medians of {ROUNDS} rounds")
    for protocol in ("documented", "published"):
        compare(protocol, answers, authority)


def compare(protocol: str, answers: list[Any], authority: list[Any]) -> None:
    """Print how fast all are under one protocol.

    The one script has letters and authority file in memory; the other reads them anew for each
    answer, as one does that scores a letter at a time. For hdbench the truths are prepared once,
    before the clock starts.
    """
    letters = {file.stem: json.loads(file.read_text()) for file in FOLDER.glob("letter*.json")}
    metric = LettersF1(protocol)
    prepared = {
        name: metric.prepare(naive.ground_truth(letter, authority, protocol))
        for name, letter in letters.items()
    }
    candidates = [(Answer(a["answer"], id=a["id"]), prepared[a["id"]]) for a in answers]
    pairs = [(a["answer"], letters[a["id"]]) for a in answers]
    seconds = medians(
        {
            "hdbench": lambda: score_items(metric, candidates).figures(),
            "plain script": lambda: naive.score(pairs, authority, protocol),
            "from files": lambda: from_files(protocol, answers),
        },
        ROUNDS,
    )
    print(f"\n{protocol:14} letters/s   time, hdbench's being 1")
    for name, taken in seconds.items():
        print(f"{name:14} {len(pairs) / taken:9,.0f}   {taken / seconds['hdbench']:.2f}")
    figures = score_items(metric, candidates).figures()
    categories = figures["categories"].items()
    totals = {name: [rates[count] for count in COUNTS] for name, rates in categories}
    plain = naive.score(pairs, authority, protocol)
    same = (figures["f1_micro"], figures["f1_macro"], totals) == plain
    same = same and from_files(protocol, answers) == totals
    print(f"all give {'identical' if same else 'DIFFERENT'} figures")


def from_files(protocol: str, answers: list[Any]) -> dict[str, list[int]]:
    """The counts of each category, each letter scored from its files."""
    totals = {category: [0, 0, 0] for category in naive.CATEGORIES}
    for answer in answers:
        letter = json.loads((FOLDER / f"{answer['id']}.json").read_text())
        authority = json.loads((FOLDER / "persons.json").read_text())
        for category, counted in naive.counts(
            answer["answer"], letter, authority, protocol
        ).items():
            totals[category] = [a + b for a, b in zip(totals[category], counted, strict=True)]
    return totals


if __name__ == "__main__":
    main()
