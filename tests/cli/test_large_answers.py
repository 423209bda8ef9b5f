"""Commands do not read a large file of answers whole to find out what it is."""

import json
import os
import subprocess
import sys

import pytest
from helpers.run_folders import RIGHT, SPEC

pytestmark = pytest.mark.nightly

ITEMS, PADDING = 400, 100_000

MEASURED = """\
import pathlib, runpy, sys
try:
    runpy.run_module("hdbench", run_name="__main__")
finally:
    status = pathlib.Path("/proc/self/status").read_text()
    pathlib.Path("peak").write_text(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A benchmark, and two runs' answers with and without a long field that nobody reads."""
    folder = tmp_path_factory.mktemp("large")
    built = folder / "hdb/cards"
    built.mkdir(parents=True)
    (built / "benchmark.yaml").write_text(json.dumps(SPEC))
    ids = [f"{number:04}" for number in range(ITEMS)]
    truth = json.dumps(RIGHT)
    write(built / "metadata.jsonl", [{"id": item, "ground_truth": truth} for item in ids])
    for name, answer in (("a", RIGHT), ("b", RIGHT | {"year": 1900})):
        lines = [{"id": item, "prediction": answer} for item in ids]
        write(folder / f"{name}.jsonl", lines)
        with (folder / f"{name}-large.jsonl").open("w") as file:
            for line in lines:
                # With a character beyond the BMP, a text in memory takes four times its size.
                own = line | {"request": "😀" + "x" * PADDING}
                file.write(json.dumps(own, ensure_ascii=False) + "\n")
    return folder


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def peak(folder, *arguments):
    """The exit status, what was said, and the most memory in bytes of a process of its own.

    It says so itself: `getrusage` gives what it inherits from pytest, too.
    """
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments],
        cwd=folder,
        env=os.environ | {"HDBENCH_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stderr, 1024 * int((folder / "peak").read_text())


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "hdb/cards", "a{}.jsonl", "b{}.jsonl"],
        ["leaderboard", "hdb/cards", "a{}.jsonl", "b{}.jsonl"],
        ["report", "hdb/cards", "a{}.jsonl", "-o", "report{}"],
        ["verify", "a{}.jsonl"],
        ["compare", "a{}.jsonl", "b{}.jsonl"],
    ],
    ids=" ".join,
)
def test_memory_does_not_grow_with_what_is_not_read(folder, command):
    small, large = (
        peak(folder, *(part.format(ending) for part in command)) for ending in ("", "-large")
    )
    assert small[0] == large[0] == (0 if "hdb/cards" in command else 2), (small, large)
    # Before, it grew by eight to twelve times the size.
    assert large[2] - small[2] < (folder / "a-large.jsonl").stat().st_size
    assert ("not a result of hdbench score --json" in large[1]) == ("hdb/cards" not in command)
