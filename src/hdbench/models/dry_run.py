"""The dry run: who is asked what, and the tokens, price and time as far as known in advance."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message, joined
from hdbench.evaluation.run_info import is_run, read_run_info
from hdbench.models.amounts import as_time, as_usd
from hdbench.models.answers_file import is_failed
from hdbench.models.backend import Question
from hdbench.models.endpoint_listing import listed_model
from hdbench.models.folder import recorded_answers
from hdbench.models.planning import RunPlan, read_prompt
from hdbench.models.server import Server


def describe_run(plan: RunPlan, folder: Path, *, retry_failed: bool = False) -> list[Message]:
    """Return a description of a run before it begins, one line for each point.

    Nothing from any item is sent anywhere; a server is asked for its list of models. Tokens, price
    and time are estimated from answers by the same model to the same benchmark: those recorded in
    this run's folder and in the folders beside it.

    Args:
        plan: the run.
        folder: where it will be recorded.
        retry_failed: see `run_model`.

    Raises:
        HdbenchError: the run could not begin: there is no prompt, or the address is invalid.
    """
    read_prompt(plan.prompt_file)
    plan.check()
    over = {
        answer["id"]
        for answer in recorded_answers(folder)
        if not (retry_failed and is_failed(answer))
    }
    questions = plan.choice.questions
    left = [question for question in questions if question.id not in over]
    return [
        _items(left, len(questions) - len(left)),
        *_where(plan),
        *_estimates(plan, folder, len(left)),
        Message("answers will be recorded in: {folder}", folder=folder),
    ]


def _items(left: Sequence[Question], recorded: int) -> Message:
    items = [
        Message(
            "items: {count:,} to ask with the prompt alone"
            if any(question.without_media for question in left)
            else "items: {count:,} to ask",
            count=len(left),
        )
    ]
    if recorded:
        items.append(Message("{count:,} already recorded", count=recorded))
    files = [file for question in left for file in question.media if isinstance(file, Path)]
    if not files:
        return joined(items)
    size = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
    shown = Message("{count:,} files, {megabytes:.1f} MB", count=len(files), megabytes=size)
    return joined([joined(items), shown], "; ")


def _where(plan: RunPlan) -> list[Message]:
    asked = plan.asked
    if not asked.kind.is_remote:
        return [
            Message("the items go to: nowhere; {model} runs on this machine", model=asked.model)
        ]
    server = Server.at(asked.endpoint or "")
    with needed("endpoint", "models need"):
        from hdbench.models.endpoint_backend import list_models  # noqa: PLC0415  slow
    models = list_models(server)
    listed = Message("not known; the server lists no models, or does not answer")
    if listed_model(models, asked.model):
        listed = Message("the server has it")
    elif models:
        listed = Message("not among the {count:,} models that the server lists", count=len(models))
    return [
        Message(
            "the items go to: {host} (this machine)"
            if server.is_local
            else "the items go to: {host}",
            host=server.host,
        ),
        Message("address: {address}", address=server.url),
        Message("model: {model}: {listed}", model=asked.model, listed=listed),
    ]


def _estimates(plan: RunPlan, folder: Path, items: int) -> list[Message]:
    parent, asked = folder.parent, plan.asked
    beside = sorted(parent.iterdir()) if parent.is_dir() else []
    answers = [answer for run in beside if _is_alike(plan, run) for answer in recorded_answers(run)]
    counts = [used for answer in answers if isinstance(used := answer.get("tokens"), dict)]
    means = {name: _mean(used.get(name) for used in counts) for name in ("input", "output")}
    tokens = {name: items * mean for name, mean in means.items() if mean is not None}
    spent = Message("not known before the first answers (try --limit 20 first)")
    if len(tokens) == len(means):
        spent = Message("about {input:,.0f} in, {output:,.0f} out", **tokens)
    usd = plan.price and plan.price.usd(tokens)
    if (each := _mean(answer.get("usd") for answer in answers)) is not None:
        usd = items * each
    price = Message("not known; give it with --price IN OUT")
    if usd is not None:
        price = as_usd(usd, about=True)
    elif not asked.kind.is_remote:
        price = Message("none")
    time = Message("not known before the first answers")
    if (seconds := _mean(answer.get("seconds") for answer in answers)) is not None:
        at_once = asked.concurrency if asked.kind.is_remote else 1
        time = Message("about {time}", time=as_time(seconds * items / at_once))
    return [
        Message("tokens: {tokens}", tokens=spent),
        Message("price: {price}", price=price),
        Message("time: {time}", time=time),
    ]


def _is_alike(plan: RunPlan, folder: Path) -> bool:
    """Return whether a folder has a run of the same model by the same provider."""
    if not is_run(folder):
        return False
    try:
        info = read_run_info(folder)
    except HdbenchError:
        return False
    asked = plan.asked
    return asked.provider in (info.provider or "").split(", ") and (
        (info.benchmark, info.model, bool(info.without_media))
        == (plan.benchmark.id, asked.model_name, plan.without_media)
    )


def _mean(values: Iterable[Any]) -> float | None:
    numbers = [value for value in values if type(value) in (int, float) and 0 <= value < math.inf]
    return fmean(numbers) if numbers else None
