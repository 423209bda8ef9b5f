import json
import random
from pathlib import Path

import pytest
import yaml
from PIL import Image, ImageDraw

from hdbench.benchmarks.building.checks.folder import check_folder

SPEC = {
    "name": "cards",
    "title": "Cards",
    "version": "1.0.0",
    "metric": "record_f1",
    "headline": "f1_micro",
    "higher_is_better": True,
    "media": "image",
    "split": "test",
    "licence": "cc-by-4.0",
    "citation": "",
    "columns": {"century": "int32"},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "year": {"type": ["integer", "null"]},
        "place": {"type": "string"},
        "persons": {"type": "array", "items": {"type": "string"}},
    },
}
ITEMS = 24


def draw(path: Path, seed: int) -> None:
    """An image that looks like no other."""
    rng = random.Random(seed)
    image = Image.new("L", (90, 80), 255)
    for _ in range(25):
        x, y = rng.randrange(90), rng.randrange(80)
        ImageDraw.Draw(image).rectangle((x, y, x + 14, y + 14), fill=rng.randrange(256))
    image.save(path)


class Folder:
    """A benchmark's folder without any problem, and its rows and description to change."""

    def __init__(self, path: Path) -> None:
        self.path, self.out = path, path.parent / "hdb"
        self.spec = json.loads(json.dumps(SPEC))
        self.schema = json.loads(json.dumps(SCHEMA))
        self.rows = [
            {
                "file_name": f"images/{number}.png",
                "id": f"card {number}",
                "ground_truth": {
                    "title": f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number] * 6} of the sea",
                    "year": 1890 + number,
                    "place": "Stuttgart" if number % 3 else "Basel",
                    "persons": [f"{chr(97 + number) * 4}, Anna"],
                },
                "century": 19,
            }
            for number in range(ITEMS)
        ]
        (path / "images").mkdir(parents=True)
        for number in range(ITEMS):
            draw(path / f"images/{number}.png", number)
        self.write("README.md", "---\nlanguage: de\n---\n# {{ spec.title }}\n\n{{ rows }} cards.\n")
        self.write("CHANGELOG.md", "# Changelog\n\n## 1.0.0\n\nThe first version.\n")
        self.write("prompt.txt", "Give title, year, place and persons of this card as JSON.\n")

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")

    def truth(self, number: int) -> dict:
        return self.rows[number]["ground_truth"]

    def save(self) -> None:
        self.write("benchmark.yaml", yaml.safe_dump(self.spec))
        self.write("answer.schema.json", json.dumps(self.schema))
        self.write("metadata.jsonl", "".join(json.dumps(row) + "\n" for row in self.rows))

    def check(self, *, save: bool = True):
        if save:
            self.save()
        return check_folder(self.path, self.out)

    def only(self):
        """The one problem there is."""
        report = self.check()
        assert [each.kind for each in report.problems] == [report.problems[0].kind]
        return report.problems[0]


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path / "cards")
