"""`hdbench run --without-media`: the floor beneath a model's score, asked, scored and shown."""

import csv
import io
import json

import pytest
from helpers.run_folders import RIGHT, SPEC, write_run
from models.faulty_server import FaultyServer, Response, completion
from PIL import Image
from typer.testing import CliRunner

from hdbench.cli.app import app

PROMPT = "Read card {number}.\n"
WRONG = {"title": "Stellingen", "year": 1942}
ASKED = {"prompt": {"name": "prompt.txt", "sha256": "ab" * 32}}


@pytest.fixture
def here(cards, monkeypatch):
    folder = cards / "hdb/cards"
    spec = SPEC | {"columns": {"number": "string"}, "prompt_columns": ["number"]}
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    (folder / "images").mkdir()
    truth = json.dumps(RIGHT)
    rows = []
    for number in range(4):
        name = f"images/{number}.png"
        Image.new("RGB", (9, 9)).save(folder / name)
        about = {"id": f"000{number}", "file_name": name, "number": str(number)}
        rows.append(about | {"ground_truth": truth})
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prompt.txt").write_text(PROMPT)
    monkeypatch.chdir(cards)
    return cards


@pytest.fixture
def hdbench(here):
    """The command line in that folder, in this process."""
    assert here.is_dir()
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def recorded(here):
    """Two models, one of them also without media; that one has half of the values right."""
    for model, answer, unseen in (("a", RIGHT, {}), ("b", WRONG, {}), ("a", WRONG, True)):
        info = ASKED | ({"without_media": True} if unseen else {})
        answers = {f"000{number}": {"prediction": answer} for number in range(4)}
        name = f"{model}-unseen" if unseen else model
        write_run(here / "hdb/results/cards" / name, answers, run=name, model=model, **info)
    return here / "hdb/results/cards"


def test_the_prompt_alone_is_asked_and_run_json_says_so(here, hdbench):
    answer = Response(completion('{"title": "Stellingen"}'))
    with FaultyServer(lambda _: answer) as server:
        command = ("run", "hdb/cards", "--model", "m", "--endpoint", server.url)
        planned = hdbench(*command, "--without-media", "--dry-run")
        done = hdbench(*command, "--without-media")
        resumed = hdbench(*command, "-o", "runs/cards_m_without-media")
        hdbench(*command, "-o", "runs/seen")
        other = hdbench(*command, "-o", "runs/seen", "--without-media")
    assert planned.stdout.splitlines()[0] == "items: 4 of 4 to ask with the prompt alone"
    assert planned.stdout.splitlines()[-1].endswith("runs/cards_m_without-media")
    assert done.exit_code == 0, done.output
    unseen, seen = server.requests[:4], server.requests[4:]
    assert sorted(each.text for each in unseen) == [f"Read card {number}.\n" for number in range(4)]
    assert [each.images for each in unseen] == [[]] * 4
    assert [len(each.images) for each in seen] == [1] * 4
    info = json.loads((here / "runs/cards_m_without-media/run.json").read_text())
    assert info["without_media"] is True
    for refused in (resumed, other):
        assert "was started with other settings (without_media: " in str(refused.exception)


def test_the_score_of_such_a_run_says_so(here, hdbench, recorded):
    scored = hdbench("score", "hdb/cards", recorded / "a-unseen", "--json", "r.json")
    assert "asked without media, with the prompt alone" in " ".join(scored.output.split())
    assert json.loads((here / "r.json").read_text())["run"]["without_media"] is True
    assert "equal" in hdbench("verify", "r.json").output


def test_score_without_media_is_unranked_beside_the_model_score(here, run_hdbench, recorded):
    done = run_hdbench("leaderboard", recorded, "--format", "csv", cwd=here)
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert {name: (row["value"], row["without_media"]) for name, row in rows.items()} == {
        "a": ("1.0", "0.5"),
        "b": ("0.5", ""),
    }
    assert done.stderr == ""
    for form in ("table", "markdown", "json"):
        shown = run_hdbench("leaderboard", recorded, "--format", form, cwd=here).stdout
        assert "without media" in shown.replace("_", " ")
    board = json.loads(shown)["leaderboards"][0]
    assert [(row["model"], row["without_media"], len(row["runs"])) for row in board["rows"]] == [
        ("a", 0.5, 1),
        ("b", None, 1),
    ]


@pytest.mark.parametrize(
    ("change", "value"), [("model", "c"), ("prompt", {"name": "p", "sha256": "cd" * 32})]
)
def test_without_its_like_it_is_named_and_not_shown(here, run_hdbench, recorded, change, value):
    info = json.loads((recorded / "a-unseen/run.json").read_text())
    (recorded / "a-unseen/run.json").write_text(json.dumps(info | {change: value}))
    done = run_hdbench("leaderboard", recorded, cwd=here)
    name = "c" if change == "model" else "a"
    assert done.stderr.startswith(f"note: not ranked: {name} (without media): ")
    assert "without media" not in done.stdout
    alone = run_hdbench("leaderboard", recorded / "a-unseen", cwd=here)
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1)


def test_compare_says_it_and_audit_leaves_it_out(here, run_hdbench, recorded):
    done = run_hdbench("compare", recorded / "a", recorded / "a-unseen", cwd=here)
    assert "A a, B a (without media)" in done.stdout, done.stderr
    done = run_hdbench("audit", recorded, cwd=here)
    assert done.stderr.startswith("note: left out, as no witness: a (without media)\n")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (("a", "b"), "was not asked without media"),
        (("b", "a-unseen"), "is a run of 'a', not of 'b'"),
    ],
)
def test_another_run_is_no_floor(here, run_hdbench, recorded, runs, message):
    run, floor = (recorded / each for each in runs)
    done = run_hdbench("report", run, "--without-media", floor, "-o", "out", cwd=here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hdb/cards", "--images", "mine", "--model", "m"), "own images are the question"),
        (("hdb/cards", "--model", "tesseract"), "reads the text of images and nothing else"),
        (("hdb/cards", "--model", "tesseract", "--dry-run"), "tesseract reads the text"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(here, hdbench, arguments, message):
    done = hdbench("run", *arguments, "--without-media", "-o", "runs/a")
    assert message in str(done.exception)
    assert not (here / "runs").exists()
