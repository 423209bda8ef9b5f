"""How fast Record F1 is, and in how much memory: PYTHONPATH=tests python -m speed.record_f1

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import gzip
import json
import random
import resource
import time
from pathlib import Path
from typing import Any

from speed.timing import fastest

from hdbench.answers.answer import Answer
from hdbench.results.items import score_items
from hdbench.scoring.metric import Metric
from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.zettel_f1 import ZettelF1

SHARED = Path(__file__).parents[3] / "shared"
ROUNDS = 9


def main() -> None:
    """Print all the figures."""
    long_lists()
    if not SHARED.is_dir():
        print("no ../shared beside this checkout: the recorded answers are left out")
        return
    print(f"\ntime for the recorded answers, the fastest of {ROUNDS} rounds, the first being 1")
    compare("library_cards", zettel_f1=ZettelF1(), record_f1=RecordF1())
    for source in ("bibliographic_data", "blacklist_cards", "company_lists"):
        compare(
            source,
            by_position=RecordF1(lists="position", root_list="entries"),
            aligned=RecordF1(root_list="entries"),
        )


def long_lists() -> None:
    """Pair long lists: flat entries, and entries with lists of their own.

    The peak of memory is that of the process so far, so the first is the largest.
    """
    print("entries      lists in each      seconds   peak memory")
    for number, persons in ((2_000, 0), (200, 3), (200, 12)):
        rng = random.Random(1)
        truth = [entry(rng, persons) for _ in range(number)]
        answer = [damaged(each, rng) for each in truth if rng.random() > 0.05]
        rng.shuffle(answer)
        metric = RecordF1()
        prepared = metric.prepare({"entries": truth})
        start = time.perf_counter()
        score = metric.score({"entries": answer}, prepared)
        taken = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        of = f"0 to {persons} persons" if persons else "none"
        print(
            f"{number:7,}      {of:15}  {taken:10.2f}   {peak:.2f} GiB   "
            f"{score.statistics['records_found']} found"
        )


def entry(rng: random.Random, persons: int) -> dict[str, Any]:
    """An entry of a directory, with up to as many persons."""
    flat: dict[str, Any] = {
        "name": name(rng),
        "place": rng.choice(("Basel", "Zürich", "Genève", "Bern")),
        "street": f"{name(rng)} {rng.randint(1, 200)}",
        "trade": name(rng),
    }
    if persons:
        flat["persons"] = [
            {"family": name(rng), "given": name(rng)} for _ in range(rng.randint(0, persons))
        ]
    return flat


def damaged(value: Any, rng: random.Random) -> Any:
    """An entry as a model may read it: one text in ten has a wrong letter."""
    if isinstance(value, dict):
        return {key: damaged(each, rng) for key, each in value.items()}
    if isinstance(value, list):
        return [damaged(each, rng) for each in value]
    return value[:1] + "x" + value[2:] if rng.random() < 0.1 else value


def name(rng: random.Random) -> str:
    return "".join(rng.choices(("ba", "ri", "to", "mel", "ler", "hof", "sch", "en"), k=4)).title()


def compare(source: str, **metrics: Metric) -> None:
    """Print how long metrics take for the recorded answers of a benchmark."""
    with gzip.open(SHARED / f"recorded/{source}.jsonl.gz", "rt") as file:
        answers = [answer for line in file for answer in json.loads(line)["answers"]]
    folder = SHARED / f"upstream/humanities_data_benchmark/benchmarks/{source}/ground_truths"
    truths = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    truths = {item: truth.get("response_text", truth) for item, truth in truths.items()}
    tasks = {}
    for about, metric in metrics.items():
        prepared = {item: metric.prepare(truth) for item, truth in truths.items()}
        candidates = [(Answer(a["answer"], id=a["id"]), prepared[a["id"]]) for a in answers]
        tasks[about] = lambda metric=metric, candidates=candidates: score_items(metric, candidates)
    seconds = fastest(tasks, ROUNDS)
    first = next(iter(seconds.values()))
    for about, taken in seconds.items():
        print(
            f"{source:20} {about:12} {len(answers) / taken:9,.0f} answers/s   {taken / first:.2f}"
        )


if __name__ == "__main__":
    main()
