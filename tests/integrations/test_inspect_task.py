"""hdbench's figures in inspect-ai: the model is a mock, and nothing else."""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import inspect_ai
import pytest
import yaml
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentImage, ContentText, ModelOutput, ModelUsage, get_model

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.integrations.inspect_task import benchmark_task
from hdbench.models.backend import ImageLimits
from hdbench.models.images import encoded_images

pytestmark = pytest.mark.nightly

NAMES = (
    *("avisblatt", "companylists", "manuscripts", "rheinschifffahrt", "sciencemetabench"),
    "zettelkatalog",
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """inspect-ai keeps traces and caches in a person's folders."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def inspect_eval(*arguments, **options):
    """inspect-ai's eval in a thread of its own: Playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(inspect_ai.eval, *arguments, **options).result()


def example_texts(benchmark: Path) -> dict[str, str]:
    """Id → what a model would have written."""
    lines = (benchmark / "example_predictions.jsonl").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    return {
        answer["id"]: answer["text"] if "text" in answer else json.dumps(answer["prediction"])
        for answer in answers
    }


def mock_output(text: str) -> ModelOutput:
    """An output whose tokens are known: to count them inspect-ai would ask the network."""
    return ModelOutput(
        model="mock",
        choices=ModelOutput.from_content("mock", text).choices,
        usage=ModelUsage(input_tokens=1, output_tokens=1),
    )


def ran(benchmark: Path, texts: dict[str, str], tmp_path: Path, protocol="documented", **options):
    """The log of inspect-ai with a model that knows the images; without a text it fails."""
    shown = {
        tuple(data for _, data in encoded_images(media, ImageLimits())): item
        for item, media in load_benchmark(str(benchmark)).media().items()
    }

    def answer(messages, *_):
        images = [each for each in messages[-1].content if isinstance(each, ContentImage)]
        item = shown[tuple(base64.b64decode(each.image.partition(",")[2]) for each in images)]
        if item not in texts:
            raise RuntimeError("the server is on fire")
        return mock_output(texts[item])

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = inspect_eval(
        benchmark_task(str(benchmark), protocol),
        model=model,
        log_dir=str(tmp_path / "logs"),
        display="none",
        **options,
    )
    return log


def values(log) -> dict[str, float]:
    """The figures in a log."""
    [scores] = log.results.scores
    return {name: figure.value for name, figure in scores.metrics.items()}


def scored(benchmark: Path, texts: dict[str, str], tmp_path: Path, protocol="documented"):
    """What hdbench makes of the same answers."""
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps({"id": item, "text": text}) for item, text in texts.items()]
    path.write_text("\n".join(lines))
    return score(str(benchmark), path, protocol=protocol)


@pytest.mark.parametrize("protocol", ["documented", "published"])
@pytest.mark.parametrize("name", NAMES)
def test_inspect_gives_exactly_the_figures_of_hdbench_score(name, protocol, samples, tmp_path):
    benchmark = samples / "hdb" / name
    texts = example_texts(benchmark)
    log = ran(benchmark, texts, tmp_path, protocol)
    assert log.status == "success", log.error
    result = scored(benchmark, texts, tmp_path, protocol)
    rates = result.metric.rates(result.totals)
    expected = {key: value for key, value in rates.items() if isinstance(value, int | float)}
    expected |= {key: result.figures[key] for key in ("items", "answered")}
    expected |= {key: result.figures[key] for key in ("unanswered", "unparsable")}
    assert values(log) == expected
    assert log.eval.metadata["signature"] == result.signature


def test_inspect_has_the_headline_interval_from_twenty_items_on(samples, tmp_path):
    benchmark = tmp_path / "hdb/zettelkatalog"
    shutil.copytree(samples / "hdb/zettelkatalog", benchmark)
    metadata, texts = benchmark / "metadata.jsonl", example_texts(benchmark)
    rows = [json.loads(line) for line in metadata.read_text().splitlines()]
    copies = [row | {"id": f"{row['id']}-{copy}"} for row in rows for copy in range(3)]
    metadata.write_text("".join(json.dumps(row) + "\n" for row in copies))
    texts = {f"{item}-{copy}": text for item, text in texts.items() for copy in range(3)}
    result = scored(benchmark, texts, tmp_path)
    found = values(ran(benchmark, texts, tmp_path))
    interval = result.intervals.figures["f1_micro"]
    assert (found["f1_micro_low"], found["f1_micro_high"]) == (interval.low, interval.high)
    assert found["items"] == 24


def test_a_request_that_fails_is_a_failure_among_all_items(samples, tmp_path):
    benchmark = samples / "hdb/zettelkatalog"
    truths = {item.id: item.ground_truth for item in load_benchmark(str(benchmark)).items()}
    texts = {item: json.dumps(truth) for item, truth in truths.items()}
    assert values(ran(benchmark, texts, tmp_path))["f1_macro"] == 1
    for lost in ("sample-02", "sample-05"):
        del texts[lost]
    log = ran(benchmark, texts, tmp_path)
    assert log.status == "success"
    found = values(log)
    assert (found["items"], found["answered"], found["unanswered"]) == (8, 6, 2)
    assert found["f1_macro"] == 6 / 8
    assert (found["precision_micro"], found["recall_micro"] < 1) == (1, True)


def test_a_text_follows_its_prompt_whose_values_are_filled_in(samples, tmp_path):
    benchmark = tmp_path / "zettelkatalog"
    shutil.copytree(samples / "hdb/zettelkatalog", benchmark)
    spec = yaml.safe_load((benchmark / "benchmark.yaml").read_text())
    spec |= {"media": "text", "prompt_columns": ["year"]}
    (benchmark / "benchmark.yaml").write_text(json.dumps(spec))
    rows = [json.loads(line) for line in (benchmark / "metadata.jsonl").read_text().splitlines()]
    texts = [json.dumps({**row, "text": f"<{row['id']}>"}) + "\n" for row in rows]
    (benchmark / "metadata.jsonl").write_text("".join(texts))
    (benchmark / "prompt.txt").write_text("Printed in {year}: {title}")
    heard = {}

    def answer(messages, *_):
        [part] = messages[-1].content
        prompt, _, text = part.text.partition("\n\n")
        heard[text] = prompt
        return mock_output("{}")

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    inspect_eval(
        benchmark_task(str(benchmark)), model=model, log_dir=str(tmp_path / "l"), display="none"
    )
    years = {f"<{row['id']}>": row["year"] for row in rows}
    assert heard == {
        text: f"Printed in {'' if year is None else year}: {{title}}"
        for text, year in years.items()
    }


def test_a_model_sees_the_images_before_the_prompt(samples, tmp_path):
    benchmark = samples / "hdb/zettelkatalog"
    log = ran(benchmark, example_texts(benchmark), tmp_path)
    logged = read_eval_log(log.location, resolve_attachments=True)
    rows = [json.loads(line) for line in (benchmark / "metadata.jsonl").read_text().splitlines()]
    hashes = {row["id"]: row["sha256"] for row in rows}
    assert len(logged.samples) == 8
    for sample in logged.samples:
        image, text = sample.messages[0].content
        assert isinstance(image, ContentImage)
        data = base64.b64decode(image.image.removeprefix("data:image/jpeg;base64,"))
        assert hashlib.sha256(data).hexdigest() == hashes[sample.id]
        assert isinstance(text, ContentText)
        assert text.text == (benchmark / "prompt.txt").read_text()


RUN = """
import json
import sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
output = ModelOutput.from_content("mock", "I cannot read this.")
output.usage = ModelUsage(input_tokens=1, output_tokens=1)
for name, arguments in json.loads(sys.argv[1]):
    model = get_model("mockllm/model", custom_outputs=[output] * 2, memoize=False)
    [log] = eval(name, task_args=arguments, model=model, log_dir="logs", display="none")
    print(log.location)
"""


@pytest.mark.nightly
def test_inspect_finds_a_benchmark_by_its_name(samples):
    asked = {
        "documented": ("hdbench/rheinschifffahrt", {}),
        "published": (
            "hdbench/benchmark",
            {"benchmark": "hdb/rheinschifffahrt", "protocol": "published"},
        ),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(list(asked.values()))],
        cwd=samples,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for protocol, location in zip(asked, done.stdout.splitlines()[-2:], strict=True):
        log = read_eval_log(str(samples / location))
        assert (values(log)["items"], values(log)["unparsable"]) == (2, 2)
        assert log.eval.metadata["benchmark"] == "hdb/rheinschifffahrt"
        assert f"|protocol:{protocol}|" in log.eval.metadata["signature"]
