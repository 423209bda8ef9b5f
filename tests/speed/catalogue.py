"""A generated catalogue: cards as in the sample, and answers that are right, wrong or missing."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "dataset_scripts/zettelkatalog"
WORDS = [
    "Beiträge",
    "Kenntnis",
    "historische",
    "Entwicklung",
    "Untersuchungen",
    "über",
    "Leben",
    "Werke",
    "Handschriften",
    "Geschichte",
    "Basel",
    "Verfassung",
    "Sprache",
    "Recherches",
    "substances",
    "Formen",
    "Bildung",
    "Bestimmung",
]


def write_catalogue(folder: Path, number: int, seed: int = 1) -> tuple[Path, Path]:
    """A benchmark of cards in a folder, and one run's answers to it in another order.

    Args:
        folder: where `hdb/cards` and `answers.jsonl` are written.
        number: how many cards.
        seed: of the random numbers.

    Returns:
        The folder of the benchmark, and the file of answers.
    """
    benchmark = folder / "hdb/cards"
    benchmark.mkdir(parents=True)
    for name in ("benchmark.yaml", "answer.schema.json"):
        (benchmark / name).write_text((SAMPLE / name).read_text())
    (benchmark / "prompt.txt").write_text((SAMPLE / "sample/prompt.txt").read_text())
    rng = random.Random(seed)
    answers = folder / "answers.jsonl"
    with (benchmark / "metadata.jsonl").open("w") as cards, answers.open("w") as given:
        for item_id, truth, answer in _cards(number, rng):
            text = json.dumps(truth, ensure_ascii=False)
            line = {"file_name": f"images/{item_id}.jpg", "id": item_id, "ground_truth": text}
            cards.write(json.dumps(line, ensure_ascii=False) + "\n")
            if answer is not None:
                given.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return benchmark, answers


def _cards(number: int, rng: random.Random) -> Iterator[tuple[str, Any, Any]]:
    """Id, ground truth, and the line of the answer; None where there is none."""
    lines = (SAMPLE / "sample/metadata.jsonl").read_text().splitlines()
    originals = [json.loads(line)["ground_truth"] for line in lines]
    for place in range(number):
        truth = _varied(rng.choice(originals), rng)
        item_id = f"{place:08}"
        yield item_id, truth, _answer(item_id, truth, rng)


def _varied(card: Any, rng: random.Random) -> Any:
    """A card with another title, author and number, and with the same fields."""
    publication = card["publication"] | {
        "title": " ".join(rng.choices(WORDS, k=rng.randint(4, 12))),
        "year": rng.randint(1850, 1980),
        "pages": str(rng.randint(20, 400)),
    }
    reference = card["library_reference"] | {"shelfmark": f"Diss. {rng.randint(1, 99999)}"}
    author = card["author"] | {"last_name": rng.choice(WORDS)}
    return card | {"author": author, "publication": publication, "library_reference": reference}


def _answer(item_id: str, truth: Any, rng: random.Random) -> Any:
    """An answer's line: 3 % are missing, 1 % null, 6 % fenced and 1 % cut off, a third wrong."""
    kind = rng.random()
    if kind < 0.03:
        return None
    record = json.loads(json.dumps(truth))
    if rng.random() < 0.35:
        record["publication"]["title"] = record["publication"]["title"].replace("e", "c", 2)
        record["publication"]["year"] += rng.choice((0, 0, 1))
        record["author"]["first_name"] = rng.choice(WORDS)
    text = json.dumps(record, ensure_ascii=False)
    if kind < 0.04:
        text = ""
    elif kind < 0.10:
        text = f"```json\n{json.dumps(record, ensure_ascii=False, indent=2)}\n```"
    elif kind < 0.11:
        text = text[: len(text) * 2 // 3]
    tokens = {"input": rng.randint(900, 1300), "output": len(text) // 4}
    return {"id": item_id, "text": text, "tokens": tokens, "seconds": rng.randint(50, 900) / 100}


def write_copies(name: str, folder: Path, number: int) -> None:
    """The sample of a benchmark, its items again and again, and the answers to them.

    Args:
        name: the benchmark's name.
        folder: where `hdb/<name>` and `answers.jsonl` are written.
        number: how many items.
    """
    script, built = ROOT / "dataset_scripts" / name, folder / "hdb" / name
    built.mkdir(parents=True)
    prompts = [path.name for path in (script / "sample").glob("prompt*.txt")]
    for file in ("benchmark.yaml", "answer.schema.json", *(f"sample/{each}" for each in prompts)):
        (built / Path(file).name).write_text((script / file).read_text())
    items = _read(script / "sample/metadata.jsonl")
    answers = {each["id"]: each for each in _read(script / "sample/predictions.jsonl")}
    with (
        (built / "metadata.jsonl").open("w") as rows,
        (folder / "answers.jsonl").open("w") as given,
    ):
        for place in range(number):
            item = items[place % len(items)]
            truth = json.dumps(item["ground_truth"], ensure_ascii=False)
            rows.write(json.dumps({"id": f"{place:08}", "ground_truth": truth}) + "\n")
            if item["id"] in answers:
                given.write(json.dumps(answers[item["id"]] | {"id": f"{place:08}"}) + "\n")


def _read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]
