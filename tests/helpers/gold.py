"""Ground truths given as answers, in each way of scoring, and the same with one value wrong."""

import copy
import json
import random
from pathlib import Path

import pytest
from helpers.plain_evaluate import evaluate

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.common.jsonio import read_jsonl

PROTOCOLS = ("documented", "published")

protocols = pytest.mark.parametrize("protocol", PROTOCOLS)

COLUMNS = {"documented": "ground_truth", "published": "ground_truth_published"}

_PERSONS = (
    *("has_signatures", "sender_persons.alternateName", "receiver_persons.alternateName"),
    *("sender_persons.inferred", "receiver_persons.inferred"),
)

NOT_SCORED = {
    ("avisblatt", "documented"): ("advertisements.tags", "advertisements.ntokens"),
    ("avisblatt", "published"): (
        *("advertisements.tags", "advertisements.ntokens", "advertisements.transcription"),
    ),
    ("bibliography", "published"): ("metadata",),
    ("companylists", "documented"): ("page_id", "entries.entry_id"),
    **{("rheinschifffahrt", protocol): _PERSONS for protocol in PROTOCOLS},
}
"""The fields that a benchmark's rules leave out."""

ABOUT = ("continued_section", "sha256", "kind")
"""The keys of a ground truth that say of what item it is, and are not asked for."""

BLANK = (None, "", "null")
"""What counts as absent by the rules of one benchmark or another."""


def rows_of(folder, protocol):
    """Id → the protocol's ground truth, as it stands in the built dataset's rows."""
    lines = (line.value for line in read_jsonl(Path(folder) / "metadata.jsonl"))
    found = {line["id"]: line[COLUMNS[protocol]] for line in lines}
    return {item: json.loads(truth) for item, truth in found.items() if truth is not None}


def by_program(folder, protocol, answers, _):
    """The Python interface, on JSON Lines with records."""
    return _scored(folder, protocol, _lines(answers, "prediction"))


def by_text(folder, protocol, answers, _):
    """The same, on what a model writes; `published` takes only what somebody parsed."""
    key = "text" if protocol == "documented" else "prediction"
    write = json.dumps if protocol == "documented" else (lambda record: record)
    return _scored(folder, protocol, _lines({i: write(a) for i, a in answers.items()}, key))


def by_command(folder, protocol, answers, run_hdbench):
    """The command line."""
    path = _written(_lines(answers, "prediction"))
    done = run_hdbench(
        *("score", folder, path, "--protocol", protocol, "--json", path.with_suffix(".json")),
        cwd=path.parent,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(path.with_suffix(".json").read_text())["figures"]


def by_module(folder, protocol, answers, _):
    """The metric's module, with the benchmark's options and the protocol's column."""
    spec = load_benchmark(str(folder)).spec
    truths = rows_of(folder, protocol)
    metric = evaluate.load(str(Path(folder).parent / spec.metric), protocol)
    return metric.compute(
        predictions=[answers[item] for item in truths],
        references=list(truths.values()),
        **spec.protocols.get(protocol, {}),
    )


def by_configuration(folder, protocol, answers, _):
    """The configuration of the metric that is named after the benchmark."""
    spec = load_benchmark(str(folder)).spec
    truths = rows_of(folder, protocol)
    ending = "-published" if protocol == "published" else ""
    metric = evaluate.load(str(Path(folder).parent / spec.metric), spec.name + ending)
    return metric.compute(
        predictions=[answers[item] for item in truths], references=list(truths.values())
    )


WAYS = {"program": by_program, "text": by_text, "command": by_command, "module": by_module}

WAYS_OF_RECIPES = {"configuration": by_configuration}
"""The ways that only benchmarks have of which hdbench has a recipe."""


def figures_of_gold(folder, protocol, run_hdbench, *, recipe=True):
    """Score a dataset's ground truths as answers in each way that it has.

    Args:
        folder: the built dataset.
        protocol: whose rules, and whose ground truths.
        run_hdbench: the fixture.
        recipe: whether hdbench has a recipe of it.

    Yields:
        The way, and the figures.
    """
    ways = dict(WAYS)
    if recipe:
        ways |= WAYS_OF_RECIPES
    truths = rows_of(folder, protocol)
    for way, scored in ways.items():
        yield way, scored(folder, protocol, truths, run_hdbench)


def assert_perfect(folder, figures, way):
    """Each rate is 1.0 and each error 0.0, and no item needs an edit."""
    metric = load_benchmark(str(folder)).spec.make_metric()
    assert figures["items_perfect"] == figures["answered"] == figures["items"], way
    for figure in metric.figures:
        if figure.is_rate and figures.get(figure.name) is not None:
            expected = 1.0 if figure.higher_is_better else 0.0
            assert figures[figure.name] == expected, (way, figure.name)


def wrong_ones(name, protocol, truth, rng, most):
    """Copies of a ground truth that have one of its values changed or removed.

    Args:
        name: the benchmark.
        protocol: whose rules say what is scored.
        truth: the ground truth.
        rng: draws the values.
        most: how many values are taken at most.
    """
    left_out = (*NOT_SCORED.get((name, protocol), ()), *ABOUT)
    places = [
        place
        for place in _leaves(truth)
        if not f"{'.'.join(key for key in place if isinstance(key, str))}.".startswith(
            tuple(f"{field}." for field in left_out)
        )
        and not _is_inferred(_at(truth, place[:-1]))
    ]
    for place in rng.sample(places, min(most, len(places))):
        *above, last = place
        changed = copy.deepcopy(truth)
        holder = _at(changed, above)
        value = holder[last]
        holder[last] = _another(value)
        yield changed
        if value not in BLANK:
            removed = copy.deepcopy(truth)
            del _at(removed, above)[last]
            yield removed


def assert_never_perfect_with_one_value_wrong(name, folder, protocol, seed, most):
    """No answer is perfect that has one value changed or removed."""
    metric = load_benchmark(str(folder)).spec.make_metric(protocol)
    rng = random.Random(seed)
    tried = 0
    for item, truth in rows_of(folder, protocol).items():
        for wrong in wrong_ones(name, protocol, truth, rng, most):
            score_of = metric.score(metric.as_record(wrong), metric.prepare(truth))
            counted = {**score_of.statistics, "items": 1}
            totals = {each: counted.get(each, 0) for each in (*metric.statistics, "items")}
            assert metric.rates(totals)["items_perfect"] == 0, (item, wrong)
            tried += 1
    assert tried


def _scored(folder, protocol, lines):
    return score(str(folder), _written(lines), protocol=protocol).figures


def _lines(answers, key):
    return "".join(json.dumps({"id": item, key: answer}) + "\n" for item, answer in answers.items())


def _written(lines):
    path = Path("gold.jsonl").absolute()
    path.write_text(lines)
    return path


def _leaves(value, place=()):
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in pairs:
            yield from _leaves(child, (*place, key))
    else:
        yield place


def _at(value, place):
    for key in place:
        value = value[key]
    return value


def _is_inferred(holder):
    """Whether it is a person of a letter who was inferred, and whom the rules leave out."""
    return isinstance(holder, dict) and holder.get("inferred") is not None


def _another(value):
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value or ''}z"
