"""Who annotated, when, and what they said of an item stays in the folder of the collection."""

import os
import shutil

import pytest
from annotating.checking.readings import reading
from helpers.lines import write_lines
from helpers.people_files import add_events
from helpers.run_folders import write_run

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.collections.truth.events import Double, now
from hdbench.collections.truth.store import Store
from hdbench.evaluation.result_file import write_results
from hdbench.integrations.publishing import _files, find_repositories
from hdbench.report.page import report_page

SECRETS = ("zora-23", "hardly legible, ask Ms Muster", "roter Wain", "yves-07")
STAY = "History, comments and annotators of a collection stay on this computer."


@pytest.fixture
def annotated(tmp_path):
    """A collection with a comment, names and a value that is not the last one."""
    rows = [
        {"text": f"Rother Wein {number}", "id": f"a{number}", "ground_truth": None}
        for number in range(2)
    ]
    folder = write_lines(tmp_path / "lines", rows)
    name, comment, first, other = SECRETS
    with Store(folder, name) as store:
        for item in store.items:
            for what, field, to in [
                ("ground_truth", "text", first),
                ("ground_truth", "text", "roter Wein"),
                ("comment", "", comment),
            ]:
                store.change(item, what, field, to, after=store.state(item).head[what], how="blind")
    both = [Double(by=person, at=now(), items=("a1",), seed=1) for person in (name, other)]
    add_events(folder, [*both, reading("a1", name, first, field="text")])
    (folder / "authorities.yaml").write_text(f"# {other}")
    return folder


def told(folder):
    """Everything in a folder: names and contents."""
    paths = sorted(folder.rglob("*"))
    return b"".join(os.fsencode(path) + path.read_bytes() for path in paths if path.is_file())


def says_nothing(data):
    return not any(secret.encode() in data for secret in SECRETS)


def as_it_is(folder):
    return folder


def git_clone(folder):
    """What a colleague has who cloned it: also the commits, with who made them."""
    clone = folder.parent / "cloned/lines"
    shutil.copytree(folder, clone)
    (clone / ".git/logs").mkdir(parents=True)
    (clone / ".git/logs/HEAD").write_text("0 1 zora-23 <z@example.org> 1763810000\tcommit: yves-07")
    (clone / ".git/object").write_bytes((folder / "people/zora-23.jsonl").read_bytes())
    (clone / ".gitattributes").write_text("people/zora-23.jsonl diff\n")
    return clone


def from_the_hub(folder):
    """What the Hub's client makes of a repository: links into a folder of blobs."""
    snapshot = folder.parent / "snapshots/lines"
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            link = snapshot / path.relative_to(folder)
            link.parent.mkdir(parents=True, exist_ok=True)
            blob = folder.parent / "blobs" / f"{path.stat().st_ino}"
            blob.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, blob)
            link.symlink_to(blob)
    return snapshot


def built_from(folder):
    """The dataset that is built from a folder, in hdb beside the collection."""
    return build(find_recipe(str(folder)), folder.parent / "hdb").folder


def files_of(built):
    """What is published of a dataset: path → content."""
    [found] = find_repositories(built.parent, endpoint="", only=[built.name])
    return {
        path: each if isinstance(each, bytes) else each.read_bytes()
        for path, each in found.files.items()
    }


@pytest.mark.parametrize("copied", [as_it_is, git_clone, from_the_hub])
def test_build_and_publish_leave_the_history_out(annotated, copied):
    assert all(secret.encode() in told(annotated) for secret in SECRETS)
    built = built_from(copied(annotated))
    assert b"roter Wein" in told(built)
    assert says_nothing(told(built))
    private = {"people", "authorities.yaml", ".git"}
    assert not {path.name for path in built.rglob("*")} & private
    sent = files_of(built)
    assert "metadata.jsonl" in sent
    assert says_nothing(b"".join(sent.values()) + "".join(sent).encode())


def test_what_was_put_into_a_built_dataset_is_not_sent(annotated):
    """As when the folder of the collection is copied over the dataset, or the dataset is in git."""
    built = built_from(annotated)
    before = files_of(built)
    shutil.copytree(annotated / "people", built / "people")
    shutil.copytree(annotated / "people", built / "data/People")
    shutil.copyfile(annotated / "authorities.yaml", built / "authorities.yaml")
    shutil.copytree(git_clone(annotated) / ".git", built / ".git")
    assert files_of(built) == before


def test_collection_published_unbuilt_excludes_its_history(annotated):
    names = {path.relative_to(annotated).as_posix() for path in _files(annotated)}
    assert "metadata.jsonl" in names
    assert not any(name.startswith("people") for name in names)
    assert not {"authorities.yaml"} & names
    assert says_nothing(b"".join((annotated / name).read_bytes() for name in names))


def test_what_leaves_is_listed_and_what_stays_is_said(annotated, tmp_path, run_hdbench):
    built = built_from(annotated)
    done = run_hdbench("publish", "hdb", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "metadata.jsonl" in done.stdout
    assert STAY in done.stdout
    listed = done.stdout.replace(STAY, "") + done.stderr
    assert not any(word in listed for word in ("people/", "authorities.yaml", *SECRETS))
    assert f"{(built / 'README.md').stat().st_size:,} B" in listed


def test_answers_results_and_reports_know_nothing_of_them(annotated, tmp_path, monkeypatch):
    built = built_from(annotated)
    monkeypatch.chdir(tmp_path)
    run = write_run(tmp_path / "run", {"a0": {"prediction": {"text": "x"}}}, benchmark="hdb/lines")
    result = score("hdb/lines", run)
    write_results(tmp_path / "r.json", [result])
    assert says_nothing((tmp_path / "r.json").read_bytes())
    assert says_nothing(report_page(result, load_benchmark(str(built))).encode())


def test_check_finds_nothing_wrong_with_a_history(annotated, tmp_path, run_hdbench):
    done = run_hdbench("check", "lines", cwd=tmp_path)
    assert not any(name in done.stdout + done.stderr for name in ("people",))
    assert done.returncode == 0, done.stdout
