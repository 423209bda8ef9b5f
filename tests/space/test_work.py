"""Work in processes of their own: what it gives, and that it ends whatever it does."""

import subprocess
import sys
from pathlib import Path

import pytest
from space import hostile_tasks as tasks

from hdbench.errors import HdbenchError
from hdbench.space import work as working
from hdbench.space.texts import reason, text
from hdbench.space.work import work

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module", autouse=True)
def loaded():
    working.load()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    return tmp_path


def test_a_task_tells_how_far_it_is_and_returns():
    assert list(work(tasks.says, "word")) == ["word", "WORD"]


def test_an_error_is_that_of_the_task():
    with pytest.raises(HdbenchError, match=r"^no$"):
        list(work(tasks.refuses))
    with pytest.raises(HdbenchError) as error:
        list(work(tasks.refuses_in_words))
    assert reason(error.value, "de") == text("compare_more", "de", most=5)


@pytest.mark.parametrize(
    ("task", "seconds", "told"),
    [
        (tasks.computes_in_c, 1, "this takes more than 1 seconds to compute"),
        (tasks.sleeps, 1, "this takes more than 1 seconds to compute"),
        (tasks.takes_memory, 60, "this takes more than 512 MiB of memory"),
        (tasks.takes_all_memory, 60, "this takes more than 512 MiB of memory"),
        (tasks.crashes, 60, "this takes more than 512 MiB of memory"),
        (tasks.fails, 60, "hdbench itself failed over this file"),
    ],
)
def test_what_takes_too_much_is_ended(monkeypatch, task, seconds, told):
    with monkeypatch.context() as bounds:
        bounds.setattr(working, "MAX_SECONDS", seconds)
        bounds.setattr(working, "MAX_MEMORY", 2**29)
        with pytest.raises(HdbenchError, match=told) as error:
            list(work(task))
    assert "\n" not in str(error.value)
    assert list(work(tasks.says, "word")) == ["word", "WORD"]


def test_what_is_written_is_bounded_and_deleted(monkeypatch):
    monkeypatch.setattr(working, "MAX_WRITTEN", 2**22)
    working_on = work(tasks.writes)
    path = Path(next(working_on))
    assert path.parent.is_dir()
    with pytest.raises(HdbenchError, match="this takes more than 4 MiB of disk"):
        list(working_on)
    assert not path.parent.exists()


def test_who_leaves_takes_their_process_along():
    working_on = work(tasks.computes_in_c)
    assert next(working_on) == "begun"
    working_on.close()
    assert list(work(tasks.says, "word")) == ["word", "WORD"]


def test_what_processes_load_does_without_gradio():
    tasks = ", ".join(working.TASKS)
    code = f"import sys, {tasks}; print(sorted({{'gradio', 'hdbench'}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['hdbench']\n"
