"""Trust scores of the user's own: how tables of them are read, and what they decide."""

import io
import json

import pytest
import xlsxwriter
from helpers.planned_cards import FIELDS, RIGHT, Catalogue, agreeing
from reference import acceptance as naive

from hdbench.errors import HdbenchError
from hdbench.trust.score_table import read_scores
from hdbench.trust.words import sentences

IDS = ["0001", "0002", "0003"]


def read(tmp_path, data, fields=FIELDS, ids=IDS, name="scores.csv"):
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    scores = read_scores(tmp_path / name, fields, ids)
    return [[scores.of(item, place) for place in range(len(fields))] for item in ids]


def test_one_score_for_all_fields(tmp_path):
    assert read(tmp_path, "id,score\n0001,1\n0002,0.5\n0003,\n") == [
        [1, 1, 1],
        [0.5, 0.5, 0.5],
        [None, None, None],
    ]


PER_FIELD = [[0.9, 1, None], [0, 0.25, 0.98], [1, 1, 1]]


def test_a_score_for_each_field_in_any_order(tmp_path):
    text = "year;place;id;note;title\n;1;0001;x;0,9\n0,98;0,25;0002;y;0\n1;1;0003;;1\n"

    assert read(tmp_path, text) == PER_FIELD
    assert read(tmp_path, text.encode("utf-16")) == PER_FIELD


def test_json_lines(tmp_path):
    rows = [
        {"id": item, **dict(zip(FIELDS, scores, strict=True))}
        for item, scores in zip(IDS, PER_FIELD, strict=True)
    ]
    text = "".join(json.dumps(row) + "\n" for row in reversed(rows))

    assert read(tmp_path, text, name="scores.jsonl") == PER_FIELD


def test_a_workbook(tmp_path):
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", *FIELDS])
        for row, (item, scores) in enumerate(zip(IDS, PER_FIELD, strict=True), 1):
            sheet.write_row(row, 0, [item, *scores])

    assert read(tmp_path, file.getvalue(), name="scores.xlsx") == PER_FIELD


def test_ids_as_a_spreadsheet_writes_them(tmp_path):
    assert read(tmp_path, "id,score\n1,1\n2,0.5\n0003.jpg,0\n", fields=["title"]) == [
        [1],
        [0.5],
        [0],
    ]


def test_a_field_that_is_called_score(tmp_path):
    text = "id,title,score\n0001,0.1,0.2\n0002,0.3,0.4\n0003,0.5,0.6\n"

    assert read(tmp_path, text, fields=["score", "title"])[0] == [0.2, 0.1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,score\n0001,1\n0003,1\n", "1 of 3 items have no row, such as '0002'"),
        ("id,score\n0001,1\n0002,1\n0003,1\n9,1\n", "the benchmark has no id '9'"),
        ("id,score\n0001,1\n0001,1\n", r"scores.csv:3: the id '0001' occurs twice"),
        ("id,score\n,1\n", "scores.csv:2: no id"),
        ("id,score\n0001,1.01\n", r"scores.csv:2, score: '1.01' is not a number from 0 to 1"),
        ("id,score\n0001,-0.1\n", "'-0.1' is not a number"),
        ("id,score\n0001,high\n", "'high' is not a number"),
        ("id,score\n0001,nan\n", "'nan' is not a number"),
        ("id,score\n0001,1e400\n", "'1e400' is not a number"),
        ("id,score\n0001,93%\n", "'93%' is not a number"),
        ("id,title,year\n0001,1,1\n", "no column 'place': give one for each field .* id, title"),
        ("name,score\n0001,1\n", "no column 'id'; the columns are name, score"),
        ("id,score,score\n0001,1,1\n", "two columns have the same name"),
        ("id,score\n0001,1,1\n", "has more cells than the first row has names"),
        ("id,score\n", "has no scores"),
        ("", "has no scores"),
        ('{"id": "0001", "score": true}', "'True' is not a number"),
        ('{"id": "0001", "score": [1]}', "is not a number"),
        ('{"id": ["0001"], "score": 1}', "no id"),
        ('{"id": "0001", "score": 1, "score": 0}', "occurs twice"),
        ('{"id": "0001", "score"', "not JSON"),
        (b"\x1f\x8b\x08\x00", "unpack it"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, text, said):
    with pytest.raises(HdbenchError, match=said):
        read(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(HdbenchError, match="no such file: trust scores are a table"):
        read_scores(tmp_path / "none.csv", FIELDS, IDS)
    with pytest.raises(HdbenchError, match="no such file"):
        read_scores(tmp_path, FIELDS, IDS)


@pytest.fixture
def scored(tmp_path):
    """One run, and scores: those of every fourth item are low, and its title is wrong."""
    catalogue = Catalogue(tmp_path)
    catalogue.run("a", RIGHT)
    path = tmp_path / "scores.csv"
    rows = [f"{item},{0.3 if int(item) % 4 == 0 else 0.95}" for item in catalogue.ids]
    path.write_text("id,score\n" + "\n".join(rows))
    return catalogue, path


def test_one_run_is_enough_and_the_scores_decide(scored):
    catalogue, path = scored
    plan = catalogue.plan(scores=path)
    fourth = [int(item) % 4 == 0 for item in plan.sample]
    catalogue.check(plan.sample, lambda place: RIGHT | ({"title": "Else"} if fourth[place] else {}))

    decision = catalogue.decide()

    # Three quarters of the values reach 0.95, and all of them 0.3.
    assert plan.grid == (0.95, 0.3)
    assert decision.outcome.threshold == 0.95
    assert decision.outcome.passing == 3 * fourth.count(False)
    assert decision.scores == str(path)
    assert sentences(decision)[-1] == f"Trust scores come from {path}."


def planned_grid(tmp_path, number, score, fields=FIELDS):
    catalogue = Catalogue(tmp_path)
    catalogue.run("a", RIGHT)
    path = tmp_path / "scores.csv"
    rows = [f"{item},{score(int(item))}" for item in catalogue.ids]
    path.write_text("id,score\n" + "\n".join(rows))
    return catalogue.plan(number, scores=path, fields=fields).grid


def test_thresholds_are_where_the_scores_are(tmp_path):
    # 2,000 scores from 0.5 to 0.69995. Of 600 items, 25 % are 450 values: enough to begin with.
    grid = planned_grid(tmp_path, 600, lambda number: 0.5 + number / 10_000)

    reached = [sum(0.5 + n / 10_000 >= t - 1e-9 for n in range(2000)) for t in grid]
    assert reached == [share * 20 for share in range(25, 101, 5)]


def test_the_first_threshold_leaves_enough_items(tmp_path):
    grid = planned_grid(tmp_path, 100, lambda number: number / 2000)

    # 171 values of which one is wrong have a bound of 5 %. That is 57 % of 300.
    assert naive.upper_bound([171] + [0] * 99, [1] + [0] * 99) < 0.05
    assert naive.upper_bound([165] + [0] * 99, [1] + [0] * 99) > 0.05
    assert grid == (0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0)


def test_if_no_threshold_leaves_room_the_loosest_is_tried(tmp_path):
    assert planned_grid(tmp_path, 150, lambda number: number / 2000, ("year",)) == (0,)


def test_a_table_without_any_score(scored):
    catalogue, path = scored
    path.write_text("id,score\n" + "\n".join(f"{item}," for item in catalogue.ids))

    with pytest.raises(HdbenchError, match="no item has a score"):
        catalogue.plan(scores=path)


def test_scores_replace_the_agreement_of_runs(tmp_path):
    catalogue = agreeing(tmp_path)
    path = tmp_path / "scores.jsonl"
    path.write_text(
        "".join(
            f'{{"id": "{item}", "score": {0.2 + 0.5 * (item < "1800")}}}\n'
            for item in catalogue.ids
        )
    )
    plan = catalogue.plan(scores=path)
    catalogue.check(plan.sample)

    steps = catalogue.decide().counting.steps
    assert [step.threshold for step in steps] == [0.7, 0.2]
    assert steps[0].items == sum(item < "1800" for item in plan.sample)


def test_a_value_without_a_score_is_never_taken_over(tmp_path):
    catalogue = agreeing(tmp_path)
    path = tmp_path / "scores.csv"
    path.write_text("id,title,place,year\n" + "\n".join(f"{item},1,,1" for item in catalogue.ids))
    plan = catalogue.plan(scores=path)
    catalogue.check(plan.sample, RIGHT | {"place": "Bern"})

    outcome = catalogue.decide().outcome

    assert (outcome.passing, outcome.values) == (200, 300)
    assert outcome.by_field["place"].passing == 0


def test_changed_scores(scored):
    catalogue, path = scored
    plan = catalogue.plan(scores=path)
    catalogue.check(plan.sample)
    path.write_text(path.read_text().replace("0.3", "0.4", 1))

    with pytest.raises(HdbenchError, match=r"scores\.csv: not the trust scores that .* made for"):
        catalogue.decide()


def test_scores_are_read_when_the_plan_is_made(scored):
    catalogue, path = scored
    path.write_text("id,score\n0000,1\n")

    with pytest.raises(HdbenchError, match="1,999 of 2,000 items have no row"):
        catalogue.plan(scores=path)
