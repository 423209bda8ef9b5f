"""hdbench publish, with the real client against a Hub on loopback."""

import json
import os
import pty
import subprocess
import sys
import zipfile

import pytest
import yaml
from helpers.plain import PLAIN
from hub.server import EXPIRED, READER, WRITER
from hub.validation import FRAMEWORKS

from hdbench.about import __version__, installed_folder
from hdbench.integrations.publishing import WHEEL

pytestmark = pytest.mark.nightly

SPACES = (
    "avisblatt_cer",
    "letters_f1",
    "record_f1",
    "sciencemeta_accuracy",
    "scorer",
    "text_cer",
    "zettel_f1",
)
RECIPES = installed_folder("dataset_scripts")
DATASETS = (
    "advertxml",
    "avisblatt",
    "bibliography",
    "blacklist",
    "companylists",
    "manuscripts",
    "rheinschifffahrt",
    "sciencemetabench",
    "zettelkatalog",
)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def head(hub, kind, name):
    repository = hub.repositories[kind, name]
    return repository.commits[repository.branches["main"]]


def files(hub, kind, name):
    return {
        path: file.data
        for path, file in head(hub, kind, name).files.items()
        if path != ".gitattributes"
    }


def test_everything_arrives_as_it_was_built_with_its_tag(hub, publish, place):
    told = publish()
    assert {name for _, name in hub.repositories} == {f"hdb/{name}" for name in DATASETS + SPACES}
    for name in DATASETS:
        folder = place / "hdb" / name
        version = yaml.safe_load((folder / "benchmark.yaml").read_text())["version"]
        assert files(hub, "datasets", f"hdb/{name}") == contents(folder)
        repository = hub.repositories["datasets", f"hdb/{name}"]
        assert repository.tags == {f"hdbench-{version}": head(hub, "datasets", f"hdb/{name}").oid}
        assert len(repository.commits) == 2  # that of its creation, and one
        assert f"/datasets/hdb/{name}: created" in told
    for name in SPACES:
        repository = hub.repositories["spaces", f"hdb/{name}"]
        assert list(repository.tags) == [f"hdbench-{__version__}"]


def test_each_space_has_the_wheel_and_installs_it_from_itself(hub, publish, tmp_path):
    publish("--only", "zettel_f1", "--only", "scorer")
    for name, extra in (("zettel_f1", ""), ("scorer", "[space]")):
        found = files(hub, "spaces", f"hdb/{name}")
        address = f"{hub.url}/spaces/hdb/{name}/resolve/main/{WHEEL}"
        assert found["requirements.txt"].decode() == f"hdbench{extra} @ {address}\n"
        wheel = tmp_path / WHEEL
        wheel.write_bytes(found[WHEEL])
        with zipfile.ZipFile(wheel) as archive:
            assert archive.testzip() is None
            names = set(archive.namelist())
    assert {"hdbench/evaluation/score.py", "hdbench/metrics/zettel_f1/zettel_f1.py"} <= names
    assert "hdbench/spaces/scorer/app.py" in names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


@pytest.mark.nightly
def test_the_wheel_of_a_space_is_installed_by_pip_and_runs(hub, publish, tmp_path):
    publish("--only", "scorer")
    wheel, place = tmp_path / WHEEL, tmp_path / "installed"
    wheel.write_bytes(files(hub, "spaces", "hdb/scorer")[WHEEL])
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*pip, "--target", place, wheel], check=True)
    path = f"{place}{os.pathsep}{PLAIN['PYTHONPATH']}"
    empty = tmp_path / "empty"
    empty.mkdir()

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=empty,
            env=os.environ | {"PYTHONPATH": path, "HF_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert python("-c", "import hdbench; print(hdbench.__file__)").startswith(str(place))
    assert "f1_micro" in python("-m", "hdbench", "demo")
    assert (empty / "hdb/scorer/app.py").is_file()


def test_again_nothing_is_sent_and_only_what_changed_is(hub, publish, place):
    publish("--only", "zettelkatalog")
    before = head(hub, "datasets", "hdb/zettelkatalog").oid
    assert "unchanged" in publish("--only", "zettelkatalog")
    assert head(hub, "datasets", "hdb/zettelkatalog").oid == before

    folder = place / "hdb/zettelkatalog"
    raise_version(folder, "1.1.2+sample")
    (folder / "prompt.txt").unlink()
    sent = len(hub.requests)
    assert "files sent: 1, removed: 1, tagged hdbench-1.1.2+sample" in publish(
        "--only", "zettelkatalog"
    )
    assert not [each for each in hub.requests[sent:] if each.path.startswith("/lfs")]
    assert files(hub, "datasets", "hdb/zettelkatalog") == contents(folder)
    assert set(hub.repositories["datasets", "hdb/zettelkatalog"].tags) == {
        "hdbench-1.1.1+sample",
        "hdbench-1.1.2+sample",
    }


def raise_version(folder, version):
    path = folder / "benchmark.yaml"
    description = yaml.safe_load(path.read_text()) | {"version": version}
    path.write_text(yaml.safe_dump(description))


def test_a_version_that_is_published_never_changes(hub, publish, place):
    publish("--only", "avisblatt")
    (place / "hdb/avisblatt/prompt.txt").write_text("Read it.")
    before = head(hub, "datasets", "hdb/avisblatt").oid
    told = publish("--only", "avisblatt", "--only", "zettelkatalog", status=2)
    assert (
        "hdb/avisblatt: hdbench-1.1.1+sample is already published with another prompt.txt" in told
    )
    assert "raise the version" in told
    assert head(hub, "datasets", "hdb/avisblatt").oid == before
    assert ("datasets", "hdb/zettelkatalog") not in hub.repositories


def test_a_sample_does_not_replace_the_whole(hub, publish, place):
    raise_version(place / "hdb/zettelkatalog", "1.1.1")
    publish("--only", "zettelkatalog")
    raise_version(place / "hdb/zettelkatalog", "1.1.1+sample")
    assert "this is the sample" in publish("--only", "zettelkatalog", status=2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", "no Hub token: log in with hf auth login, or set HF_TOKEN"),
        (EXPIRED, "the token is not valid, or has expired"),
        (READER, "may only read"),
    ],
)
def test_without_a_token_that_may_write_nothing_is_sent(hub, publish, token, told):
    assert told in publish(token=token, status=2)
    assert hub.repositories == {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("pattern", "status"),
    [
        ("POST /api/repos/create", 500),
        ("PUT /lfs", 400),  # after 500 the client would try for half a minute
        ("POST /api/datasets/hdb/[a-z]+/commit", None),  # no status: half an answer
        ("POST /api/datasets/hdb/[a-z]+/tag", 500),
    ],
)
def test_failed_publishing_leaves_old_or_new_and_can_resume(hub, publish, place, pattern, status):
    publish("--only", "zettelkatalog")
    old = files(hub, "datasets", "hdb/zettelkatalog")
    raise_version(place / "hdb/zettelkatalog", "1.1.2+sample")
    (place / "hdb/zettelkatalog/images/new.jpg").write_bytes(bytes(range(256)) * 99)
    hub.fail(pattern, 1_000, status)
    told = publish("--only", "zettelkatalog", "--only", "avisblatt", status=2)
    assert "the same command resumes" in told
    new = contents(place / "hdb/zettelkatalog")
    assert files(hub, "datasets", "hdb/zettelkatalog") in (old, new)
    other = hub.repositories.get(("datasets", "hdb/avisblatt"))
    if other and len(other.commits) > 1:
        assert files(hub, "datasets", "hdb/avisblatt") == contents(place / "hdb/avisblatt")

    hub.faults.clear()
    publish("--only", "zettelkatalog", "--only", "avisblatt")
    for name in ("zettelkatalog", "avisblatt"):
        assert files(hub, "datasets", f"hdb/{name}") == contents(place / "hdb" / name)
        tags = hub.repositories["datasets", f"hdb/{name}"].tags
        assert head(hub, "datasets", f"hdb/{name}").oid in tags.values()


@pytest.mark.nightly
def test_a_bad_card_is_found_before_anything_is_sent(hub, publish, place):
    card = place / "hdb/zettelkatalog/README.md"
    card.write_text(card.read_text().replace("license: cc0-1.0", "license: [", 1))
    assert "hdb/zettelkatalog/README.md: its YAML" in publish(status=2)
    card.write_text("# Cards\n")
    assert "needs YAML between two lines of ---, with a license" in publish(status=2)
    assert hub.repositories == {}


def test_a_benchmark_is_declared_once_the_hub_knows_the_framework(hub, publish, place, monkeypatch):
    """It may be declared after the version was published, and stays declared."""
    publish("--only", "zettelkatalog")
    before = files(hub, "datasets", "hdb/zettelkatalog")
    assert "eval.yaml" not in before
    told = publish("--only", "zettelkatalog", "--as-benchmark", status=2)
    assert "the Hub answered 400 Invalid eval.yaml: evaluation_framework: " in told
    assert files(hub, "datasets", "hdb/zettelkatalog") == before
    monkeypatch.setattr("hub.validation.FRAMEWORKS", [*FRAMEWORKS, "hdbench"])
    publish("--only", "zettelkatalog", "--as-benchmark")
    after = files(hub, "datasets", "hdb/zettelkatalog")
    declared = yaml.safe_load(after.pop("eval.yaml"))
    assert after == before
    spec = yaml.safe_load((place / "hdb/zettelkatalog/benchmark.yaml").read_text())
    assert declared.pop("description") == (
        f"{spec['title']}, version {spec['version']}. Figure: f1_micro of zettel_f1 (higher is "
        "better)."
    )
    assert declared == {
        "name": spec["title"],
        "evaluation_framework": "hdbench",
        "tasks": [
            {"id": "documented", "config": "default", "split": "test"},
            {"id": "published", "config": "default", "split": "test"},
        ],
    }
    publish("--only", "zettelkatalog")
    assert "eval.yaml" in files(hub, "datasets", "hdb/zettelkatalog")


RIGHTS = {"stated_by": "A. Muster, Basel", "since": "2026-01-24", "ground": "the owner's letter"}
SHOWN = "rights: stated by A. Muster, Basel, since 2026-01-24: the owner's letter"


def describe(folder, **keys):
    """Change what a built dataset and its card say of it."""
    path = folder / "benchmark.yaml"
    spec = yaml.safe_load(path.read_text()) | keys
    path.write_text(yaml.safe_dump({key: each for key, each in spec.items() if each is not None}))
    card = folder / "README.md"
    text = card.read_text().replace("license: cc0-1.0", f"license: {spec['licence']}", 1)
    card.write_text(text)


@pytest.mark.nightly
@pytest.mark.parametrize("name", DATASETS)
def test_without_an_open_licence_only_who_may_can_publish(hub, publish, place, name):
    recipe = yaml.safe_load((RECIPES / name / "benchmark.yaml").read_text())
    folder = place / "hdb" / name
    describe(folder, licence=recipe["licence"], rights=recipe.get("rights"))
    if name in ("sciencemetabench", "zettelkatalog"):
        publish("--only", name)
        return
    told = publish("--only", name, status=2)
    assert told.startswith(f"error: hdb/{name}: its licence (other) is not an open one: ")
    assert "benchmark.yaml" in told
    assert "rights: {stated_by: …, since: …, ground: …}" in told
    publish("--only", name, "--accept-licence", status=2)  # it is for builds, and no option here
    assert hub.repositories == {}

    describe(folder, rights=RIGHTS)
    assert SHOWN in publish("--dry-run", "--only", name, token="").splitlines()
    publish("--only", name)
    assert ("datasets", f"hdb/{name}") in hub.repositories


@pytest.mark.nightly
@pytest.mark.parametrize("key", RIGHTS)
@pytest.mark.parametrize("value", ["", " ", None, "never" * 1_000])
def test_a_statement_of_rights_says_who_and_since_when_and_why(publish, place, key, value):
    if value and value.strip() and key != "since":
        return  # any text will do
    describe(place / "hdb/avisblatt", licence="other", rights={**RIGHTS, key: value})
    assert f"benchmark.yaml: rights.{key}: " in publish("--dry-run", status=2)


def test_recorded_runs_have_their_rights_in_their_card(hub, publish, place):
    results = place / "hdb/results"
    results.mkdir()
    text = (RECIPES / "results/README.md").read_text()
    (results / "README.md").write_text(text)
    told = publish("--only", "results", status=2)
    assert (
        "hdb/results: its licence (other) is not an open one: add to the YAML of its card" in told
    )
    (results / "README.md").write_text(text.replace("---\n", f"---\nrights: {RIGHTS}\n", 1))
    assert SHOWN in publish("--dry-run", "--only", "results").splitlines()
    publish("--only", "results")
    assert ("datasets", "hdb/results") in hub.repositories


NOT_NAMED = "no --namespace was given, and the folder is called hdb"


@pytest.mark.nightly
@pytest.mark.parametrize(("typed", "published"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_on_a_terminal_it_asks(hub, place, tmp_path, typed, published):
    mine, theirs = pty.openpty()
    os.write(mine, typed)
    done = subprocess.run(
        [sys.executable, "-m", "hdbench", "publish", "hdb", "--only", "zettelkatalog"],
        cwd=place,
        env=os.environ | hub.environment(WRITER) | {"HF_HOME": str(tmp_path / "home")},
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=300,
    )
    os.close(mine)
    os.close(theirs)
    question = f"{NOT_NAMED[0].upper()}{NOT_NAMED[1:]}. Publish under hdb? [y/N]: "
    listed, asked, _ = done.stdout.partition(question)
    assert asked
    assert "metadata.jsonl" in listed
    assert "History, comments and annotators of a collection stay on this computer." in listed
    assert bool(done.returncode) != published
    assert (("datasets", "hdb/zettelkatalog") in hub.repositories) == published


def test_a_dry_run_lists_all_and_asks_nobody(hub, publish, place):
    told = publish("--dry-run", token="")
    assert hub.requests == []
    assert "hdb/zettelkatalog (dataset, cc0-1.0, hdbench-1.1.1+sample)" in told
    assert "hdb/zettel_f1 (space, apache-2.0" in told
    assert WHEEL in told
    size = (place / "hdb/zettelkatalog/answer.schema.json").stat().st_size
    assert f"{size:,} B" in told
    assert "images/…/*.jpg (8 files)" in told


def test_another_namespace_is_that_of_the_cards_too(hub, publish, place):
    publish("--namespace", "hdb-operator", "--only", "zettelkatalog", "--private")
    repository = hub.repositories["datasets", "hdb-operator/zettelkatalog"]
    assert repository.private
    sent = files(hub, "datasets", "hdb-operator/zettelkatalog")
    assert b'load_dataset("hdb-operator/zettelkatalog"' in sent["README.md"]
    form = b"https://huggingface.co/datasets/hdb-operator/zettelkatalog/discussions/new"
    assert form in sent["benchmark.yaml"]
    for path, content in sent.items():
        assert b"hdb/zettelkatalog" not in content, path


def test_runs_of_others_that_were_merged_are_kept(hub, publish, place):
    results = place / "hdb/results"
    (results / "zettelkatalog/one").mkdir(parents=True)
    (results / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# Runs\n")
    (results / "zettelkatalog/one/answers.jsonl").write_text(json.dumps({"id": "1"}) + "\n")
    hub.add("datasets", "hdb/results", {"zettelkatalog/theirs/answers.jsonl": b"{}\n"})
    publish("--only", "results")
    assert set(files(hub, "datasets", "hdb/results")) == {
        "README.md",
        "zettelkatalog/one/answers.jsonl",
        "zettelkatalog/theirs/answers.jsonl",
    }
    assert hub.repositories["datasets", "hdb/results"].tags == {}


def test_a_link_out_of_the_folder_is_refused(publish, place):
    (place / "hdb/zettelkatalog/passwd.txt").symlink_to("/etc/passwd")
    assert "passwd.txt: is a link" in publish(status=2)
