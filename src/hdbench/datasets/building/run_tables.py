"""A run of the results dataset as rows, in Parquet and in JSON Lines."""

import datetime
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.run_info import RunInfo

RUN_TABLE, ANSWERS_TABLE = "run.parquet", "answers.parquet"
"""The tables of a single run, in its folder."""

RUNS = pa.schema(
    {
        "run": pa.string(),
        "benchmark": pa.string(),
        "model": pa.string(),
        "provider": pa.string(),
        "date": pa.date32(),
        "prompt": pa.string(),
        "prompt_sha256": pa.string(),
        "items": pa.int64(),
        "answered": pa.int64(),
        "published": pa.string(),
        "reproducible": pa.bool_(),
        "cost_usd": pa.float64(),
    }
)
"""The columns of a table of runs."""

ANSWERS = pa.schema(
    {
        "run": pa.string(),
        "model": pa.string(),
        "provider": pa.string(),
        "id": pa.string(),
        "text": pa.string(),
        "prediction": pa.string(),
        "tokens": pa.struct({"input": pa.int64(), "output": pa.int64()}),
        "seconds": pa.float64(),
        "error": pa.string(),
    }
)
"""The columns of a table of answers, whatever is known of a run: the form is to stay the same."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def run_row(info: RunInfo, answers: Sequence[WrittenAnswer]) -> dict[str, Any]:
    """Return a run as a row of `RUNS`.

    Args:
        info: what it says about itself.
        answers: its answers; an item without one may be left out.
    """
    answered = [
        answer
        for answer in answers
        if answer.get("prediction") is not None or (answer.get("text") or "").strip()
    ]
    return {
        "run": info.run,
        "benchmark": info.benchmark,
        "model": info.model,
        "provider": info.provider,
        "date": info.date and datetime.date.fromisoformat(info.date),
        "prompt": info.prompt and info.prompt.name,
        "prompt_sha256": info.prompt and info.prompt.sha256,
        "items": len(info.items or answers),
        "answered": len(answered),
        "published": None if info.published is None else json_text(info.published),
        "reproducible": info.reproducible,
        "cost_usd": info.cost_usd,
    }


def answers_table(info: RunInfo, answers: Iterable[WrittenAnswer]) -> pa.Table:
    """Return the answers of a run as a table of `ANSWERS`.

    Args:
        info: what the run says about itself.
        answers: its answers.
    """
    about = {"run": info.run, "model": info.model, "provider": info.provider}
    return pa.Table.from_pylist([about | _answer_row(answer) for answer in answers], ANSWERS)


def _answer_row(answer: WrittenAnswer) -> dict[str, Any]:
    prediction = answer.get("prediction")
    return {
        "id": answer["id"],
        "text": _utf8(answer.get("text")),
        "prediction": None if prediction is None else json_text(prediction),
        "tokens": answer.get("tokens"),
        "seconds": answer.get("seconds"),
        "error": _utf8(answer.get("error")),
    }


def _utf8(text: str | None) -> str | None:
    """Return a text as Parquet can hold it: in UTF-8 there are no lone surrogates."""
    return text and _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def answers_jsonl(answers: Iterable[WrittenAnswer]) -> bytes:
    """Return answers as JSON Lines.

    Raises:
        ValueError: there is a number that JSON does not have, such as NaN.
    """
    return "".join(json_text(answer) + "\n" for answer in answers).encode()


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, its lone surrogates as escapes.

    Raises:
        ValueError: there is a number that JSON does not have, such as NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet."""
    pq.write_table(table, path, compression="zstd")
