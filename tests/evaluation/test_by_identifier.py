"""`--authority`: the figures with values that share an identifier counted as equal."""

import copy
import json
from pathlib import Path

import pytest
from helpers.results import flat_of
from helpers.run_folders import SPEC, write_run
from hypothesis import given
from hypothesis import strategies as st

from hdbench.benchmarks.authority_files import AuthorityLine, AuthorityTable
from hdbench.evaluation.by_identifier import Authorities, _Counts, with_shared_identifiers

pytestmark = pytest.mark.slow

TRUTHS = {
    "c1": {"title": "Die Ehe", "place": "Basel", "persons": [{"name": "Frey"}, {"name": "Weiß"}]},
    "c2": {"title": "Basel", "place": "Leiden", "persons": [{"name": "Frey"}]},
}
ANSWERS = {
    "c1": {
        "title": "Die Ehe",
        "place": "Basilea",
        "persons": [{"name": "Weiss"}, {"name": "Frey"}],
    },
    "c2": {"title": "Basilea", "place": "Lugdunum", "persons": [{"name": "Frey"}]},
}
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "place": TEXT,
        "persons": {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}},
    },
}
# Lugdunum is Leiden as well as Lyon, so that it says nothing.
PLACES = "Basel;Q78\nBasilea;Q78\nLeiden;Q43631\nLugdunum;Q43631\nLugdunum;Q456\n"


@pytest.fixture(params=["zettel_f1", "record_f1"])
def here(tmp_path, monkeypatch, request):
    made = tmp_path / "hdb/cards"
    made.mkdir(parents=True)
    (made / "benchmark.yaml").write_text(json.dumps(SPEC | {"metric": request.param}))
    (made / "answer.schema.json").write_text(json.dumps(SCHEMA))
    rows = [{"id": item, "ground_truth": json.dumps(truth)} for item, truth in TRUTHS.items()]
    (made / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_run(tmp_path / "run", {item: {"prediction": said} for item, said in ANSWERS.items()})
    (tmp_path / "places.csv").write_text(PLACES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored(run_hdbench, here, *more, answers="run"):
    done = run_hdbench("score", "hdb/cards", answers, "--json", "r.json", *more, cwd=here)
    assert done.returncode == 0, done.stderr
    return flat_of(Path("r.json")), " ".join(done.stdout.split())


def test_the_second_figure_stands_beside_the_first(here, run_hdbench):
    plain, _ = scored(run_hdbench, here)
    record, shown = scored(run_hdbench, here, "--authority", "place=places.csv")
    second = record.pop("by_identifier")
    assert record == plain
    # One value that was wrong on both sides is right.
    right, added, missing = (
        record[name] for name in ("true_positives", "false_positives", "false_negatives")
    )
    f1 = 2 * (right + 1) / (2 * right + added + missing)
    assert second["figures"]["f1_micro"] == pytest.approx(f1)
    assert (second["identified"], second["equated"]) == (1, 1)
    assert list(second["files"]) == ["place"]
    assert "with an identifier: 1; written otherwise" in shown


def test_a_file_for_all_fields_counts_in_each(here, run_hdbench):
    record, _ = scored(run_hdbench, here, "--authority", "places.csv")
    assert record["by_identifier"]["equated"] == 2  # also the title Basilea


def test_verifying_leaves_the_second_figure_out(here, run_hdbench):
    scored(run_hdbench, here, "--authority", "place=places.csv")
    done = run_hdbench("verify", "r.json", cwd=here)
    assert done.returncode == 0, done.stdout
    assert done.stdout == "r.json: equal\n"


def table(**names):
    lines = [AuthorityLine(name, key) for key, each in names.items() for name in each]
    return AuthorityTable(lines)


def exchanged(record, truth, names):
    counts = _Counts()
    authorities = Authorities({"": names}, {})
    return with_shared_identifiers(record, truth, authorities, counts), counts


def test_only_values_of_the_same_field_are_exchanged():
    names = table(Q78=["Basel", "Basilea", "Bâle"])
    truth = {"place": "Basel", "places": ["Bern", "Bâle", "Basel"]}
    said = {"place": "Bâle", "title": "Basilea", "places": ["Basilea", "Basel", "BASEL", 7, None]}
    record, counts = exchanged(said, truth, names)
    # At its own place, the ground truth's value with the identifier comes first.
    assert record["places"] == ["Bâle", "Bâle", "BASEL", 7, None]
    assert (record["place"], record["title"]) == ("Basel", "Basilea")
    assert (counts.identified, counts.equated) == (5, 3)


NAMES = ["Basel", "Bern", "Basilea", "Leiden", ""]
VALUES = st.recursive(
    st.sampled_from(NAMES) | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)
RECORDS = st.dictionaries(st.sampled_from("abc"), VALUES)


@given(RECORDS, RECORDS)
def test_without_shared_identifiers_nothing_changes(record, truth):
    before = copy.deepcopy(record)
    each_its_own = table(**{f"Q{n}": [name] for n, name in enumerate(NAMES) if name})
    assert exchanged(record, truth, each_its_own)[0] == before
    assert exchanged(record, truth, table())[0] == before


@given(RECORDS, RECORDS)
def test_what_is_exchanged_comes_from_the_ground_truth(record, truth):
    names = table(Q78=["Basel", "Basilea"], Q70=["Bern"], Q43631=["Leiden"])
    result, counts = exchanged(record, truth, names)
    assert exchanged(truth, truth, names)[0] == truth
    assert (result != record) == (counts.equated > 0)
    assert counts.equated <= counts.identified
