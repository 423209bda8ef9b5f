"""From second looks to errata: all accepted slips as one version."""

import os

import pytest
import yaml
from annotating.reviews import entry, judge, write_list
from helpers.recipes import write_recipe

from hdbench.annotating.reviewing.accepted import outcome_of, record_review
from hdbench.annotating.reviewing.looks import ReviewLog
from hdbench.annotating.reviewing.review_list import read_review_list
from hdbench.common.jsonio import write_whole
from hdbench.datasets.building import versions
from hdbench.datasets.building.recipe import find_recipe
from hdbench.errors import HdbenchError

TRUTH = {
    "author": {"last_name": "Muhlach", "first_name": ""},
    "publication": {"title": "Stellingen", "year": 0, "pages": "8", "format": None},
    "note": "x",
}
NAME = entry("1", "author.last_name", "Muhlach", "Muhlack")
FIRST = entry("1", "author.first_name", None, "Gustav")  # the truth has an empty text
YEAR = entry("1", "publication.year", 0, None)
TITLE = entry("2", "publication.title", "Stellingen", "Stellingen", "control")
NOTE = entry("1", "note", "x", None)


@pytest.fixture
def folder(tmp_path):
    """A recipe in the plain form with two items."""
    other = {key: value for key, value in TRUTH.items() if key != "note"}
    return write_recipe(tmp_path / "theircards", {"1": TRUTH, "2": other})


@pytest.fixture
def path(tmp_path):
    return write_list(tmp_path / "review.jsonl", TITLE, NAME, YEAR, FIRST, NOTE)


def look(path, name, *judged, **more):
    looks = ReviewLog(path)
    with looks.lock(name):
        for each, verdict, new in judged:
            judge(looks, name, each.key, verdict, new=new, **more)


def record(folder, path, **more):
    return record_review(
        str(folder), path, approved_by="Berta Beispiel", out=folder.parent / "hdb", **more
    )


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_accepted_slips_are_one_version_with_their_evidence(folder, path, run_hdbench):
    look(path, "anna", (NAME, "slip", "Muhlack"), (YEAR, "slip", None), (FIRST, "slip", "Gustav"))
    look(path, "anna", (NOTE, "convention", "y"), (TITLE, "slip", "Thesen"))
    look(path, "ben", (NAME, "slip", "Muhlack"), evidence="it ends in k.")
    done = run_hdbench(
        *("errata", "review", "theircards", "review.jsonl", "--approved-by", "Berta Beispiel"),
        cwd=path.parent,
    )
    assert done.returncode == 0, done.stderr
    assert "findings: 4, looked at 4, slips in the ground truth 3\n" in done.stdout
    assert "controls: 1, looked at 1, slips in the ground truth 1\n" in done.stdout
    assert "4 slips, version 1.0.1" in done.stdout

    recipe = find_recipe(str(folder))
    assert recipe.spec.version == "1.0.1"
    first, name, year, title = recipe.errata.corrections
    assert (first.field, first.old, first.new) == ("author.first_name", "", "Gustav")
    assert (name.old, name.new, name.evidence) == (
        *("Muhlach", "Muhlack"),
        "the card has it; it ends in k",
    )
    assert (name.second_looks, name.blind) == (2, True)
    # Nothing stands there; but every item has the key.
    assert (year.old, year.new, year.second_looks) == (0, "", 1)
    assert (title.id, title.new) == ("2", "Thesen")
    signed = "2 second looks, blind. Proposed by second looks at what the audit listed, approved "
    assert name.signed == f"{signed}by Berta Beispiel."
    changelog = (folder / "CHANGELOG.md").read_text()
    assert changelog.count("## 1.0.1") == 1
    change = 'was `"Muhlach"`, proposed is `"Muhlack"`'
    assert f"- `1`, `author.last_name`, {change}: the card has it; it ends in k.\n" in changelog
    rows = {row.id: row for row in recipe.rows(recipe.source(None))}
    assert rows["1"].proposed["author"] == {"last_name": "Muhlack", "first_name": "Gustav"}
    assert rows["1"].ground_truth == rows["1"].published == TRUTH
    # Who looked stays beside the list.
    said = b"".join(files(folder).values())
    assert b"anna" not in said


@pytest.mark.parametrize("written", [0, 1, 2])
def test_whoever_is_killed_while_it_is_recorded_can_do_it_again(folder, path, monkeypatch, written):
    look(path, "anna", (NAME, "slip", "Muhlack"))
    left = iter(range(written))

    def dying(path, data):
        if next(left, None) is None:
            os._exit(9)
        write_whole(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(versions, "write_whole", dying)
        if (child := os.fork()) == 0:
            try:
                record(folder, path)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    recipe = find_recipe(str(folder))
    assert recipe.errata.corrections == ()
    record(folder, path)
    recipe = find_recipe(str(folder))
    assert [each.new for each in recipe.errata.corrections] == ["Muhlack"]
    assert f"## {recipe.spec.version}\n" in (folder / "CHANGELOG.md").read_text()


def test_a_look_that_is_not_blind_is_told(folder, path):
    look(path, "anna", (NAME, "slip", "Muhlack"))
    look(path, "ben", (NAME, "slip", "Muhlack"), blind=False)
    record(folder, path, proposed_by="Anna Muster")
    [correction] = yaml.safe_load((folder / "errata.yaml").read_text())["corrections"]
    assert (correction["second_looks"], correction["blind"]) == (2, False)
    assert correction["proposed_by"] == "Anna Muster"


def test_where_people_disagree_nothing_is_accepted(path):
    review = read_review_list(path)
    look(path, "anna", (NAME, "slip", "Muhlack"), (FIRST, "slip", "Gustav"), (YEAR, "slip", None))
    look(path, "ben", (NAME, "slip", "Muhlak"), (FIRST, "undecided", "G"))
    looks = ReviewLog(path)
    with looks.lock("cara"):  # she reads what the ground truth has: no verdict is needed
        looks.add("cara", YEAR.key, "reading", value="0", blind=True)
    outcome = outcome_of(review, ReviewLog(path))
    assert outcome.accepted == []
    assert outcome.disagreed == [NAME, YEAR, FIRST]
    assert outcome.looked == {"finding": 3}


def test_what_was_taken_back_or_only_read_does_not_count(path):
    look(path, "anna", (NAME, "slip", "Muhlack"))
    looks = ReviewLog(path)
    with looks.lock("anna"):
        looks.add("anna", NAME.key, "undo", undoes=looks.of(NAME.key, "anna").verdict.id)
    outcome = outcome_of(read_review_list(path), ReviewLog(path))
    assert (outcome.accepted, outcome.looked.total()) == ([], 0)


@pytest.mark.parametrize(
    ("wrong", "given", "message"),
    [
        (
            entry("1", "author.last_name", "Muhlbach", "x"),
            ("y", "e"),
            "not the one that was looked",
        ),
        (entry("9", "author.last_name", "Muhlach", "x"), ("y", "e"), "there is no such item"),
        (entry("1", "persons[0].name", "Muhlach", "x"), ("y", "e"), "there is no such field"),
        (entry("1", "author.last_name", "Muhlach", "x"), ("y", " . "), "without evidence"),
        (entry("1", "author.first_name", None, "x"), (None, "e"), "nothing would change"),
    ],
)
def test_one_that_does_not_fit_and_nothing_is_recorded(folder, tmp_path, wrong, given, message):
    new, evidence = given
    path = write_list(tmp_path / "review.jsonl", YEAR, wrong)
    look(path, "anna", (YEAR, "slip", None))
    look(path, "anna", (wrong, "slip", new), evidence=evidence)
    before = files(folder)
    with pytest.raises(HdbenchError, match=message):
        record(folder, path)
    assert files(folder) == before


def test_a_value_is_corrected_once(folder, path):
    look(path, "anna", (NAME, "slip", "Muhlack"))
    record(folder, path)
    before = files(folder)
    with pytest.raises(HdbenchError, match="already corrects 1 author"):
        record(folder, path)
    assert files(folder) == before


def test_without_a_slip_there_is_no_version(folder, path):
    with pytest.raises(HdbenchError, match="nobody found a slip so far"):
        record(folder, path)
    assert "errata.yaml" not in files(folder)
