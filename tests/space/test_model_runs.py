"""Runs of local models without a page: what may be asked, and how a process is watched."""

import re
import subprocess
import sys
from contextlib import closing

import pytest
from helpers.waiting import until
from space.model_runs import image_of, processes

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.model_runs import (
    GOING,
    MAX_PROMPT,
    Ended,
    ask,
    fields_of,
    model_names,
    run_on_image,
    run_on_items,
    time_left,
    watched,
    with_gpu,
)

pytestmark = pytest.mark.nightly


def test_time_left_depends_on_answers_and_not_on_loading():
    assert time_left([], [], 5, 100.0) is None
    assert time_left([{"seconds": 4.0}], [30.0], 3, 31.0) == 4.0 * 2 - 1
    assert time_left([{}, {}], [30.0, 36.0], 4, 37.0) == 6.0 * 2 - 1
    assert time_left([{}, {}], [30.0, 36.0], 4, 99.0) == 0.0


def test_a_prompt_and_a_benchmark_from_anywhere_are_checked(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("reader",))
    image = image_of(sample)
    for prompt in ("", " \n", "x" * (MAX_PROMPT + 1)):
        with pytest.raises(HdbenchError, match="the prompt must have 1 to 20,000 characters"):
            run_on_image(context, "reader", "zettelkatalog", image, prompt, tmp_path)
    with pytest.raises(HdbenchError, match=r"no benchmark '\.\./hdb'"):
        run_on_items(context, "reader", "../hdb", 1, tmp_path)
    with pytest.raises(HdbenchError, match="no model 'other' here: choose one of reader"):
        run_on_items(context, "other", "zettelkatalog", 1, tmp_path)
    with pytest.raises(HdbenchError, match="nan items: ask 1 to 20"):
        run_on_items(context, "reader", "zettelkatalog", float("nan"), tmp_path)


def test_the_same_number_of_items_is_always_the_same_items(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("reader",))
    first, again = (run_on_items(context, "reader", "zettelkatalog", 4, tmp_path) for _ in range(2))
    assert len(first.questions) == 4
    assert first.questions == again.questions


def test_two_models_of_one_name_are_refused(tmp_path):
    with pytest.raises(HdbenchError, match="a second model called 'llava'"):
        model_names(["/a/llava", "/b/llava"])


WRITES = """
import json, pathlib, sys
run = pathlib.Path(sys.argv[1])
run.mkdir()
asked = {"run": "a", "benchmark": "/srv/secret/zettelkatalog", "model": "a", "items": None}
(run / "run.json").write_text(json.dumps(asked))
with (run / "answers.jsonl").open("w") as file:
    file.write('{"id": "sample-01", "text": "{}"}\\n')
    file.write('{"id": "sample-02", "error": "/srv/secret/models/a: damaged"}\\n')
    file.write('{"id": "sample-03", "te')
"""


def test_only_answers_given_in_time_are_kept(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("reader",), max_run_seconds=1)
    (tmp_path / GOING).touch()
    run = run_on_items(context, "reader", "zettelkatalog", 8, tmp_path)

    def slow(command, folder, seconds):
        assert command == run.command
        subprocess.run([sys.executable, "-c", WRITES, str(run.path)], check=True)
        return watched(["sleep", "600"], folder, seconds)

    last = list(ask(context, run, slow))[-1]
    assert last.ended == Ended.TIME
    assert last.answers == [
        {"id": "sample-01", "text": "{}"},
        {"id": "sample-02", "error": "a: damaged"},
    ]
    result = score(str(sample / "hdb/zettelkatalog"), run.path)
    assert result.ids == ["sample-01", "sample-02"]
    assert result.run.subset == "stopped after 2; of 8 items"
    assert "secret" not in run.path.joinpath("run.json").read_text()


def test_why_a_run_failed_is_told_in_the_visitor_s_language(sample, tmp_path, monkeypatch):
    monkeypatch.setenv("HDBENCH_LANGUAGE", "en")  # the operator's
    context = SpaceContext(sample / "hdb", models=("reader",))
    (tmp_path / GOING).touch()
    run = run_on_items(context, "reader", "zettelkatalog", 2, tmp_path)
    run = run._replace(model="/srv/secret/damaged", language="de")
    last = list(ask(context, run, watched))[-1]
    assert last.ended == Ended.FAILED
    log = (tmp_path / "log").read_text()
    assert "Fehler: " in log
    assert last.problem == log.splitlines()[-1].removeprefix("Fehler: ").replace("/srv/secret/", "")

    def silent(command, folder, seconds):
        return watched([sys.executable, "-c", "raise SystemExit(1)"], folder, seconds)

    last = list(ask(context, run, silent))[-1]
    assert last.problem.startswith("Der Prozess des Modells endete wortlos")


def test_a_run_that_is_left_ends_its_process(sample, tmp_path):
    context = SpaceContext(sample / "hdb", models=("reader",))
    (tmp_path / GOING).touch()
    run = run_on_items(context, "reader", "zettelkatalog", 2, tmp_path)
    with closing(ask(context, run, watched)) as states:
        first = next(states)
        assert (first.answers, first.total, first.left, first.ended) == ([], 2, None, None)
        until(lambda: len(processes()) == 1)  # its name is known a moment after its start
    assert processes() == []


def test_a_visitor_sees_how_far_the_model_is_and_each_answer_as_it_comes(
    sample, tiny_model, tmp_path
):
    context = SpaceContext(sample / "hdb", models=(str(tiny_model),))
    (tmp_path / GOING).touch()
    run = run_on_items(context, tiny_model.name, "zettelkatalog", 3, tmp_path)
    states = list(ask(context, run, watched))
    assert states[-1].ended == Ended.ALL
    assert all(answer["tokens"]["output"] <= 512 for answer in states[-1].answers)
    assert {1, 2} <= {len(state.answers) for state in states if state.ended is None}
    said = [state for state in states if re.match(r"item \d of 3, \d+ tokens", state.now)]
    assert said


def test_fields_are_those_of_the_record_in_a_text(sample):
    benchmark = load_benchmark(str(sample / "hdb/zettelkatalog"))
    text = 'Here:\n```json\n{"type": {"type": "Reference"}, "author": {"last_name": null}}\n```'
    found = fields_of(benchmark, text)
    assert ("type.type", "Reference") in found
    assert ("author.last_name", "null") in found
    assert fields_of(benchmark, "no record") == []


def test_a_gpu_is_borrowed_where_the_package_for_it_is_there(tmp_path, monkeypatch):
    assert with_gpu(300) is watched
    lent = "def GPU(duration):\n    return lambda function: (duration, function)\n"
    (tmp_path / "spaces.py").write_text(lent)
    monkeypatch.delitem(sys.modules, "spaces", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert with_gpu(300) == (330, watched)
