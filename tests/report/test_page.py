import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import bibtexparser
import pytest

from hdbench.about import YEAR, __version__
from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.evaluation.error_counts import item_errors
from hdbench.report import page
from hdbench.report.items import MAX_TEXT, band, item_views, two_digits
from hdbench.report.page import report_page
from hdbench.scoring.metric import figure_heading
from hdbench.scoring.zettel_f1 import ZettelF1

VOID = {"meta", "img", "input", "wbr", "br", "link"}

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></script><svg onload=alert(1)>",
    "a\x00b",
    "a\ud800b",
    "]]>",
    "{{7*7}}{%raw%}",
    "&lt;b&gt;",
    "=HYPERLINK(1)",
]


class Page(HTMLParser):
    """A strict reader: every element is closed in its order, every text is under its elements."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts, self.rows = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        assert self.open[-1] == "svg"  # elsewhere HTML has no such tags
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if "style" in self.open or "script" in self.open:
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def handle_decl(self, decl):
        assert decl == "DOCTYPE html"

    def unknown_decl(self, data):
        raise AssertionError(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    def row(self, *start):
        [row] = [
            cells
            for cells in (tuple(" ".join(cell.split()) for cell in row) for row in self.rows)
            if cells[: len(start)] == start
        ]
        return row

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def report(cards):
    """The page of answers to the four little cards, each of title "Stellingen", year 1924."""

    def make(*predictions, **options):
        answers = cards / "answers.jsonl"
        lines = [
            json.dumps({"id": f"000{number}", "prediction": prediction})
            for number, prediction in enumerate(predictions)
        ]
        answers.write_text("".join(line + "\n" for line in lines))
        folder = cards / "hdb/cards"
        result = score(str(folder), answers, **options)
        return report_page(result, load_benchmark(str(folder)))

    return make


RIGHT = {"title": "Stellingen", "year": 1924}


def test_headline_is_shown_with_interval_coverage_and_direction(report):
    # Of 8 values 5 are found, 1 is wrong, and 2 are lost with their item: 5 TP, 1 FP, 3 FN.
    page = Page(report(RIGHT, RIGHT, {"title": "Stelling", "year": 1924}))
    # Of one card a field is wrong, of another both are lost: 3 of the 8 need a correction.
    assert (
        "2 of 4 items need no correction; on average 0.75 of 2 fields per item are wrong. 1 item "
        "without a usable answer counts as a complete failure. F1 (micro) 0.7143. "  # 10 / 14
        "Higher is better."
    ) in page.text
    assert "4 items: too few for an interval. Single items: 0.0000 to 1.0000." in page.text
    assert "95% interval:" not in page.text
    assert "3 answered, 1 unanswered, 0 unparsable" in page.text
    assert "With so few items, no two runs can be told apart" in page.text
    assert page.row("Precision (micro)", "")[2] == "0.8333"
    assert page.row("Recall (micro)", "")[2] == "0.6250"


def test_fields_are_listed_worst_first_with_counts_and_rates(report):
    page = Page(report(RIGHT, RIGHT, {"title": "Stelling", "year": 1924}))
    assert page.row("title", "")[2:] == ("2", "1", "2", "0.667", "0.500", "0.571")
    assert page.row("year", "")[2:] == ("3", "0", "1", "1.000", "0.750", "0.857")
    firsts = [row[0] for row in page.rows if len(row) == 8]
    assert firsts == ["Field", "title", "year"]


def test_bars_are_as_long_as_the_counts(report):
    html = report(RIGHT, RIGHT, {"title": "Stelling", "year": 1924})
    title = html.split('class="bar"')[1].split("</svg>")[0]
    bars = re.findall(r'class="(right|wrong|lacking|added)" x="([\d.]+)" width="([\d.]+)"', title)
    # Of four, two are right, one is another value, which counts once, and one is not there.
    assert bars == [
        *(("right", "0.00", "50.00"), ("wrong", "50.00", "25.00")),
        *(("lacking", "75.00", "25.00"), ("added", "100.00", "0.00")),
    ]


def test_items_stand_the_worst_first_with_what_is_wrong(report):
    html = report(RIGHT, {"title": "Stelling", "year": 1924}, None, RIGHT)
    order = re.findall(r'id="item-\d+"><bdi>(\d+)<', html)
    assert order == ["0002", "0001", "0000", "0003"]
    lost, wrong, right, _ = html.split('<article class="item"')[1:]
    assert "unanswered" in lost
    assert "Counts as a complete failure" in lost
    assert 'data-wrong="yes"' in lost
    assert "cut short" in wrong
    assert 'data-wrong="yes"' in wrong
    assert "Stelling<ins>en</ins>" in wrong
    assert "1 right" in wrong
    assert "All fields are right" in right
    assert 'data-wrong="no"' in right


def test_only_the_same_is_shown_as_one():
    assert (two_digits(0.9999), two_digits(0.29), two_digits(0.0)) == ("0.99", "0.29", "0.00")
    assert [band(x).name for x in (1.0, 0.9999, 0.8, 0.7999, 0.5, 0.4999, 0.0)] == [
        *("same", "close", "close", "partly", "partly", "far", "far")
    ]


def test_errors_are_counted_by_class_and_in_form(report):
    page = Page(report({"title": "STELLINGEN", "year": 1924}, {"title": "Stelling", "year": 1925}))
    assert page.row("capitals")[1] == "1"
    assert page.row("cut short")[1] == "1"
    assert page.row("number or date")[1] == "1"
    # With the capitals forgiven 2 of 4 given and of 8 wanted values are right.
    assert "would be 0.3333. This figure is never used for ranking" in page.text


def test_how_it_was_computed_stands_at_the_end(report, cards):
    page = Page(report(RIGHT))
    for told in (
        "zettel_f1|protocol:documented|threshold:0.92",
        hashlib.sha256((cards / "hdb/cards/metadata.jsonl").read_bytes()).hexdigest(),
        hashlib.sha256((cards / "answers.jsonl").read_bytes()).hexdigest(),
        "hdb/zettel_f1, version 4 of its rules; answers read by version 4 of the reading rules",
        "4 items: too few for an interval",
        "Dataset version",
        "1.0.0",
    ):
        assert told in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_does_nothing(report, text):
    html = report({"title": text, text: text, "year": [text]}, text, {"title": {text: text}})
    page = Page(html)
    html.encode("utf-8")
    assert "\u202e" not in html
    assert "\x00" not in html
    visible = ascii(text)[1:-1] if not text.isprintable() else text
    assert visible in page.text
    assert len(page.all("script")) == 2
    assert len(page.all("style")) == 1
    assert page.all("img") == []
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)


def test_the_policy_allows_its_own_script_and_style_alone(report):
    html = report(RIGHT)
    [policy] = [each["content"] for each in Page(html).all("meta") if "content" in each][:1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for tag, count in (("script", 2), ("style", 1)):
        blocks = re.findall(f"<{tag}(?: type=.module.)?>(.*?)</{tag}>", html, re.DOTALL)
        digests = [hashlib.sha256(block.encode()).digest() for block in blocks]
        allowed = {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}
        assert len(allowed) == count
        assert set(rules[f"{tag}-src"].split()) == allowed
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"


def test_page_links_only_to_the_truth_error_form(report):
    html = report(RIGHT, {"title": "https://example.org/x", "year": 1924})
    page = Page(html)
    hub = "https://huggingface.co/datasets/hdb/cards/discussions/new?title="
    addresses = [
        attributes[name]
        for _, attributes in page.elements
        for name in ("src", "href", "action", "srcset")
        if name in attributes
    ]
    others = [each for each in addresses if not each.startswith(hub)]
    assert len(addresses) - len(others) == 4  # one for each item
    assert others
    assert all(each.startswith(("#", "data:image/webp;base64,")) for each in others)
    [style] = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style


def test_a_long_value_is_cut_and_says_so(report):
    html = report({"title": "x" * 1_000_000, "year": 1924})
    assert "… and 998,000 more characters" in html
    assert len(html) < 100_000


def test_a_page_of_long_answers_stays_bounded():
    fields = [
        {
            "field": f"f{number}",
            "outcome": "substituted",
            "reference": "x" * 2_000,
            "prediction": "y" * 2_000,
            "similarity": 0.0,
        }
        for number in range(20)
    ]
    items = [
        {"id": str(number), "status": "clean", "f1": 0.0, "fields": fields} for number in range(120)
    ]
    views = item_views(items, item_errors(items, ZettelF1()), ZettelF1())
    text = sum(
        len(part.text)
        for view in views
        for row in view.errors
        for value in (row.reference, row.prediction)
        for part in value.parts
    )
    assert text < 1.1 * MAX_TEXT
    assert [len(views[0].errors), views[0].more_errors] == [20, 0]
    assert [len(views[-1].errors), views[-1].more_errors] == [5, 15]


def test_pictures_are_shown_and_a_missing_one_is_told(sample):
    folder = sample / "hdb/zettelkatalog"
    result = score(str(folder), folder / "example_predictions.jsonl")
    benchmark = load_benchmark(str(folder))
    html = report_page(result, benchmark)
    images = Page(html).all("img")
    assert len(images) == 8 + 3  # of three typical ones also above the list
    for image in images:
        assert image["src"].startswith("data:image/webp;base64,")
        assert image["loading"] == "lazy"
        assert image["alt"].startswith("Item sample-0")
    # The worst items and the figures are those that the README shows.
    assert "0.6719" in html
    assert Page(html).row("Author › First name", "")[2:5] == ("4", "1", "4")


def test_typical_items_are_those_of_all_items(sample, monkeypatch):
    monkeypatch.setattr(page, "MAX_ITEMS", 2)
    folder = sample / "hdb/zettelkatalog"
    result = score(str(folder), folder / "example_predictions.jsonl")
    shown = Page(report_page(result, load_benchmark(str(folder))))
    # Of eight items, the middle ones of the thirds are the second, fifth and seventh worst.
    worst = [each["id"] for each in sorted(result.per_item, key=lambda each: each["f1"])]
    typical = [text for text in shown.texts if text in worst][:3]
    assert typical == [worst[6], worst[4], worst[1]]
    links = [each["href"] for each in shown.all("a") if each["href"].startswith("#item-")]
    assert links == ["#item-2"]  # the list has the two worst only


def test_a_picture_that_is_not_there_or_damaged_is_told(cards, report):
    folder = cards / "hdb/cards"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    rows[0]["file_name"], rows[1]["file_name"] = "none.jpg", "damaged.jpg"
    (folder / "damaged.jpg").write_bytes(b"no image")
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = Page(report(RIGHT, RIGHT)).text
    assert "No picture: the file is not there" in text
    assert "No picture: damaged.jpg cannot be read" in text


@pytest.mark.parametrize("name", ["avisblatt", "rheinschifffahrt", "sciencemetabench"])
def test_every_benchmark_has_a_page(tmp_path, run_hdbench, name):
    done = run_hdbench("build", name, "--sample", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb" / name
    result = score(str(folder), folder / "example_predictions.jsonl")
    page = Page(report_page(result, load_benchmark(str(folder))))
    assert f"{figure_heading(result.headline)} {result.figures[result.headline]:.4f}." in page.text
    assert len([each for each in page.all("article") if "class" in each]) == len(result.ids)
    assert page.all("img")
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


def test_the_benchmark_and_hdbench_stand_there_as_bibtex(cards, report):
    spec = json.loads((cards / "hdb/cards/benchmark.yaml").read_text())
    citation = "@misc{cards2025,\n  title = {Cards \\& <Letters>},\n  author = {Zürcher, A},\n}"
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec | {"citation": citation}))
    html = report(RIGHT)
    Page(html)
    shown = re.search('<pre tabindex="0">(.*?)</pre>', html, re.DOTALL)[1]
    library = bibtexparser.parse_string(unescape(shown))
    assert not library.failed_blocks
    benchmark, software = library.entries
    assert benchmark["title"] == "Cards \\& <Letters>"
    assert (software["version"], software["year"]) == (__version__, str(YEAR))
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    assert f"\n## [{__version__}] - " in changes
