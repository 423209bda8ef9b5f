"""`compute_metrics`: the figures of what a trainer's evaluation predicts."""

import doctest
import json
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_evaluate import evaluate

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common import resources
from hdbench.errors import HdbenchError
from hdbench.integrations import trainer_metrics
from hdbench.integrations.trainer_metrics import best_tokens, compute_metrics

TRUTHS = [{"title": "Stellingen", "year": 1924}, {"title": "Kunst", "year": 1957}]
ANSWERS = ['Here: {"title": "Stellingen", "year": 1924}', '{"title": "Kunst", "pages": "8"}']


class BytesAsTokens:
    """A tokenizer whose tokens are bytes, with 0 as its one special token."""

    def decode(self, ids, *, skip_special_tokens):
        assert all(isinstance(number, int) for number in ids)
        return bytes(number for number in ids if number or not skip_special_tokens).decode()


def tokens(texts, padding=-100):
    """Rows of tokens, padded on the right."""
    rows = [list(text.encode()) for text in texts]
    longest = max(map(len, rows))
    return np.array([row + [padding] * (longest - len(row)) for row in rows])


def evaluated(predictions, labels):
    return SimpleNamespace(predictions=predictions, label_ids=labels)


def figures_of(scored_by, predictions=None, **options):
    predictions = tokens(ANSWERS, 0) if predictions is None else predictions
    labels = tokens(map(json.dumps, TRUTHS))
    return compute_metrics(scored_by, BytesAsTokens(), **options)(evaluated(predictions, labels))


def test_figures_follow_from_predictions_and_labels_by_position():
    figures = figures_of("zettel_f1")
    # Right: title and year of the first, title of the second; one is missing, one was made up.
    assert figures["f1_micro"] == pytest.approx(3 / 4)
    assert (figures["items"], figures["answered"]) == (2, 2)
    assert all(isinstance(value, int | float) for value in figures.values())
    swapped = figures_of("zettel_f1", tokens(ANSWERS[::-1], 0))
    assert swapped["f1_micro"] == 0


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize(
    ("name", "options"),
    [("zettel_f1", {}), ("record_f1", {}), ("record_f1", {"ignore": ["year"]})],
)
def test_figures_are_those_of_the_module_for_evaluate(name, options, protocol):
    module = evaluate.load(str(resources.folder("metrics") / name), protocol)
    expected = module.compute(predictions=ANSWERS, references=TRUTHS, **options)
    figures = figures_of(name, protocol=protocol, **options)
    assert {key: expected[key] for key in figures} == figures
    assert figures["f1_micro"] > 0


def test_a_benchmark_has_its_own_options_and_form(sample, monkeypatch):
    monkeypatch.chdir(sample)
    benchmark = load_benchmark("hdb/zettelkatalog")
    truths = [json.dumps(item.ground_truth) for item in benchmark.items()]
    for scored_by in (benchmark, "zettelkatalog"):
        figures = compute_metrics(scored_by, BytesAsTokens())
        assert figures(evaluated(tokens(truths), tokens(truths)))["f1_micro"] == 1
        # A flat record is not an answer to this benchmark, whatever its ground truths look like.
        flat = figures(evaluated(tokens(ANSWERS), tokens(truths[:2])))
        assert (flat["items"], flat["answered"]) == (2, 0)


def test_plain_texts_are_scored_as_a_field():
    figures = compute_metrics("text_cer", BytesAsTokens(), field="text")
    texts, labels = tokens(["Zürich", "Basel 19"]), tokens(["Zurich", "Basel 1957"])
    # Of 16 letters one is another, and two are missing.
    assert figures(evaluated(texts, labels))["cer"] == pytest.approx(3 / 16)


def test_tokens_of_a_causal_model_are_for_the_labels_after_them():
    prompt, answers = b"Read: ", [b"Basel", b"Zu Bern"]
    longest = len(prompt) + 7
    labels = np.full((2, longest), -100)
    logits = np.zeros((2, longest, 256))
    logits[:, :, ord("x")] = 1  # for what the prompt and the padding are followed by
    for position, answer in enumerate(answers):
        for place, token in enumerate(answer, start=len(prompt)):
            labels[position, place] = token
            logits[position, place - 1, token] = 2
    predictions = best_tokens((logits, "hidden states"), labels)
    figures = compute_metrics("text_cer", BytesAsTokens(), field="text", causal=True)
    assert figures(evaluated(predictions, labels))["cer"] == 0
    assert figures(evaluated((predictions, "others"), labels))["cer"] == 0
    labels[0, len(prompt)] = ord("H")
    assert figures(evaluated(predictions, labels))["cer"] == pytest.approx(1 / 12)


def test_what_is_not_a_ground_truth_or_a_metric_is_refused(own_folder):
    with pytest.raises(HdbenchError, match=r"references\[1\] is not JSON"):
        compute_metrics("zettel_f1", BytesAsTokens())(
            evaluated(tokens(ANSWERS), tokens(['{"title": "Kunst"}', '{"title": "Ku']))
        )
    with pytest.raises(HdbenchError, match="no option"):
        compute_metrics("zettel_f1", BytesAsTokens(), colour=1)
    with pytest.raises(HdbenchError, match="zettel_f2: no benchmark here"):
        compute_metrics("zettel_f2", BytesAsTokens())


def test_the_example_of_its_docstring_runs():
    assert doctest.testmod(trainer_metrics) == (0, 6)
