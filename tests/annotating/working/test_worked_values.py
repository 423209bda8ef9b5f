"""The file of decisions: what was saved stays, groups as a whole, and the last one counts."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from annotating.working.decisions import decision, group_of, undo
from helpers.waiting import until
from hypothesis import given, settings
from hypothesis import strategies as st

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.annotating.working.worked_values import WORKED_VALUES, WorkedValues
from hdbench.errors import HdbenchError

WRITER = """
import sys
from pathlib import Path
from annotating.working.decisions import decision, group_of
from hdbench.annotating.working.worked_values import WorkedValues
values, name = WorkedValues(Path(sys.argv[1])), sys.argv[2]
for number in range(100_000):
    group = [(f"{name}{number}-{place}", "x" * number) for place in range(20)]
    values.add(group_of(*group, by=name))
    values.add([decision(f"{name}{number}", number, by=name)])
    print(number, flush=True)
"""


def told(values):
    return {key.item: line.value for key, line in values.current().items()}


def test_the_last_decision_that_is_not_undone_counts(tmp_path):
    values = WorkedValues(tmp_path)
    first, second = decision("b1", "Fausst"), decision("b1", "Faust", by="ben")
    values.add([first])
    values.add([second])
    values.add([decision("b2", None, how="nothing")])
    assert told(values) == {"b1": "Faust", "b2": None}
    values.add([undo(second, second.id)])
    assert told(values) == told(WorkedValues(tmp_path)) == {"b1": "Fausst", "b2": None}
    values.add([undo(first, first.id, by="ben")])
    values.add([decision("b1", "Egmont", by="ben")])
    assert told(values) == told(WorkedValues(tmp_path)) == {"b1": "Egmont", "b2": None}


def test_what_others_append_is_read_on(tmp_path):
    ours, theirs = WorkedValues(tmp_path), WorkedValues(tmp_path)
    line = decision("b1", "Faust", by="ben")
    theirs.add([line])
    assert told(ours) == {}
    ours.refresh()
    assert ours.current()[ValueKey("b1", "title")] == line
    (tmp_path / WORKED_VALUES).unlink()
    ours.refresh()
    assert told(ours) == {}


def test_a_group_is_undone_together_but_not_what_came_later(tmp_path):
    values = WorkedValues(tmp_path)
    values.add([decision("b1", "Aarau")])
    group = group_of(("b1", "Basel"), ("b2", "Basel"), ("b3", "Basel"))
    values.add(group)
    values.add([decision("b3", "Bern")])
    assert told(values) == {"b1": "Basel", "b2": "Basel", "b3": "Bern"}
    values.add([undo(group[0], group[0].group)])
    assert told(values) == told(WorkedValues(tmp_path)) == {"b1": "Aarau", "b3": "Bern"}


@pytest.mark.parametrize("kept", [1, 2])
def test_a_group_of_which_lines_are_missing_does_not_count(tmp_path, kept):
    values = WorkedValues(tmp_path)
    values.add(group_of(("b1", "Basel"), ("b2", "Basel"), ("b3", "Basel")))
    path = tmp_path / WORKED_VALUES
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
    values = WorkedValues(tmp_path)
    assert told(values) == {}
    values.add(group_of(("b2", "Bern"), ("b4", "Bern")))
    values.add([decision("b5", "Aarau")])
    assert (
        told(values) == told(WorkedValues(tmp_path)) == {"b2": "Bern", "b4": "Bern", "b5": "Aarau"}
    )


STEPS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(["b1", "b2", "b3"]), min_size=1, max_size=3, unique=True),
        st.integers(0, 10),
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=50)
@given(STEPS)
def test_current_is_what_is_left_without_what_was_undone(steps):
    made, undone = [], set()  # the groups of each decision, and those that were undone
    with tempfile.TemporaryDirectory() as folder:
        values = WorkedValues(Path(folder))
        for number, step in enumerate(steps):
            if isinstance(step, list):
                lines = group_of(*((item, number) for item in step))
                made.append(lines)
                values.add(lines)
            elif step < len(made):
                undone.add(step)
                values.add([undo(made[step][0], made[step][0].group)])
        left = {
            line.item: line.value
            for position, lines in enumerate(made)
            if position not in undone
            for line in lines
        }
        assert told(values) == told(WorkedValues(Path(folder))) == left


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"by": "Anna Muster"}, "'Anna Muster' is not a pseudonym"),
        ({"how": None}, "how is missing"),
        ({"what": "undo"}, "undoes is missing"),
        ({"group": "0" * 32}, "belong together"),
        ({"undoes": "1"}, "undoes"),
        ({"surplus": 1}, "surplus"),
    ],
)
def test_a_strangers_file_is_refused(tmp_path, change, refused):
    line = decision("b1", "Faust").model_dump() | change
    (tmp_path / WORKED_VALUES).write_text(json.dumps(line) + "\n")
    with pytest.raises(HdbenchError, match=refused):
        WorkedValues(tmp_path)


@pytest.mark.nightly
def test_kill_loses_nothing_and_leaves_no_part_of_a_group(tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    names = ("anna", "ben")
    outputs = [tmp_path / f"{name}.out" for name in names]
    started = []
    for name, path in zip(names, outputs, strict=True):
        command = [sys.executable, "-c", WRITER, str(tmp_path), name]
        with path.open("wb") as output:
            started.append(subprocess.Popen(command, stdout=output, env=environment))
    try:
        until(
            lambda: all(path.read_bytes().count(b"\n") > 10 for path in outputs),
            "the beginning of the writers",
        )
    finally:
        for process in started:
            process.send_signal(signal.SIGKILL)
            process.wait()
    found = told(WorkedValues(tmp_path))
    for name, path in zip(names, outputs, strict=True):
        saved = path.read_bytes().count(b"\n")
        assert all(found[f"{name}{number}"] == number for number in range(saved))
        for number in range(saved + 2):
            parts = [f"{name}{number}-{place}" in found for place in range(20)]
            assert all(parts) or (number >= saved and not any(parts))
