"""A collection as `hdbench new` makes it, with runs beside it."""

import json

from PIL import Image

from hdbench.datasets.collecting.plan import CollectionWish, make_plan, read_sources
from hdbench.datasets.collecting.writing import write_collection

NAME = "cards"


def write_scans(folder, items):
    """An image for each item."""
    folder.mkdir(parents=True)
    for number in range(items):
        Image.new("RGB", (90, 60), (250 - number, 240, 200)).save(folder / f"c{number}.png")


def write_sheet(path, rows):
    """A table with a title and a year for the first items."""
    lines = [f"c{number};Titel {number};{1900 + number}" for number in range(rows)]
    path.write_text("\n".join(["id;Titel;Jahr", *lines]))
    return path


def make_collection(folder, items=4, truths=2):
    """A collection in a folder, of whose items the first have a ground truth."""
    folder.mkdir(exist_ok=True)
    write_scans(folder / "scans", items)
    truth = write_sheet(folder / "sheet.csv", truths) if truths else None
    fields = () if truths else ("titel", "jahr")
    wish = CollectionWish(NAME, folder / "scans", truth, fields=fields, title="Kasten 3")
    plan = make_plan(wish, read_sources(wish, folder))
    return write_collection(plan, folder)


def answers(items, wrong=0):
    """A model's answers, the first of which are wrong."""
    return "".join(
        json.dumps(
            {
                "id": f"c{number}",
                "prediction": {
                    "titel": f"Titel {number}",
                    "jahr": 1900 + number - (number < wrong),
                },
            }
        )
        + "\n"
        for number in range(items)
    )


def write_run(folder, model, items=4, wrong=0):
    """A file of answers beside the collection."""
    path = folder / "runs" / f"{NAME}_{model}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(answers(items, wrong))
    return path
