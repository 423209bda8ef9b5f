"""Report and leaderboard page in French, which is translated for these two alone."""

import re
from pathlib import Path

import pytest
from helpers.collection import READERS, TRUTH, write_collection
from helpers.english import words
from helpers.translations import catalogue, forms
from report.test_languages import of_cards  # noqa: F401  a fixture
from report.test_page import Page

import hdbench
from hdbench.common.catalogues import translation
from hdbench.common.texts import UNREVIEWED, read_texts
from hdbench.evaluation.runs import load_runs
from hdbench.output.leaderboard.boards import leaderboards
from hdbench.output.leaderboard.tables import leaderboard_page
from hdbench.output.report.page import report_page

PACKAGE = Path(hdbench.__file__).parent
NARROW = "\N{NARROW NO-BREAK SPACE}"
FILES = (
    *(f"output/report/texts/{name}.yaml" for name in ("page", "plots", "words", "leaderboard")),
    "output/report/texts/truth_error.yaml",
    "output/leaderboard/texts/leaderboard.yaml",
    "results/texts/summary.yaml",
    "results/texts/warnings.yaml",
)
"""The texts that one of the two pages can show."""

NAMES = {
    *("hdbench", "documented", "published", "precision", "recall", "micro", "macro", "compare"),
    *("trust", "plan", "decide", "cards", "title", "year", "place", "invented", "form"),
    *("benchmark", "truncated", "weights"),
    *READERS,
    *TRUTH,
}
"""Names of commands, options, figures, fields and values."""


def english_forms(text):
    return (text["one"], text["other"]) if isinstance(text, dict) else (text,)


@pytest.mark.parametrize("file", FILES)
def test_every_text_of_the_two_pages_is_in_french(file):
    for key, text in read_texts(PACKAGE / file).items():
        one, *other = english_forms(text)
        for count in (1, 2):
            plural = other[0] if other else None
            assert translation(one, "fr", plural=plural, count=count), key


@pytest.fixture(scope="module")
def french():
    """English text → its French one, for those that have one."""
    pairs = [pair for entry in catalogue("fr") if entry.id for pair in forms(entry)]
    return {text: told for text, told in pairs if told}


def english_words(french):
    """The words of the English texts of the two pages that no French one has."""
    english = [
        each
        for file in FILES
        for text in read_texts(PACKAGE / file).values()
        for each in english_forms(text)
    ]
    own = {word for word in words([*english, *french]) if len(word) > 3}
    return own - words(french.values()) - NAMES


def left(html, french):
    """The words of our English texts on a page, without those in code and signatures."""
    page = Page(re.sub(r"<code>.*?</code>|\w+\|protocol:[^<]*", "", html))
    labels = [
        attributes[name]
        for _, attributes in page.elements
        for name in ("aria-label", "alt", "placeholder", "data-text", "data-label")
        if name in attributes
    ]
    return words([*page.texts, *labels]) & english_words(french)


def test_the_report_in_french_has_no_english(of_cards, french):  # noqa: F811
    html = report_page(*of_cards, language="fr")
    assert left(html, french) == set()
    assert "answered" in left(report_page(*of_cards), french)
    assert '<html lang="fr">' in html
    text = Page(html).text
    for told in (
        "Sur 4 éléments, 0 est sans faute ; champs faux par élément, en moyenne : ",
        "4 éléments : trop peu pour un intervalle.",
        "extraite d’un autre texte",
        "… et 3 000 caractères de plus",
        "0,0000 à 0,5000",
    ):
        assert told in text
    assert f"et 3{NARROW}000 caractères" in html
    assert "u202f" not in html


def test_titles_of_a_benchmark_in_french_are_shown(of_cards):  # noqa: F811
    result, benchmark = of_cards
    benchmark.spec.titles["fr"] = "Fiches"
    assert Page(report_page(result, benchmark, language="fr")).text.count("Fiches") == 3


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    folder = write_collection(tmp_path_factory.mktemp("boards"), items=1_200)
    runs = [folder / "runs" / reader for reader in READERS]
    return leaderboards(load_runs(runs, benchmark=str(folder / "hdb/cards")))


def test_the_leaderboard_in_french_has_no_english(boards, french):
    html = leaderboard_page(boards, "fr")
    assert left(html, french) == set()
    assert "rank" in left(leaderboard_page(boards), french)
    assert '<html lang="fr">' in html
    assert f"1{NARROW}200 éléments" in html
    assert f"avec une confiance de 95{NARROW}%" in html
    assert "u202f" not in html


def test_pages_say_that_nobody_has_reviewed_their_language(of_cards, boards):  # noqa: F811
    said = "Cette traduction n’a pas encore été relue"
    for page in (report_page(*of_cards, language="fr"), leaderboard_page(boards, "fr")):
        assert Page(page).text.count(said) == ("fr" in UNREVIEWED)
    for language in ("en", "de"):
        assert "<footer" not in leaderboard_page(boards, language)


def test_french_texts_have_no_break_before_a_sign(french):
    """A plain space there could begin a line with the sign; none at all is not French."""
    for text in french.values():
        bare = re.sub(r"\{.*?\}|<.*?>|\w+://\S*", "x", text)
        assert not re.search(r" [;:!?%»]|« ", bare), text
        assert not re.search(rf"[^{NARROW}\d];|[^{NARROW}]\?", bare), text


def test_a_command_without_a_translation_is_in_english(cards, run_hdbench):
    (cards / "answers.jsonl").write_text('{"id": "0000", "prediction": {}}\n')
    for asked in (("--help",), ("trust", "plan", "--help")):
        english, french = (
            run_hdbench(*language, *asked, cwd=cards) for language in ((), ("--language", "fr"))
        )
        assert french.returncode == 0, french.stderr
        told = [done.stdout.partition("[OPTIONS]")[2].split() for done in (english, french)]
        assert told[0] == told[1]
    done = run_hdbench("--language", "fr", "score", "hdb/cards", "answers.jsonl", cwd=cards)
    assert done.returncode == 0, done.stderr
    assert "F1 (micro) 0,0000" in done.stdout
