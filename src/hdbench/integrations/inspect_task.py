"""Benchmarks as tasks of inspect-ai, with hdbench's own figures.

`inspect eval hdbench/zettelkatalog --model …` in the folder that holds `hdb`; anyone's benchmark
with `inspect eval hdbench/benchmark -T benchmark=someone/theircards`.
"""

import base64
import json
from typing import Any

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ContentImage, ContentText, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from hdbench.about import installed_folder
from hdbench.answers.answer import LOST
from hdbench.answers.answers import Answers
from hdbench.answers.entries import Container
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.evaluation.parts import signature
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import given_options
from hdbench.evaluation.score import prepare, score_items
from hdbench.models.backend import Decoding, ImageLimits
from hdbench.models.images import encoded_images
from hdbench.models.items import of_benchmark
from hdbench.models.run import PROMPT, read_prompt
from hdbench.scoring import make_metric

MAX_SHOWN = 20
"""Maximum wrong fields that the explanation of a score lists."""


@task(name="benchmark")
def benchmark_task(benchmark: str, protocol: str = "documented") -> Task:
    """Return a benchmark as a task, with its own prompt and images, scored as by `hdbench score`.

    An item that fails or is not answered counts as a complete failure, the same as in hdbench, and
    is never left out of the figures. Decoding is the same as in `hdbench run`; options of
    `inspect eval` take precedence.

    Args:
        benchmark: the folder of a built benchmark, such as `hdb/zettelkatalog`.
        protocol: `documented` or `published`.

    Raises:
        HdbenchError: the benchmark is unusable, or there is no such protocol.
    """
    loaded = load_benchmark(benchmark)
    spec, rules = loaded.spec, loaded.spec.make_metric(protocol)
    prompt, decoding = read_prompt(loaded.file(PROMPT)), Decoding()
    samples = [
        Sample(
            id=item.id,
            input=prompt.text,
            target=json.dumps(item.reference(rules.protocol)),
            metadata={"position": position},
        )
        for position, item in enumerate(loaded.items())
    ]
    return Task(
        dataset=MemoryDataset(samples, name=loaded.id),
        setup=show_media(benchmark),
        solver=generate(),
        scorer=answer_scorer(benchmark, protocol),
        metrics=[figures(spec.metric, protocol, spec.headline, given_options(rules))],
        config=GenerateConfig(
            temperature=decoding.temperature,
            max_tokens=decoding.max_new_tokens,
            seed=decoding.seed,
        ),
        # Otherwise inspect-ai would leave failed items out of the figures.
        fail_on_error=False,
        score_on_error=True,
        display_name=spec.title,
        version=spec.version,
        metadata={
            "benchmark": loaded.id,
            "dataset_sha256": loaded.content_hash(),
            "prompt_sha256": prompt.sha256,
            "signature": signature(rules),
        },
    )


def _register(name: str) -> None:
    """Register a benchmark that hdbench builds as a task with its name."""

    @task(name=name)
    def named_task(benchmark: str = f"hdb/{name}", protocol: str = "documented") -> Task:
        return benchmark_task(benchmark, protocol)


for recipe in sorted(installed_folder("dataset_scripts").glob("*/benchmark.yaml")):
    _register(recipe.parent.name)


@solver
def show_media(benchmark: str) -> Solver:
    """Put an item's images before its prompt and its text after it, as `hdbench run` does.

    PDFs are rendered, and the prompt's placeholders filled in.

    Images are read as each item comes, so that a thousand papers are not in memory at once.

    Args:
        benchmark: the folder of a built benchmark.
    """
    asked_questions = of_benchmark(load_benchmark(benchmark, media=True)).questions
    questions = {question.id: question for question in asked_questions}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  asked for
        question = questions[str(state.sample_id)]
        images = []
        if not question.text:
            images = await to_thread.run_sync(encoded_images, question.media, ImageLimits())
        state.user_prompt.content = [
            *(
                ContentImage(image=f"data:{mime};base64,{base64.b64encode(data).decode()}")
                for mime, data in images
            ),
            ContentText(text=question.in_prompt(state.user_prompt.text)),
        ]
        return state

    return solve


@scorer(metrics=[])
def answer_scorer(benchmark: str, protocol: str = "documented") -> Scorer:
    """Score an answer as `hdbench score` does: reading, protocol, and the item's statistics.

    The value is how good the item is, from 0.0 to 1.0, higher is better. The benchmark's figures
    come not from it, but from the statistics in the metadata: `figures` adds them up.

    Args:
        benchmark: the folder of a built benchmark.
        protocol: `documented` or `published`.
    """
    loaded = load_benchmark(benchmark)
    rules = loaded.spec.make_metric(protocol)
    schema = loaded.answer_schema()

    def score_text(item_id: str, position: int, truth: str, text: str) -> Score:
        entry = (f"sample {item_id}", {"text": text})
        container = Container()
        container.add(None, item_id, entry)
        answers = Answers(container, None, [item_id], loaded.id, schema)
        answer = answers.take(item_id)
        prepared = prepare(rules, json.loads(truth), item_id)
        result = score_items(rules, [(answer, prepared)])
        record = answer.prediction
        return Score(
            value=float(result.statistics[rules.item_figure][0]),
            answer=None if record is None else json.dumps(record, ensure_ascii=False),
            explanation=_what_is_wrong(result.worst[0]),
            metadata={
                "position": position,
                "status": result.statuses[0],
                "statistics": {name: column[0] for name, column in result.statistics.items()},
            },
        )

    async def score(state: TaskState, target: Target) -> Score:
        return await to_thread.run_sync(
            score_text,
            str(state.sample_id),
            state.metadata["position"],
            target.text,
            state.output.completion,
        )

    return score


@metric(scores="unreduced")
def figures(
    name: str, protocol: str, headline: str, options: dict[str, Any] | None = None
) -> Metric:
    """Return the figures that `hdbench score` gives, from the statistics of the items added up.

    Also the coverage, and the headline's 95% interval as `<headline>_low` and `<headline>_high`,
    which exists for one epoch only: answers to one item are not independent. With several epochs,
    each answer counts as one for an item.

    Args:
        name: the metric's name, such as `zettel_f1`.
        protocol: `documented` or `published`.
        headline: the benchmark's headline.
        options: the metric's options by name.
    """
    rules = make_metric(name, protocol, **(options or {}))

    def compute(scores: list[SampleScore]) -> Value:
        # In the benchmark's order: they come in the order answered, and floats are added up.
        items = sorted(
            ((str(score.sample_id), score.score.metadata or {}) for score in scores),
            key=lambda item: item[1]["position"],
        )
        result = Result.model_construct(
            metric=rules,
            ids=[item_id for item_id, _ in items],
            statuses=[metadata["status"] for _, metadata in items],
            statistics={
                # A log from before a statistic was counted does not have it.
                statistic: [metadata["statistics"].get(statistic, 0) for _, metadata in items]
                for statistic in rules.statistics
            },
        )
        values = {
            figure: value
            for figure, value in result.figures.items()
            if isinstance(value, int | float)
        }
        if len(set(result.ids)) == len(result.ids) and headline in result.intervals.figures:
            interval = result.intervals.figures[headline]
            values |= {f"{headline}_low": interval.low, f"{headline}_high": interval.high}
        return values

    return compute


def _what_is_wrong(item: dict[str, Any]) -> str:
    """Return the wrong fields of an item, one line each."""
    if item["status"] in LOST:
        return str(item["status"])
    wrong = [match for match in item["fields"] if match["outcome"] != "correct"]
    lines = [
        f"{match['field']}: {json.dumps(match['reference'], ensure_ascii=False)} → "
        f"{json.dumps(match['prediction'], ensure_ascii=False)}"
        for match in wrong[:MAX_SHOWN]
    ]
    more = [f"and {len(wrong) - MAX_SHOWN} more"] if len(wrong) > MAX_SHOWN else []
    return "\n".join([*lines, *more])
