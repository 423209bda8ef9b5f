"""What is known of models: the file of the results dataset, and what is refused in such a file."""

import re
from pathlib import Path

from hdbench.benchmarks.model_facts import MODELS_FILE, ModelFacts, read_model_facts

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
