"""Figures by the values of a column: by hand, and as the commands show them."""

import json

import pytest
from helpers.run_folders import RIGHT, SPEC
from helpers.strata import sample_of

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.by_column import by_column, differences_by_column
from hdbench.evaluation.result_file import read_result, write_results
from hdbench.statistics.bootstrap import intervals

HALF = RIGHT | {"year": 1942}
SAID = (
    "groups by language with fewer than 20 items: 1 of 3; these are too few for an interval, and "
    "the figures may be chance"
)


def write(folder, **spec):
    """60 cards: 30 German, 25 French and 5 without a language, of the years from 1800 on."""
    made = folder / "hdb/cards"
    made.mkdir(parents=True, exist_ok=True)
    columns = {"language": "string", "year": "int32"}
    (made / "benchmark.yaml").write_text(json.dumps(SPEC | {"columns": columns} | spec))
    languages = ["de"] * 30 + ["fr"] * 25 + [None] * 5
    rows = [
        {"id": f"{n:04}", "ground_truth": json.dumps(RIGHT), "language": language, "year": 1800 + n}
        for n, language in enumerate(languages)
    ]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, wrong in (("a", range(30, 50)), ("b", range(10))):
        answers = (
            {"id": f"{n:04}", "prediction": HALF if n in wrong else RIGHT}
            for n in range(60)
            if n not in (28, 29)
        )
        text = "".join(json.dumps(answer) + "\n" for answer in answers)
        (folder / f"{name}.jsonl").write_text(text)


@pytest.fixture
def cards(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of(result, column="language"):
    return by_column(result, load_benchmark("hdb/cards"), column)


def test_each_value_has_its_figure_and_coverage(cards):
    found = of(score("hdb/cards", "a.jsonl"))
    assert [each.value for each in found.groups] == ["de", "fr", None]
    german, french, none = found.groups
    # 28 cards with both fields, and 2 without an answer: 56 right, 4 missing.
    assert german.figures["f1_micro"] == pytest.approx(2 * 56 / (56 + 60))
    assert (german.items, *[*german.figures.values()][:3]) == (30, 28, 2, 0)
    # Of 50 fields 20 are wrong.
    assert french.figures["f1_micro"] == pytest.approx(30 / 50)
    assert french.interval.low < 0.6 < french.interval.high
    assert (none.items, none.figures["f1_micro"], none.interval) == (5, 1.0, None)
    assert found.to_dict()["warnings"][0]["message"] == SAID


def test_an_interval_is_that_of_a_benchmark_of_these_items_alone(cards):
    result = score("hdb/cards", "a.jsonl")
    alone = intervals(result.filter(result.ids[30:55])).figures["f1_micro"]
    assert of(result).groups[1].interval == alone


def test_years_are_cut_into_ranges_that_are_said(cards):
    found = of(score("hdb/cards", "a.jsonl"), "year")
    # The fifths begin in 1812, 1824, 1836 and 1848; in steps of 20, two would be the same.
    assert [(each.value, each.items) for each in found.groups] == [
        *(("< 1810", 10), ("1810–1819", 10), ("1820–1839", 20), ("1840–1849", 10), ("≥ 1850", 10))
    ]
    assert found.note.startswith("60 different numbers in 5 groups: < 18")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("lang", r"no column 'lang'; it has: language, year; did you mean language\?"),
        ("ground_truth", "hdb/cards: no column 'ground_truth'"),
    ],
)
def test_a_column_that_is_not_there(cards, column, said):
    with pytest.raises(HdbenchError, match=said):
        of(score("hdb/cards", "a.jsonl"), column)


def test_groups_of_a_result_that_was_read_are_the_same(cards):
    result = score("hdb/cards", "a.jsonl")
    write_results(cards / "result.json", [result])
    assert of(read_result(cards / "result.json")) == of(result)


def test_differences_of_two_runs(cards):
    a, b = score("hdb/cards", "a.jsonl"), score("hdb/cards", "b.jsonl")
    benchmark = load_benchmark("hdb/cards")
    german, french, none = differences_by_column(a, b, benchmark, "language").groups
    assert german.figures["difference"] == pytest.approx(2 * 56 / 116 - 2 * 46 / 116)
    assert german.interval.low > 0
    assert french.figures["difference"] == pytest.approx(0.6 - 1)
    assert (none.figures["difference"], none.interval) == (0, None)
    there = differences_by_column(b, a, benchmark, "language").groups
    assert there[0].figures["difference"] == -german.figures["difference"]


TEXT = "Ein Stock Heu, drey Batzen"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """40 pages, of which the second run repeats two of the later 20 without end."""
    made = tmp_path / "hdb/cards"
    made.mkdir(parents=True)
    spec = SPEC | {"columns": {"half": "string"}, "metric": "text_cer"}
    spec |= {"headline": "cer", "higher_is_better": False}
    (made / "benchmark.yaml").write_text(json.dumps(spec))
    ids = [f"{number:02}" for number in range(40)]
    halves = ["first"] * 20 + ["second"] * 20
    rows = [
        {"id": item, "ground_truth": json.dumps({"text": TEXT}), "half": half}
        for item, half in zip(ids, halves, strict=True)
    ]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, repeated in (("a", ()), ("b", ("30", "31"))):
        lines = [
            {"id": item, "prediction": {"text": ("x" + TEXT[1:]) * (9 if item in repeated else 1)}}
            for item in ids
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_groups_of_transcriptions_use_the_interval_of_what_was_read(pages):
    result = score("hdb/cards", "b.jsonl")
    found = of(result, "half")
    assert found.judged_by == "cer_without_failures"
    first, second = found.groups
    assert [*first.figures.values()][3:] == pytest.approx([1 / len(TEXT)] * 2)
    # Each of the two pages has the letter that is wrong and eight times the text too much.
    wrong = 18 + 2 * (1 + 8 * len(TEXT))
    assert second.figures["cer"] == pytest.approx(wrong / (20 * len(TEXT)))
    assert second.figures["cer_without_failures"] == pytest.approx(1 / len(TEXT))
    alone = intervals(result.filter(result.ids[:20])).figures
    assert first.interval == alone["cer_without_failures"]
    assert second.interval is None  # only 18 pages were read
    assert found.to_dict()["groups"][1]["cer"] == second.figures["cer"]


def test_a_group_of_a_stratified_sample_counts_as_in_the_whole(tmp_path, monkeypatch):
    """Two strata of 30 items, for 900 and 100; French are 5 of the first, and 20 of the second."""
    columns = {"language": "string", "year": "int32", "stratum": "int32"}
    write(tmp_path, columns=columns, sample=sample_of([900, 100], {0: 30, 1: 30}))
    path = tmp_path / "hdb/cards/metadata.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for n, row in enumerate(rows):
        row |= {"stratum": n // 30, "language": "fr" if 25 <= n < 50 else "de"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    result = score("hdb/cards", "a.jsonl")
    french = of(result).groups[1]
    # 3 of the 5 are right, 2 lost, and each stands for 9 times as many as the 20 wrong ones.
    tp, fp, fn = 9 * 6 + 20, 20, 9 * 4 + 20
    assert french.figures["f1_micro"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    by_stratum = of(result, "stratum").groups
    assert [(each.value, each.items) for each in by_stratum] == [("a", 30), ("b", 30)]


def test_score_shows_groups_and_verify_recomputes_them(cards, run_hdbench):
    done = run_hdbench(
        *("score", "hdb/cards", "a.jsonl", "--by", "language", "--json", "result.json"),
        cwd=cards,
        COLUMNS="80",
    )
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("By language") :]
    assert max(map(len, table.splitlines()[:8])) <= 80
    rows = [line.split() for line in table.splitlines()]
    assert ["de", "30", "28", "0.9655"] in [row[:4] for row in rows]
    assert ["(none)", "5", "5", "1.0000"] in rows
    assert f"warning: {SAID}" in table
    record = json.loads((cards / "result.json").read_text())
    by = record["by"]
    assert (by["column"], by["note"]) == ("language", None)
    assert by["groups"][1]["f1_micro"] == pytest.approx(0.6)
    assert by["groups"][2]["interval"] is None
    assert by["warnings"][0]["key"] == "small_groups"
    assert run_hdbench("verify", "result.json", cwd=cards).returncode == 0
    by["groups"][1]["f1_micro"] = 0.7
    (cards / "result.json").write_text(json.dumps(record))
    verified = run_hdbench("verify", "result.json", cwd=cards)
    assert verified.returncode == 1
    assert "by.groups" in verified.stdout
