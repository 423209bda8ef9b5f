"""The dry run: who is asked what, and the tokens, price and time as far as known in advance."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message, joined
from hdbench.models.amounts import as_time, as_usd
from hdbench.models.answers_file import is_failed
from hdbench.models.endpoint_listing import Prices, listed_model, listed_prices
from hdbench.models.families import LONGEST
from hdbench.models.folder import recorded_answers
from hdbench.models.planning import RunPlan, read_prompt
from hdbench.models.server import Server
from hdbench.results.run_info import is_run, read_run_info


class _Averages(NamedTuple):
    """Averages of the model's answers to this benchmark; None where one is not known.

    Attributes:
        input: tokens per request.
        output: tokens per answer.
        seconds: per request.
    """

    input: float | None
    output: float | None
    seconds: float | None


def describe_run(plan: RunPlan, folder: Path, *, retry_failed: bool = False) -> list[Message]:
    """Return a description of a run before it begins, one line for each point.

    Nothing from any item is sent anywhere; a server is asked for its list of models, which can
    include prices. Tokens and time are estimated from answers by the same model to the same
    benchmark: those recorded in this run's folder and in the folders beside it.

    Args:
        plan: the run.
        folder: where it will be recorded.
        retry_failed: see `run_model`.

    Raises:
        HdbenchError: the run could not begin: there is no prompt, or the address is invalid.
    """
    read_prompt(plan.prompt_file)
    plan.check()
    asked, questions = plan.asked, plan.choice.questions
    over = {
        answer["id"]
        for answer in recorded_answers(folder)
        if not (retry_failed and is_failed(answer))
    }
    left = [question for question in questions if question.id not in over]
    recorded = len(questions) - len(left)
    files = [file for question in left for file in question.media]
    sizes = [file.stat().st_size for file in files if isinstance(file, Path) and file.is_file()]
    averages = _averages(plan, folder)
    items = [
        Message(
            "items: {count:,} to ask with the prompt alone"
            if plan.without_media
            else "items: {count:,} to ask",
            count=len(left),
        )
    ]
    if recorded:
        items.append(Message("{count:,} already recorded", count=recorded))
    lines = [joined(items)]
    if files:
        lines = [joined([*lines, _files(sizes)], "; ")]
    prices, at_once = None, 1
    if asked.kind.is_remote:
        server = Server.at(asked.endpoint or "")
        with needed("endpoint", "models need"):
            from hdbench.models.endpoint_backend import list_models  # noqa: PLC0415  slow
        models = list_models(server)
        listed = listed_model(models, asked.model)
        prices, at_once = listed_prices(listed), asked.concurrency
        lines += [
            Message(
                "the items go to: {host} (this machine)"
                if server.is_local
                else "the items go to: {host}",
                host=server.host,
            ),
            Message("address: {address}", address=server.url),
            Message("model: {model}: {listed}", model=asked.model, listed=_listed(models, listed)),
        ]
    else:
        lines += [
            Message("the items go to: nowhere; {model} runs on this machine", model=asked.model)
        ]
    longest = asked.decoding.max_new_tokens
    if longest is None and not asked.kind.is_remote:
        longest = LONGEST
    return [
        *lines,
        Message("tokens: {tokens}", tokens=_tokens(averages, len(left), longest)),
        _price(averages, prices, len(left), is_remote=asked.kind.is_remote),
        Message("time: {time}", time=_time(averages, len(left), at_once)),
        Message("answers will be recorded in: {folder}", folder=folder),
    ]


def _files(sizes: Sequence[int]) -> Message:
    megabytes = sum(sizes) / 1e6
    return Message("{count:,} files, {megabytes:.1f} MB", count=len(sizes), megabytes=megabytes)


def _averages(plan: RunPlan, folder: Path) -> _Averages:
    parent = folder.parent
    beside = sorted(parent.iterdir()) if parent.is_dir() else []
    answers = [answer for run in beside if _is_alike(plan, run) for answer in recorded_answers(run)]
    tokens = [counts for answer in answers if isinstance(counts := answer.get("tokens"), dict)]
    return _Averages(
        _mean(counts.get("input") for counts in tokens),
        _mean(counts.get("output") for counts in tokens),
        _mean(answer.get("seconds") for answer in answers),
    )


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


def _listed(models: list[dict[str, Any]], listed: Mapping[str, Any]) -> Message:
    if listed:
        return Message("the server has it")
    if models:
        return Message("not among the {count:,} models that the server lists", count=len(models))
    return Message("not known; the server lists no models, or does not answer")


def _tokens(averages: _Averages, items: int, longest: int | None) -> Message:
    if averages.input is None or averages.output is None:
        if longest is None:
            return Message("not known before the first answers (try --limit 20 first)")
        return Message(
            "not known before the first answers; at most {output:,} out (try --limit 20 first)",
            output=longest * items,
        )
    return Message(
        "about {input:,.0f} in, {output:,.0f} out",
        input=averages.input * items,
        output=averages.output * items,
    )


def _price(averages: _Averages, prices: Prices | None, items: int, *, is_remote: bool) -> Message:
    if not is_remote:
        return Message("price: none")
    if prices is None:
        return Message("price: not known; the server gives none")
    rate = Message(
        "{input:.2f} USD per million tokens in, {output:.2f} out",
        input=prices.input,
        output=prices.output,
    )
    if averages.input is None or averages.output is None:
        return Message("price: {price}", price=rate)
    total = as_usd(items * prices.of(averages.input, averages.output), about=True)
    return Message("price: {total} ({rate})", total=total, rate=rate)


def _time(averages: _Averages, items: int, at_once: int) -> Message:
    if averages.seconds is None:
        return Message("not known before the first answers")
    return Message(
        "about {time}, with {at_once} requests at once" if at_once > 1 else "about {time}",
        time=as_time(averages.seconds * items / at_once),
        at_once=at_once,
    )
