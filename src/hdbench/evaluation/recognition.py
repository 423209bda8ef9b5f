"""Recognition of the benchmark that a file of answers is for, by its ids."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from hdbench.answers.ids import match_ids
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.errors import HdbenchError


def recognized(ids: Collection[str], benchmarks: Mapping[str, Iterable[str]]) -> str | None:
    """Return the name of the one benchmark that has an item for each of some ids.

    Ids are matched as in scoring, so that the file can be scored against it.

    Args:
        ids: the ids in a file.
        benchmarks: name → the ids of a benchmark's items.

    Returns:
        None if no benchmark has them all, or several do.

    Example:
        >>> benchmarks = {"cards": ["0001", "0002"], "letters": ["l-1", "l-2"], "maps": ["l-1"]}
        >>> recognized(["1", "2.jpg"], benchmarks), recognized(["l-1"], benchmarks)
        ('cards', None)
    """
    fitting = [name for name, items in benchmarks.items() if _has_all(items, ids)]
    return fitting[0] if len(fitting) == 1 else None


def recognized_in(namespace: Path, ids: Collection[str]) -> str | None:
    """Do the same as `recognized` among the benchmarks built in a folder: `hdb/zettelkatalog`.

    One that is unusable is passed over: it is not what was asked for.
    """
    ids_by_benchmark = {}
    for path in namespace.glob("*/benchmark.yaml"):
        with suppress(HdbenchError):
            benchmark = load_benchmark(str(path.parent))
            ids_by_benchmark[benchmark.id] = list(benchmark.ids())
    return recognized(ids, ids_by_benchmark)


def _has_all(items: Iterable[str], ids: Collection[str]) -> bool:
    try:
        return bool(ids) and not match_ids(ids, items).unknown
    except HdbenchError:  # two ids fit the same item
        return False
