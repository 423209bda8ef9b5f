"""Corrections of published truths."""

import pytest
from pydantic import ValidationError

from hdbench.benchmarks.building.errata import Errata
from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.errors import HdbenchError

SIGNED = {"proposed_by": "Anna Muster", "approved_by": "Berta Beispiel"}


DATES = [("1", "1731'"), ("2", "1732")]


def rows():
    ads = [{"date": "1731'"}, {"date": "1731'", "text": "3. Ein Stock Heu"}, {"date": "1732"}]
    persons = [{"name": "Frey, Jean", "aliases": []}, {"name": "Buess, J. E.", "aliases": []}]
    yield RecipeRow("page", (), {"ads": ads})
    yield RecipeRow("letter", (), {"persons": persons})


def corrected(*corrections, changed=False, exclude=(), renamings=()):
    """Id → row."""
    form = {"kind": "form", **SIGNED}
    errata = Errata.model_validate(
        {
            "corrections": [
                {"evidence": "misprint", **form, **correction} for correction in corrections
            ],
            "renamings": [{"evidence": "misspelt", **form, **each} for each in renamings],
            "exclude": [{"id": name, "evidence": "gone", **form} for name in exclude],
        }
    )
    return {row.id: row for row in errata.apply(rows(), changed=changed)}


def apply(*corrections, **more):
    """Id → ground truth; the published ones are kept beside."""
    found = corrected(*corrections, **more)
    assert {item: row.published for item, row in found.items()} == {
        item: truth for item, truth in PUBLISHED.items() if item in found
    }
    return {item: row.ground_truth for item, row in found.items()}


PUBLISHED = {row.id: row.ground_truth for row in rows()}


def test_without_corrections_nothing_changes():
    assert apply() == PUBLISHED


def test_wrong_list_items_are_corrected_keeping_the_published():
    truths = apply({"id": "page", "field": "ads[*].date", "old": "1731'", "new": "1731"})
    assert [ad["date"] for ad in truths["page"]["ads"]] == ["1731", "1731", "1732"]
    assert truths["letter"] == PUBLISHED["letter"]


def test_a_field_gets_another_name_wherever_it_has_the_wrong_one():
    said = {"id": "page", "field": "ads[*].text", "to": "transcription"}
    truths = apply(renamings=[said])
    assert truths["page"]["ads"] == [
        {"date": "1731'"},
        {"date": "1731'", "transcription": "3. Ein Stock Heu"},
        {"date": "1732"},
    ]
    assert truths["letter"] == PUBLISHED["letter"]


@pytest.mark.parametrize(
    ("made", "then"),
    [
        ("blind", "corrected after audit"),
        ("imported", "corrected after audit"),
        ("draft:qwen-1", "draft:qwen-1"),  # the other values still stem from the draft
        ("Stiftsbibliothek", "Stiftsbibliothek"),  # a column of the collection's own
    ],
)
def test_a_corrected_row_says_that_it_was_corrected(made, then):
    said = {"id": "1", "field": "date", "kind": "form", "old": "1731'", "new": "1731"}
    said |= {"evidence": "x", **SIGNED}
    rows = [RecipeRow(item, (), {"date": date}, {"provenance": made}) for item, date in DATES]
    found = {
        row.id: row.columns for row in Errata.model_validate({"corrections": [said]}).apply(rows)
    }
    assert found == {"1": {"provenance": then}, "2": {"provenance": made}}


@pytest.mark.parametrize(
    ("field", "old", "new", "ad"),
    [
        ("ads[1].date", "1731'", "1730", {"date": "1730", "text": "3. Ein Stock Heu"}),
        ("ads[1].text", "3. Ein Stock Heu", None, {"date": "1731'"}),
        (
            "ads[1].section",
            None,
            "x",
            {"date": "1731'", "text": "3. Ein Stock Heu", "section": "x"},
        ),
    ],
)
def test_a_value_is_replaced_taken_away_or_added(field, old, new, ad):
    truths = apply({"id": "page", "field": field, "old": old, "new": new})
    assert truths["page"]["ads"] == [PUBLISHED["page"]["ads"][0], ad, PUBLISHED["page"]["ads"][2]]


@pytest.mark.parametrize(
    ("item", "field", "old", "why"),
    [
        ("page", "ads[*].date", "1733", """has "1731'", "1732" there, not "1733": correct old:"""),
        ("page", "ads[7].date", "1731'", "has no such field there: correct field:"),
        ("page", "ads.date", "1731'", "has no such field there: correct field:"),
        ("nowhere", "ads[*].date", "1731'", "has no such item: correct id:"),
    ],
)
def test_unmatched_correction_is_an_error_in_an_unchanged_source(item, field, old, why):
    wrong = {"id": item, "field": field, "old": old, "new": "1731"}
    with pytest.raises(HdbenchError) as error:
        apply(wrong)
    assert str(error.value).startswith(f"errata.yaml: {item} {field}: the source {why}")
    assert apply(wrong, changed=True) == PUBLISHED


def test_an_excluded_item_is_left_out_and_must_have_been_there():
    assert list(apply(exclude=["page"])) == ["letter"]
    with pytest.raises(HdbenchError, match="excludes 'nowhere'"):
        apply(exclude=["nowhere"])


WRONG = {"id": "page", "field": "ads[*].date", "old": "1731'", "new": "1731"}


@pytest.mark.parametrize("key", ["evidence", "proposed_by", "approved_by"])
def test_an_erratum_has_its_evidence_and_who_stands_for_it(key):
    for value in ("", "  ", None):
        with pytest.raises(ValidationError, match=key):
            apply({**WRONG, key: value})


ACCEPTED = "https://example.org/cards/issues/7"
YEAR = {"id": "page", "field": "ads[2].date", "kind": "value", "old": "1732", "new": "1733"}


def test_a_proposed_value_stands_beside_and_does_not_count():
    rows = corrected(WRONG, YEAR)
    found = {
        name: [ad["date"] for ad in getattr(rows["page"], name)["ads"]]
        for name in ("ground_truth", "published", "proposed")
    }
    assert found == {
        "ground_truth": ["1731", "1731", "1732"],
        "published": ["1731'", "1731'", "1732"],
        "proposed": ["1731", "1731", "1733"],
    }
    # The others of the benchmark have one as well, the same as their ground truth.
    assert rows["letter"].proposed == rows["letter"].ground_truth == PUBLISHED["letter"]


def test_a_value_counts_when_the_owners_accepted_it():
    rows = corrected(WRONG, YEAR | {"accepted": ACCEPTED})
    assert [ad["date"] for ad in rows["page"].ground_truth["ads"]] == ["1731", "1731", "1733"]
    assert rows["page"].published == PUBLISHED["page"]
    assert rows["page"].proposed is None
