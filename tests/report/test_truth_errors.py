"""The address at which an error in the truth is reported: what it holds, and how long it is."""

import json
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.error_counts import item_errors
from hdbench.report.items import item_views
from hdbench.report.page import report_page
from hdbench.report.rendering import TEXTS
from hdbench.report.truth_errors import truth_error_url
from hdbench.scoring.zettel_f1 import ZettelF1

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


HUB = "https://huggingface.co/datasets/hdb/cards/discussions/new"


def url(item_id, *fields, language="en", address=HUB, version="1.0.0", status="clean"):
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
    [view] = item_views([item], item_errors([item], ZettelF1()), ZettelF1())
    return truth_error_url(
        address, "cards", version, view, lambda key, **values: TEXTS.text(key, language, **values)
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
        "Error in the ground truth: 0001",
        """An error in the ground truth of cards, version 1.0.0:

    item: 0001

    field: author.last_name
    ground truth: Müller & Sohn
    a model's answer: Muller

    field: year
    ground truth: 1924
    a model's answer: 1925

What is wrong, and what would be right:
""",
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("language", ["en", "de"])
def test_hostile_text_stays_in_its_line_and_address_stays_short(text, language):
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


@pytest.mark.parametrize(
    ("address", "names", "end"),
    [
        ("https://github.com/someone/cards/issues/new", ["title", "body"], "\n"),
        ("mailto:cards@example.org", ["subject", "body"], "\r\n"),
    ],
)
def test_an_issue_and_an_e_mail_are_filled_in_too(address, names, end):
    found = urlsplit(url("0001", ("year", 1924, 1925), address=address))
    assert found._replace(query="").geturl() == address
    filled = parse_qs(found.query, strict_parsing=True)
    assert list(filled) == names
    [text] = filled["body"]
    assert f"{end}    ground truth: 1924{end}    a model's answer: 1925{end}" in text


def page_of(place, **keys):
    """The report of one answer, of a benchmark with further keys in its description."""
    path = place / "hdb/cards/benchmark.yaml"
    spec = json.loads(path.read_text()) | keys
    path.write_text(json.dumps({key: value for key, value in spec.items() if value is not None}))
    (place / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')
    folder = str(place / "hdb/cards")
    result = score(folder, place / "answers.jsonl")
    return report_page(result, load_benchmark(folder))


def test_benchmark_without_report_address_has_no_link(cards):
    page = page_of(cards, report_errors_at=None)
    assert "Report an error" not in page
    assert "https://" not in page


def test_link_follows_the_benchmark_and_reveals_no_local_folder(cards):
    page = page_of(cards, report_errors_at="https://example.org/discussions/new")
    assert page.count('href="https://example.org/discussions/new?title=') == 4
    assert "huggingface.co" not in page
    assert quote(str(cards), safe="") not in page


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "http://example.org/report",
        "https://",
        "https://anna:secret@example.org/",
        'https://example.org/"><script>',
        "https://example.org/x?y=z",
        "https://example.org/x#y",
        "https://example.org/x y",
        "https://example.org/\n",
        "https://example.org/" + "x" * 300,
        "mailto:anna",
        "mailto:anna@example.org?bcc=eve@example.org",
        "data:text/html,x",
        "//example.org/x",
        "",
    ],
)
def test_what_is_no_address_is_refused_with_the_key(cards, address):
    with pytest.raises(HdbenchError, match=r"benchmark\.yaml: report_errors_at: "):
        page_of(cards, report_errors_at=address)


def test_copied_description_cannot_report_to_its_original(cards):
    with pytest.raises(HdbenchError, match="is the page of another dataset: name your own"):
        page_of(cards, name="letters")
    mine = "https://huggingface.co/datasets/archive/letters/discussions/new"
    assert page_of(cards, name="letters", report_errors_at=mine).count(f'href="{mine}?') == 4
