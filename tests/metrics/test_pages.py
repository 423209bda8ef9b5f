"""The page of each metric's Space: its own `app.py`, for a program and in a real browser."""

import pytest
from gradio_client.exceptions import AppError
from helpers.forks import Forks
from helpers.plain import PLAIN
from space.servers import serving, wait_for_client

from hdbench.about import installed_folder
from hdbench.scoring import METRICS

pytestmark = pytest.mark.nightly

APPS = sorted(installed_folder("metrics").glob("*/app.py"))
HEADLINES = {
    "avisblatt_cer": "fuzzy",
    "letters_f1": "f1_micro",
    "record_f1": "f1_micro",
    "sciencemeta_accuracy": "overall_accuracy",
    "text_cer": "cer",
    "zettel_f1": "f1_micro",
}


@pytest.fixture(scope="module")
def forks():
    """Forks of a process that imported what all pages need."""
    forks = Forks("hdbench.integrations.metric_page", **PLAIN)
    yield forks
    forks.close()


def of_metrics(*names):
    """The pages of these metrics only, for what all of them have from one module."""
    apps = [app for app in APPS if app.parent.name in names]
    assert len(apps) == len(names)
    return pytest.mark.parametrize("metric_space", apps, indirect=True, ids=names)


@pytest.fixture(scope="module", params=APPS, ids=lambda app: app.parent.name)
def metric_space(request, forks, tmp_path_factory):
    """The name of a metric, the address at which its app.py is served, and a client."""
    scratch = tmp_path_factory.mktemp("cache")
    with serving(str(request.param), cwd=scratch, process=forks, **PLAIN) as url:
        yield request.param.parent.name, url, wait_for_client(url)


def test_a_program_gets_the_score_of_the_example(metric_space):
    metric, _, client = metric_space
    result = client.predict(api_name="/compute")  # what stands on the page
    assert (result["protocol"], result["items"], result["answered"]) == ("documented", 1, 1)
    assert len(result["per_item"]) == 1
    assert 0 < result[HEADLINES[metric]] < 1


@of_metrics("zettel_f1")
@pytest.mark.parametrize(
    ("predictions", "references", "told"),
    [
        ("[1]", "[2]", "predictions[0] is the number 1: give a record"),
        ("[{}]", "[[]]", "references[0] is not a record"),
        ("[{}", "[{}]", "Predictions: not JSON"),
        ("[" * 5_000, "[{}]", "Predictions: not JSON: nested more than 100 deep"),
        ("{}", "[{}]", "Predictions: must be a list in [ ]"),
        ("[{}, {}]", "[{}]", "2 predictions and 1 references"),
        ("[" + " " * 2_000_000 + "]", "[]", "Predictions: more than 1,000,000 characters"),
    ],
)
def test_what_cannot_be_scored_is_told_in_a_line(metric_space, predictions, references, told):
    with pytest.raises(AppError) as error:
        metric_space[2].predict(predictions, references, "documented", api_name="/compute")
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


@of_metrics("letters_f1", "zettel_f1")
def test_the_page_scores_its_example_in_a_browser_on_a_phone(visit_at, metric_space):
    metric, url, _ = metric_space
    page = visit_at(url, awaited="button:has-text('Submit')", width=390)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text(f'"{HEADLINES[metric]}"').first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_metric_has_a_page():
    assert {app.parent.name for app in APPS} == set(METRICS) == set(HEADLINES)
