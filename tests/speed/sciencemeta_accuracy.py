"""How fast ScienceMeta accuracy is: PYTHONPATH=tests python -m speed.sciencemeta_accuracy

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import random
from collections.abc import Callable
from typing import Any

from reference import sciencemeta_accuracy as naive
from speed.timing import medians

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.sciencemeta_accuracy import FIELDS, SciencemetaAccuracy
from hdbench.scoring.sequence_ratio import field_similarity

ROUNDS = 5
NUMBERS = {"ebook": 424, "paper": 469, "textbook": 117}
"""How many records of each kind ScienceMetaBench has."""

LETTERS = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddllllcccuuummm"
LETTERS += "wwfffggyyppbbvkjxqz"
FREQUENT = "的，。的、和在了是中"
SIGNS = FREQUENT * 20 + "".join(map(chr, range(0x4E00, 0x4E00 + 1200)))
LENGTHS = {"title": 60, "author": 45, "keyword": 80, "category": 8, "publisher": 20}


def main() -> None:
    """Print all the figures."""
    rng = random.Random(1)
    for name, draw in (("English", english), ("Chinese", chinese)):
        abstracts = [draw(rng, 1500) for _ in range(60)]
        for what, others in (
            ("misread", [misread(rng, abstract) for abstract in abstracts]),
            ("another", [draw(rng, 1500) for _ in abstracts]),
        ):
            pairs = list(zip(abstracts, others, strict=True))
            compare(
                f"{name} abstracts of 1,500 characters, {what}",
                lambda pairs=pairs: [field_similarity(*pair) for pair in pairs],
                lambda pairs=pairs: [naive.similarity(*pair) for pair in pairs],
            )
    pairs = [record(rng, kind) for kind, number in NUMBERS.items() for _ in range(number)]
    metric = SciencemetaAccuracy()
    prepared = [(answer, metric.prepare(truth)) for answer, truth in pairs]

    def scored() -> list[float]:
        candidates = ((Answer(answer), truth) for answer, truth in prepared)
        return list(score_items(metric, candidates).statistics["accuracy"])

    def plainly() -> list[float]:
        return [naive.mean(naive.similarities(*pair).values()) for pair in pairs]

    compare(f"{len(pairs)} records, English and Chinese", scored, plainly)


def compare(what: str, ours: Callable[[], list[float]], plain: Callable[[], list[float]]) -> None:
    """Print how long both take."""
    seconds = medians({"ours": ours, "plain": plain}, ROUNDS)
    fast, slow = seconds["ours"], seconds["plain"]
    largest = max(abs(a - b) for a, b in zip(ours(), plain(), strict=True))
    same = "identical" if largest == 0 else f"up to {largest:.0e} apart"
    print(f"{what:48} {fast:7.3f} s, plainly {slow:7.3f} s: {slow / fast:5.1f} times; {same}")


def english(rng: random.Random, length: int) -> str:
    words: list[str] = []
    while sum(map(len, words)) + len(words) < length:
        word = "".join(rng.choices(LETTERS, k=rng.randint(2, 10)))
        words.append(word.title() + "," if rng.random() < 0.05 else word)
    return " ".join(words)


def chinese(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(SIGNS, k=length))


def change(rng: random.Random, text: str, draw: Callable[[random.Random, int], str]) -> str:
    """A text as a model gives it, in the ways and about as often as in the published examples."""
    way = rng.random()
    length = len(text)
    if way < 0.4:  # it ends early, often by a blank alone
        return text[: length - rng.choice((1, 2, length // 2, length * 2 // 3))] or "-"
    if way < 0.6:  # parts are left out
        start = rng.randint(0, length // 2)
        return text[:start] + text[start + rng.randint(1, max(1, length // 3)) :]
    if way < 0.8:  # letters are misread
        return misread(rng, text)
    return draw(rng, max(4, min(length, rng.randint(30, 120))))  # another, short one


def misread(rng: random.Random, text: str) -> str:
    """A text with one sign in fifty replaced."""
    return "".join(rng.choice(text) if rng.random() < 0.02 else sign for sign in text)


def record(rng: random.Random, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """An answer and its truth, of the lengths that such records have."""
    draw = rng.choice((english, chinese))
    truth: dict[str, Any] = {"kind": kind}
    for field in FIELDS[kind]:
        if field in ("doi", "isbn"):
            truth[field] = "".join(rng.choices("0123456789", k=13)) if rng.random() < 0.6 else ""
        elif field == "pub_time":
            truth[field] = str(rng.randint(1900, 2025))
        elif field == "abstract":
            length = (1300 if draw is english else 400) if kind == "paper" else 300
            truth[field] = draw(rng, length) if kind == "paper" or rng.random() < 0.3 else ""
        else:
            truth[field] = draw(rng, max(4, int(LENGTHS[field] * rng.uniform(0.4, 1.6))))
    answer = {
        field: change(rng, value, draw) if value and rng.random() < 0.5 else value
        for field, value in truth.items()
        if field != "kind"
    }
    return answer, truth


if __name__ == "__main__":
    main()
