"""Who annotated, when, and what they said of an item stays in the folder of the collection."""

import os

import pytest
from helpers.lines import write_lines

from hdbench.annotating.store import Store
from hdbench.publishing import repositories

SECRETS = ("zora-23", "hardly legible, ask Ms Muster", "roter Wain")


@pytest.fixture
def annotated(tmp_path):
    """A collection with a comment, a name and a value that is not the last one."""
    rows = [
        {"text": f"Rother Wein {number}", "id": f"a{number}", "ground_truth": None}
        for number in range(2)
    ]
    folder = write_lines(tmp_path / "lines", rows)
    name, comment, first = SECRETS
    with Store.open(folder, name) as store:
        for item in store.items:
            for what, field, to in [
                ("ground_truth", "text", first),
                ("ground_truth", "text", "roter Wein"),
                ("comment", "", comment),
            ]:
                store.change(item, what, field, to, after=store.state(item).head[what], how="blind")
    return folder


def told(folder):
    """Everything in a folder: names and contents."""
    paths = sorted(folder.rglob("*"))
    return b"".join(os.fsencode(path) + path.read_bytes() for path in paths if path.is_file())


def test_build_and_publish_leave_the_history_out(annotated, tmp_path, run_hdbench):
    assert all(secret.encode() in told(annotated) for secret in SECRETS)
    done = run_hdbench("build", "./lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    built = told(tmp_path / "hdb/lines")
    assert b"roter Wein" in built
    assert not any(secret.encode() in built for secret in SECRETS)
    assert not (tmp_path / "hdb/lines/history").exists()
    done = run_hdbench("publish", "hdb", "--dry-run", "--only", "lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "metadata.jsonl" in done.stdout
    assert "history" not in done.stdout + done.stderr


def test_a_collection_that_is_published_without_being_built_goes_without_its_history(annotated):
    names = {path.relative_to(annotated).as_posix() for path in repositories._files(annotated)}
    assert "metadata.jsonl" in names
    assert not any(name.startswith("history") for name in names)


def test_check_finds_nothing_wrong_with_a_history(annotated, tmp_path, run_hdbench):
    done = run_hdbench("check", "lines", cwd=tmp_path)
    assert "history" not in done.stdout + done.stderr
    assert done.returncode == 0, done.stdout
