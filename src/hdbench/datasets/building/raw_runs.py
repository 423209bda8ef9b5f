"""Runs as their publisher keeps them: a JSON file per request, and a `scoring.json` per run."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from hdbench.answers.fields import about
from hdbench.common.jsonio import parse_json
from hdbench.datasets.building.recorded import RecordedRun, checked_run
from hdbench.errors import HdbenchError, Message

NEEDED = re.compile(
    r"benchmarks/benchmarks_tests\.csv"
    r"|results/[0-9]{4}-[0-9]{2}-[0-9]{2}/T[0-9]{1,6}"
    r"/(?:request_T[0-9]{1,6}_[^/]{1,200}|scoring)\.json"
)
"""The paths of the needed files in the publisher's repository."""

TESTS = "benchmarks/benchmarks_tests.csv"
"""The path of the table of tests: a run's folder has the name of its test."""

SCORING = "scoring.json"
"""The name of the file with a run's figures."""

NOT_PARSED = {"error": "x"}
"""The record that was scored in older runs where there was none: an error, its message left out."""

_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)

_KEYS = ("provider", "model", "text", "parsed", "duration")
_USAGE = ("input_tokens", "output_tokens", "estimated_cost_usd")
_IS_NEWER = "is_newer"
_MAX_USD = 1e6  # of one answer


class RawFiles(Protocol):
    """The needed files of the publisher's repository, in their `kept_form`."""

    paths: list[str]

    def read(self, path: str) -> bytes:
        """Return what is kept of a file; b"" if it is unusable."""


class _Test(NamedTuple):
    """A test: a model that is asked about a benchmark with a prompt."""

    benchmark: str
    provider: str
    model: str
    prompt: str | None


def kept_form(path: str, data: bytes) -> bytes:
    """Return what is needed of a file; b"" if it is unusable."""
    if path == TESTS:
        return data
    try:
        value = parse_json(data.decode("utf-8-sig"))
    except ValueError:
        return b""
    if not isinstance(value, dict):
        return b""
    if path.endswith(f"/{SCORING}"):
        return json.dumps(value).encode()
    kept = {key: value[key] for key in _KEYS if key in value}
    usage = value.get("usage")
    if isinstance(usage, dict):
        kept["usage"] = {key: usage[key] for key in _USAGE if key in usage}
    kept[_IS_NEWER] = "score" in value or "usage" in value
    return json.dumps(kept).encode()


class RawRuns:
    """The runs in such files.

    Args:
        files: the files.
        place: what messages call them.

    Attributes:
        left_out: the runs that are left out, among those that were asked for, and why.

    Raises:
        HdbenchError: there is no usable table of tests.
    """

    def __init__(self, files: RawFiles, place: str) -> None:
        self._files, self._place = files, place
        self.left_out: dict[str, Message] = {}
        self._tests = self._read_tests()
        self._runs: dict[str, dict[str, list[str]]] = {}  # benchmark → run → paths of its requests
        self._scored: dict[str, str] = {}  # run → path of its figures
        for path in sorted(files.paths):
            if path != TESTS:
                folder, _, name = path.rpartition("/")
                run = folder.removeprefix("results/")
                test = self._tests.get(run.rpartition("/")[2])
                if name == SCORING:
                    self._scored[run] = path
                elif test is not None:
                    runs = self._runs.setdefault(test.benchmark, {})
                    runs.setdefault(run, []).append(path)

    @property
    def benchmarks(self) -> set[str]:
        """The names of the folders of benchmarks that have runs."""
        return set(self._runs)

    def of(self, benchmark: str) -> Iterator[RecordedRun]:
        """Yield the runs of a benchmark, sorted by name; those that are unusable are left out.

        Args:
            benchmark: the name of its folder at the publisher's.
        """
        for run, paths in sorted(self._runs.get(benchmark, {}).items()):
            try:
                yield self._run(run, paths)
            except _UnusableError as error:
                self.left_out[run] = error.why

    def _run(self, run: str, paths: list[str]) -> RecordedRun:
        scores = self._json(self._scored[run]) if run in self._scored else None
        if scores is None:
            raise _UnusableError(Message("it has no scoring.json"))
        requests = {_id(path): self._json(path) for path in paths}
        usable = {item: request for item, request in requests.items() if request is not None}
        if len(usable) < len(paths):
            raise _UnusableError(Message("one of its requests cannot be read"))
        test = self._tests[run.rpartition("/")[2]]
        is_newer = any(request.get(_IS_NEWER) for request in usable.values())
        value = {
            "run": run,
            "provider": _named("provider", usable) or test.provider,
            "model": _named("model", usable) or test.model,
            "prompt": test.prompt,
            "scores": {name: figure for name, figure in scores.items() if _is_figure(figure)},
            "answers": [
                _answer(item, request, is_newer=is_newer)
                for item, request in sorted(usable.items())
            ],
            "cost_usd": _cost(usable),
        }
        try:
            return checked_run(value, f"{self._place}: {run}")
        except HdbenchError as error:
            raise _UnusableError(Message(error.message)) from error

    def _json(self, path: str) -> dict[str, Any] | None:
        """Return a file's object; None if it is unusable."""
        data = self._files.read(path)
        value = json.loads(data) if data else None
        return value if isinstance(value, dict) else None

    def _read_tests(self) -> dict[str, _Test]:
        if TESTS not in self._files.paths:
            raise HdbenchError("{place}: lacks {name}", place=self._place, name=TESTS)
        try:
            text = self._files.read(TESTS).decode("utf-8-sig")
            rows = csv.DictReader(io.StringIO(text, newline=""))
            tests = {
                row["id"]: _Test(
                    row["name"], row["provider"], row["model"], row["prompt_file"] or None
                )
                for row in rows
            }
        except (UnicodeDecodeError, csv.Error, KeyError) as error:
            raise HdbenchError(
                "{place}: {name}: not a table of tests: {why}",
                place=self._place,
                name=TESTS,
                why=error,
            ) from error
        return tests


class _UnusableError(Exception):
    """A run cannot be used.

    Attributes:
        why: the reason.
    """

    def __init__(self, why: Message) -> None:
        super().__init__(why)
        self.why = why


def _id(path: str) -> str:
    """Return the id of an item.

    Example:
        >>> _id("results/2025-03-02/T0007/request_T07_page_10.json")
        'page_10'
    """
    return path.rpartition("/")[2].removesuffix(".json").split("_", 2)[2]


def _named(key: str, requests: Mapping[str, dict[str, Any]]) -> str | None:
    """Return the first text that requests have under a key."""
    values = (request.get(key) for request in requests.values())
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float)  # a few files also have tables


def _answer(item: str, request: dict[str, Any], *, is_newer: bool) -> dict[str, Any]:
    """Return the answer of a request, as a line of recorded runs has it.

    In newer runs, it is what was parsed at the time, and what was not parsed was scored as no
    answer. In older ones, what has no `parsed` was parsed from the text when the run was scored:
    with these answers, twelve runs have their published figures that do not have them otherwise.
    """
    text = request.get("text")
    if not isinstance(text, str):
        text = None
    parsed = request.get("parsed")
    if "parsed" not in request and not is_newer:
        parsed = parsed_text(text or "")
    return {"id": item, "answer": parsed, "text": text} | about(request)


def parsed_text(text: str) -> Any:
    """Return what the publisher's program found in a text: JSON, alone or in a fence.

    Example:
        >>> parsed_text('Here it is: ```json {"year": 1957} ```')
        {'year': 1957}
        >>> parsed_text("I am sorry.")
        {'error': 'x'}
    """
    fenced = _FENCED.search(text)
    for part in (text, *([fenced[1]] if fenced else [])):
        try:
            return parse_json(part)
        except ValueError:
            continue
    return NOT_PARSED


def _cost(requests: Mapping[str, dict[str, Any]]) -> float | None:
    """Return what a run cost; None unless it is recorded of each answer that came."""
    costs: list[float] = []
    for request in requests.values():
        cost: Any = request.get("usage", {}).get("estimated_cost_usd")
        if type(cost) in (int, float) and 0 <= cost < _MAX_USD:
            costs.append(cost)
        elif request.get("text") or request.get("parsed") is not None:
            return None
    return math.fsum(costs) if costs else None
