import pytest
from helpers.audited import run

from hdbench.evaluation.parts import ScoredDataset
from hdbench.report.audit.models import ask, maker_of
from hdbench.scoring.zettel_f1 import ZettelF1

TRUTHS = {str(number): {"title": "Stellingen"} for number in range(20)}


def answering(right, *, wrong=0, maker="Antares", model="one"):
    """A run with so many right and wrong answers; the rest are missing."""
    answers = {str(number): {"title": "Stellingen"} for number in range(right)}
    answers |= {str(right + number): {"title": "Ueber die Ehe"} for number in range(wrong)}
    return run(ZettelF1(), TRUTHS, answers, maker, model)


def good(runs):
    return [each.name for each in ask(runs) if each.good]


@pytest.mark.parametrize(
    ("said", "maker", "model"),
    [
        ({"provider": "openai", "model": "gpt-4o"}, "openai", "gpt-4o"),
        ({"provider": "openrouter", "model": "openai/gpt-4o"}, "openai", "gpt-4o"),
        ({"provider": "genai", "model": "gemini-2.5-pro"}, "google", "gemini-2.5-pro"),
        ({"provider": "openrouter", "model": "google/gemma-3"}, "google", "gemma-3"),
        ({"provider": "openrouter", "model": "mistralai/pixtral"}, "mistral", "pixtral"),
        ({"provider": "Anthropic", "model": "claude"}, "anthropic", "claude"),
        ({"model": "my-model"}, "my-model", "my-model"),
        ({"provider": None, "model": None}, "answers", "answers"),
        ({"provider": "local", "model": "/models/x"}, "local", "/models/x"),
    ],
)
def test_the_maker_is_read_off_the_model_or_the_provider(said, maker, model):
    assert maker_of(said, "answers") == (maker, model)


def test_the_upper_half_is_good_and_the_best_comes_first():
    runs = {
        f"run {right}": answering(right, wrong=20 - right, model=f"of {right}")
        for right in (4, 16, 8, 20, 12)
    }
    assert good(runs) == ["run 20", "run 16", "run 12"]
    why_not = {each.name: each.why_not for each in ask(runs)}
    assert why_not["run 8"] == "in the lower half"


def test_lower_middle_model_of_an_even_number_is_good():
    runs = {
        f"run {right}": answering(right, wrong=20 - right, model=f"of {right}")
        for right in (4, 8, 12, 16)
    }
    assert good(runs) == ["run 16", "run 12", "run 8"]


def test_of_the_runs_of_one_model_the_best_is_asked_alone():
    runs = {
        "first": answering(16, wrong=4),
        "again": answering(18, wrong=2),
        "third": answering(17, wrong=3),
        "other": answering(15, wrong=5, model="two"),
    }
    # The half is of two models, not of four runs: the lower one in the middle is "other".
    assert good(runs) == ["again", "other"]
    assert {each.name: each.why_not for each in ask(runs)}["first"] == (
        "a repeated run; the best one is again"
    )


def test_models_of_one_name_but_of_two_makers_are_two():
    runs = {"a": answering(20), "b": answering(20, maker="Bellatrix")}
    assert good(runs) == ["a", "b"]


def test_run_lacking_over_one_in_twenty_answers_is_not_good():
    runs = {
        "all": answering(20),
        "but one": answering(19, model="two"),
        "but two": answering(18, model="three"),
        "wrong": answering(10, wrong=10, model="four"),
        "wrong too": answering(10, wrong=10, model="five"),
    }
    assert good(runs) == ["all", "but one"]
    [lacking] = [each for each in ask(runs) if each.name == "but two"]
    assert lacking.why_not == "answered 18 of 20"


def test_where_lower_is_better_the_lower_half_is_good():
    runs = {
        f"run {right}": answering(right, wrong=20 - right, model=f"of {right}").replaced(
            dataset=ScoredDataset(headline="f1_micro", higher_is_better=False),
        )
        for right in (4, 12, 20)
    }
    assert good(runs) == ["run 4", "run 12"]


def test_of_three_models_by_three_makers_all_are_asked():
    runs = {
        f"run {right}": answering(right, wrong=20 - right, maker=maker)
        for right, maker in ((20, "Antares"), (16, "Bellatrix"), (12, "Capella"))
    }
    assert good(runs) == ["run 20", "run 16", "run 12"]


def test_lower_half_supplies_only_best_model_of_needed_makers():
    runs = {
        f"run {right}": answering(right, wrong=20 - right, maker=maker, model=f"of {right}")
        for right, maker in (
            *((20, "Antares"), (18, "Antares"), (16, "Bellatrix"), (14, "Antares")),
            *((12, "Bellatrix"), (10, "Capella"), (8, "Capella"), (6, "Deneb")),
        )
    }
    # The upper half, down to the fifth of eight, is of two makers.
    assert good(runs) == ["run 20", "run 18", "run 16", "run 14", "run 12", "run 10"]
    why_not = {each.name: each.why_not for each in ask(runs) if not each.good}
    assert why_not == dict.fromkeys(["run 8", "run 6"], "in the lower half")
