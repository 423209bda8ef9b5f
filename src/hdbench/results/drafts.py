"""Ground truths that were made by correcting the drafts of the very model that is scored."""

from pathlib import Path
from typing import Any

from hdbench.answers.run_names import run_name
from hdbench.results.result import Result

DRAFTS = "drafts"
"""The key of a result's dataset: which drafts the ground truths of its items were made from."""


def own_drafts(result: Result) -> int:
    """Return how many of a result's ground truths were made from drafts of its run or model.

    A run counts as the same if it has the same name, and a model in whatever capitals, with or
    without its maker. A file of answers that named no model is known by the name of the file.
    """
    return sum(each["items"] for each in result.dataset.get(DRAFTS, ()) if _is_own(result, each))


def _is_own(result: Result, draft: dict[str, Any]) -> bool:
    run, model = draft["run"], draft["model"]
    if result.model and model and _is_same_model(result.model, model):
        return True
    if result.run:
        return bool(result.run.get("run") == run)
    return bool(model in (run, None) and run_name(Path(result.answers.get("path", ""))) == run)


def _is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean one model, such as `gpt-5` and `openai/gpt-5`."""
    ones, others = (name.strip().casefold().split("/") for name in (one, other))
    shorter = min(len(ones), len(others))
    return ones[-shorter:] == others[-shorter:]
