"""Ground truths that were made by correcting drafts of the same model that is scored."""

from dataclasses import replace
from pathlib import Path

from hdbench.results.parts import DraftedItems
from hdbench.results.result import Result
from hdbench.results.run_info import NO_RUN
from hdbench.results.run_names import run_name
from hdbench.results.warning_texts import RunWarning, message


def own_drafts(result: Result) -> int:
    """Return how many of a result's ground truths were made from drafts of its run or model.

    A run counts as the same if it has the same name, and a model in whatever capitals, with or
    without its maker. A file of answers that named no model is known by the name of the file.
    """
    return sum(draft.items for draft in result.dataset.drafts or () if _is_own(result, draft))


def with_draft_warning(result: Result) -> Result:
    """Return a result that warns if its ground truths were made from drafts of its own model.

    Call it whenever the model's name is known, or another one.
    """
    warnings = [warning for warning in result.reading.warnings if warning.kind != "drafted"]
    count, items = own_drafts(result), len(result.ids)
    if count:
        text = message("drafted", count=count, items=items)
        warnings.insert(0, RunWarning("drafted", text, count, items, []))
    return replace(result, reading=replace(result.reading, warnings=warnings))


def _is_own(result: Result, draft: DraftedItems) -> bool:
    if result.model and draft.model and _is_same_model(result.model, draft.model):
        return True
    if result.run != NO_RUN:
        return result.run.run == draft.run
    is_named_alike = run_name(Path(result.answers.path)) == draft.run
    return draft.model in (draft.run, None) and is_named_alike


def _is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean one model, such as `gpt-5` and `openai/gpt-5`."""
    ones, others = (name.strip().casefold().split("/") for name in (one, other))
    shorter = min(len(ones), len(others))
    return ones[-shorter:] == others[-shorter:]
