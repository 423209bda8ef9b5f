"""Refusal of jobs that hdbench 0.2 submitted, and that are still in the queue after an update.

Their pickled executor names this module: it has to stay here, whatever moves.
"""

from hdbench.errors import HdbenchError


def __getattr__(name: str) -> None:
    if name != "OnSlurm":
        raise AttributeError(name)
    raise HdbenchError(
        "this job was queued by an earlier version of hdbench: submit again, with the same hdbench "
        "run"
    )
