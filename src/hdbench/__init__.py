"""hdbench: benchmarks of the digital humanities, built, loaded and scored."""

from hdbench.about import __version__ as __version__

TYPE_CHECKING = False  # that of typing, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from hdbench.api import (
        Benchmark,
        ReadAs,
        Result,
        Settings,
        compare_runs,
        concat,
        load_benchmark,
        load_runs,
        rank_runs,
        read_result,
        read_results,
        run,
        score,
        score_runs,
        write_results,
    )
    from hdbench.errors import HdbenchError
    from hdbench.models.backend import Reply
    from hdbench.report.leaderboard.boards import Board
    from hdbench.scoring.metric import Metric
    from hdbench.statistics.comparison import Comparison

__all__ = [
    "Benchmark",
    "Board",
    "Comparison",
    "HdbenchError",
    "Metric",
    "ReadAs",
    "Reply",
    "Result",
    "Settings",
    "compare_runs",
    "concat",
    "load_benchmark",
    "load_runs",
    "rank_runs",
    "read_result",
    "read_results",
    "run",
    "score",
    "score_runs",
    "write_results",
]
_ELSEWHERE = {
    "Board": "hdbench.report.leaderboard.boards",
    "Comparison": "hdbench.statistics.comparison",
    "HdbenchError": "hdbench.errors",
    "Metric": "hdbench.scoring.metric",
    "Reply": "hdbench.models.backend",
}


def __getattr__(name: str) -> "Any":
    """Import what is public when it is asked for, as most commands need little of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_ELSEWHERE.get(name, "hdbench.api")), name)


def __dir__() -> list[str]:
    """Return the public names alone."""
    return __all__
