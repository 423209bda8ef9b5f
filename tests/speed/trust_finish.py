"""How long `hdbench trust finish` takes beside parsing the values alone, and in how much memory.

    PYTHONPATH=tests python -m speed.trust_finish 70000 700000

plans, verifies and applies 3,000 cards as `speed.trust_learn` does, and copies what was decided of
them under other ids; people have worked off one value in a thousand. Measured are, each in a
process of its own: `json.loads` of all lines, a first delivery, one in which nothing has changed,
one with a worked value more, and each form of records. 700,000 items take half an hour and 8 GB of
disk. Not a test: nothing here passes or fails by the clock.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from helpers.people_files import add_events
from speed.scale import measured
from speed.trust_learn import PLAN, RUNS, read_stage, write_collection

from hdbench.annotating.events import WorkedValue
from hdbench.trust.applied_folder import VALUES, WORK_LIST, read_applied, write_applied
from hdbench.trust.listed import write_listed

COPIED = 3_000
WORKED_EVERY = 1_000

MAPPING = """
record:
  title: "{publication.title}"
  creator: "{author.last_name}[, {author.first_name}]"
  date: "{publication.year}"
  publisher: "{publication.publisher}"
  identifier: "{id}"
"""

FORMS = ["csv", "xlsx", "marcxml"]


def main() -> None:
    """Measure collections of the sizes that were asked for."""
    if sys.argv[1] == "--only":
        only_json()
        return
    for number in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_applied_folder(folder, number)
            (folder / "mapping.yaml").write_text(MAPPING)
            seconds = {}
            for way, command in commands(folder, number):
                row = measured(["-m", *command.split()], folder, way, number)
                seconds[way] = row["cpu_seconds"]
            print({way: round(used / seconds["json"], 2) for way, used in seconds.items()})


def commands(folder: Path, number: int) -> Iterator[tuple[str, str]]:
    """Yield what is measured, and do what has to be done between."""
    finish = "hdbench trust finish out"
    yield "json", "speed.trust_finish --only"
    yield "first", finish
    yield "again", finish
    work_off(folder, 1, number)
    yield "one changed", finish
    for form in FORMS:
        yield form, f"{finish} --format {form}"
    yield "dublin-core", f"{finish} --format dublin-core --mapping mapping.yaml"


def only_json() -> None:
    """Parse every line of the values."""
    with Path("out", VALUES).open() as lines:
        for line in lines:
            json.loads(line)


def write_applied_folder(folder: Path, number: int) -> None:
    """Write a collection, and a folder as `hdbench trust apply` leaves it."""
    truths = write_collection(folder, COPIED)
    (folder / PLAN).parent.mkdir()
    trust = [sys.executable, "-m", "hdbench", "trust"]

    def run(*arguments: str) -> None:
        subprocess.run([*trust, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    run("plan", "hdb/cards", *(f"{run}.jsonl" for run in RUNS), "-o", str(PLAN))
    read_stage(folder, truths, "learn")
    run("learn", str(PLAN))
    read_stage(folder, truths, "verify")
    run("apply", str(PLAN), "-o", "out")

    out = folder / "out"
    decided = (out / VALUES).read_text().splitlines(keepends=True)
    digest, to_look_at = hashlib.sha256(), []  # a row for each value
    with (
        (out / VALUES).open("wb") as values,
        (folder / "hdb/cards/metadata.jsonl").open("w") as rows,
    ):
        for place, line in enumerate(islice(cycle(decided), number)):
            item = f"{place:08}"
            copied = line.replace(f"{place % COPIED:08}", item, 1).encode()
            values.write(copied)
            digest.update(copied)
            fields = json.loads(line)["fields"]
            doubtful = [name for name, value in fields.items() if value["decision"] == "check"]
            if doubtful:
                to_look_at += [(item, name, *RUNS, "") for name in doubtful]
            row = {"file_name": f"images/{item}.jpg", "id": item, "ground_truth": None}
            rows.write(json.dumps(row) + "\n")
    write_listed(out / WORK_LIST, RUNS, to_look_at)
    changed = {
        "items": number,
        "to_look_at": len({item for item, *_ in to_look_at}),
        "values_sha256": digest.hexdigest(),
    }
    write_applied(out, read_applied(out).model_copy(update=changed))
    work_off(folder, number // WORKED_EVERY, number)


def work_off(folder: Path, values: int, number: int) -> None:
    """Write what a person decided of so many values."""
    seal = read_applied(folder / "out").values_sha256
    lines = [
        WorkedValue(
            list=seal,
            id=uuid.uuid4().hex,
            item=f"{place * number // values:08}",
            field="publication.title",
            by="anna",
            at="2026-07-01T10:00:00.000Z",
            what="value",
            how="typed",
            value=f"Titel {uuid.uuid4().hex}",
        )
        for place in range(values)
    ]
    add_events(folder / "hdb/cards", lines)


if __name__ == "__main__":
    main()
