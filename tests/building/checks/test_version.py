"""Data that were changed under the version of what was built."""

import json
import shutil

import pytest

from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe


@pytest.fixture
def built(folder):
    """The folder, built."""
    folder.save()
    build(find_recipe(str(folder.path)), folder.out)
    return folder


def test_the_same_data_may_be_built_again(built):
    assert built.check().problems == []


def test_a_ground_truth_that_was_changed_needs_another_version(built):
    built.truth(3)["place"] = "Stuttgart"
    problem = built.only()
    assert (problem.kind, problem.severity) == ("changed_data", "error")
    assert (problem.file, problem.field) == ("benchmark.yaml", "version")
    assert "raise it to 1.0.1" in problem.remedy
    built.spec["version"] = "1.0.1"
    built.write("CHANGELOG.md", "## 1.0.1\n")
    assert built.check().problems == []


def test_an_image_that_was_changed_too(built):
    shutil.copy(built.path / "images/3.png", built.path / "images/spare.png")
    other = built.path / "images/5.png"
    other.write_bytes(other.read_bytes() + b"\0")
    (built.path / "images/spare.png").unlink()
    assert built.only().kind == "changed_data"


def test_errata_that_do_not_fit_are_found_before_the_build(folder):
    signed = {"proposed_by": "A", "approved_by": "B", "evidence": "the card"}
    wrong = {"id": "card 3", "field": "place", "kind": "form", "old": "Bern", "new": "Basel"}
    wrong |= signed
    folder.write("errata.yaml", json.dumps({"corrections": [wrong, wrong | {"id": "card 99"}]}))
    problem = folder.only()
    assert (problem.kind, problem.file) == ("errata_unusable", "errata.yaml")
    assert "card 3 place: the source has " in problem.message
    assert "card 99 place: the source has no such item: correct id:" in problem.message
