"""Ground truths that were made by correcting drafts of the same model that is scored."""

from collections.abc import Iterable
from pathlib import Path

from hdbench.evaluation.parts import DraftedItems
from hdbench.evaluation.run_info import NO_RUN, RunInfo
from hdbench.evaluation.run_names import run_name


def own_drafts(drafts: Iterable[DraftedItems], run: RunInfo, model: str | None, path: str) -> int:
    """Return how many ground truths were made from drafts of a run or its model.

    A run counts as the same if it has the same name, and a model in whatever capitals, with or
    without its maker. A file of answers that named no model is known by the name of the file.

    Args:
        drafts: those that ground truths were made from.
        run: what the run says about itself.
        model: its model, if that is known.
        path: where its answers are.
    """
    return sum(draft.items for draft in drafts if _is_own(draft, run, model, path))


def _is_own(draft: DraftedItems, run: RunInfo, model: str | None, path: str) -> bool:
    if model and draft.model and _is_same_model(model, draft.model):
        return True
    if run != NO_RUN:
        return run.run == draft.run
    return draft.model in (draft.run, None) and run_name(Path(path)) == draft.run


def _is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean one model, such as `gpt-5` and `openai/gpt-5`."""
    ones, others = (name.strip().casefold().split("/") for name in (one, other))
    shorter = min(len(ones), len(others))
    return ones[-shorter:] == others[-shorter:]
