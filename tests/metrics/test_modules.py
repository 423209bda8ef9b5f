"""The metric modules, as `evaluate.load` gives them, and what every metric folder must have."""

import contextlib
import doctest
import json
import pickle

import pytest
import yaml
from helpers.plain_evaluate import evaluate

from hdbench.about import installed_folder
from hdbench.scoring import METRICS

FOLDERS = [installed_folder("metrics") / name for name in METRICS]


@pytest.fixture
def namespace(sample, monkeypatch):
    """Be in a folder with a built hdb/."""
    monkeypatch.chdir(sample)
    return sample


@pytest.fixture(scope="module")
def metric(sample):
    with contextlib.chdir(sample):
        return evaluate.load("hdb/zettel_f1", keep_in_memory=True)  # the lock of a file takes 1 s


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_metric_folder_is_a_whole_space(folder):
    card = (folder / "README.md").read_text()
    _, front, body = card.split("---\n", 2)
    header = yaml.safe_load(front)
    assert header["sdk"] == "gradio"
    assert header["app_file"] == "app.py"
    assert {"evaluate", "metric"} <= set(header["tags"])
    for file in ("app.py", "requirements.txt", f"{folder.name}.py"):
        assert (folder / file).is_file()
    assert "in a checkout of its repository, `pip install .`" in body  # as in the README
    assert "higher is better" in body or "lower is better" in body
    for option in METRICS[folder.name].option_names:
        assert f"**{option}**" in body


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_examples_of_card_and_docstring_run(folder, namespace):
    card = doctest.DocTestParser().get_doctest(
        (folder / "README.md").read_text(), {}, f"{folder.name}/README.md", None, 0
    )
    module = evaluate.load(f"hdb/{folder.name}")
    usage = doctest.DocTestParser().get_doctest(
        module.inputs_description, {}, f"{folder.name}.py", None, 0
    )
    for examples in (card, usage):
        assert examples.examples
        report = []
        failed, tried = doctest.DocTestRunner().run(examples, out=report.append)
        assert failed == 0, "".join(report)
        assert tried == len(examples.examples)


def test_the_configuration_is_the_protocol(namespace):
    for name, protocol in (
        (None, "documented"),
        ("documented", "documented"),
        ("published", "published"),
    ):
        metric = evaluate.load("hdb/zettel_f1", name)
        result = metric.compute(predictions=[{"a": ""}], references=[{"a": ""}])
        assert result["protocol"] == protocol
        assert result["true_positives"] == (protocol == "documented")
    with pytest.raises(ValueError, match="'publishd': choose one of documented, published"):
        evaluate.load("hdb/zettel_f1", "publishd")


def test_combined_with_others_by_add_add_batch_and_compute(namespace):
    names = ["zettel_f1", "letters_f1"]
    answers = [{"send_date": ["1929-03-12"]}, '{"send_date": "1929-03-13"}', None]
    truths = [{"send_date": ["1929-03-12"], "sender_persons": [], "receiver_persons": []}] * 3
    alone = {
        name: evaluate.load(f"hdb/{name}").compute(predictions=answers, references=truths)
        for name in names
    }
    both = evaluate.combine([f"hdb/{name}" for name in names])
    at_once = both.compute(predictions=answers, references=truths)
    for answer, truth in zip(answers, truths, strict=True):
        both.add(prediction=answer, reference=truth)
    one_by_one = both.compute()
    both.add_batch(predictions=answers, references=truths)
    assert at_once == one_by_one == both.compute()
    for name in names:
        for figure in ("f1_micro", "true_positives", "items", "unanswered", "signature"):
            assert at_once[f"{name}_{figure}"] == alone[name][figure]


def test_answers_without_a_shared_field_are_refused_unless_as_published(namespace):
    given = {"predictions": [{"Farbe": "a"}] * 3, "references": [{"title": "a", "year": 1957}] * 3}
    with pytest.raises(ValueError, match=r"share no field .* they have Farbe, .* has title, year"):
        evaluate.load("hdb/record_f1").compute(**given)
    assert evaluate.load("hdb/record_f1", "published").compute(**given)["f1_micro"] == 0
    given["predictions"][1] = {"year": 1957}
    assert evaluate.load("hdb/record_f1").compute(**given)["f1_micro"] > 0


def test_options_reach_the_metric(namespace):
    page = {"entries": [{"name": "Abegg", "year": 1947}, {"name": "Boreux", "year": 1948}]}
    read = {"entries": [{"name": "Boreux", "year": "1948"}, {"name": "Abegg", "year": "1.3.1947"}]}
    metric = evaluate.load("hdb/record_f1")
    dates = {"entries[].year": {"date": {"formats": ["%d.%m.%Y"]}}}
    for options, found in (
        ({"compare": dates}, 4),
        ({"compare": "exact"}, 3),
        ({"compare": dates, "lists": "position"}, 0),
    ):
        result = metric.compute(predictions=[read], references=[page], **options)
        assert (result["true_positives"], result["false_negatives"]) == (found, 4 - found)
        assert all(name in result["signature"] for name in options)


def test_a_text_is_read_by_the_form_of_the_ground_truths(namespace):
    """As `score` reads it: a bare list, one advertisement a line, a wrapper, and an error."""
    metric = evaluate.load("hdb/avisblatt_cer")
    ads = [{"text": "1. Rother Wein"}, {"text": "2. Eine Haus-Uhr"}]
    texts = [
        json.dumps(ads),
        "\n".join(map(json.dumps, ads)),
        json.dumps({"result": {"advertisements": ads}}),
        json.dumps({"message": "I see no image."}),
    ]
    result = metric.compute(predictions=texts, references=[{"advertisements": ads}] * 4)
    assert (result["answered"], result["fuzzy"]) == (3, 0.75)
    assert result["unparsable_kinds"] == {"message": 1}
    assert result["strictly"]["fuzzy"] == 0.0

    cards = evaluate.load("hdb/zettel_f1")
    card = {"author": {"last_name": "Müller"}, "publication": {"year": 1957}}
    texts = [json.dumps({"result": card}), "\n".join(json.dumps({k: v}) for k, v in card.items())]
    assert cards.compute(predictions=texts, references=[card, card])["f1_micro"] == 1.0


def test_pages_by_their_keys_say_the_form_of_a_text(namespace):
    """As in the description of the Avisblatt benchmark: each page stands under its own key."""
    metric = evaluate.load("hdb/avisblatt_cer")
    ads = [{"text": "1. Rother Wein"}, {"text": "2. Eine Haus-Uhr"}]
    forms = [ads, {"advertisements": ads}, {"[key_id]": ads}]
    texts = [*map(json.dumps, forms), {"[key_id]": ads}]
    references = [{f"image_{page}": ads} for page in range(len(texts))]
    result = metric.compute(predictions=texts, references=references)
    assert (result["answered"], result["fuzzy"], result["items_perfect"]) == (4, 1.0, 4)


def test_used_metric_with_data_in_memory_can_be_pickled(namespace):
    """One that keeps them in a file cannot: no metric of evaluate can, for the lock of the file."""
    metric = evaluate.load("hdb/zettel_f1", "published", keep_in_memory=True)
    asked = {"predictions": [{"a": ""}, {"a": 1}], "references": [{"a": ""}, {"a": 1}]}
    assert pickle.loads(pickle.dumps(metric)).compute(**asked) == metric.compute(**asked)
    assert pickle.loads(pickle.dumps(metric)).compute(**asked)["true_positives"] == 1


def test_values_arrive_exactly(namespace):
    """Arrow would unite types, take "null" for null, and stumble over a lone surrogate."""
    values = ["null", "12", 12, 1.5, True, None, "", "\ud800", float("nan"), {}, [], [None, "x"]]
    record = {f"f{position}": value for position, value in enumerate(values)}
    metric = evaluate.load("hdb/zettel_f1")
    result = metric.compute(predictions=[record, {}], references=[record, record], details=True)
    values = {match["field"]: match for match in result["per_item"][0]["fields"]}
    assert {match["outcome"] for match in values.values()} == {"correct"}
    assert [values[f"f{n}"]["prediction"] for n in (0, 1, 2, 7)] == ["null", "12", 12, "\ud800"]
    # Seven leaves that are not null stand in the record itself, as NaN is, and one in its list.
    assert result["per_item"][0]["true_positives"] == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [{}], "references": [{}, {}]}, "Mismatch in the number of predictions"),
        ({"predictions": [{}], "references": [None]}, r"references\[0\] is not a record: NoneType"),
        ({"predictions": [{}], "references": ["[1]"]}, r"references\[0\] is not a record: list"),
        ({"predictions": [{}], "references": ["x"]}, r"references\[0\] is not JSON"),
        (
            {"predictions": [{}], "references": ['{"year": NaN}']},
            r"references\[0\] is not JSON: line 1, year: NaN",
        ),
        ({"predictions": [{1, 2}], "references": [{}]}, r"predictions\[0\] is not a JSON value"),
        ({"predictions": [{}]}, "references: none were given"),
        ({"predictions": [{}], "references": [1]}, r"references\[0\] is the number 1: "),
        ({"predictions": [{}], "references": {}}, "references: a dict is not a list"),
        ({"predictions": "x", "references": [{}]}, "predictions: a str is not a list"),
        *(
            (
                {"predictions": [{}, value], "references": [{}, {}]},
                rf"predictions\[1\] is the number {value!r}: give a record",
            )
            for value in (7, 0.5, True, float("inf"))
        ),
        (
            {"predictions": [{}], "references": [{}], "name": "x"},
            "zettel_f1 has no option 'name'",
        ),
        ({"predictions": [{}], "references": [{}], "treshold": 1}, "zettel_f1 has no option"),
    ],
)
def test_wrong_input_is_a_value_error_and_the_metric_still_works(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric.compute(**arguments)
    result = metric.compute(predictions=[{"a": 1}], references=[{"a": 1}])
    assert (result["items"], result["f1_micro"]) == (1, 1.0)


def test_a_module_for_other_rules_says_so(namespace, tmp_path):
    module = tmp_path / "zettel_f1.py"
    source = (namespace / "hdb/zettel_f1/zettel_f1.py").read_text()
    module.write_text(source.replace("rules = 4", "rules = 5"))
    with pytest.raises(ValueError, match=r"for rules 5, and hdbench .* has rules 4"):
        evaluate.load(str(module))
