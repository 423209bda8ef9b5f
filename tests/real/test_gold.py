"""Gold is gold on the published data: a ground truth as the answer is perfect."""

import json

import pytest
from helpers.gold import (
    IN_TABLES,
    PROTOCOLS,
    WAYS,
    WAYS_OF_RECIPES,
    WAYS_OF_TABLES,
    assert_never_perfect_with_one_value_wrong,
    assert_perfect,
    figures_by,
    rows_of,
)
from real.conftest import BENCHMARKS

pytestmark = pytest.mark.slow

NAMES = sorted(BENCHMARKS)

WELL_FORMED = 34
"""How many of the 50 ground truths of advertxml parse as XML, as its card says."""

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture
def figures_of(published, tmp_path, monkeypatch, run_hdbench):
    """Gives the figures of a benchmark's ground truths as answers, scored in some way."""
    monkeypatch.chdir(tmp_path)

    def figures_of(name, protocol, way):
        folder = published.folder / "hdb" / name
        figures = figures_by(way, folder, protocol, run_hdbench)
        if name == "advertxml" and protocol == "documented":
            assert figures.pop("well_formed") == WELL_FORMED / 50
        return figures

    return figures_of


@pytest.mark.parametrize("way", [*WAYS, *WAYS_OF_RECIPES])
@protocols
@pytest.mark.parametrize("name", NAMES)
def test_the_published_ground_truths_are_perfect_answers(
    name, protocol, way, figures_of, published
):
    assert_perfect(published.folder / "hdb" / name, figures_of(name, protocol, way))


@pytest.mark.parametrize("form", WAYS_OF_TABLES)
@pytest.mark.parametrize(
    ("name", "protocol"), [pair for pair in IN_TABLES if pair[0] in BENCHMARKS]
)
def test_the_published_ground_truths_are_perfect_in_a_table(
    name, protocol, form, figures_of, published
):
    figures = figures_of(name, protocol, form)
    if name == "zettelkatalog":
        # The year of one card is a text, and comes as a number out of a table.
        assert figures["items_perfect"] == 262
        assert figures["f1_micro"] == figures["f1_macro"] == 1.0
    else:
        assert_perfect(published.folder / "hdb" / name, figures)


@protocols
@pytest.mark.parametrize("name", NAMES)
def test_with_one_value_wrong_an_answer_is_never_perfect(name, protocol, published):
    folder = published.folder / "hdb" / name
    assert_never_perfect_with_one_value_wrong(name, folder, protocol, seed=37, most=12)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_counts_differs_from_what_was_published_by_corrections_of_form_alone(name, published):
    counted, as_published = (rows_of(published.folder / "hdb" / name, each) for each in PROTOCOLS)
    differ = {item for item in counted if counted[item] != as_published[item]}
    corrected = {"avisblatt": 3, "bibliography": 1, "blacklist": 2, "rheinschifffahrt": 4}
    assert len(differ) == corrected.get(name, 0)
    assert "as_published" not in json.dumps(counted)
