"""Gold is gold on the published data: a ground truth as the answer is perfect."""

import json
import re

import pytest
from helpers.gold import (
    PROTOCOLS,
    assert_never_perfect_with_one_value_wrong,
    assert_perfect,
    figures_of_gold,
    protocols,
    rows_of,
)
from real.conftest import BENCHMARKS

from hdbench.scoring import make_metric
from hdbench.scoring.letters_f1 import with_marks

pytestmark = pytest.mark.nightly

NAMES = sorted(BENCHMARKS)

WELL_FORMED = 34
"""How many of the 50 ground truths of advertxml parse as XML, as its card says."""


@pytest.mark.usefixtures("own_folder")
@protocols
@pytest.mark.parametrize("name", NAMES)
def test_published_ground_truths_are_perfect_in_every_way(name, protocol, published, run_hdbench):
    folder = published.folder / "hdb" / name
    for way, figures in figures_of_gold(folder, protocol, run_hdbench):
        if name == "advertxml" and protocol == "documented":
            assert figures.pop("well_formed") == WELL_FORMED / 50
        assert_perfect(folder, figures, way)


def as_texts(letter):
    """A letter's ground truth with its persons as the description writes them."""
    persons = {
        key: " | ".join(
            with_marks(person["name"], person["inferred"]) if person["inferred"] else person["name"]
            for person in letter[key]
        )
        for key in ("sender_persons", "receiver_persons")
    }
    return {**letter, **persons}


@protocols
def test_letters_as_texts_are_perfect_except_those_on_the_card(protocol, published):
    """`published` takes the brackets off, and then counts the persons who were inferred."""
    folder = published.folder / "hdb/rheinschifffahrt"
    metric = make_metric("letters_f1", protocol)
    imperfect = [
        item
        for item, truth in rows_of(folder, protocol).items()
        if not metric.score(as_texts(truth), metric.prepare(truth)).statistics["perfect"]
    ]
    if protocol == "documented":
        assert imperfect == []
    else:
        card = (folder / "README.md").read_text()
        [named] = [line for line in card.split("\n- ") if "removes the brackets" in line]
        assert re.findall(r"`(letter\d+)`", named) == imperfect
        assert f"of the {len(imperfect)} letters" in " ".join(named.split())


@protocols
@pytest.mark.parametrize("name", NAMES)
def test_with_one_value_wrong_an_answer_is_never_perfect(name, protocol, published):
    folder = published.folder / "hdb" / name
    assert_never_perfect_with_one_value_wrong(name, folder, protocol, seed=37, most=12)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_counted_truths_differ_from_published_only_in_form(name, published):
    counted, as_published = (rows_of(published.folder / "hdb" / name, each) for each in PROTOCOLS)
    differ = {item for item in counted if counted[item] != as_published[item]}
    corrected = {"avisblatt": 3, "bibliography": 1, "blacklist": 2, "rheinschifffahrt": 4}
    assert len(differ) == corrected.get(name, 0)
    assert "as_published" not in json.dumps(counted)
