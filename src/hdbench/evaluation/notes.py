"""Notes for a person on the items that a run was scored on."""

from collections import Counter

from hdbench.answers.folders import RUN_FILE
from hdbench.errors import Message
from hdbench.evaluation.result import Result
from hdbench.evaluation.run_answers import RunAnswers
from hdbench.evaluation.run_info import subset_in_words

REASONS = 5
"""Maximum number of reasons that are named."""


def notes_on(
    run: RunAnswers, result: Result, *, asked: int, with_truth: int, rewritten: int
) -> list[str]:
    """Return notes on a run: what was asked, how, what cannot be scored, and how its file was read.

    Args:
        run: the run.
        result: its result.
        asked: the number of items that were asked.
        with_truth: the number of these that have a ground truth.
        rewritten: the number whose answer or ground truth is not written in canonical form.
    """
    return [
        *_unseen(run),
        *_own(run),
        *_not_asked(run, asked),
        *_without_truth(asked - with_truth),
        *_empty_strata(result),
        *_proposed(result),
        *_rewritten(rewritten),
        *run.notes,
    ]


def text_notes(texts: int, undivided: int) -> list[Message]:
    """Return notes on answers that are texts and stand for a record.

    Args:
        texts: how many they are.
        undivided: how many of them lack the page breaks of their ground truth.
    """
    notes = []
    if texts:
        notes.append(
            Message(
                "{count:,} answer is a text: it is compared with the text of the ground truth, and "
                "no other field is asked of it",
                plural="{count:,} answers are texts: they are compared with the text of the ground "
                "truth, and no other field is asked of them",
                count=texts,
            )
        )
    if undivided:
        notes.append(
            Message(
                "{count:,} text has no page break, and its ground truth several pages: all of it "
                "counts as the first page",
                plural="{count:,} texts have no page break, and their ground truths several pages: "
                "all of each counts as the first page",
                count=undivided,
            )
        )
    return notes


def reason_notes(reasons: Counter[str]) -> list[Message]:
    """Return a note on why items have no answer, the most frequent reasons first.

    Args:
        reasons: reason → the number of items.
    """
    if not reasons:
        return []
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(REASONS))
    more = ", …" if len(reasons) > REASONS else ""
    return [Message("why there is no answer: {reasons}", reasons=listed + more)]


def _without_truth(number: int) -> list[str]:
    """Return a note on the items that have no ground truth, if there are any."""
    if not number:
        return []
    if number == 1:
        return [Message("1 item has no ground truth, and cannot be scored")]
    return [Message("{count} items have no ground truth, and cannot be scored", count=number)]


def _empty_strata(result: Result) -> list[str]:
    """Return a note on strata of a sample without an item that is scored, if there are any."""
    sample = result.dataset.sample
    if sample is None or result.weighed is None or not result.weighed.empty:
        return []
    empty = result.weighed.empty
    return [
        Message(
            "strata of the sample without an item here: {count:,} of {strata:,}, with {of:,} of "
            "the {whole:,} items of the whole; the nearest strata stand for them",
            count=len(empty),
            strata=len(sample.strata),
            of=sum(part.of for part in empty),
            whole=sample.of,
        )
    ]


def _proposed(result: Result) -> list[str]:
    """Return a note on what the proposed corrections of ground truths change, if there are any."""
    if not result.other_errata:
        return []
    value, other = (
        scored.rates[result.headline] for scored in (result, result.under_other_errata())
    )
    return [
        Message(
            "proposed corrections of the ground truth count here, though the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} without them"
            if result.dataset.errata
            else "proposed corrections of the ground truth do not count, as the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} with them (--errata proposed)",
            count=len(result.other_errata),
            items=len(result.ids),
            headline=result.headline,
            value=value,
            other=other,
        )
    ]


def _rewritten(number: int) -> list[str]:
    """Return a note on the items with texts in another form that counts as equal, if any."""
    if not number:
        return []
    return [
        Message(
            "1 answer or its ground truth has characters in another form (accents apart from "
            "their letters, no-break spaces, …), which count as equal",
            plural="{count:,} answers or their ground truths have characters in another form "
            "(accents apart from their letters, no-break spaces, …), which count as equal",
            count=number,
        )
    ]


def _unseen(run: RunAnswers) -> list[str]:
    """Return a note on a run without media."""
    if run.info is None or not run.info.without_media:
        return []
    template = (
        "{place}: asked without media, with the prompt alone: what is right here is memory or "
        "chance, and is the floor beneath the model's score"
    )
    return [Message(template, place=RUN_FILE)]


def _own(run: RunAnswers) -> list[str]:
    """Return a note on a run on the user's own images, taken for the benchmark's."""
    if run.info is None or not run.info.own_images:
        return []
    own = Message(
        "{place}: a run over own images, taken for the items with the same ids", place=RUN_FILE
    )
    if not run.left_out:
        return [own]
    number, first = len(run.left_out), min(run.left_out)
    if number == 1:
        template = "{own}; 1 image is left out, because no item has the id (such as {first!r})"
    else:
        template = (
            "{own}; {count} images are left out, because no item has the id (such as {first!r})"
        )
    return [Message(template, own=own, count=number, first=first)]


def _not_asked(run: RunAnswers, asked: int) -> list[str]:
    """Return a note on the items that are not scored, if there are any."""
    if run.info is None or run.asked is None:
        return []
    left_out = sum(1 for _ in run.benchmark.ids()) - asked
    if not left_out:
        return []
    subset = run.info.subset
    how = Message(" ({how})", how=subset_in_words(subset)) if subset else ""
    if left_out == 1:
        template = "{place}: 1 item was not asked{how}, and is not scored"
    else:
        template = "{place}: {count} items were not asked{how}, and are not scored"
    return [Message(template, place=RUN_FILE, count=left_out, how=how)]
