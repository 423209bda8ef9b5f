"""What came from somebody else: nothing outside its folder is read, and no program of it is run."""

import os
import socket

import pytest

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import BUILT
from hdbench.errors import HdbenchError

pytestmark = pytest.mark.nightly

SECRET = "the text of a private file"

NAMED = [
    "README.md",
    "README.zh.md",
    "prompt.txt",
    "CHANGELOG.md",
    "answer.schema.json",
    "benchmark.yaml",
    "metadata.jsonl",
    "errata.yaml",
    "notes.txt",
    "images/3.png",
]


@pytest.fixture
def assert_refused(folder, run_hdbench):
    """Build a folder: it has to be refused, whether it is checked first or not."""
    folder.spec |= {"files": ["notes.txt"]}
    folder.write("notes.txt", "Notes.")
    folder.save()

    def assert_refused(told):
        built = run_hdbench("build", folder.path, cwd=folder.path.parent)  # it says what check says
        assert built.returncode == 2
        assert told in built.stderr
        assert "Traceback" not in built.stderr
        assert SECRET not in built.stderr + built.stdout
        assert folder.check(save=False).errors
        with pytest.raises(HdbenchError, match=told):  # as where nothing is checked before
            build(find_recipe(str(folder.path)), folder.out)
        assert not list(folder.path.parent.glob("hdb/*"))

    return assert_refused


def put(folder, name, made):
    place = folder.path / name
    place.unlink(missing_ok=True)
    made(place)


@pytest.mark.parametrize("name", NAMED)
def test_a_link_out_of_the_folder(name, folder, assert_refused):
    secret = folder.path.parent / "secret"
    secret.write_text(SECRET)
    put(folder, name, lambda place: place.symlink_to(secret))
    assert_refused("leads out of")


@pytest.mark.parametrize("name", NAMED)
def test_a_pipe_is_not_waited_for(name, folder, assert_refused):
    put(folder, name, os.mkfifo)
    assert_refused("is a folder, a pipe or a device")


@pytest.mark.parametrize("name", ["prompt.txt", "README.md", "images/3.png"])
def test_a_device_or_a_socket(name, folder, assert_refused):
    put(folder, name, lambda place: place.symlink_to("/dev/zero"))
    assert_refused("leads out of")
    with socket.socket(socket.AF_UNIX) as server:
        home = os.getcwd()
        os.chdir(folder.path)  # a socket's path has to be short
        try:
            put(folder, name, lambda _: server.bind(name))
        finally:
            os.chdir(home)
        assert_refused("is a folder, a pipe or a device")


@pytest.mark.parametrize("name", ["prompt.txt", "CHANGELOG.md", "README.zh.md", "notes.txt"])
@pytest.mark.parametrize("led_to", ["people/anna.jsonl", "authorities.yaml"])
def test_a_link_to_who_annotated_what(name, led_to, folder, assert_refused):
    (folder.path / "people").mkdir()
    folder.write(led_to, SECRET)
    put(folder, name, lambda place: place.symlink_to(led_to))
    assert_refused("leads to what says who annotated what")


def test_a_link_within_the_folder_is_followed(folder, run_hdbench):
    folder.save()
    (folder.path / "prompt.txt").rename(folder.path / "words.txt")
    (folder.path / "prompt.txt").symlink_to("words.txt")
    done = run_hdbench("build", folder.path, cwd=folder.path.parent)
    assert done.returncode == 0, done.stderr
    built = folder.out / "cards/prompt.txt"
    assert not built.is_symlink()
    assert built.read_text() == (folder.path / "words.txt").read_text()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("files", ["/etc/hostname"], "is not the name of a file in the benchmark's folder"),
        ("files", ["../secret"], "is not the name of a file in the benchmark's folder"),
        ("files", ["../.."], "is not the name of a file in the benchmark's folder"),
        ("files", ["images/../../secret"], "is not the name of a file in the benchmark's folder"),
        ("files", ["."], "is not the name of a file in the benchmark's folder"),
        ("files", ["images"], "would replace what hdbench writes under this name"),
        ("files", ["people/anna.jsonl"], "is hidden or says who annotated what"),
        ("files", ["./People/times/anna.jsonl"], "is hidden or says who annotated what"),
        ("files", ["authorities.yaml"], "is hidden or says who annotated what"),
        ("files", [".huggingface.yaml"], "is hidden or says who annotated what"),
        ("split", "../../x", "cannot be the name of a split"),
        ("split", "/tmp/x", "cannot be the name of a split"),
        ("split", "te st", "cannot be the name of a split"),
        ("name", "../x", "cannot be the name of a "),
        ("name", "/tmp/x", "cannot be the name of a "),
        ("name", "..", "cannot be the name of a "),
    ],
)
def test_a_key_that_leads_elsewhere(key, value, told, folder, assert_refused):
    (folder.path.parent / "secret").write_text(SECRET)
    folder.spec[key] = value
    folder.save()
    assert_refused(told)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a/metadata.jsonl"], "would replace what hdbench writes under this name"),
        (["a/Prompt.TXT"], "would replace what hdbench writes under this name"),
        (["answer.schema.json"], "would replace what hdbench writes under this name"),
        (["a/README.zh.md"], "would replace what hdbench writes under this name"),
        (["a/images"], "would replace what hdbench writes under this name"),
        (["a/x.txt", "b/x.txt"], "would have one name in the dataset"),
        (["x.txt", "X.txt"], "would have one name in the dataset"),
        (["a/cards.py"], "would take the file for a part of itself"),
        (["a/state.json"], "would take the file for a part of itself"),
        (["dataset_infos.json"], "would take the file for a part of itself"),
    ],
)
def test_file_that_would_replace_another_is_refused(names, told, folder, assert_refused):
    folder.spec["files"] = names
    folder.save()
    for name in names:
        if not (folder.path / name).exists():
            (folder.path / name).parent.mkdir(exist_ok=True)
            folder.write(name, "Notes.")
    assert_refused(told)


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "prompt.txt", "CHANGELOG.md"])
def test_a_text_of_gigabytes(name, folder, assert_refused):
    with (folder.path / name).open("wb") as file:
        file.truncate(2**32)  # which takes no room on the disk
    assert_refused("larger than 4 MiB")


def test_a_description_of_gigabytes_or_with_aliases_of_aliases(folder, assert_refused):
    text = (folder.path / "benchmark.yaml").read_text()
    bomb = "a: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
    )
    for hostile, told in (
        (bomb, r"its aliases \(\*…\) stand for more"),
        (f"a: {':59' * 300_000}".replace(": :59", ": 1:59"), "a number has too many digits"),
    ):
        (folder.path / "benchmark.yaml").write_text(text + hostile)
        for read in (find_recipe, load_benchmark):
            with pytest.raises(HdbenchError, match=told):
                read(str(folder.path))
    card = folder.path / "README.md"
    (folder.path / "benchmark.yaml").write_text(text)
    plain = card.read_text()
    card.write_text(plain.replace("language: de\n", f"{bomb}language: *a9\n"))
    assert_refused("stand for more than")
    card.write_text(plain)
    with (folder.path / "benchmark.yaml").open("wb") as file:
        file.truncate(2**32)
    assert_refused("larger than 4 MiB")


@pytest.mark.parametrize("options", [[], ["--sample"]])
def test_a_program_in_a_folder_runs_only_when_it_is_asked_for(folder, run_hdbench, options):
    folder.save()
    sample = folder.path / "sample"
    sample.mkdir()
    for name in ("metadata.jsonl", "images"):
        (sample / name).symlink_to(f"../{name}")
    (sample / "predictions.jsonl").write_text("")
    (folder.path / "build.py").write_text(
        "from pathlib import Path\nPath('ran').touch()\n"
        "def columns(truth):\n    return {'century': 19}\n"
        "def rows(source):\n    return iter(())\n"
    )
    here, ran = folder.path.parent, folder.path.parent / "ran"
    for command in ("build", "check", "demo", "annotate", "run"):
        given = [*options, "--accept-licence"] if command == "build" else []
        done = run_hdbench(command, folder.path, *given, cwd=here)
        assert done.returncode != 0
        if command == "build":
            (line,) = done.stderr.splitlines()
            assert f"{folder.path}/build.py: this folder has a program of its own" in line
            assert "--run-script" in line
        assert not ran.exists()
    run_hdbench("build", folder.path, "--source", here, "--run-script", *options, cwd=here)
    assert ran.exists()


def test_a_build_names_all_that_goes_into_the_dataset(folder, run_hdbench):
    folder.write("notes.txt", "Notes.")
    folder.write("README.de.md", "# {{ spec.title }}\n")
    folder.write("private.txt", "not named anywhere")
    folder.spec["files"] = ["notes.txt"]
    folder.save()
    done = run_hdbench("build", folder.path, cwd=folder.path.parent)
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("  files: ")]
    named = line.removeprefix("  files: ").split(", ")
    there = {path.name for path in (folder.out / "cards").iterdir() if path.name[0] != "."}
    assert set(named) == {*there - {"images"}, "images/ (24 files)"}
    assert {"notes.txt", "README.de.md"} <= there
    # No other file may take the name of one that is always written.
    assert there - {"notes.txt", "README.de.md"} <= set(BUILT)
    assert "private.txt" not in there
