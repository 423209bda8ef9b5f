"""How the Space stands fifty visitors at once: PYTHONPATH=tests python -m speed.space

Each visitor uploads a file, presses Score, and takes the report and all downloads. Without
arguments the benchmark is one of 263 made-up cards; with BENCHMARK ANSWERS it is a built one, such
as hdb/zettelkatalog, and a file of answers to it.

Not a test: nothing here passes or fails by the clock, and figures compare within one run only.
"""

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from PIL import Image
from space.servers import free_port
from space.visitors import Visitor, peak_memory
from speed.zettel_f1 import write_benchmark

CARDS = 263
FEW, MANY = 5, 50
DOWNLOADS = 4


def main(benchmark: Path, answers: Path) -> None:
    """Print all the figures."""
    for visitors in (FEW, MANY):
        with serving(benchmark.parent) as (url, server):
            first = asyncio.run(visits(url, 1, benchmark.name, answers))
            alone = asyncio.run(visits(url, 1, benchmark.name, answers))
            together = asyncio.run(visits(url, visitors, benchmark.name, answers))
            memory = peak_memory(server) / 2**20
        each = together[0] / visitors
        print(
            f"the first visitor {first[0]:.1f} s, one alone after that {alone[0]:.1f} s; "
            f"{visitors} at once {together[0]:.1f} s, {each:.1f} s a visitor, "
            f"{each / alone[0]:.2f} times one alone; {first[1] + alone[1] + together[1]} failed; "
            f"peak memory {memory:.0f} MiB"
        )


@contextmanager
def serving(namespace: Path) -> Iterator[tuple[str, int]]:
    """The address of a Space, and its process."""
    command = [sys.executable, "-m", "hdbench", "space", "--port", str(free_port())]
    command += ["--namespace", str(namespace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip(), server.pid
        finally:
            server.send_signal(signal.SIGTERM)


async def visits(url: str, visitors: int, benchmark: str, answers: Path) -> tuple[float, int]:
    """The seconds that so many visitors at once take together, and how many fail."""
    start = time.perf_counter()
    done = await asyncio.gather(
        *(visit(url, f"192.0.2.{number}", benchmark, answers) for number in range(visitors)),
        return_exceptions=True,
    )
    taken = time.perf_counter() - start
    failures = [repr(each) for each in done if each is not None]
    for failure in set(failures):
        print(failure[:200])
    return taken, len(failures)


async def visit(url: str, address: str, benchmark: str, answers: Path) -> None:
    """Score a file as the page does, and take all that comes of it."""
    async with Visitor(url, address) as visitor:
        file = await visitor.upload(answers.name, answers.read_bytes())
        messages = await visitor.press("score", benchmark=benchmark, file=file)
        told = json.dumps(messages)
        await visitor.fetch(re.search(r"report/[\w-]+", told).group())
        files = set(re.findall(r'"path": "([^"]+/hdbench-[^"/]+)"', told))
        if len(files) != DOWNLOADS:
            raise httpx.HTTPError(f"{len(files)} downloads")
        for path in files:
            await visitor.fetch(f"gradio_api/file={path}")


def made_up(folder: Path) -> tuple[Path, Path]:
    """A benchmark of cards with scans, and answers to it."""
    write_benchmark(folder, CARDS)
    # A Space calls a benchmark by its name, and write_benchmark takes that of the real cards.
    benchmark = (folder / "hdb/cards").rename(folder / "hdb/zettelkatalog")
    bytes_of = random.Random(1).randbytes
    metadata = benchmark / "metadata.jsonl"
    rows = [json.loads(line) for line in metadata.read_text().splitlines()]
    for row in rows:
        row["file_name"] = f"{row['id']}.jpg"
        scan = Image.frombytes("L", (80, 52), bytes_of(80 * 52)).resize((1600, 1040))
        scan.save(benchmark / row["file_name"])
    metadata.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return benchmark, folder / "predictions.jsonl"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(*(map(Path, sys.argv[1:]) if sys.argv[1:] else made_up(Path(scratch))))
