"""A collection as `hdbench new` makes it, with runs beside it."""

import csv
import json
from copy import copy as copy_of
from uuid import uuid4

from helpers.invented_cards import MODELS, InventedCards
from helpers.people_files import add_events
from PIL import Image, ImageDraw

from hdbench.collections.new.plan import CollectionRequest, make_plan, read_sources
from hdbench.collections.new.writing import write_collection
from hdbench.collections.truth.events import Reading

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


def make_collection(folder, items=4, truths=2, fields=("titel", "jahr")):
    """A collection in a folder, of whose items the first have a ground truth."""
    folder.mkdir(exist_ok=True)
    write_scans(folder / "scans", items)
    truth = write_sheet(folder / "sheet.csv", truths) if truths else None
    fields = () if truths else fields
    requested = CollectionRequest(NAME, folder / "scans", truth, fields=fields, title="Kasten 3")
    plan = make_plan(requested, read_sources(requested, folder))
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


def read_values(collection, value_of, by=("anna", "ben")):
    """People read the values that come next, a tenth of them two people; return which."""
    view = collection.decisions.view()
    plan = view.control.hash() if view.applied else view.found.hash
    lines = []
    for number, (item, field) in enumerate(view.stage.values):
        for person in by[: 1 + (number % 10 == 0)]:
            line = Reading(
                id=uuid4().hex,
                plan=plan,
                stage=view.stage.name,
                item=item,
                field=field,
                by=person,
                at="2026-11-27T10:00:00.000Z",
                what="value",
                value=value_of(item, field),
                seconds=9.0,
            )
            lines.append(line)
    add_events(collection.built, lines)
    return view.stage.values


class Cards:
    """A collection of invented cards, with what three models read on them in `runs`.

    They read nearly all as it stands there: of every eighth year, each reads something else, and
    of the last two cards nothing.

    Args:
        folder: the folder that it is made in.
        cards: how many there are.
        truths: of how many of them people have a ground truth.
    """

    def __init__(self, folder, cards=150, truths=30):
        self.cards = InventedCards(cards)
        scans = folder / "scans"
        scans.mkdir(parents=True)
        for item, card in self.cards.truths.items():
            image = Image.new("RGB", (400, 250), "beige")
            text = "\n".join(card.values())
            ImageDraw.Draw(image).multiline_text((30, 30), text, "black", font_size=22, spacing=14)
            image.save(scans / f"{item}.png")
        with (folder / "sheet.csv").open("w", newline="") as file:
            sheet = csv.writer(file)
            known = list(self.cards.truths.items())[:truths]
            sheet.writerow(["card", *known[0][1]])
            sheet.writerows([item, *card.values()] for item, card in known)
        requested = CollectionRequest(NAME, scans, folder / "sheet.csv", title="Kasten 3")
        self.folder = write_collection(
            make_plan(requested, read_sources(requested, folder)), folder
        )
        (folder / "runs").mkdir()
        for place, model in enumerate(MODELS):
            lines = (
                {"id": item, "prediction": self.said(item, number, place)}
                for number, item in enumerate(list(self.cards.truths)[:-2])
            )
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"runs/{NAME}_{model}.jsonl").write_text(text)

    def at(self, folder):
        """The same cards, where a copy of the collection is."""
        copy = copy_of(self)
        copy.folder = folder / self.folder.name
        return copy

    def truth(self, item):
        """What stands on a card."""
        card = self.cards.truths[item]
        return card | {"year": int(card["year"])}

    def said(self, item, number, place):
        """What a model reads."""
        card = self.truth(item)
        return card if number % 8 else card | {"year": card["year"] + place + 1}
