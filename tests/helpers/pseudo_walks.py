"""Ways through the commands: on each, what comes before is there for what comes after."""

import csv
import json
from contextlib import contextmanager

from helpers.audited import MAKERS
from helpers.collection import READERS, write_collection
from helpers.recipes import write_recipe
from helpers.single_values import ReadCatalogue
from PIL import Image
from running.faulty_server import FaultyServer, Response, completion
from trust.collection import RUNS, Collection

CENTURIES = ("19", "20")


@contextmanager
def scans(folder):
    """Twelve images and a table about them, and a folder with all sorts of mistakes."""
    (folder / "scans").mkdir()
    for number in range(12):
        Image.new("RGB", (90, 60), (250 - number, 240, 200)).save(folder / f"scans/c{number}.png")
    with (folder / "cat.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "Titel", "Jahr", "Sprache"])
        table.writerows(
            [f"c{n}", f"Titel {n}", 1900 + n, "de" if n % 2 else "fr"] for n in range(12)
        )
    wrong = write_recipe(
        folder / "wrong", {"1": {"title": "a"}, "2": {"titel": ["b"], "year": "x"}}
    )
    with (wrong / "metadata.jsonl").open("a") as file:
        file.write('{"id": "1", "file_name": "../1.jpg", "ground_truth": null}\n{"id": 7}\n')
    (wrong / "prompt.txt").write_text("Read {it}.")
    yield None


@contextmanager
def scored(folder):
    """A hundred cards with a column, and three runs of three makers."""
    write_collection(folder, items=100, columns={"century": "string"})
    path = folder / "hdb/cards/metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["century"] = CENTURIES[number % 2]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "places.csv").write_text("Basel;Q78\nBassel;Q78\n")
    for number, reader in enumerate(READERS):
        about = folder / "runs" / reader / "run.json"
        made = {"provider": MAKERS[number], "subset": "quick, 20 drawn with seed 0, of 120 items"}
        about.write_text(json.dumps(json.loads(about.read_text()) | made))
    yield None


@contextmanager
def planned(folder):
    """A collection of which a sample is checked, and all of the control sample too."""
    collection = Collection(folder)
    collection.write_truths({item: collection.truth(item) for item in collection.ids})
    yield None


@contextmanager
def read(folder):
    """A catalogue whose values to learn from and to verify are read."""
    catalogue = ReadCatalogue(folder, learn=200, verify=400)
    catalogue.read_first()
    catalogue.read_second()
    yield None


@contextmanager
def served(folder):
    """A model that says the same of each item."""
    answer = completion(json.dumps({"publication": {"year": 1898}}))
    with FaultyServer(lambda _: Response(answer)) as server:
        yield server.url


@contextmanager
def broken(folder):
    """A server without a model."""
    with FaultyServer(lambda _: Response("{}", status=500)) as server:
        yield server.url


@contextmanager
def recipe(folder):
    """A recipe with a wrong value."""
    write_recipe(
        folder / "theirs", {"1": {"title": "Stelingen", "year": 1924}, "2": {"title": "b"}}
    )
    yield None


RUN = "--model m --endpoint {url} --out"
ERRATA = "--kind form --evidence x --proposed-by anna --approved-by ben"
SCORED = [f"runs/{reader}" for reader in READERS]
ALL = " ".join(SCORED)
OF_PLAN = " ".join(f"{run}.jsonl" for run in RUNS)
READ = f"cards {SCORED[0]}"

WALKS = {
    "make": (
        scans,
        [
            ("demo", 0),
            ("build zettelkatalog --sample --out other", 0),
            ("publish other --dry-run --namespace hdb", 0),
            ("sample cat.csv -n 8 --by Sprache", 0),
            ("new karten scans --truth cat.csv --title Karten", 0),
            ("new probe scans --truth cat.csv --sample sample.yaml", 0),
            ("new leer scans --fields title,year", 0),
            ("check karten", 0),
            ("check leer", 0),
            ("check wrong", 2),
            ("build karten", 2),
            ("build karten --accept-licence", 0),
            ("publish hdb --dry-run", 2),
            ("assign leer anna ben --items 5", 0),
            ("hand-over leer anna.zip --as anna", 0),
            ("merge leer anna.zip --as ben --yes", 0),
            ("agreement leer", 2),
            ("annotate leer --as anna --assign ben", 2),
            ("annotate nothing", 2),
            ("open nothing", 2),
            ("review karten nothing", 2),
            ("space --namespace nothing", 2),
            ("check nothing", 2),
            ("build nothing", 2),
        ],
    ),
    "score": (
        scored,
        [
            (f"score {READ} --json r.json --details --also published --by century --warnings", 0),
            (f"score {READ} --fail-under 0.99", 1),
            (f"score {READ} --strict --option threshold=0.8", 0),
            (f"score {READ} --option lists=1", 2),
            (f"score {READ} --authority place=places.csv", 0),
            (f"score {READ} --authority ort=places.csv", 2),
            ("score cards nothing", 2),
            (f"report {READ} -o page --by century --authority places.csv", 0),
            (f"report cards {SCORED[0]} {SCORED[1]} -o page", 0),
            (f"report cards {SCORED[0]} {SCORED[1]} -o page --by century", 2),
            (f"status {SCORED[0]}", 0),
            ("verify r.json", 0),
            (f"compare cards {SCORED[0]} {SCORED[1]} --by century", 0),
            (f"compare {ALL}", 0),
            ("leaderboard runs", 0),
            ("leaderboard runs --format html", 0),
            ("leaderboard runs --also published", 0),
            ("leaderboard runs --changes", 0),
            (f"audit {ALL} --html a.html --csv audit.csv --list l.jsonl", 0),
            (f"audit {SCORED[0]}", 2),
        ],
    ),
    "trust": (
        planned,
        [
            ("trust decide plan.yaml --page d.html --json d.json", 0),
            ("verify d.json", 0),
            ("trust apply plan.yaml -o out --control 20", 0),
            ("trust control out", 0),
            (f"trust consensus hdb/cards {OF_PLAN} -o all", 0),
            (f"trust plan hdb/cards {OF_PLAN} --items 60 -o again.yaml", 0),
            (f"trust plan hdb/cards {OF_PLAN} --items 60 -o again.yaml", 2),
            ("trust decide nothing", 2),
            (f"forecast hdb/cards {OF_PLAN} --wage 30 --plan plan.yaml", 0),
            (f"forecast hdb/cards {OF_PLAN} --total 2000 --wage 30 --plot f.svg", 0),
        ],
    ),
    "values": (
        read,
        [
            ("trust learn plan.yaml", 0),
            ("trust decide plan.yaml --page d.html --json d.json --wage 30", 0),
            ("verify d.json", 0),
            ("trust apply plan.yaml -o out --control 20", 0),
            ("trust control out", 2),
            ("trust finish out --format csv", 0),
            ("trust finish out", 0),
            ("trust finish out --format dublin-core", 2),
            ("trust finish out --mapping nothing", 2),
            ("trust finish out --identifiers nothing", 2),
            ("forecast --plan plan.yaml --wage 30 --json f.json", 0),
            ("forecast --plan plan.yaml --total 5", 2),
            ("trust plan hdb/cards heron --values 200+400 -o again.yaml", 2),
            ("trust plan hdb/cards heron otter --values 9 -o again.yaml", 2),
        ],
    ),
    "run": (
        served,
        [
            ("build zettelkatalog --sample", 0),
            (f"run zettelkatalog {RUN} m --dry-run", 0),
            (f"run zettelkatalog {RUN} m --limit 3", 0),
            (f"run zettelkatalog {RUN} m --limit 3", 0),
            ("score m", 0),
            (f"run zettelkatalog {RUN} q --quick --without-media", 0),
            (f"eval zettelkatalog {RUN} ev --fail-under zettelkatalog=0.9", 1),
            (f"run zettelkatalog {RUN} e --tasks 2 --engine local", 0),
            ("status e --merge", 0),
            ("run zettelkatalog --model m --endpoint http://127.0.0.1:9 --out x", 2),
            ("run zettelkatalog --model m --endpoint nonsense --out x", 2),
        ],
    ),
    "broken": (
        broken,
        [
            ("build zettelkatalog --sample", 0),
            (f"run zettelkatalog {RUN} f --timeout 1 --limit 2", 1),
            ("status f", 0),
        ],
    ),
    "errata": (
        recipe,
        [
            (f"errata add theirs 1 title Stelingen Stellingen {ERRATA}", 0),
            (f"errata add theirs 1 title Stelingen Stellingen {ERRATA}", 2),
            ("errata from-review theirs nothing --approved-by ben", 2),
        ],
    ),
}
"""Name → how its folder is prepared, and commands with their exit statuses."""
