"""How fast answers are read: PYTHONPATH=tests python -m speed.reading

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import gzip
import json
from pathlib import Path

from speed.timing import medians

from hdbench.answers.answer import Answer
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import read_text
from hdbench.evaluation.checks import Checks
from hdbench.evaluation.looks import Looks
from hdbench.results.items import ScoreCollector
from hdbench.scoring.zettel_f1 import ZettelF1

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
CARDS = SHARED / "upstream/humanities_data_benchmark/benchmarks/library_cards/ground_truths"
ROUNDS = 5


def main() -> None:
    """Read the recorded texts of cards, and time each step beside parsing the clean ones."""
    if not SHARED.is_dir():
        print("no ../shared beside this checkout: there are no recorded answers to read")
        return
    schema = AnswerSchema.load(ROOT / "dataset_scripts/zettelkatalog/answer.schema.json")
    metric = ZettelF1()
    cards = {
        file.stem: json.loads(file.read_text())["response_text"] for file in CARDS.glob("*.json")
    }
    truths = {name: metric.prepare(card) for name, card in cards.items()}
    with gzip.open(SHARED / "recorded/library_cards.jsonl.gz", "rt") as file:
        recorded = [answer for line in file for answer in json.loads(line)["answers"]]
    by_status: dict[str, list[Answer]] = {}
    for one in recorded:
        value, status, *_ = read_text(one["text"] or "", schema)
        by_status.setdefault(status, []).append(
            Answer(value, status, id=one["id"], text=one["text"])
        )
    clean = by_status["clean"]

    def check() -> None:
        checks, tally, looks = Checks(metric), ScoreCollector(metric), Looks(len(clean))
        for answer in clean:
            scored = tally.add(answer, truths[answer.id])
            violations = schema.violations(answer.prediction)
            looks.add(answer, scored, violations, cards[answer.id])
        checks.take(looks)

    tasks = {
        "json.loads, clean": lambda: [json.loads(answer.text) for answer in clean],
        **{
            f"read_text, {status}": lambda answers=answers: [
                read_text(answer.text, schema) for answer in answers
            ]
            for status, answers in by_status.items()
            if status != "unanswered"
        },
        "score": lambda: [metric.score(answer.prediction, truths[answer.id]) for answer in clean],
        "schema violations": lambda: [schema.violations(answer.prediction) for answer in clean],
        "score, violations and warnings": check,
    }
    numbers = {f"read_text, {status}": len(answers) for status, answers in by_status.items()}
    seconds = medians(tasks, ROUNDS)
    base = seconds["json.loads, clean"] / len(clean)
    print(f"{'':26} {'answers':>7} {'µs each':>8} {'json.loads being 1':>20}")
    for name, taken in seconds.items():
        number = numbers.get(name, len(clean))
        print(f"{name:26} {number:7,} {taken / number * 1e6:8.1f} {taken / number / base:20.1f}")


if __name__ == "__main__":
    main()
