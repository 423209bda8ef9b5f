"""Reading a file four times as large takes some four times as long and as much memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.forms import FORMS

FAST = {
    ("XLSX", "rows"),
    ("CSV of ground truths", "columns of nearly one name"),
}
"""A few that are not slow: those in which the time grew as the square once, and a plain one."""

TIMES = 4
MOST = 9
"""Quadratic would be 16 times, and linear is 4."""

MEBIBYTE = 2**20


def grown(form, *dimensions):
    """Seconds of CPU and bytes that reading takes, for each dimension, small and large.

    In a process of its own, which forks for every file, so that none finds what another left.
    """
    measured = subprocess.run(
        [sys.executable, "-m", "helpers.growing", form, str(TIMES), *dimensions],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert measured.returncode == 0, measured.stderr[-2_000:]
    return {name: figures for name, *figures in map(json.loads, measured.stdout.splitlines())}


def check(form, *dimensions):
    odd = {}
    for name, figures in grown(form, *dimensions).items():
        (seconds, memory), (more_seconds, more_memory) = figures
        # What is done once for any file, and what a busy machine adds to a few milliseconds.
        is_slow = more_seconds > MOST * max(seconds, 0.01)
        is_large = more_memory > MOST * max(memory, 2 * MEBIBYTE)
        if is_slow or is_large:
            odd[name] = figures
    return odd


@pytest.mark.parametrize(("form", "dimension"), sorted(FAST))
def test_time_and_memory_grow_in_proportion(form, dimension):
    odd = check(form, dimension)
    assert not odd or not check(form, dimension), odd


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_time_and_memory_grow_in_proportion_in_every_dimension(form):
    odd = check(form)
    # Something else may have kept the machine busy just then.
    assert not odd or not (again := check(form, *odd)), again
