"""ScienceMeta accuracy on the published examples, truth and answer side by side."""

import json

import pytest
from helpers.plain_evaluate import evaluate
from reference import sciencemeta_accuracy as naive

from hdbench.about import installed_folder
from hdbench.integrations.compare import main, write_similarity_data_to_excel
from hdbench.scoring.sciencemeta_accuracy import sequence_ratio


@pytest.fixture(scope="module")
def examples(shared):
    """Kind → its published rows, as truths and as answers."""
    found = {}
    for kind in ("paper", "textbook", "ebook"):
        path = shared / f"upstream/sciencemetabench/{kind}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        found[kind] = tuple(
            [
                {field: value[side] if field != "sha256" else value for field, value in row.items()}
                for row in rows
            ]
            for side in ("standard", "produced")
        )
    return found


@pytest.fixture(scope="module")
def metric():
    folder = installed_folder("metrics") / "sciencemeta_accuracy"
    return lambda *config: evaluate.load(str(folder / "sciencemeta_accuracy.py"), *config)


@pytest.mark.parametrize("protocol", ["documented", "published"])
def test_the_published_example_of_three_papers(examples, metric, protocol):
    truths, answers = examples["paper"]
    result = metric(protocol).compute(predictions=answers, references=truths)
    assert list(result["kinds"]) == ["paper"]  # no kind is given, but they have a doi
    fields = result["field_accuracy"]
    assert fields["doi"] == 2 / 3  # the same one, two empty ones, and one that was not found
    assert round(fields["doi"], 4) == 0.6667
    assert round(fields["title"], 4) == 0.8730
    assert round(result["overall_accuracy"], 4) == 0.6719
    # The years: equal, invented, equal. Empty on both sides is only the second paper's doi.
    assert fields["pub_time"] == 2 / 3
    assert (result["both_empty"], result["field_both_empty"]["doi"]) == (1, 1)
    assert result["field_accuracy_without_both_empty"]["doi"] == 1 / 2


def test_two_titles_of_the_example_by_hand(examples, metric):
    truths, answers = examples["paper"]
    details = metric().compute(predictions=answers, references=truths, details=True)["per_item"]
    alike = [{m["field"]: m["similarity"] for m in item["fields"]} for item in details]
    # 16 characters, and two more in the answer; 20, and an asterisk more in the truth.
    assert alike[0]["title"] == round(2 * 16 / 34, 3)
    assert alike[2]["title"] == round(2 * 20 / 41, 3)
    # Three of four authors, ten characters with their commas; the answer has two blanks more, the
    # truth the fourth author with a comma and a line end.
    assert alike[2]["author"] == round(2 * 10 / (12 + 14), 3)


def test_kinds_and_their_mean_agree_with_the_naive_reference(examples, metric):
    pairs = [
        (answer, {"kind": kind, **truth})
        for kind, (truths, answers) in examples.items()
        for answer, truth in zip(answers, truths, strict=True)
    ]
    answers, truths = zip(*pairs, strict=True)
    result = metric().compute(predictions=list(answers), references=list(truths))
    overall, kinds = naive.score(pairs)
    assert result["items"] == 9
    assert result["overall_accuracy"] == pytest.approx(overall, abs=1e-12)
    assert {kind: of["field_accuracy"] for kind, of in result["kinds"].items()} == {
        kind: pytest.approx(accuracy, abs=1e-12) for kind, (accuracy, _) in kinds.items()
    }
    assert list(result["kinds"]) == ["paper", "textbook", "ebook"]


def test_truths_are_perfect_answers_and_wrong_pairs_are_refused(examples, metric):
    for truths, answers in examples.values():
        result = metric().compute(predictions=truths, references=truths)
        assert (result["overall_accuracy"], result["items_perfect"]) == (1.0, 3)
        with pytest.raises(ValueError, match=f"the answer is for sha256 '{answers[1]['sha256']}'"):
            metric().compute(predictions=answers[1:], references=truths[:-1])


def test_autojunk_and_argument_order_change_the_similarity(examples):
    abstract = examples["paper"][0][1]["abstract"].lower()
    changed = "".join("#" if at % 50 == 25 else sign for at, sign in enumerate(abstract))
    assert round(sequence_ratio(abstract, changed), 3) == 0.567
    assert round(sequence_ratio(changed, abstract), 3) == 0.878
    # Without autojunk everything but the changed characters matches.
    kept = sum(sign != "#" for sign in changed)
    assert sequence_ratio(abstract, changed, autojunk=False) == kept / len(abstract)
    assert round(kept / len(abstract), 3) == 0.980


def test_the_published_example_by_compare(examples, tmp_path):
    for name, rows in zip(("bench", "llm"), examples["paper"], strict=True):
        lines = [json.dumps(row) + "\n" for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    key_list = ["doi", "title", "author", "keyword", "abstract", "pub_time"]
    accuracy, key_accuracy, detail_data = main(
        tmp_path / "llm.jsonl", tmp_path / "bench.jsonl", key_list
    )
    assert round(accuracy, 4) == 0.6719
    assert list(key_accuracy) == key_list
    assert (key_accuracy["doi"], round(key_accuracy["title"], 4)) == (2 / 3, 0.8730)
    write_similarity_data_to_excel(key_list, detail_data, tmp_path / "out.xlsx")
    assert (tmp_path / "out.xlsx").stat().st_size > 5000
