"""The address at which an error in the truth is reported: what it holds, and how long it is."""

import json
import os
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from hdbench.report.items import item_views
from hdbench.report.rendering import TEXTS
from hdbench.report.truth_errors import dataset_id, truth_error_url

HOSTILE = [
    "\"><script>alert(1)</script>'",
    "a\nb\r\n\n# Heading\n![](https://example.org/x.png) @somebody",
    "&title=other#fragment?x=y%00%zz+",
    "Ma\u0308dchen \u202egnp.exe \u200b\x00\x1b[31m",
    "lone \ud800 and \udfff",
    "🦊" * 3_000,
    "Ω" * 3_000,
    "x" * 100_000,
]


def url(item_id, *fields, language="en", dataset="hdb/cards", version="1.0.0", status="clean"):
    """The address for an item with fields of a name, a truth and an answer."""
    matches = [
        {
            "field": name,
            "outcome": "substituted",
            "reference": truth,
            "prediction": answer,
            "similarity": 0.0,
        }
        for name, truth, answer in fields
    ]
    item = {"id": item_id, "status": status, "f1": 0.0, "fields": matches}
    [view] = item_views([item], "f1")
    return truth_error_url(
        dataset, version, view, lambda key, **values: TEXTS.text(key, language, **values)
    )


def told(address):
    """The title and the description that the Hub takes from an address."""
    parts = urlsplit(address)
    assert not parts.fragment
    found = parse_qs(parts.query, strict_parsing=True, errors="strict")
    assert found.keys() == {"title", "description"}
    [title], [description] = found.values()
    return title, description


def test_it_holds_benchmark_version_item_fields_and_both_values():
    address = url("0001", ("author.last_name", "Müller & Sohn", "Muller"), ("year", 1924, 1925))
    assert address.startswith("https://huggingface.co/datasets/hdb/cards/discussions/new?")
    assert told(address) == (
        "Error in the truth: 0001",
        """An error in the truth of hdb/cards, version 1.0.0:

    item: 0001

    field: author.last_name
    truth: Müller & Sohn
    a model's answer: Muller

    field: year
    truth: 1924
    a model's answer: 1925

What is wrong, and what would be right:
""",
    )


def test_it_is_german_on_a_german_page():
    title, description = told(url("0001", ("year", 1924, 1925), language="de"))
    assert title == "Fehler in der Referenz: 0001"
    assert "    Feld: year\n    Referenz: 1924\n    Antwort eines Modells: 1925\n" in description
    assert description.endswith("\n\nWas ist falsch, und was wäre richtig:\n")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("language", ["en", "de"])
def test_hostile_text_stays_within_its_line_and_the_address_within_its_length(text, language):
    fields = [(text, text, f"{text}!"), ("year", 1924, 1925), *[("title", text, "")] * 50]
    address = url(text, *fields, language=language)
    assert address.isascii()
    assert len(address) < 2_000
    assert not set("\"'<> ") & set(address)
    title, description = told(address)
    assert title.isprintable()
    foreign = [line for line in description.split("\n")[1:-2] if line]
    assert len(foreign) >= 4  # the item and at least one field whole
    assert all(line.startswith("    ") and line.isprintable() for line in foreign)


def test_what_is_left_out_is_counted():
    fields = [(f"field_{number}", "Ω" * 30, "x" * 30) for number in range(400)]
    address = url("0001", *fields)
    _, description = told(address)
    held = description.count("field: ")
    assert 2 <= held < 10
    assert f"    (further fields that differ: {400 - held})\n" in description
    assert 1_600 < len(address) < 2_000


def test_an_item_without_an_answer_is_named_alone():
    _, description = told(url("0001", ("year", 1924, None), status="unanswered"))
    assert "item: 0001" in description
    assert "field" not in description


def test_an_absent_value_is_told_from_an_empty_one():
    _, description = told(url("0001", ("a", "x", None), ("b", "x", "")))
    assert description.count("a model's answer: nothing\n") == 1
    assert description.count("a model's answer: empty\n") == 1


@pytest.mark.parametrize(
    ("benchmark", "expected"),
    [
        ("hdb/zettelkatalog", "hdb/zettelkatalog"),
        ("/home/anna/data/hdb/cards", "hdb/cards"),
        ("cards", None),
        ("", None),
        ("./cards", None),
        ("../cards", None),
        ("/cards", None),
        ("my data/cards", None),
        ("hdb/cards?x=y", None),
        ("hdb/cards#x", None),
        ("hdb\\cards", None),
        ("hdb/", None),
        ('"><script>/x', None),
    ],
)
def test_a_dataset_has_a_namespace_and_a_name_and_no_path_of_a_computer(benchmark, expected):
    assert dataset_id(benchmark) == expected


def test_a_mirror_of_the_hub_is_used(cards):
    (cards / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')
    code = (
        "from hdbench.api import score; from hdbench.benchmark import load_benchmark;"
        "from hdbench.report.page import report_page;"
        "page = report_page(score('hdb/cards', 'answers.jsonl', details=True),"
        "load_benchmark('hdb/cards')); import json;"
        "print(json.dumps([page.count('https://hub.example/datasets/hdb/cards/discussions/new?'),"
        "page.count('huggingface.co')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cards,
        env=os.environ | {"HF_ENDPOINT": "https://hub.example"},
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout) == [4, 0], done.stderr
