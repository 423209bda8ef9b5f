"""What a hand-over says somebody did: shown, asked about, and refused where it cannot be so."""

import json
import os
import pty
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from annotating.merges import merge

from hdbench.annotating.annotation import Annotation, Assignment, read_annotation, write_annotation
from hdbench.annotating.changes import as_line, base_change
from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import Store
from hdbench.benchmarks.provenance import Provenance
from hdbench.errors import HdbenchError


def line(number, **other):
    """A line of a history, with what is given otherwise."""
    said = {
        "id": f"{number:032x}",
        "item": "b2",
        "by": "ben",
        "at": "2026-11-22T19:40:01.123Z",
        "what": "ground_truth",
        "field": "title",
        "to": f"Egmont {number}",
        "after": None,
        "how": "blind",
    }
    return json.dumps(said | other) + "\n"


def packed(path, annotator, lines, annotation=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{annotator}.jsonl", "".join(lines))
        if annotation:
            archive.writestr("annotation.json", json.dumps(annotation))
    return path


def kept(folder):
    """All files of a collection that say something."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def put(folder, annotator, item, field, to):
    with Store.open(folder, annotator) as store:
        after = store.state(item).head["ground_truth"]
        store.change(item, "ground_truth", field, to, after=after, how="blind")


FORGED = [
    line(1),
    line(2, what="status", field="", to="done"),
    line(3, what="status", field="", to="done", item="b1"),
]


def test_nothing_comes_in_unseen(collection, tmp_path, run_hdbench):
    path = packed(tmp_path / "ben.zip", "ben", FORGED)
    before = kept(collection)
    told = run_hdbench("merge", "cards", "ben.zip", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr == (
        "error: ben.zip: changes by ben, of whom nothing is here yet: 3, items changed: 2, "
        "2026-11-22; items said to be done: 2; values said to be made without a "
        "draft: 1: nothing is taken in without being asked for: run this in a terminal, or add "
        "--yes\n"
    )
    assert kept(collection) == before
    told = run_hdbench("merge", "cards", path, "--yes", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "items said to be done: 2\n" in told.stdout
    assert (collection / "history/ben.jsonl").read_text().count("\n") == 4  # and b1's first record
    # What is here already is not asked about again.
    told = run_hdbench("merge", "cards", path, cwd=tmp_path)
    assert told.stdout.endswith("new changes: 0, known: 3, conflicts: 0\n"), told.stderr


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1)])
def test_a_person_at_a_terminal_is_asked(collection, tmp_path, answer, status):
    packed(tmp_path / "ben.zip", "ben", FORGED)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hdbench", "merge", "cards", "ben.zip"]
    with os.fdopen(ours, "wb", buffering=0) as typed:
        typed.write(answer.encode())
        told = subprocess.run(
            command, cwd=tmp_path, stdin=theirs, capture_output=True, text=True, timeout=300
        )
        os.close(theirs)
    assert told.returncode == status, told.stderr
    assert "Take this in? Nothing proves whose it is." in told.stdout
    assert (collection / "history/ben.jsonl").exists() == (status == 0)


def test_changes_forged_under_a_local_annotator_are_refused(collection, tmp_path, run_hdbench):
    put(collection, "anna", "b1", "title", "Faust II")
    hand_over(collection, "anna", tmp_path / "anna.zip")
    with zipfile.ZipFile(tmp_path / "anna.zip") as archive:
        own = archive.read("anna.jsonl").decode().splitlines(keepends=True)
    forged = [
        line(1, by="anna", item="b1", to="Faust", after=json.loads(own[-1])["id"]),
        line(2, by="anna", what="status", field="", to="done"),
    ]
    packed(tmp_path / "forged.zip", "anna", own + forged)
    before = kept(collection)
    told = run_hdbench("merge", "cards", "forged.zip", "--yes", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "by anna that were not made here, but anna annotates in this folder" in told.stderr
    assert kept(collection) == before
    # Her own file brings nothing that is not here.
    told = run_hdbench("merge", "cards", "anna.zip", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert kept(collection) == before


def test_in_a_copy_of_the_folder_nobody_has_annotated_yet(collection, tmp_path):
    put(collection, "anna", "b1", "title", "Faust II")
    copy = shutil.copytree(collection, tmp_path / "copy")
    put(collection, "anna", "b1", "year", 1832)
    hand_over(collection, "anna", tmp_path / "anna.zip")
    assert merge(copy, tmp_path / "anna.zip").taken == 1
    # A second one, from before, has nothing new; and what she hands over later goes on from there.
    put(collection, "anna", "b2", "title", "Egmont")
    hand_over(collection, "anna", tmp_path / "later.zip")
    assert merge(copy, tmp_path / "later.zip").taken == 1
    assert merge(copy, tmp_path / "anna.zip").taken == 0


@pytest.mark.parametrize("kind", ["nothing saved", "a copy", "a first record", "no name given"])
def test_changes_under_ones_own_name_are_refused_wherever_it_is(
    collection, tmp_path, run_hdbench, forged_base, kind
):
    name = "me" if kind == "no name given" else "anna"
    if kind == "a copy":
        put(collection, "anna", "b1", "title", "Faust II")
        collection = collection.rename(tmp_path / "original")
        collection = shutil.copytree(collection, tmp_path / "cards")
        own = (collection / "history/anna.jsonl").read_text()
    else:
        own = ""
    forged = forged_base if kind == "a first record" else line(1, by=name)
    packed(tmp_path / "forged.zip", name, [own, forged])
    before = kept(collection)
    given = () if name == "me" else ("--as", name)
    command = ("merge", "cards", "forged.zip", "--yes")
    told = run_hdbench(*command, *given, cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr == (
        f"error: forged.zip: has changes by {name}, which is your own pseudonym here, that are not "
        "in cards: nothing is taken in. If you made them on another computer, copy the folder from "
        "there, or choose another pseudonym for this computer\n"
    )
    assert kept(collection) == before
    # Under another pseudonym, the person is somebody else here, and may believe it.
    told = run_hdbench(*command, "--as", f"{name}-2", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    told = run_hdbench(*command, *given, cwd=tmp_path)  # what is here may come back
    known = 1 + own.count("\n")
    assert told.stdout.endswith(f"new changes: 0, known: {known}, conflicts: 0\n")


def test_history_without_known_changes_of_annotator_is_refused(collection, tmp_path, run_hdbench):
    merge(collection, packed(tmp_path / "ben.zip", "ben", [line(1)]))
    packed(tmp_path / "forged.zip", "ben", [line(2)])
    before = kept(collection)
    told = run_hdbench("merge", "cards", "forged.zip", "--yes", cwd=tmp_path)
    assert told.returncode == 2
    assert "has new changes by ben, but lacks some that" in told.stderr
    assert kept(collection) == before


def days_from_now(days):
    at = datetime.now(UTC) + timedelta(days=days)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    "lines",
    [
        [line(1, at=days_from_now(2))],
        [line(1, at="1999-12-31T23:59:59.999Z")],
        [line(1, at="2026-02-30T10:00:00.000Z")],
        [line(1), line(2, at="2026-11-20T19:40:01.123Z", after=f"{1:032x}")],
    ],
)
def test_impossible_times_are_refused(collection, tmp_path, run_hdbench, lines):
    packed(tmp_path / "ben.zip", "ben", lines)
    before = kept(collection)
    told = run_hdbench("merge", "cards", "ben.zip", "--yes", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert "which is impossible" in told.stderr
    assert kept(collection) == before


def test_clocks_may_be_somewhat_apart(collection, tmp_path):
    at = days_from_now(0.9)
    back = line(2, at=days_from_now(0.1), after=f"{1:032x}")  # her clock was set right
    assert merge(collection, packed(tmp_path / "h.zip", "ben", [line(1, at=at), back])).taken == 2


def test_who_is_assigned_what_is_shown_and_strangers_are_named(collection, tmp_path, run_hdbench):
    both = Assignment(annotators=("anna", "ben"), items=("b3",))
    write_annotation(collection, Annotation(assignments=(both,)))
    given = {"annotators": ["ben", "mallory"], "items": ["b2"]}
    packed(tmp_path / "ben.zip", "ben", [], {"assignments": [given], "blind": ["b1"]})
    told = run_hdbench("merge", "cards", "ben.zip", cwd=tmp_path)
    assert told.returncode == 2
    assert "items assigned to ben, mallory: 1; " in told.stderr
    assert "assigned, but not known here so far: 1, such as mallory; " in told.stderr
    assert "items no longer to be annotated from a draft: 1: " in told.stderr
    assert read_annotation(collection).assignments == (both,)


def test_merge_reports_different_imported_records(collection, tmp_path, run_hdbench):
    copy = shutil.copytree(collection, tmp_path / "copy")
    text = (copy / "metadata.jsonl").read_text().replace("1808", "1809")
    (copy / "metadata.jsonl").write_text(text)
    for item, count in (("b3", 0), ("b1", 1)):
        put(copy, "ben", item, "title", "x")
        hand_over(copy, "ben", tmp_path / f"{item}.zip")
        told = run_hdbench("merge", "cards", f"{item}.zip", cwd=tmp_path)
        assert told.returncode == 2
        assert told.stderr.count("others here: 1") == count


@pytest.fixture
def forged_base(collection):
    """A line that gives an item without a ground truth one, said to be there from the start."""
    rows = [json.loads(row) for row in (collection / "metadata.jsonl").read_text().splitlines()]
    assert [row["ground_truth"] for row in rows if row["id"] == "b2"] == [None]
    return as_line(base_change("b2", {"title": "Egmont"}, Provenance("blind"))).decode()


def test_forged_first_record_of_a_local_annotator_is_refused(
    collection, tmp_path, run_hdbench, forged_base
):
    put(collection, "anna", "b1", "title", "Faust II")
    own = (collection / "history/anna.jsonl").read_text()
    packed(tmp_path / "forged.zip", "anna", [own, forged_base])
    before = kept(collection)
    told = run_hdbench("merge", "cards", "forged.zip", "--yes", cwd=tmp_path)
    assert told.returncode == 2
    assert "by anna that were not made here, but anna annotates in this folder" in told.stderr
    assert kept(collection) == before


def test_first_record_is_shown_with_its_name_and_claims(
    collection, tmp_path, run_hdbench, forged_base
):
    packed(tmp_path / "ben.zip", "ben", [forged_base])
    told = run_hdbench("merge", "cards", "ben.zip", cwd=tmp_path)
    assert told.returncode == 2
    assert "values said to be made without a draft: 1; " in told.stderr
    assert "annotated, according to ben, that are others here: 1: nothing is" in told.stderr


def many(number):
    """A history of an item in which no change knows of any other."""
    return [line(each) for each in range(number)]


def test_too_many_concurrent_changes_are_refused_before_writing(collection, tmp_path, run_hdbench):
    packed(tmp_path / "ben.zip", "ben", many(1_600))
    assert (tmp_path / "ben.zip").stat().st_size < 60_000
    before = kept(collection)
    told = run_hdbench("merge", "cards", "ben.zip", "--yes", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr == (
        "error: ben.zip: 'b2': more than 101 changes that do not know of each other, which nobody "
        "could settle: nothing is taken in\n"
    )
    assert kept(collection) == before
    Store.open(collection, "anna").close()


def test_a_record_that_would_be_too_large_is_refused(collection, tmp_path):
    chain = [
        line(n, field=f"f{n}", to="x" * 10**6, after=f"{n - 1:032x}" if n else None)
        for n in range(5)
    ]
    path = packed(tmp_path / "ben.zip", "ben", chain)
    with pytest.raises(HdbenchError, match="more than 4 MiB"):
        merge(collection, path)
    assert not (collection / "history/ben.jsonl").exists()


@pytest.mark.nightly
def test_more_of_one_item_than_is_looked_at_is_refused(collection, tmp_path):
    chain = [line(n, to="x" * 4_000_000, after=f"{n - 1:032x}" if n else None) for n in range(17)]
    with pytest.raises(HdbenchError, match=":17: more changes than are taken in"):
        merge(collection, packed(tmp_path / "ben.zip", "ben", chain))


def test_changes_with_too_many_predecessors_are_refused(collection, tmp_path):
    """Opening the collection, and each save, would take time for every one of them."""
    widening = [
        line(n, also=[f"{each:032x}" for each in range(max(0, n - 100), n)]) for n in range(160)
    ]
    # The first 100 stand for 1 + 1 + 2 + … + 99 = 4,951; the 51st after them exceeds 10,000.
    with pytest.raises(HdbenchError, match=":151: more changes than are taken in"):
        merge(collection, packed(tmp_path / "ben.zip", "ben", widening))
    assert not (collection / "history/ben.jsonl").exists()


@pytest.mark.nightly
def test_existing_oversized_history_opens_and_can_be_settled(collection):
    (collection / "history").mkdir()
    (collection / "history/ben.jsonl").write_text("".join(many(1_600)))
    with Store.open(collection, "anna") as store:
        (conflict,) = store.state("b2").conflicts
        assert len(conflict.changes) == 1_600
        heads = []
        while store.state("b2").conflicts:
            head = store.state("b2").head["ground_truth"]
            state = store.change("b2", "ground_truth", "title", "Egmont", after=head, how="settled")
            heads.append(head.count("+") + 1)
        assert heads == list(range(1_600, 0, -100))
        assert (state.record, state.conflicts) == ({"title": "Egmont"}, ())
    with Store.open(collection, "anna") as store:
        assert store.state("b2").record == {"title": "Egmont"}
