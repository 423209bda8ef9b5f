"""The documentation site, as docs/build_site.py builds it with the extra `docs`."""

import re
import shutil
import subprocess
import sys
import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import lxml.html
import pytest
from axe_playwright_python.sync_playwright import Axe
from markdown_it import MarkdownIt
from playwright.sync_api import expect

import hdbench as hd

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build/site"
CONFIGURATION = ROOT / "zensical.toml"
NOTEBOOKS = {
    path.relative_to(ROOT).with_suffix(".md").as_posix()
    for path in ROOT.glob("docs/notebooks/*.ipynb")
}
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*/README.md")])
MADE = {"docs/reference/cli.md"} | NOTEBOOKS  # by the build
OF_THE_THEME = {
    "landmark-unique",  # each block of code has a <nav> for its button, and none of them a name
    "scrollable-region-focusable",  # wide tables on a phone; browsers make them focusable
}


def in_navigation(entries):
    """The pages below an entry of the navigation."""
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from in_navigation(value) if isinstance(value, list) else [value]


def test_every_page_is_in_the_navigation():
    navigation = tomllib.loads(CONFIGURATION.read_text())["project"]["nav"]
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("metrics/*/README.md")]
    named = set(in_navigation(navigation))
    assert ({page.relative_to(ROOT).as_posix() for page in pages} | NOTEBOOKS) - named == set()
    assert [name for name in named - MADE if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_its_links_lead_to_files(page):
    tokens = MarkdownIt().parse(page.read_text())
    inner = [child for token in tokens for child in token.children or ()]
    links = [urlsplit(each.attrGet("href") or each.attrGet("src") or "") for each in inner]
    places = [unquote(link.path) for link in links if link.path and not link.scheme]
    made = {ROOT / each for each in MADE}
    wrong = [
        p for p in places if not (at := (page.parent / p).resolve()).exists() and at not in made
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def site():
    """The folder with the built site."""
    script = [sys.executable, ROOT / "docs/build_site.py", "--without-outputs"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return SITE


@pytest.mark.nightly
def test_links_that_lead_nowhere_end_the_build(tmp_path):
    pages = tmp_path / "build/pages/docs"
    pages.mkdir(parents=True)
    (pages / "index.md").write_text("# A\n\n[1](missing.md) [2](#missing) [3](other.md#missing)\n")
    (pages / "other.md").write_text("# Other\n")
    shutil.copyfile(CONFIGURATION, tmp_path / CONFIGURATION.name)
    shutil.copytree(ROOT / "docs/theme", tmp_path / "docs/theme")
    build = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "3 issues found" in done.stdout + done.stderr


@pytest.mark.nightly
def test_links_lead_to_files_and_nothing_external_is_loaded(site):
    pages = {path: lxml.html.parse(path).getroot() for path in site.rglob("*.html")}
    anchors = {path: set(page.xpath("//@id | //a/@name")) for path, page in pages.items()}
    assert len(pages) > 30
    wrong = []
    for path, page in pages.items():
        if path.name == "404.html":  # is shown at any place, so its links begin at the root
            continue
        for element, attribute, link, _ in page.iterlinks():
            address, anchor = urldefrag(link)
            if urlsplit(link).scheme:
                is_asked_for = attribute == "src" or element.tag == "link"
                if is_asked_for and not link.startswith("data:"):
                    wrong.append((path.name, link))
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            if not target.is_file() or (anchor and unquote(anchor) not in anchors.get(target, ())):
                wrong.append((path.name, link))
    assert wrong == []


@pytest.mark.nightly
def test_programs_find_the_twelve_pages(site):
    listed = re.findall(r"\]\((docs/.*?\.md)\): .+;", (site / "llms.txt").read_text())
    assert sorted(listed) == [f"docs/{page.name}" for page in sorted(ROOT.glob("docs/*.md"))]
    assert len(listed) == 12
    assert all((site / path).is_file() for path in listed)


@pytest.mark.nightly
def test_python_reference_has_classes_and_examples(site):
    for topic, name, example in (
        ("scoring", "hdbench.api.score", "score(truths, answers"),
        ("comparing", "hdbench.api.rank_runs", "rank_runs([one, score(truths"),
        ("metrics", "hdbench.scoring.make_metric", 'make_metric("zettel_f1", threshold=0.8)'),
    ):
        page = lxml.html.parse(site / f"docs/reference/python-{topic}.html").getroot()
        assert page.get_element_by_id(name) is not None
        examples = [each.text_content() for each in page.cssselect("code")]
        assert any(example in each for each in examples)


def test_each_public_name_stands_in_the_reference():
    text = (ROOT / "docs/reference/python.md").read_text()
    assert [name for name in (*hd.__all__,) if f"`{name}`" not in text] == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.nightly
def test_pages_fit_are_accessible_and_ask_no_other_host(served, visit_at):
    names = ("first-look", "score", "reference/cli", "de/score", "metrics")
    page = visit_at(served, awaited="article")
    assert page.url == f"{served}docs/first-look.html"
    found = []
    for name in names:
        page.goto(f"{served}docs/{name}.html")
        for scheme, width in (("light", 1280), ("dark", 390)):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((name, width, "is wider than the window"))
            if name == "reference/cli" and scheme == "light":
                continue  # a very long page, in colours that the others have
            for each in Axe().run(page).response["violations"]:
                places = [node["target"] for node in each["nodes"]]
                if each["id"] not in OF_THE_THEME:
                    found.append((name, scheme, each["id"], places[:3]))
    assert found == []


def search(page, address, words):
    """Search on a page, and return a link to each page that is found."""
    page.goto(address)
    page.locator("pagefind-modal-trigger button").click()
    page.locator("pagefind-modal input").fill(words)
    expect(page.locator("pagefind-summary")).to_contain_text(words)
    page.locator(".pf-result mark").first.wait_for()
    return page.locator("a.pf-result-link").all()


@pytest.mark.nightly
def test_search_finds_words_and_their_forms(served, visit_at):
    page = visit_at(served, awaited="article")
    for begin, words, found in (
        ("score", "CER", "metrics/text_cer/index"),
        ("score", "MARC", "docs/trust"),
        ("score", "exporter", "docs/collection"),
        ("de/score", "Karten", "docs/de/score"),
    ):
        search(page, f"{served}docs/{begin}.html", words)
        expect(page.locator(f'a.pf-result-link[href="/{found}.html"]').first).to_be_visible()
    # A short word is searched for as a whole: not "Wert", "werden".
    links = search(page, f"{served}docs/de/score.html", "Wer")
    assert [link.get_attribute("href") for link in links] == ["/docs/de/score.html"]
