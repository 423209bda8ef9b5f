"""How well two people agree, from their histories to the leaderboard, with the real commands."""

import json
import shutil

import pytest
from helpers.lines import write_lines
from helpers.people_files import add_events

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.card import agreement_section
from hdbench.collections.truth.agreement import agreement_of
from hdbench.collections.truth.double import read_doubly_read
from hdbench.collections.truth.events import Change, Double
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import read_result

ONE, OTHER = "zora-23", "quirin-7"
ITEMS = [f"a{number:02}" for number in range(24)]
SHARED = ITEMS[:20]
SLIP = 1979

# Of forty fields, the other one has two years with a slip, and lacks a title. Either way round, 37
# match, and two are wrong, which costs both precision and recall: 2·37 / (2·37 + 2·2 + 1).
REACHED = 74 / 79


def truth(item):
    return {"title": f"Rother Wein {item}", "year": 1800 + int(item[1:])}


def entered(by, items, records):
    """What somebody did who entered records at once, each alone, and is done with them."""
    made = {"by": by, "at": "2026-11-22T19:40:01.000Z"}
    yield Double(**made, items=items, seed=1)
    for item, record in records.items():
        for kind, value in (("ground_truth", record), ("status", "done")):
            yield Change(**made, kind=kind, item=item, value=value, how="blind", alone=True)


def write_collection(folder):
    """Twenty of 24 items are annotated by two people, and a twenty-first by one of them so far."""
    rows = [{"text": f"No. {item}", "id": item, "ground_truth": truth(item)} for item in ITEMS]
    write_lines(folder, rows, metric="record_f1", headline="f1_micro", higher_is_better=True)
    of_one = {item: truth(item) for item in [*SHARED, "a20"]}
    of_other = {item: truth(item) for item in SHARED}
    of_other["a03"]["year"] = of_other["a11"]["year"] = SLIP
    of_other["a07"]["title"] = None
    for by, records in ((ONE, of_one), (OTHER, of_other)):
        add_events(folder, entered(by, (*SHARED, "a20"), records))
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory, run_hdbench):
    """A folder with the collection, the built benchmark, and a model's answers."""
    folder = tmp_path_factory.mktemp("work")
    write_collection(folder / "lines")
    said(run_hdbench("build", "./lines", cwd=folder))
    answers = [{"id": item, "prediction": truth(item)} for item in ITEMS]
    (folder / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    return folder


@pytest.fixture(scope="module")
def built(work):
    """The agreement that the built benchmark has."""
    return load_benchmark(str(work / "hdb/lines")).agreement


@pytest.fixture(scope="module")
def result(work):
    scored = score(str(work / "hdb/lines"), work / "answers.jsonl")
    return scored.replaced(model="reader-1")


def said(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_one_line(text):
    return " ".join(text.split())


def no_secrets(*texts):
    return not any(secret in text for secret in (ONE, OTHER, str(SLIP)) for text in texts)


def test_the_command(work, built, run_hdbench):
    told = said(run_hdbench("agreement", "lines", "--json", "agreement.json", cwd=work))
    rows = {line.split()[0]: line for line in told.splitlines() if line.strip()}
    assert rows["title"].split()[1:3] == ["20", "0.950"]
    assert rows["year"].split()[1:3] == ["20", "0.900"]
    low, high = built.fields["title"].share.interval
    below = told.splitlines()[told.splitlines().index(rows["title"]) + 1]
    assert below.split()[:3] == [f"{low:.3f}", "to", f"{high:.3f}"]
    assert "f1_micro, people: 0.937 (" in told
    assert "1 assigned item is not here yet: not all are done with it" in told
    assert built.model_dump(mode="json") == json.loads((work / "agreement.json").read_text())
    assert no_secrets(told)


def test_what_is_built(work, built, run_hdbench):
    assert (built.annotators, built.items, built.without_truth) == (2, 20, 0)
    assert list(built.fields) == ["title", "year"]
    assert built.ceiling.value == pytest.approx(REACHED)
    low, high = built.ceiling.interval
    assert low < REACHED < high
    folder = work / "hdb/lines"
    card = (folder / "README.md").read_text()
    assert f"they reach f1_micro {REACHED:.3f} ({low:.3f} to {high:.3f})" in card
    assert "| `year` | 20 | 0.900 (" in card
    assert "  agreement.json\n" in (folder / "SHA256SUMS").read_text()
    texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert len(texts) > 8
    assert no_secrets(*texts)
    told = said(run_hdbench("publish", "hdb", "--dry-run", "--only", "lines", cwd=work))
    assert "agreement.json" in told


def test_score_shows_what_people_reach_by_the_same_rules(work, built, run_hdbench):
    low, high = built.ceiling.interval
    line = f"people: {REACHED:.3f} ({low:.3f} to {high:.3f}), 2 annotators, 20 items. Several"
    command = ("score", "hdb/lines", "answers.jsonl", "--json", "result.json")
    assert line in in_one_line(said(run_hdbench(*command, cwd=work)))
    assert "equal" in said(run_hdbench("verify", "result.json", cwd=work))
    for settings in ({"threshold": 0.5}, {"protocol": "published"}):
        other = score(str(work / "hdb/lines"), work / "answers.jsonl", **settings)
        assert other.dataset.people is None
        assert "people" not in other.figures


@pytest.mark.parametrize(
    "wrong",
    [
        *({"value": "<b>"}, {"value": -1}, {"value": 1e300}, {"value": float("inf")}),
        *({"interval": [0.5]}, {"annotators": 1}, {"by": "x"}),
    ],
)
def test_a_result_that_says_otherwise_of_people_is_refused(wrong, result, tmp_path):
    record = result.to_dict()
    file = tmp_path / "result.json"
    file.write_text(json.dumps(record))
    assert read_result(file).dataset.people == result.dataset.people
    record["dataset"]["people"] |= wrong
    file.write_text(json.dumps(record))
    with pytest.raises(HdbenchError, match="people"):
        read_result(file)


def test_a_field_is_one_cell_of_the_card_whatever_it_is_called(built):
    name = "a`|\n<img src=x>\u202e"
    section = agreement_section(built.model_copy(update={"fields": {name: built.fields["year"]}}))
    [row] = [line for line in section.splitlines() if "img" in line]
    assert row.startswith(r"| `a'\| <img src=x>\u202e` | 20 | ")


def test_nobody_agrees_or_differs_yet(tmp_path, run_hdbench):
    folder = write_collection(tmp_path / "lines")
    for path in (folder / "people").glob(f"*{OTHER}*"):
        path.unlink()
    told = run_hdbench("agreement", "lines", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "21 assigned, and not all are done with them" in told.stderr
    shutil.rmtree(folder / "people")
    told = run_hdbench("agreement", "lines", cwd=tmp_path)
    assert (
        "done with: let two people read the same items, with hdbench annotate --double"
        in told.stderr
    )
    assert agreement_of(folder, read_doubly_read(folder).finished) is None
