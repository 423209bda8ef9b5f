"""How long a report takes and in how much memory: PYTHONPATH=tests python -m speed.report

263 cards with scans, the first time and with kept thumbnails, and 20,000 without scans.

Figures compare within one run only; CPU time counts all threads.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed.space import CARDS, made_up
from speed.zettel_f1 import write_benchmark

LARGE = 20_000


def main() -> None:
    """Print all the figures."""
    with tempfile.TemporaryDirectory() as folder:
        with_scans(Path(folder) / "scans")
        of_run(Path(folder) / "large", LARGE)


def with_scans(folder: Path) -> None:
    """The report of a benchmark with scans."""
    folder.mkdir()
    benchmark, answers = made_up(folder)
    for what in ("the first report", "the next one"):
        seconds, cpu, peak = report(benchmark, answers, folder)
        size = (folder / "report/index.html").stat().st_size / 1e6
        print(
            f"{CARDS} cards, {what}: {seconds:.1f} s ({cpu:.1f} s of CPU), "
            f"{peak / 2**20:.0f} MiB, page {size:.1f} MB"
        )


def of_run(folder: Path, items: int) -> None:
    """The report of a large run."""
    folder.mkdir()
    write_benchmark(folder, items)
    seconds, cpu, peak = report(folder / "hdb/cards", folder / "predictions.jsonl", folder)
    print(f"{items:,} items: {seconds:.0f} s ({cpu:.0f} s of CPU), {peak / 2**20:.0f} MiB")


def report(benchmark: Path, answers: Path, folder: Path) -> tuple[float, float, int]:
    """The seconds, the CPU seconds and the peak memory in bytes of one report."""
    command = [sys.executable, "-m", "hdbench", "report"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, str(benchmark), str(answers), "-o", "report"],
        cwd=folder,
        env=os.environ | {"HDBENCH_CACHE": str(folder / "cache")},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    taken = time.perf_counter() - start
    if status:
        sys.exit(f"hdbench report ended with {os.waitstatus_to_exitcode(status)}")
    return taken, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


if __name__ == "__main__":
    main()
