import json

import pytest
from reference import learned as naive
from trust.collection import Collection

from hdbench.collections.trust.control import check_control
from hdbench.collections.trust.folder import Applied
from hdbench.collections.trust.sentences import control_sentences
from hdbench.errors import HdbenchError


@pytest.fixture
def collection(tmp_path):
    made = Collection(tmp_path)
    made.apply()
    return made


def controlled(collection, wrong=(), **changed):
    """What the control sample says if people read something else in some of its places."""
    sample = collection.control()
    kept = [pair for place, pair in enumerate(sample.sample) if place not in wrong]
    collection.read_as(sample, "control", kept)
    collection.read_as(sample, "control", [sample.sample[place] for place in wrong], **changed)
    return check_control(collection.out, collection.benchmark)


OTHER = {"title": "?", "year": 1, "imprint": {"place": "?"}, "keywords": []}


def test_control_sample_is_drawn_from_accepted_values(collection):
    control, decision = collection.control(), collection.decide()
    assert len(control.sample) == len(set(control.sample)) == 20
    assert control.of == decision.accepted
    assert not collection.read & set(control.sample)
    ordered = [collection.ids.index(item) for item, _ in control.sample]
    assert ordered != sorted(ordered)


def test_its_figures_are_exact_and_from_its_values_alone(collection):
    found = controlled(collection, [3, 11], **OTHER)
    sample = collection.control()
    assert (found.of, found.values) == (sample.of, 20)
    letter = found.wrong["letter"]
    assert (letter.count, letter.rate) == (2, 2 / 20)
    # The bound is the least share, of those that nobody has read, that is shown to hold.
    unread = sample.of - 20
    most = round(letter.upper * unread)
    for wrong, holds in ((most, True), (most - 1, False)):
        assert (
            naive.passes(sample.of, 20, 2, f"{wrong}/{unread}", risk=naive.Fraction("0.1")) is holds
        )
    first, verdict, *_ = control_sentences(found)
    assert "2 were wrong to the letter (10.0%)" in first
    assert verdict.startswith("More than the limit of the plan, 10.0%, may be wrong")


def test_accepted_values_are_counted_anew(collection):
    controlled(collection)
    path = collection.out / "applied.json"
    applied = json.loads(path.read_text())
    del applied["hash"]
    changed = Applied(**applied | {"taken": applied["taken"] + 1})
    path.write_text(json.dumps({**changed.as_dict(), "hash": changed.hash()}))
    with pytest.raises(HdbenchError, match=r"and none is about .*applied\.json"):
        check_control(collection.out, collection.benchmark)


def test_what_is_not_read_or_not_finished_is_refused(collection):
    with pytest.raises(HdbenchError, match="20 of 20 values are not read yet"):
        check_control(collection.out, collection.benchmark)
    (collection.out / "applied.json").unlink()
    with pytest.raises(HdbenchError, match="is not finished"):
        check_control(collection.out, collection.benchmark)
    with pytest.raises(HdbenchError, match="not a folder of hdbench trust apply"):
        check_control(collection.folder, collection.benchmark)


def test_the_command_says_what_comes_next_and_writes_it(tmp_path, run_hdbench):
    collection = Collection(tmp_path)
    collection.apply(control=100)
    controlled(collection)
    told = run_hdbench("trust", "control", "out", "--json", "c.json", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "This is within the limit of the plan, 10.0%." in told.stdout
    *_, then, _, path = told.stdout.splitlines()
    assert then == (
        "next: the values in out/values.jsonl can be used; for the others: hdbench annotate "
        f"{collection.path} --only out/worklist.csv"
    )
    assert path == "c.json"
    said = json.loads((tmp_path / "c.json").read_text())
    assert said["wrong"]["letter"]["count"] == 0
    german = run_hdbench("trust", "control", "out", cwd=tmp_path, HDBENCH_LANGUAGE="de")
    assert "\nals Nächstes: Die Werte in out/values.jsonl können verwendet werden" in german.stdout
