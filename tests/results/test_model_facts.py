"""What is known of models: the file of the results dataset, and what is refused in such a file."""

import re
from pathlib import Path

import pytest

from hdbench.errors import HdbenchError
from hdbench.results.model_facts import MAX_BYTES, MODELS_FILE, ModelFacts, read_model_facts

OURS = Path(__file__).parents[2] / "dataset_scripts/results"

FACTS = """
reader-1:
  open_weights: true
  parameters: 12B
  licence: MIT
  runs_locally: true
  source: https://example.org/reader-1
"""


def test_a_model_s_facts_are_read_and_null_is_not_known(tmp_path):
    unknown = "reader-2: {open_weights: null, parameters: null, licence: null, runs_locally: null, "
    (tmp_path / MODELS_FILE).write_text(FACTS + unknown + "source: nothing is said of it}\n")
    assert read_model_facts(tmp_path) == {
        "reader-1": ModelFacts(
            open_weights=True,
            parameters="12B",
            licence="MIT",
            runs_locally=True,
            source="https://example.org/reader-1",
        ),
        "reader-2": ModelFacts(
            open_weights=None,
            parameters=None,
            licence=None,
            runs_locally=None,
            source="nothing is said of it",
        ),
    }


def test_without_a_file_nothing_is_known(tmp_path):
    assert read_model_facts(tmp_path) == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence", "license", "reader-1.licence: Field required"),
        ("  licence: MIT", "  licence: MIT\n  size: 3", "reader-1.size: Extra inputs"),
        ("12B", "12", "reader-1.parameters: Input should be a valid string"),
        ("12B", "B" * 301, "reader-1.parameters: String should have at most 300"),
        ("open_weights: true", "open_weights: 1", "reader-1.open_weights: Input should be"),
        ("open_weights: true", "open_weights: false", "what runs locally has open weights"),
        ("  source: https://example.org/reader-1\n", "", "reader-1.source: Field required"),
        ("reader-1", "[1]", "not YAML|valid"),
        (FACTS, "- 1", "valid dictionary"),
        (FACTS, "#" * MAX_BYTES + "\n", "larger than 1 MiB"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, old, new, message):
    assert old in FACTS
    (tmp_path / MODELS_FILE).write_text(FACTS.replace(old, new))
    with pytest.raises(HdbenchError, match=message) as error:
        read_model_facts(tmp_path)
    assert str(error.value).startswith(f"{tmp_path / MODELS_FILE}: ")
    assert len(str(error.value).splitlines()) == 1


def test_our_own_file_keeps_the_rule_that_it_states():
    text = (OURS / MODELS_FILE).read_text()
    assert "at most 35B in all" in text
    facts = read_model_facts(OURS)
    assert len(facts) == len(re.findall(r"^\S.*:$", text, re.MULTILINE)) > 50
    for model, known in facts.items():
        if known.open_weights:
            billions = float(re.match(r"(\d+)B", known.parameters)[1])
            assert known.runs_locally == (billions <= 35), model
            assert known.source.startswith("https://huggingface.co/")
        else:
            assert known.runs_locally is False
            assert (known.parameters, known.licence) == ("not published", "proprietary")


def test_only_dates_that_a_name_carries_are_in_our_file():
    for model, known in read_model_facts(OURS).items():
        digits = (known.released or "").split("-")
        ways = ("".join(digits), "-".join(digits), "-".join(reversed(digits)))
        assert known.released is None or model.endswith(ways), model
