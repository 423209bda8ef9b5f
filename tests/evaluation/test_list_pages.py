"""A benchmark of list pages, from five images and a `metadata.jsonl`: built, scored, reported.

There is no Python of its own, and everything goes through the command line.
"""

import json

import pytest
from helpers.results import flat_of
from PIL import Image, ImageDraw

SPEC = """\
name: trades
title: Lists of trades
version: 1.0.0
metric: record_f1
headline: f1_micro
higher_is_better: true
protocols:
  documented:
    root_list: entries
    ignore: ["page"]
media: image
split: test
licence: cc0-1.0
citation: ""
"""
CARD = (
    "---\nlanguage: de\n---\n# Lists of trades\n\n{{ rows }} pages.\n\n{{ picture }}{{ example }}\n"
)
SCHEMA = {
    "type": "object",
    "required": ["entries"],
    "properties": {
        "page": {"type": "string"},
        "entries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "trade": {"type": "string"},
                    "goods": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}
NAMES = ["Abegg", "Boreux", "Cuno", "Diethelm", "Escher"]
PAGES = {
    f"page-{number}": [
        {"name": name, "trade": "Baker"},
        {"name": f"{name} Widow", "trade": "Smith", "goods": ["nails", "locks"]},
    ]
    for number, name in enumerate(NAMES, 1)
}
"""Ten entries with 2 fields each, and a list of 2 goods in half of them: 30 values."""


@pytest.fixture(scope="module")
def built(tmp_path_factory, run_hdbench):
    folder = tmp_path_factory.mktemp("trades")
    recipe = folder / "trades"
    recipe.mkdir()
    lines = []
    for item_id, entries in PAGES.items():
        image = Image.new("RGB", (120, 60), "white")
        text = "\n".join(f"{entry['name']}, {entry['trade']}" for entry in entries)
        ImageDraw.Draw(image).text((4, 4), text, fill="black")
        image.save(recipe / f"{item_id}.png")
        row = {
            "file_name": f"{item_id}.png",
            "id": item_id,
            "ground_truth": {"page": item_id, "entries": entries},
        }
        lines.append(json.dumps(row) + "\n")
    (recipe / "metadata.jsonl").write_text("".join(lines))
    (recipe / "benchmark.yaml").write_text(SPEC)
    (recipe / "prompt.txt").write_text("List the entries of this page as a JSON array.\n")
    (recipe / "answer.schema.json").write_text(json.dumps(SCHEMA))
    (recipe / "README.md").write_text(CARD)
    (recipe / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0.0\n\nThe first version.\n")
    done = run_hdbench("build", "./trades", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def answers(folder, name, pages, *, bare):
    """A file of answers as a model writes them: the list alone, or in an object."""
    lines = [
        {"id": item_id, "text": json.dumps(entries if bare else {"entries": entries})}
        for item_id, entries in pages.items()
    ]
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def score(built, run_hdbench, name):
    done = run_hdbench("score", "hdb/trades", name, "--json", "r.json", cwd=built)
    assert done.returncode == 0, done.stderr
    return flat_of(built / "r.json")


def test_what_was_built(built):
    assert len(list((built / "hdb/trades").rglob("*.png"))) == 5
    assert "# Lists of trades\n\n5 pages." in (built / "hdb/trades/README.md").read_text()


def test_bare_lists_in_another_order_are_all_right(built, run_hdbench):
    reversed_pages = {item_id: entries[::-1] for item_id, entries in PAGES.items()}
    answers(built, "bare.jsonl", reversed_pages, bare=True)
    found = score(built, run_hdbench, "bare.jsonl")
    assert (found["f1_micro"], found["true_positives"]) == (1.0, 30)
    # Each page has two entries, and one of these a list of two goods.
    assert (found["records_found"], found["items_perfect"], found["answered"]) == (20, 5, 5)
    assert found["warnings"] == []


FAULTY = PAGES | {
    # The first entry is left out, so that the second one stands in its place.
    "page-1": PAGES["page-1"][1:],
    # An entry that the page does not have, and other goods.
    "page-2": [
        {"name": "Zwicky", "trade": "Mason", "goods": ["mortar"]},
        PAGES["page-2"][0],
        {**PAGES["page-2"][1], "goods": ["nails"]},
    ],
    # Both trades are wrong.
    "page-3": [{**entry, "trade": "Tinker"} for entry in PAGES["page-3"]],
}


def test_missed_and_invented_entries_are_counted(built, run_hdbench):
    answers(built, "faulty.jsonl", FAULTY, bare=False)
    found = score(built, run_hdbench, "faulty.jsonl")
    # Of 30 values the first page misses 2, the second 1; it invents 3; the third has 2 wrong.
    counts = ("true_positives", "false_positives", "false_negatives")
    assert [found[name] for name in counts] == [25, 3 + 2, 2 + 1 + 2]
    assert found["f1_micro"] == 2 * 25 / (2 * 25 + 5 + 5)
    # Missed: an entry and its last locks; invented: an entry with one item of goods.
    records = ("records_found", "records_missed", "records_invented")
    assert [found[name] for name in records] == [18, 2, 2]
    assert found["items_perfect"] == 2
