"""Work in processes of their own: what it gives, and that it ends whatever it does."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from helpers.waiting import until
from space import hostile_tasks as tasks

from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs import turns, working
from hdbench.space.jobs.working import TaskProcesses, Waits
from hdbench.space.texts import reason, text

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module", autouse=True)
def loaded():
    working.load()


@pytest.fixture
def workers(tmp_path):
    return TaskProcesses(SpaceContext(tmp_path, at_once=1))


def test_a_task_tells_how_far_it_is_and_returns(workers):
    assert list(workers.work("a", tasks.says, "word")) == ["word", "WORD"]
    assert workers.result("a", tasks.says, "word") == "WORD"


def test_an_error_is_that_of_the_task(workers):
    with pytest.raises(HdbenchError, match=r"^no$"):
        workers.result("a", tasks.refuses)
    with pytest.raises(HdbenchError) as error:
        workers.result("a", tasks.refuses_in_words)
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
def test_what_takes_too_much_is_ended(workers, monkeypatch, task, seconds, told):
    monkeypatch.setattr(working, "MAX_SECONDS", seconds)
    monkeypatch.setattr(working, "MAX_MEMORY", 2**29)
    with pytest.raises(HdbenchError, match=told) as error:
        list(workers.work("a", task))
    assert "\n" not in str(error.value)
    monkeypatch.undo()  # who is next may take their time
    assert list(workers.work("b", tasks.says, "word")) == ["word", "WORD"]


def test_what_is_written_is_bounded_and_deleted(workers, monkeypatch):
    monkeypatch.setattr(working, "MAX_WRITTEN", 2**22)
    work = workers.work("a", tasks.writes)
    path = Path(next(work))
    assert path.parent.is_dir()
    with pytest.raises(HdbenchError, match="this takes more than 4 MiB of disk"):
        list(work)
    assert not path.parent.exists()


def test_who_leaves_takes_their_process_along(workers):
    work = workers.work("a", tasks.computes_in_c)
    assert next(work) == "begun"
    work.close()
    assert list(workers.work("b", tasks.says, "word")) == ["word", "WORD"]


def test_long_work_makes_way_and_is_begun_again(workers, monkeypatch, tmp_path):
    """Three addresses and one place: of the first two one is paused, the other begins anew."""
    monkeypatch.setattr(turns, "SLICE", 0.2)
    monkeypatch.setattr(turns, "LITTLE", 0.2)
    told = {"a": [], "b": []}

    def work(address):
        told[address].extend(workers.work(address, tasks.waits, str(tmp_path / "go")))

    def said():
        return told["a"] + told["b"]

    threads = []
    for address, so_far in told.items():
        threads.append(Thread(target=work, args=[address]))
        threads[-1].start()
        until(lambda so_far=so_far: "begun" in so_far, "its beginning")
    quick = list(workers.work("c", tasks.says, "word"))
    assert [each for each in quick if not isinstance(each, Waits)] == ["word", "WORD"]
    for thread in threads:
        assert thread.is_alive()
    until(lambda: any(isinstance(each, Waits) and each.again for each in said()), "another wait")
    until(lambda: said().count("begun") >= 3, "a third beginning")
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join()
    begun = [each for each in said() if not isinstance(each, Waits)]
    assert begun.count("begun") >= 3
    assert begun.count(None) == 2  # both are done
    assert any(each.again for each in said() if isinstance(each, Waits))


def test_what_processes_load_does_without_gradio():
    tasks = ", ".join(working.TASKS)
    code = f"import sys, {tasks}; print(sorted({{'gradio', 'hdbench'}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['hdbench']\n"


def test_paused_work_stands_still_and_goes_on(workers, monkeypatch, tmp_path):
    """The clock of a paused process is the file that it writes to: nothing is added meanwhile."""
    monkeypatch.setattr(turns, "SLICE", 0.2)
    beats = tmp_path / "beats"
    lengths = []

    def work():
        assert list(workers.work("a", tasks.beats, str(beats)))[-1] == "done"

    thread = Thread(target=work)
    thread.start()
    until(beats.exists, "the first beat")
    for told in workers.work("b", tasks.waits, str(tmp_path / "go")):
        if told == "begun":
            time.sleep(0.3)  # the signal has arrived
            for _ in range(2):
                lengths.append(beats.stat().st_size)
                time.sleep(0.3)
            (tmp_path / "go").touch()
    assert lengths[0] == lengths[1]
    until(lambda: beats.stat().st_size > lengths[1], "the next beat")
    beats.with_name("enough").touch()
    thread.join()


def test_work_that_has_a_score_keeps_its_place_longer(workers, monkeypatch, tmp_path):
    monkeypatch.setattr(turns, "SLICE", 0.2)
    monkeypatch.setattr(working, "SLICE_IN_ALL", 60)
    order = []
    first = Thread(target=workers.result, args=("a", tasks.scores_and_waits, str(tmp_path / "go")))
    first.start()
    until((tmp_path / "go-begun").exists, "its beginning")
    second = Thread(target=lambda: order.append(workers.result("b", tasks.says, "word")))
    second.start()
    time.sleep(1)  # five times as long as work without a score would keep it
    order.append("go")
    (tmp_path / "go").touch()
    first.join()
    second.join()
    assert order == ["go", "WORD"]
