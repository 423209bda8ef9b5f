"""Reading a file four times as large takes some four times as long and as much memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.forms import FORMS
from helpers.growing import Measured

FAST = {
    ("XLSX", "rows"),
    ("CSV of ground truths", "columns of nearly one name"),
}
"""A few that are not slow: those in which the time grew as the square once, and a plain one."""

REFUSED = {
    ("JSON Lines", "ids nearly alike"),  # which no item has
    *((form, "keys of one name") for form in ("JSON Lines", "JSON")),
    ("ZIP", "members of one name"),
    *((form, "rows of one id") for form in ("CSV", "XLSX", "CSV of ground truths")),
    *((form, "columns of nearly one name") for form in ("CSV", "XLSX")),  # none is a field
    # Over a bound: depth, digits, characters of a name, values that aliases stand for.
    *((form, "depth") for form in ("JSON Lines", "JSON", "JSON of ground truths")),
    ("JSON", "digits"),
    ("ZIP", "length of a name"),
    ("YAML", "aliases of aliases"),
}
"""Files that cannot be read. The others must be, so that not only their refusal is measured."""

TIMES = 4
MOST = 9
"""Quadratic would be 16 times, and linear is 4."""

MEBIBYTE = 2**20


def grown(form, *dimensions):
    """Measure what reading takes, for each dimension, small and large.

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
    return {
        name: [Measured(*each) for each in figures]
        for name, *figures in map(json.loads, measured.stdout.splitlines())
    }


def check(form, *dimensions):
    odd = {}
    for name, figures in grown(form, *dimensions).items():
        small, large = figures
        assert {small.is_refused, large.is_refused} == {(form, name) in REFUSED}, name
        # What is done once for any file, and what a busy machine adds to a few milliseconds.
        is_slow = large.seconds > MOST * max(small.seconds, 0.01)
        is_large = large.memory > MOST * max(small.memory, 2 * MEBIBYTE)
        if is_slow or is_large:
            odd[name] = figures
    return odd


@pytest.mark.parametrize(("form", "dimension"), sorted(FAST))
def test_time_and_memory_grow_in_proportion(form, dimension):
    odd = check(form, dimension)
    assert not odd or not check(form, dimension), odd


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_time_and_memory_grow_in_proportion_in_every_dimension(form):
    odd = check(form)
    # Something else may have kept the machine busy just then.
    assert not odd or not (again := check(form, *odd)), again
