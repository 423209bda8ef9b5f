import json

import pytest
import yaml
from reference.acceptance import upper_bound
from scipy import stats
from trust.collection import Collection
from trust.test_apply import applied

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError
from hdbench.trust.applied_folder import Applied
from hdbench.trust.checked import UNKNOWN
from hdbench.trust.control import Control, check_control, read_control
from hdbench.trust.plan import write_plan
from hdbench.trust.words import control_sentences


@pytest.fixture
def collection(tmp_path):
    made = Collection(tmp_path)
    applied(made)
    return made


def controlled(collection, changed=(), **how):
    """What the control sample says if some of its items have another truth than the models."""
    sample = read_control(collection.folder / "out/control.yaml").sample
    truths = {item: collection.truth(item) for item in sample}
    for place, values in changed:
        truths[sample[place]] |= values
    collection.write_truths(collection.checked() | truths, **how)
    return check_control(collection.folder / "out", load_benchmark(str(collection.benchmark)))


def test_control_sample_is_drawn_from_items_with_taken_values(collection):
    control = read_control(collection.folder / "out/control.yaml")
    assert len(control.sample) == len(set(control.sample)) == 20
    assert control.of == 90
    assert set(control.sample) <= set(collection.rest)
    ordered = [collection.ids.index(item) for item in control.sample]
    assert ordered != sorted(ordered)


def test_its_figures_are_those_of_the_rule_from_its_items_alone(collection):
    # Of 20 items with 4 values each, one has a wrong title, and one a wrong year and place.
    other = {"year": 1, "imprint": {"place": "Chur"}}
    found = controlled(collection, [(3, {"title": "?"}), (11, other)])
    assert (found.items, found.of, found.values, found.taken) == (20, 90, 80, 360)
    letter = found.wrong["letter"]
    assert (letter.count, letter.rate) == (3, 3 / 80)
    assert letter.upper == pytest.approx(upper_bound([4] * 20, [1, 2] + [0] * 18))
    # By hand: the design effect is 3, and (t / z)^2 = (1.3277 / 1.2816)^2.
    worth = 80 / 3 / (1.3277 / 1.2816) ** 2
    by_hand = stats.beta.ppf(0.9, 3 / 80 * worth + 1, worth - 3 / 80 * worth)
    assert letter.upper == pytest.approx(by_hand, abs=1e-4)
    assert found.by_field["title"].wrong == 1
    assert found.by_field["keywords"].wrong == 0
    # None of 20 wrong: 1 - 0.1 ** (1 / 20).
    assert found.by_field["keywords"].share.upper == pytest.approx(1 - 0.1 ** (1 / 20))
    assert "shelfmark" not in found.by_field
    first, second, _, means = control_sentences(found)
    assert "20 items drawn at random from 90" in first
    assert "3 of 80 such values were wrong to the letter (3.8%)" in first
    assert "By the rule's upper bound, at most" in first
    assert "above the limit of the plan, 5.0%" in second
    assert "calibrated for 90% confidence but do not guarantee it" in means
    assert "3 of 80 were wrong" in control_sentences(found)[2]
    german = control_sentences(found, "de")
    assert "waren 3 von 80 solchen Werten falsch" in german[0]
    assert "über der Grenze des Plans, 5,0\xa0%" in german[1]


def test_a_value_nearly_right_counts_as_wrong_to_the_letter_only(collection):
    first = read_control(collection.folder / "out/control.yaml").sample[0]
    title = collection.truth(first)["title"] + "."  # a similarity of at least 14 / 15
    found = controlled(collection, [(0, {"title": title})])
    assert found.wrong["letter"].count == 1
    assert found.wrong["threshold"].count == 0


def test_truths_that_were_not_made_blind_are_named_or_refused(collection):
    found = controlled(collection, provenance="imported")
    assert found.not_blind == {"imported": 20}
    of_unknown_origin = found.model_copy(update={"not_blind": {UNKNOWN: 20}})
    assert "(Herkunft: unbekannt)" in control_sentences(of_unknown_origin, "de")[-1]
    assert (
        "For 20 of the 20 items, it is not known that the ground truth was made blind"
        in control_sentences(found)[-1]
    )
    with pytest.raises(HdbenchError, match="to be checked before the work list"):
        controlled(collection, provenance="draft:one")


def reordered(text):
    """A control sample in another order, with the hash that fits."""
    said = yaml.safe_load(text)
    del said["control"], said["hash"]
    said["sample"] = said["sample"][::-1]
    return yaml.safe_dump({"control": 1, "hash": Control(**said).hash(), **said})


def first_ones(text):
    """The first half of a control sample, with the hash that fits."""
    said = yaml.safe_load(text)
    del said["control"], said["hash"]
    said["sample"] = said["sample"][: len(said["sample"]) // 2]
    return yaml.safe_dump({"control": 1, "hash": Control(**said).hash(), **said})


def test_the_first_items_of_a_sample_are_not_the_sample(collection):
    controlled(collection)
    path = collection.folder / "out/control.yaml"
    path.write_text(first_ones(path.read_text()))
    assert len(read_control(path).sample) == 10

    benchmark = load_benchmark(str(collection.benchmark))
    with pytest.raises(HdbenchError, match="not the control sample that was drawn"):
        check_control(collection.folder / "out", benchmark)
    with pytest.raises(HdbenchError, match="not the control sample that was drawn"):
        applied(collection, control=10)


@pytest.mark.parametrize(("key", "said"), [("taken", 360), ("to_look_at", 90), ("checked", 300)])
def test_what_was_done_is_sealed(collection, key, said):
    controlled(collection)
    path = collection.folder / "out/applied.json"
    applied = json.loads(path.read_text())
    assert applied[key] == said
    path.write_text(json.dumps(applied | {key: said + 1}))
    with pytest.raises(HdbenchError, match=r"applied.json: was changed after it was written"):
        check_control(collection.folder / "out", load_benchmark(str(collection.benchmark)))


def test_values_taken_over_are_counted_anew(collection):
    controlled(collection)
    path = collection.folder / "out/applied.json"
    applied = json.loads(path.read_text())
    del applied["hash"]
    changed = Applied(**applied | {"taken": 361})
    path.write_text(json.dumps({**changed.as_dict(), "hash": changed.hash()}))
    said = r"applied.json: says that 361 values are accepted, and in .*values.jsonl 360 are"
    with pytest.raises(HdbenchError, match=said):
        check_control(collection.folder / "out", load_benchmark(str(collection.benchmark)))


def test_the_decision_is_sealed(collection):
    controlled(collection)
    path = collection.folder / "out/decision.json"
    decision = json.loads(path.read_text())
    path.write_text(json.dumps(decision | {"checked": decision["checked"] + 1}))
    with pytest.raises(HdbenchError, match=r"decision.json: was changed after it was written"):
        check_control(collection.folder / "out", load_benchmark(str(collection.benchmark)))


def test_what_was_changed_or_is_not_checked_is_refused(collection):
    benchmark = load_benchmark(str(collection.benchmark))
    with pytest.raises(HdbenchError, match="20 of 20 items of the sample have no ground truth yet"):
        check_control(collection.folder / "out", benchmark)
    controlled(collection)
    path = collection.folder / "out/control.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("of: 90", "of: 91"))
    with pytest.raises(HdbenchError, match="was changed after it was made"):
        check_control(collection.folder / "out", benchmark)
    path.write_text(reordered(whole))
    with pytest.raises(HdbenchError, match="not those that the seed of the plan draws"):
        check_control(collection.folder / "out", benchmark)
    path.write_text(whole)
    plan = collection.folder / "out/plan.yaml"
    kept = plan.read_text()
    plan.unlink()
    write_plan(plan, collection.plan.model_copy(update={"limit": 0.1}))
    with pytest.raises(HdbenchError, match=r"plan.yaml: not the plan of"):
        check_control(collection.folder / "out", benchmark)
    plan.write_text(kept)
    values = collection.folder / "out/values.jsonl"
    values.write_text(values.read_text().replace("Titel 7", "Titel 8"))
    with pytest.raises(HdbenchError, match="is not what the control sample was drawn from"):
        check_control(collection.folder / "out", benchmark)
    (collection.folder / "out/applied.json").unlink()
    with pytest.raises(HdbenchError, match="is not finished"):
        check_control(collection.folder / "out", benchmark)
    with pytest.raises(HdbenchError, match="not a folder of hdbench trust apply"):
        check_control(collection.folder, benchmark)


def test_the_command_prints_and_writes_it(collection, run_hdbench):
    controlled(collection)
    told = run_hdbench("trust", "control", "out", "--json", "c.json", cwd=collection.folder)
    assert told.returncode == 0, told.stderr
    assert "0 of 80 such values were wrong to the letter (0.0%)" in told.stdout
    # None of 80 values is wrong, and still the bound is above 5 %: 3 values are worth one.
    *_, then, _, _ = told.stdout.splitlines()
    assert then.startswith("next: do not use the values in out/values.jsonl unseen: look at them")
    said = json.loads((collection.folder / "c.json").read_text())
    assert said["wrong"]["letter"]["upper"] == pytest.approx(upper_bound([4] * 20, [0] * 20))


def test_confirming_control_sample_says_what_comes_next(tmp_path, run_hdbench):
    collection = Collection(tmp_path, number=300)
    applied(collection, control=100)
    controlled(collection)
    told = run_hdbench("trust", "control", "out", cwd=tmp_path)
    assert "This is within the limit of the plan, 5.0%." in told.stdout
    *_, then, _ = told.stdout.splitlines()
    assert then == (
        "next: the values in out/values.jsonl can be used; for the others: hdbench annotate "
        f"{collection.benchmark} --only out/worklist.csv"
    )
    german = run_hdbench("trust", "control", "out", cwd=tmp_path, HDBENCH_LANGUAGE="de")
    assert "\nals Nächstes: Die Werte in out/values.jsonl können verwendet werden" in german.stdout
