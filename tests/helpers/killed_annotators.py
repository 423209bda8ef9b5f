"""Processes that annotate and are killed, and what has to be left of their work."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from helpers.waiting import until

import hdbench
from hdbench.collections.truth.store import Store

WRITER = Path(__file__).parents[1] / "annotating/writer.py"


def kill_while_writing(folder: Path, seed: int, annotators=("anna", "ben")) -> int:
    """Let each annotator's process write, kill them all at a random moment, look at what is left.

    Returns:
        How many changes were said to be saved.
    """
    rng = random.Random(seed)
    paths = [str(Path(hdbench.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    outputs = [folder.parent / f"{annotator}.{seed}.out" for annotator in annotators]
    processes = []

    def have_begun():
        assert all(process.poll() is None for process in processes), "a writer has ended"
        return all(path.read_bytes() for path in outputs)

    for annotator, path in zip(annotators, outputs, strict=True):
        command = [sys.executable, str(WRITER), str(folder), annotator, str(seed)]
        with path.open("wb") as output:
            processes.append(subprocess.Popen(command, stdout=output, env=environment))
    try:
        until(have_begun, "the beginning of the writers")
        time.sleep(rng.uniform(0, 1))
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
    saved = [line for path in outputs for line in _saved(path)]
    check_saved(folder, saved)
    return len(saved)


def check_saved(folder: Path, saved) -> None:
    """Whether everything that was said to be saved is there."""
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line)["id"] for line in lines]  # readable, even before it is repaired
    with Store(folder, "reader") as store:
        assert store.items == items
        found = {
            (change.item, change.field, change.value)
            for item in items
            for change in store.people.changes(item)
        }
        assert {tuple(each) for each in saved} <= found
        states = {item: store.state(item) for item in items}
        last = {(item, field): to for item, field, to in saved}
        for (item, field), to in last.items():
            value = states[item].record[field]
            # A change that was written, but not yet said to be saved, may follow.
            assert value == to or number(value) > number(to)
        assert not any(state.conflicts for state in states.values())
    for line in (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert row["ground_truth"] == states[row["id"]].record


def number(value):
    """Which change of its process a value is from."""
    return tuple(map(int, value.rstrip("ü").split(":")))


def _saved(path: Path):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return [
        json.loads(line.removeprefix("saved "))
        for line in lines
        if line.startswith("saved ") and line.endswith("\n")
    ]
