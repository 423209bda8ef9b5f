"""How fast Text CER is: PYTHONPATH=tests python -m speed.text_cer

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import random
import unicodedata

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein
from speed.timing import fastest

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.text_cer import TextCer

PAGES, CHARACTERS = 1_000, 3_000
ROUNDS = 5


def main() -> None:
    """Score pages, beside nothing but the distances of characters and words, and the ratio."""
    rng = random.Random(1)
    truths = [page(rng) for _ in range(PAGES)]
    answers = [damaged(truth, rng) for truth in truths]
    pairs = [*zip(truths, answers, strict=True)]

    def hdbench() -> None:
        metric = TextCer(texts={"text": "always"})
        score_items(
            metric,
            [
                (Answer({"text": answer}, id=str(at)), metric.prepare({"text": truth}))
                for at, (truth, answer) in enumerate(pairs)
            ],
        ).figures()

    def distances() -> None:
        for truth, answer in pairs:
            Levenshtein.distance(truth, answer)
            Levenshtein.distance(truth.split(), answer.split())
            fuzz.ratio(truth, answer)

    def normalized_distances() -> None:
        for truth, answer in pairs:
            ours, theirs = (unicodedata.normalize("NFC", text) for text in (truth, answer))
            Levenshtein.distance(ours, theirs)
            Levenshtein.distance(ours.split(), theirs.split())
            fuzz.ratio(ours, theirs)

    seconds = fastest(
        {
            "the distances alone": distances,
            "the same of NFC": normalized_distances,
            "hdbench": hdbench,
        },
        ROUNDS,
    )
    first = seconds["the distances alone"]
    print(f"{PAGES:,} pages of {CHARACTERS:,} characters, the fastest of {ROUNDS} rounds")
    for name, taken in seconds.items():
        print(f"{name:20} {PAGES / taken:8,.0f} pages/s   {taken / first:.2f}")


def page(rng: random.Random) -> str:
    """A page of made-up words."""
    words = [
        "".join(rng.choices("aeionrstdhlucmgbwfkäöüſ", k=rng.randint(2, 12))) for _ in range(800)
    ]
    return " ".join(words)[:CHARACTERS]


def damaged(text: str, rng: random.Random) -> str:
    """A text with one letter in twenty read wrong."""
    return "".join("x" if rng.random() < 0.05 else letter for letter in text)


if __name__ == "__main__":
    main()
