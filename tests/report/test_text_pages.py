"""Pages of text in a report: line by line, with words in another order told from wrong ones."""

import base64
import io
import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.lines import write_lines
from PIL import Image
from pypdfium2 import PdfDocument

import hdbench.api as hd
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.report.items import FULL, shown_field
from hdbench.report.page import report_page
from hdbench.scoring.metric import FieldMatch

LEFT, RIGHT = "Wein: roth\nHeu: viel", "Rock: blau\nHolz: naſſ"
READ = {
    "p01": f"{RIGHT}\n{LEFT}",  # the columns in the other order
    "p02": f"{LEFT}\nRock: blau\nHolz: naff",
    "p03": "",
    "p04": f"{LEFT} {RIGHT}",
} | {f"p{number:02}": f"{LEFT}\n{RIGHT}" for number in range(5, 13)}


@pytest.fixture
def report(tmp_path):
    """The report on twelve pages with the same four lines, and its result."""
    folder = tmp_path / "pages"
    truth = f"{LEFT}\n{RIGHT}"
    row = {"file_name": "page.png", "ground_truth": {"text": truth}}
    boxes = {"line_boxes": [f"0 0 {top} 10000 {top + 2500}" for top in range(0, 10_000, 2500)]}
    rows = [{"id": name, **row, **boxes} for name in READ]
    rules = {"documented": {"watch": "ſ"}, "published": {}}
    columns = {"line_boxes": "strings"}
    write_lines(folder, rows, media="image", protocols=rules, columns=columns)
    Image.new("RGB", (300, 100), "antiquewhite").save(folder / "page.png")
    (tmp_path / "read.json").write_text(json.dumps(READ))
    result = hd.score(str(folder), tmp_path / "read.json")
    return load_benchmark(str(folder)), result


def test_words_in_another_order_are_nowhere_wrong_and_letters_are_in_both():
    def wrong(read):
        match = FieldMatch("text", "substituted", f"{LEFT}\n{RIGHT}", read, 0.5)
        row = shown_field(match, "different", FULL)
        sides = row.reference.parts, row.prediction.parts
        assert any(part.moved for part in sides[0]) == (read == READ["p01"])
        return [[part.text for part in side if part.differs] for side in sides]

    assert wrong(READ["p01"]) == [[], []]
    assert wrong(READ["p02"]) == [["ſſ"], ["ff"]]
    assert wrong(READ["p04"]) == [["\n"], [" "]]


PAGE = """<PcGts><Page imageWidth="600" imageHeight="200"><TextRegion>{}</TextRegion></Page></PcGts>
"""
LINE = """<TextLine><Coords points="{},{} {},{}"/><TextEquiv><Unicode>{}</Unicode></TextEquiv>
</TextLine>"""


def colors(page):
    """The middle of each picture in the table of confused characters, by the line's color."""
    shown = page.partition('class="confused"')[2].partition("</table>")[0]
    found = {}
    for row in shown.split("<tr>")[2:]:
        sign = row.partition("<bdi>")[2][0]
        data = row.partition("base64,")[2].partition('"')[0]
        if data:
            with Image.open(io.BytesIO(base64.b64decode(data))) as image:
                assert image.width <= 480
                assert image.height <= 96
                red, green, blue = image.convert("RGB").getpixel((image.width // 2, 5))
                found[sign] = "red" if red > green + blue else "blue" if blue > red + green else "?"
    return found


def test_examples_are_cut_from_where_the_lines_are(tmp_path, run_hdbench):
    (tmp_path / "scans").mkdir()
    for name, texts in (("p1", ("Weiß", "naſſ")), ("p2", ("Weiß", "Huhn"))):
        # As large as the transcription says, and half of that.
        image = Image.new("RGB", (600, 200) if name == "p1" else (300, 100), "white")
        width, height = image.size
        image.paste("red", (0, 0, width, height // 4))
        image.paste("blue", (0, height // 2, width, height))
        image.save(tmp_path / f"scans/{name}.png")
        lines = LINE.format(-9, 0, 9999, 50, texts[0]), LINE.format(20, 110, 580, 190, texts[1])
        (tmp_path / f"scans/{name}.xml").write_text(PAGE.format("".join(lines)))
    Image.new("RGB", (9, 9)).save(tmp_path / "scans/p3.png")
    (tmp_path / "scans/p3.xml").write_text(PAGE.format(LINE.format("", "", "", "", "Köln")))
    read = {"p1": "Weiß\nnaff", "p2": "Weib\nHuhm", "p3": "Koln"}
    (tmp_path / "read.json").write_text(json.dumps(read))
    for command in (("new", "pages", "scans", "--licence", "cc0-1.0"), ("build", "pages")):
        done = run_hdbench(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    folder = tmp_path / "hdb/pages"

    def scored(lines):
        """The figures, and the colors of the examples, with these rows."""
        (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
        result = hd.score(str(folder), tmp_path / "read.json")
        page = report_page(result, load_benchmark(str(folder)))
        return dict(result.rates), result.errors_by_class, colors(page)

    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert rows[0]["line_boxes"] == ["0 0 0 10000 2500", "0 333 5500 9667 9500"]
    assert rows[2]["line_boxes"] is None
    *figures, found = scored(rows)
    assert found == {"ſ": "blue", "ß": "red", "n": "blue"}
    for hostile in (["0"], ["0 0 0 99999 99999"] * 2, ["0 5 5 5 5"] * 2, ["7 0 0 9 9"] * 2, "0", 7):
        *others, found = scored([row | {"line_boxes": hostile} for row in rows])
        assert others == figures
        assert found.keys() <= {"ſ", "ß", "n"}
    assert found == {}


def test_texts_that_look_like_yaml_are_not_warned_of(report):
    _, result = report
    assert result.answered == len(READ) - 1
    assert "no_record" not in [warning.kind for warning in result.warnings]


@pytest.mark.slow
def test_a_page_says_what_its_lines_are(report, browser, tmp_path):
    benchmark, result = report
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_content(report_page(result, benchmark))
    item = page.locator(".item", has_text="p01")
    assert item.locator(".moved").count() > 0
    assert item.locator(":is(ins, del)").count() == 0
    rows = page.locator(".confused tbody tr").all_inner_texts()
    # None of p01, whose lines are elsewhere.
    assert [row.split() for row in rows] == [["ſ", "f", "2", "of", "22", "naſſ", "→", "nafſ"]]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".confused img").count() == 1
    assert Axe().run(page).violations_count == 0
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="dark")
    (tmp_path / "de.html").write_text(report_page(result, benchmark, language="de"))
    page.goto((tmp_path / "de.html").as_uri())
    assert Axe().run(page).violations_count == 0
    page.close()


@pytest.mark.slow
def test_even_the_shortest_pages_are_four_to_a_sheet_and_no_more(tmp_path, browser):
    folder, read = tmp_path / "pages", {f"p{number:02}": "u\nb" for number in range(12)}
    truth = {"text": "a\nb"}
    rows = [{"id": name, "file_name": "page.png", "ground_truth": truth} for name in read]
    write_lines(folder, rows, media="image")
    Image.new("RGB", (30, 10)).save(folder / "page.png")
    (tmp_path / "read.json").write_text(json.dumps(read))
    result = hd.score(str(folder), tmp_path / "read.json")
    page = browser.new_page()
    page.set_content(report_page(result, load_benchmark(str(folder))))
    sheets = [sheet.get_textpage().get_text_range() for sheet in PdfDocument(page.pdf(format="A4"))]
    on_sheet = [sum(f"\n{name}" in f"\n{text}" for name in read) for text in sheets]
    assert sum(on_sheet) == len(read)
    assert max(on_sheet) == 4
    page.close()
