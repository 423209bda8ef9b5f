"""A catalogue that nobody wrote, and what three models that do not exist read on its cards."""

import json
import random
from collections.abc import Mapping

NAMES = ("Frey", "May", "Vischer", "Huber", "Meyer", "Burckhardt", "Iselin", "Sarasin")
FIRST = ("Anna", "Emil", "Karl", "Maria", "Johann", "Rosa")
ABOUT = ("Fische", "Briefe", "Brücken", "Lieder", "Gesetze", "Gletscher", "Mühlen", "Sprachen")
WHERE = ("Schweiz", "Pfalz", "Provence", "Lombardei", "Normandie")
PLACES = ("Basel", "Bern", "Zürich", "Genf", "Leipzig")
MODELS = ("heron", "otter", "finch")
ALIKE = 0.01
"""The share of cards that all models get wrong as a whole, in the same way."""

FADED = 0.25
"""The share of cards of which a model gets half of the values wrong."""

SLIPS = 0.05
"""The share of values that a model gets wrong on other cards."""

SHORT = 0.2
"""The share of shelfmarks whose last part no model reads."""


class InventedCards:
    """So many cards: what stands on each, and what each model read.

    Attributes:
        truths: id → what stands on the card.
        answers: model → id → what it read.
    """

    truths: Mapping[str, dict[str, str]]
    answers: Mapping[str, Mapping[str, dict[str, str]]]

    def __init__(self, cards=2000, seed=11):
        draw = random.Random(seed)
        self.truths = {f"{number:04}": _card(draw) for number in range(cards)}
        self.answers = {model: {} for model in MODELS}
        for item, card in self.truths.items():
            seen = _misread(draw, card, 1) if draw.random() < ALIKE else card
            if draw.random() < SHORT:
                seen = seen | {"shelfmark": seen["shelfmark"].partition(":")[0]}
            wrong = 0.5 if draw.random() < FADED else SLIPS
            for each in self.answers.values():
                each[item] = _misread(draw, seen, wrong)

    def write_scans(self, folder):
        """Write a text for each card into a folder: what a model would see."""
        folder.mkdir(parents=True)
        for item, card in self.truths.items():
            (folder / f"{item}.txt").write_text("\n".join(card.values()), encoding="utf-8")

    def write_answers(self, folder):
        """Write a file for each model into a folder."""
        folder.mkdir(parents=True)
        for model, answers in self.answers.items():
            lines = ({"id": item, "prediction": each} for item, each in answers.items())
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (folder / f"{model}.jsonl").write_text(text, encoding="utf-8")


def _card(draw):
    return {
        "title": f"{draw.choice(ABOUT)} der {draw.choice(WHERE)}",
        "author": f"{draw.choice(NAMES)}, {draw.choice(FIRST)}",
        "place": draw.choice(PLACES),
        "year": str(draw.randrange(1850, 1990)),
        "shelfmark": f"{draw.choice('ABCDEFG')} {draw.randrange(1000, 9999)}:{draw.randrange(9)}",
    }


def _misread(draw, card, wrong):
    """A card on which this share of values has up to three other characters."""
    return {
        field: _misspelled(draw, value) if draw.random() < wrong else value
        for field, value in card.items()
    }


def _misspelled(draw, value):
    characters = list(value)
    for place in draw.sample(range(len(value)), draw.randint(1, 3)):
        others = "0123456789" if value[place].isdigit() else "aeinorst"
        characters[place] = draw.choice(others.replace(value[place], ""))
    return "".join(characters)
