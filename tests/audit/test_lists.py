import csv
import io

from helpers.audited import card_runs
from rich.console import Console

from hdbench.cli.audit import MAX_ROWS, print_audit
from hdbench.common.translation import set_language
from hdbench.output.audit.findings import audit
from hdbench.output.audit.lists import work_list


def rows(result):
    return list(csv.reader(io.StringIO(work_list(result).decode("utf-8-sig"), newline="")))


def printed(result, language="en"):
    console = Console(file=io.StringIO(), width=120)
    set_language(language)
    print_audit(console, result)
    set_language("en")
    return console.file.getvalue()


def test_work_list_has_a_row_per_finding_and_verdict_columns():
    truth, answer = {"name": "Somazzl", "year": 1925}, {"name": "Somazzi", "year": None}
    assert rows(audit(card_runs(truth, answer, answer, answer))) == [
        ["id", "field", "truth", "proposed value", "agreement", "makers", "error class", "verdict"],
        ["1", "name", "Somazzl", "Somazzi", "3 of 3", "antares, bellatrix, capella", "ocr", ""],
        ["1", "year", "1925", "", "3 of 3", "antares, bellatrix, capella", "invented", ""],
    ]


def test_nothing_in_the_work_list_is_a_formula():
    values = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"]
    truth = {f"field_{place}": "right" for place in range(len(values))}
    answer = {f"field_{place}": value for place, value in enumerate(values)}
    runs = card_runs({"=1+1": "a"} | truth, *[{"=1+1": "b"} | answer] * 3)
    found = rows(audit(runs))[1:]
    assert len(found) == 1 + len(values)
    for row in found:
        for cell in row:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert {row[3] for row in found} >= {"'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(1)"}


def test_lone_surrogates_and_line_breaks_can_be_written():
    answer = {"name": "Som\ud800azzi\nIda"}
    [_, row] = rows(audit(card_runs({"name": "Zeller"}, answer, answer, answer)))
    assert row[3] == "Som\\ud800azzi\\nIda"


def test_the_terminal_shows_how_many_and_each():
    truth, answer = {"name": "Somazzl", "place": "Bern"}, {"name": "Somazzi", "place": "BERN"}
    text = printed(audit(card_runs(truth, answer, answer, answer)))
    assert (
        "3 good models contradict: 1 with the same value, 0 by reading nothing there; and 1 in "
        "form alone" in text
    )
    assert "antares, bellatrix, capella" in text
    [line] = [line for line in text.splitlines() if "Somazzl" in line]
    assert line.split() == ["1", "name", "Somazzl", "Somazzi", "3/3", "ocr"]


def test_nothing_reaches_the_terminal_as_it_is():
    answer = {"[red]name\x1b[31m": "\x1b[2J[bold]\u202eabc"}
    text = printed(
        audit(card_runs({"title": "Stellingen"}, *[{"title": "Stellingen"} | answer] * 3))
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]" in text


def test_a_terminal_shows_a_bounded_number():
    answer = {f"field_{number}": "x" for number in range(MAX_ROWS + 5)}
    text = printed(audit(card_runs({"title": "Stellingen"}, answer, answer, answer)))
    assert "and 6 more" in text  # the title too


def test_without_findings_there_is_no_table():
    right = {"name": "Somazzi"}
    text = printed(audit(card_runs(right, right, right, right)))
    assert "0 with the same value," in text
    assert "models read" not in text


def test_the_terminal_shows_an_audit_in_german():
    answer = {"name": "Somazzi", "place": "Bern"}
    text = printed(audit(card_runs({"name": "Somazzl"}, answer, answer, answer)), "de")
    assert (
        "Werte der Referenz, denen mehr als die Hälfte von 3 guten Modellen widerspricht: 2 mit "
        "demselben Wert, 0, weil sie dort nichts lesen; und 0 nur in der Form" in text
    )
    assert "Hersteller: antares, bellatrix, capella" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["Kennung", "Feld", "Referenz", "Modelle", "lesen", "einig", "Art"] in lines
    assert ["1", "name", "Somazzl", "Somazzi", "3/3", "verlesen"] in lines
    assert ["1", "place", "(fehlt)", "Bern", "3/3", "fehlt"] in lines
