"""The process that draws a report's plots: what it draws, and when it ends."""

import psutil
import pytest

from hdbench.answers.answer import Answer
from hdbench.errors import HdbenchError
from hdbench.output.report.drawing import Drawing
from hdbench.output.report.plots import plots
from hdbench.results.items import score_items
from hdbench.scoring import make_metric


@pytest.fixture
def result():
    metric = make_metric("zettel_f1")
    prepared = metric.prepare({"title": "Stellingen", "year": 1924})
    answers = ({"title": "Stellingen", "year": 1942}, {"title": "Zettel"}) * 15
    items = [(Answer(answer, id=f"{n:04}"), prepared) for n, answer in enumerate(answers)]
    return score_items(metric, items, details=True)


def processes():
    """Those that draw plots: other tests may have left their own children to this process."""
    children = psutil.Process().children()
    running = (each for each in children if each.status() != psutil.STATUS_ZOMBIE)
    return [each for each in running if "hdbench.output.report.drawing" in each.cmdline()]


def drawn(drawing, result, errors):
    drawing.begin(result, errors, "en")
    return drawing.plots()


def test_another_process_draws_the_same_plots(result):
    with Drawing.started() as drawing:
        found = drawn(drawing, result, result.errors_by_class)
    assert found == plots(result)
    assert not processes()


def test_the_process_ends_with_a_report_that_comes_to_nothing(result):
    def failing():
        with Drawing.started() as drawing:
            drawing.begin(result, result.errors_by_class, "en")
            raise HdbenchError("no such run")

    with pytest.raises(HdbenchError, match="no such run"):
        failing()
    assert not processes()


@pytest.mark.parametrize("fields", [1, 10_000])  # less and more than a pipe holds
def test_that_the_process_died_is_told(result, fields):
    errors = {"fields": {f"field{n}": {} for n in range(fields)}}
    with Drawing.started() as drawing:
        [process] = processes()
        process.kill()
        process.wait()
        with pytest.raises(HdbenchError, match="died"):
            drawn(drawing, result, errors)
