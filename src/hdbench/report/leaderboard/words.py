"""The texts about a leaderboard, in English or German: its title, and how to read it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hdbench.benchmarks.agreement import Ceiling
from hdbench.common.texts import Texts, decimal, translated
from hdbench.errors import escaped
from hdbench.evaluation.parts import in_words
from hdbench.evaluation.run import subset_in_words
from hdbench.report.leaderboard.boards import Board, BoardRow
from hdbench.scoring.metric import figure_title
from hdbench.statistics.bootstrap import MIN_ITEMS
from hdbench.statistics.comparison import two_sentences

_TEXTS = Texts(Path(__file__).with_name("texts"))

MAX_NAME = 60
"""Maximum characters of an untrusted name that are shown."""

MAX_NAMED = 4
"""Maximum number of models that are named in a sentence."""

MAX_RUNS = 8
"""Maximum number of a model's runs that are named if they lie far apart."""

AFTER_PUBLIC = "†"
"""Mark of a model that was released when the ground truth was public."""

OPEN_WEIGHTS, RUNS_LOCALLY, RUNS_APART = "○", "⌂", "≠"
"""Signs of a model with open weights, one that runs on a workstation, and one whose runs differ."""

FROM_DRAFTS = "‡"
"""Mark of a model whose own drafts were corrected to make ground truths."""


def say(key: str, language: str = "en", **values: Any) -> str:
    """Return a text of `texts/leaderboard.yaml`."""
    return _TEXTS.text(key, language, **values)


def title(board: Board, language: str = "en") -> str:
    """Return what the runs of a leaderboard have in common, in one line."""
    kind = board.kind
    prompt = say("prompt_not_known", language)
    if kind.prompt is not None:
        sha256 = kind.prompt_sha256 or say("hash_not_known", language)
        prompt = f"{kind.prompt} ({sha256[: 12 if kind.prompt_sha256 else None]})"
    items = say("items", language, count=kind.items)
    subset = translated(subset_in_words(kind.subset or ""), language)
    parts = [
        f"{kind.benchmark} {kind.dataset_version}",
        say(kind.protocol, language),
        *kind.read_as,
        *([f"errata {kind.errata}"] if kind.errata else []),
        items + (f" ({subset})" if subset else ""),
        prompt,
    ]
    return escaped(", ".join(parts))


def _has_ranks(board: Board) -> bool:
    return any(row.rank is not None for row in board.rows)


def about_ranks(board: Board, language: str = "en") -> str:
    """Return the meaning of the ranks, or why there are none, in one sentence."""
    if not _has_ranks(board):
        items = say("items", language, count=board.kind.items)
        return say("too_few", language, items=items, least=MIN_ITEMS)
    return say("ranks", language)


def verdict(board: Board, language: str = "en") -> list[str]:
    """Return which model is best, whether that is sure, and its price, in sentences.

    Where models are ranked by what they failed on and by the rest, two sentences say how the first
    two compare. Of models that are not told apart, the price is that of the cheapest. What people
    reach comes last.
    """
    rows, best = board.rows, board.rows
    if not _has_ranks(board):
        said = [about_ranks(board, language)]
    else:
        lows = [row.rank.low for row in rows if row.rank is not None]
        best = [row for row in rows if row.rank is not None and row.rank.low == min(lows)]
        names = [short_name(row.model) for row in best]
        if len(rows) == 1:
            said = []
        elif len(best) == len(rows):
            said = [say("none_best", language, models=_listed(names, language))]
        elif len(best) > 1:
            said = [say("several_best", language, models=_listed(names, language))]
        else:
            is_sure = best[0].rank is not None and best[0].rank.high == 1
            key = "one_best" if is_sure else "one_ahead"
            said = [say(key, language, model=names[0], count=len(rows) - 1)]
    said += first_two(board, language, titled=True)
    priced = [(row.item_usd, row) for row in best if row.item_usd is not None]
    usd, row = min(priced, key=lambda pair: pair[0], default=(None, best[0]))
    model = short_name(row.model)
    if usd is not None:
        key = "costs" if len(best) == 1 else "cheapest"
        price = decimal(f"{1000 * usd:.2f}", language)
        said.append(say(key, language, model=model, usd=price))
    if board.people is not None and board.people.headline == board.judged_by:
        said.append(
            say("people_reach", language, value=decimal(f"{board.people.value:.3f}", language))
        )
    return said


def first_two(board: Board, language: str = "en", *, titled: bool = False) -> list[str]:
    """Return how the first two models compare, where their failures count; see `verdict`, `notes`.

    Args:
        board: the leaderboard.
        language: see `notes`.
        titled: see `notes`.
    """
    if board.pair is None:
        return []
    a, b = map(short_name, board.pair.names)
    figure = figure_title(board.pair.figure, language) if titled else board.pair.figure
    pair = replace(board.pair, names=(a, b), figure=figure)
    return [translated(two_sentences(pair), language)]


def _listed(names: list[str], language: str) -> str:
    from babel.lists import format_list  # noqa: PLC0415  slow to import

    more = (
        [say("more_models", language, count=len(names) - MAX_NAMED)]
        if len(names) > MAX_NAMED
        else []
    )
    return format_list([*names[:MAX_NAMED], *more], locale=language)


def signs_of(row: BoardRow, language: str) -> dict[str, str]:
    """Return the signs of a model, each with its meaning."""
    signs = {
        OPEN_WEIGHTS: ("open", row.open_weights),
        RUNS_LOCALLY: ("local", row.runs_locally),
        AFTER_PUBLIC: ("public", row.after_public),
        FROM_DRAFTS: ("drafts", row.drafted),
        RUNS_APART: ("apart", row.runs_apart),
    }
    return {sign: say(f"sign_{key}", language) for sign, (key, holds) in signs.items() if holds}


def notes(board: Board, language: str = "en", *, titled: bool = False) -> list[str]:
    """Return notes on how to read a leaderboard; the first says what is in it.

    Args:
        board: the leaderboard.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titled: whether figures are called by their titles, as on a page, not by their names.
    """
    headline, judged_by = (
        figure_title(name, language) if titled else name
        for name in (board.headline, board.judged_by)
    )
    failing = any(row.failures is not None for row in board.rows)
    lines = [
        say(
            "sorted_by_rank" if failing else "sorted",
            language,
            models=say("models", language, count=len(board.rows)),
            runs=say("runs", language, count=sum(len(row.runs) for row in board.rows)),
            headline=headline if failing else judged_by,
            direction=say("higher" if board.higher_is_better else "lower", language),
        )
    ]
    if board.judged_by != board.headline:
        lines.append(say("judged_by", language, headline=headline, figure=judged_by))
    ranked = _has_ranks(board)
    if ranked:
        lines.append(say("tested", language))
    if board.people is not None:
        lines.append(in_words("people_means", {}, language))
    if any(row.without_media is not None for row in board.rows):
        lines.append(say("without_media", language))
    for row in board.rows:
        if row.runs_apart:
            values = [
                f"{decimal(f'{run.value:.3f}', language)} "
                f"({short_name(run.run or say('unnamed', language))})"
                for run in row.runs
            ]
            runs = ", ".join(values[:MAX_RUNS]) + (", …" if len(values) > MAX_RUNS else "")
            key = "apart" if ranked else "apart_few"
            lines.append(say(key, language, model=short_name(row.model), runs=runs))
    if any(row.after_public for row in board.rows):
        lines.append(f"{AFTER_PUBLIC} {say('after_public', language, since=board.public_since)}")
    if most := max((row.drafted for row in board.rows), default=0):
        items = say("items", language, count=most)
        lines.append(f"{FROM_DRAFTS} {say('drafted', language, items=items)}")
    return lines


def column_name(key: str, board: Board, language: str = "en", *, titled: bool = False) -> str:
    """Return the heading of a column; see `notes`."""
    figures = {"headline": board.headline, "judged": board.judged_by}
    if key in figures:
        return figure_title(figures[key], language) if titled else figures[key]
    return say(f"column_{key}", language)


def marks_of(row: BoardRow) -> str:
    """Return the marks of a model that `notes` explains."""
    return (AFTER_PUBLIC if row.after_public else "") + (FROM_DRAFTS if row.drafted else "")


def spread_in_words(row: BoardRow, language: str = "en") -> str:
    """Return the spread of a model's runs in words; nothing if there is only one."""
    if row.spread is None:
        return ""
    low, high = (decimal(f"{end:.3f}", language) for end in row.spread)
    spread = say("several", language, count=len(row.runs), low=low, high=high)
    return spread + (f", {say('inconsistent', language)}" if row.runs_apart else "")


def people_in_short(people: Ceiling, language: str = "en") -> str:
    """Return a description of the people whom models are compared with."""
    annotators = say("annotators", language, count=people.annotators)
    return say(
        "people", language, annotators=annotators, items=say("items", language, count=people.items)
    )


def short_name(name: str) -> str:
    """Return an untrusted name as it is shown: short, with control characters as escapes."""
    text = escaped(name[: MAX_NAME + 1])
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"
