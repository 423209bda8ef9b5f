"""The notebooks in docs/notebooks: run in a real kernel, and shown on their pages."""

import ast
import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import lxml.html
import pytest
from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).parents[2]
NOTEBOOKS = {path.stem: path for path in (ROOT / "docs/notebooks").glob("*.ipynb")}
PICTURES = os.environ.get("HDBENCH_PICTURES")
"""A folder for pictures of the pages, to be looked at."""

NOT_OURS = {
    "empty-table-header",  # of the index of a DataFrame, in pandas' HTML
    "landmark-unique",  # see test_site.py, as for the next
    "scrollable-region-focusable",
}


@pytest.fixture(scope="module")
def notebook_pages():
    """docs/notebook_pages.py, which needs the extra `docs`."""
    return importlib.import_module("notebook_pages")


@pytest.fixture(scope="module")
def run(notebook_pages):
    """Runs a notebook by its name, once."""
    done = {}

    def run(name):
        if name not in done:
            done[name] = notebook_pages.run(notebook_pages.read(NOTEBOOKS[name]))
        return done[name]

    return run


def shown(notebook, kind):
    """What the cells of a notebook show of a kind, such as `text/html`, in order."""
    return [
        output.data[kind]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if kind in output.get("data", {})
    ]


def tables(notebook):
    """The rows of each table that is shown, as texts."""
    return [
        [[cell.text_content().strip() for cell in row] for row in table.iter("tr")]
        for html in shown(notebook, "text/html")
        for table in lxml.html.fromstring(html).iter("table")
    ]


def table_with(notebook, *columns):
    """The first table that has these columns: its rows, column → cell."""
    for head, *rows in tables(notebook):
        if set(columns) <= set(head):
            return [dict(zip(head, row, strict=True)) for row in rows]
    raise AssertionError(f"no table with {columns}")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_short_and_kept_without_outputs(name):
    cells = json.loads(NOTEBOOKS[name].read_text())["cells"]
    assert len(cells) <= 40
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert cells[0]["source"][0].startswith("# ")
    kinds = [cell["cell_type"] for cell in cells]
    assert ("code", "code") not in itertools.pairwise(kinds)  # a sentence before each
    for cell in code:
        if not cell["source"][0].startswith("%"):
            ast.parse("".join(cell["source"]))


@pytest.mark.nightly
def test_a_data_frame_is_scored(run):
    notebook = run("score-a-dataframe")
    (status,) = [text for text in shown(notebook, "text/plain") if "unparsable" in text]
    assert "'unparsable': 1" in status
    worst = table_with(notebook, "field", "false_negatives")[0]
    assert worst["field"] == "publication.place"  # which is filled in on no card
    assert table_with(notebook, "status", "f1")[0]["id"] == "sample-08"  # which has no answer
    assert "<svg" in shown(notebook, "image/svg+xml")[0]
    (plot,) = [
        output.metadata["image/svg+xml"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "image/svg+xml" in output.get("data", {})
    ]
    assert "publication.place" in plot["alt"]


@pytest.mark.nightly
def test_errors_are_shown_beside_their_images(run):
    notebook = run("which-errors")
    images = shown(notebook, "image/jpeg")
    assert len(images) == 1 + 3  # one card, and all that have an answer with an error
    wrong = [row for row in table_with(notebook, "kind", "found") if row["id"] == "sample-07"]
    assert any(row["found"] == "Diss.1967,144" for row in wrong)


@pytest.mark.nightly
def test_five_models_are_ranked_and_drawn(run):
    notebook = run("five-models")
    few, many = [rows for rows in tables(notebook) if "runs" in rows[0]]
    assert "rank" not in few[0]  # eight cards are too few
    assert [row[1] for row in many[1:]] == ["careful", "steady", "middling", "quick", "hasty"]
    assert many[-1][0] == "5"
    assert len(shown(notebook, "image/svg+xml")) == 4


@pytest.mark.nightly
def test_own_records_are_compared_as_options_say(run):
    notebook = run("own-records")
    wrong = [len(rows) - 1 for rows in tables(notebook) if "error class" in rows[0]]
    assert wrong == [8, 3, 2, 1]


@pytest.mark.nightly
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_its_page_shows_what_its_cells_show(name, run, notebook_pages, tmp_path):
    notebook = run(name)
    page = tmp_path / f"{name}.md"
    notebook_pages.write_page(notebook, page)
    text = page.read_text()
    parts = [part for part in text.split("\n\n") if part.startswith('<div class="output">')]
    html = lxml.html.fromstring("".join(parts))
    assert len(parts) >= sum(bool(cell.get("outputs")) for cell in notebook.cells)
    assert all(image.get("alt") for image in html.xpath("//img"))
    pictures = [image.get("src") for image in html.xpath("//img")]
    files = [source for source in pictures if not source.startswith("data:")]
    assert all((tmp_path / file).stat().st_size > 0 for file in files)
    kinds = ("image/jpeg", "image/png", "image/svg+xml")
    assert len(files) == sum(len(shown(notebook, kind)) for kind in kinds)
    assert len([*html.iter("table")]) == len(tables(notebook))
    assert html.xpath("//script") == []
    assert str(ROOT) not in text


@pytest.mark.nightly
def test_pages_with_outputs_fit_and_are_accessible(run, notebook_pages, tmp_path, browser):
    pages = tmp_path / "build/pages/docs/notebooks"
    pages.mkdir(parents=True)
    for name in NOTEBOOKS:
        notebook_pages.write_page(run(name), pages / f"{name}.md")
    for sheet in ("docs/site.css", "src/hdbench/common/display/tokens.css"):
        shutil.copyfile(ROOT / sheet, pages.parent / Path(sheet).name)
    shutil.copyfile(ROOT / "zensical.toml", tmp_path / "zensical.toml")
    shutil.copytree(ROOT / "docs/theme", tmp_path / "docs/theme")
    build = [sys.executable, "-m", "zensical", "build"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = []
    page = browser.new_page()
    for name in NOTEBOOKS:
        page.goto((tmp_path / f"build/site/docs/notebooks/{name}.html").as_uri())
        for scheme, width in itertools.product(("light", "dark"), (1280, 390)):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": 900})
            if PICTURES:
                path = Path(PICTURES, f"notebook-{name}-{width}-{scheme}.png")
                page.screenshot(path=path, full_page=True)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((name, width, "is wider than the window"))
            for each in Axe().run(page).response["violations"]:
                places = [node["target"] for node in each["nodes"]]
                if each["id"] not in NOT_OURS:
                    found.append((name, scheme, each["id"], places[:3]))
    page.close()
    assert found == []
