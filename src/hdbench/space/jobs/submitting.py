"""A scored upload as a run of the results dataset, which a submission publishes."""

import datetime
import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa

from hdbench import __version__
from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE, RunInfo
from hdbench.benchmarks.benchmark import EXAMPLE, Benchmark
from hdbench.common.jsonio import write_json
from hdbench.datasets.building.run_tables import (
    ANSWERS_TABLE,
    RUN_TABLE,
    RUNS,
    answers_jsonl,
    answers_table,
    run_row,
    write_table,
)
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.evaluation.score import Settings, score_runs
from hdbench.results.result import Result
from hdbench.running.planning import PROMPT, read_prompt
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, score_upload
from hdbench.space.texts import TextError
from hdbench.space.views.example import MADE
from hdbench.space.views.summary import render

LICENCE = "CC-BY-4.0"
"""The licence under which submitted answers are published."""

LOCAL = "local"
"""The provider of a local run."""

MAX_NAME, MAX_NOTE = 100, 300
"""Maximum characters of a name and of the note on the prompt."""

MAX_ANSWERS = 20 * 2**20
"""Maximum bytes of a submission's answers."""

_OF_AN_ANSWER = ("prediction", "text", "tokens", "seconds", "error")


class SubmissionError(TextError):
    """The reason why nothing was submitted."""


@dataclass(frozen=True)
class Statement:
    """A visitor's statement about a run.

    Attributes:
        model: its name.
        provider: the provider that ran it; not asked if it ran locally.
        local: whether it ran on the visitor's own machine.
        own_prompt: whether the benchmark's own prompt was used as it is.
        note: the note on the prompt.
        name: the visitor's name or an institution's.
        consent: whether the answers may be published.
    """

    model: str
    provider: str
    local: bool
    own_prompt: bool
    note: str
    name: str
    consent: bool

    def checked(self) -> "Statement":
        """Return the statement with each of its texts on one line.

        Raises:
            SubmissionError: there is no consent, or a text is missing, too long or not printable.
        """
        if self.consent is not True:
            raise SubmissionError("submit_no_consent")
        return replace(
            self,
            model=_line("submit_model", self.model, MAX_NAME),
            provider=LOCAL if self.local else _line("submit_provider", self.provider, MAX_NAME),
            note=_line("submit_note", self.note, MAX_NOTE, needed=False),
            name=_line("submit_name", self.name, MAX_NAME),
        )


@dataclass(frozen=True)
class Submission:
    """A proposed run.

    Attributes:
        folder: its folder in the results dataset, such as
            `zettelkatalog/2026-01-24_qwen-0123456789ab`.
        digest: the end of the folder's name, which depends on the answers alone.
        files: name in the folder → content.
        statement: the visitor's statement.
        result: its score, computed from these files.
    """

    folder: str
    digest: str
    files: dict[str, bytes]
    statement: Statement
    result: Result


def make_submission(
    context: SpaceContext, upload: Upload, statement: Statement, day: datetime.date
) -> Submission:
    """Return the run folder of a scored upload; scoring it gives the result that the visitor saw.

    Args:
        context: the Space's context.
        upload: the upload, as the visitor has seen it scored.
        statement: the visitor's statement about it.
        day: the day of the submission.

    Raises:
        HdbenchError: the statement is refused; the file is an example, gone or too large, or was
            scored with other options than the results dataset.
    """
    statement = statement.checked()
    if upload.path.name in (EXAMPLE, MADE):
        raise SubmissionError("submit_example")
    if upload.strict or upload.reread:
        raise SubmissionError("submit_as_default")
    if not upload.path.is_file():
        raise SubmissionError("submit_file_gone")
    benchmark, results = score_upload(context, upload, details=False)
    run = upload.run if upload.run in results else next(iter(results))
    answers = list(_answers(benchmark, upload.path, run))
    lines = answers_jsonl(answers)
    if len(lines) > MAX_ANSWERS:
        raise SubmissionError("submit_too_large", megabytes=MAX_ANSWERS >> 20)
    digest = hashlib.sha256(f"{upload.benchmark}\n".encode() + lines).hexdigest()[:12]
    slug = re.sub("[^a-z0-9.]+", "-", statement.model.lower())[:40].strip("-.") or "model"
    info = RunInfo(
        run=f"{day.isoformat()}/{slug}-{digest}",
        benchmark=context.public_id(benchmark),
        model=statement.model,
        provider=statement.provider,
        date=day.isoformat(),
        prompt=read_prompt(benchmark.folder / PROMPT) if statement.own_prompt else None,
        items=list(benchmark.ids()),
    )
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        submitted = {
            "name": statement.name,
            "licence": LICENCE,
            "date": day.isoformat(),
            "hdbench": __version__,
            **({"prompt_note": statement.note} if statement.note else {}),
        }
        record = info.model_dump(exclude_none=True) | {"submitted": submitted}
        write_json(folder / RUN_FILE, record)
        (folder / OUR_ANSWERS).write_bytes(lines)
        write_table(folder / RUN_TABLE, pa.Table.from_pylist([run_row(info, answers)], RUNS))
        write_table(folder / ANSWERS_TABLE, answers_table(info, answers))
        (result,) = score_runs(benchmark.id, folder, Settings(upload.protocol)).values()
        shown = results[run]
        if (result.statistics, result.ids) != (shown.statistics, shown.ids):
            raise SubmissionError("submit_differs")
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return Submission(
        f"{upload.benchmark}/{info.run.replace('/', '_')}",
        digest,
        files,
        statement,
        replace(result, dataset=shown.dataset),
    )


def description(submission: Submission) -> str:
    """Return a submission's text for its pull request: Markdown, untrusted text in code spans."""
    figures = submission.result.figures()
    protocol = figures["protocol"]
    option = "" if protocol == "documented" else f" --protocol {protocol}"
    return render(
        "submission.md",
        "en",
        code=code,
        statement=submission.statement,
        result=submission.result,
        figures=figures,
        answers=OUR_ANSWERS,
        sha256=hashlib.sha256(submission.files[OUR_ANSWERS]).hexdigest(),
        licence=LICENCE,
        check=f"hdbench score {figures['benchmark']} {submission.folder}{option}",
    )


def code(text: str) -> str:
    """Return a text on one line as a Markdown code span that the text cannot end.

    Example:
        >>> code("a`b``c")
        '``` a`b``c ```'
    """
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _line(key: str, value: str, most: int, *, needed: bool = True) -> str:
    """Return a text from a form, on one line."""
    line = unicodedata.normalize("NFC", " ".join(str(value or "")[: 10 * most].split()))
    if needed and not line:
        raise SubmissionError(f"{key}_bad")
    if len(line) > most:
        raise SubmissionError("submit_long", most=most)
    if not line.isprintable():
        raise SubmissionError("submit_unprintable")
    return line


def _answers(benchmark: Benchmark, path: Path, run: str | None) -> Iterator[WrittenAnswer]:
    """Yield the answers of a run as its file has them, by the benchmark's ids and in its order."""
    with OpenedRun.opened(path, benchmark) as opened:
        answers = opened.answers(run)
        for item_id in benchmark.ids():
            answer = answers.written(item_id)
            if answer is not None:
                values = {key: value for key, value in answer.items() if key in _OF_AN_ANSWER}
                yield cast(WrittenAnswer, {"id": item_id} | values)
