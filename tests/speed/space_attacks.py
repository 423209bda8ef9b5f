"""What files that cost much do to other visitors: PYTHONPATH=tests python -m speed.space_attacks

Each attack is one file, which two addresses upload and have scored three times each. Meanwhile a
visitor with 263 cards, each time from another address, presses Score again and again, in a process
of their own: the table has the longest time until report and downloads were there. Names of attacks
as arguments choose some.

Not a test: nothing here passes or fails by the clock.
"""

import asyncio
import gzip
import io
import json
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from space.visitors import Visitor
from speed.space import made_up, serving, visit

ADDRESSES = 2
FILES = 3
"""Files that each address has scored at a time."""

WATCHED = 12
"""Seconds for which the honest visitor comes back; the attack is followed to its end."""

LONGEST = 60


class Seen(NamedTuple):
    """What came of an attack."""

    waits: list[float]
    held: list[float]
    memory: int
    told: str


def main(names: list[str]) -> None:
    """Print a line for each attack."""
    with tempfile.TemporaryDirectory() as scratch:
        benchmark, answers = made_up(Path(scratch))
        ids = [json.loads(line)["id"] for line in answers.open()]
        print(
            "| attack | MB | honest visitor: longest of n | first file held | all | peak memory | "
            "what the attacker is told |\n|---|---|---|---|---|---|---|"
        )
        for name, (file, make) in ATTACKS.items():
            if names and name not in names:
                continue
            content = make(ids)
            with serving(benchmark.parent) as (url, server):
                seen = asyncio.run(attacked(url, server, file, content, answers))
            print(
                f"| {name} | {len(content) / 1e6:.1f} | {max(seen.waits):.1f} s of "
                f"{len(seen.waits)} | {min(seen.held):.1f} s | {max(seen.held):.1f} s | "
                f"{seen.memory / 2**20:.0f} MiB | {seen.told[:90]} |",
                flush=True,
            )


async def attacked(url: str, server: int, file: str, content: bytes, answers: Path) -> Seen:
    """How long the honest visitor waits while files are scored."""
    for _ in range(2):
        await visit(url, "192.0.2.1", "zettelkatalog", answers)
    memory = asyncio.create_task(asyncio.to_thread(watch_memory, server))
    attacks = [
        asyncio.create_task(attack(url, f"198.51.100.{address}", file, content))
        for address in range(ADDRESSES)
        for _ in range(FILES)
    ]
    with ProcessPoolExecutor(1, get_context("spawn")) as visitor:
        loop = asyncio.get_running_loop()
        waits = await loop.run_in_executor(visitor, honest_visits, url, answers)
    done, still = await asyncio.wait(attacks, timeout=LONGEST)
    for task in still:
        task.cancel()
    WATCHING.clear()
    await memory
    ended = [task.result() for task in done if not task.exception()]
    held = [seconds for seconds, _ in ended] or [float("nan")]
    told = {told for _, told in ended}
    told |= {repr(each.exception()) for each in done if each.exception()}
    return Seen(waits, held, PEAK[server], "; ".join(sorted(told)))


def honest_visits(url: str, answers: Path) -> list[float]:
    """The seconds of each visit, as long as an attack is watched."""
    return asyncio.run(_visits(url, answers))


async def _visits(url: str, answers: Path) -> list[float]:
    waits: list[float] = []
    start = time.perf_counter()
    while time.perf_counter() - start < WATCHED:
        begun = time.perf_counter()
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST):
                await visit(url, f"192.0.2.{2 + len(waits) % 200}", "zettelkatalog", answers)
        waits.append(time.perf_counter() - begun)
        await asyncio.sleep(0.3)
    return waits


PEAK: dict[int, int] = {}
WATCHING = threading.Event()


def watch_memory(server: int) -> None:
    """Watch the memory of a server with all its processes, what they share counted once."""
    WATCHING.set()
    while WATCHING.is_set():
        PEAK[server] = max(PEAK.get(server, 0), memory_of(server))
        time.sleep(0.2)


def memory_of(process: int) -> int:
    """Bytes of a process and its children: of what several share, each its part."""
    total = 0
    with suppress(OSError):  # it may have ended
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) << 10
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += memory_of(int(child))
    return total


async def attack(url: str, address: str, file: str, content: bytes) -> tuple[float, str]:
    """Have a file scored: the seconds until there is an answer, and what it says."""
    async with Visitor(url, address) as visitor:
        uploaded = await visitor.upload(file, content)
        begun = time.perf_counter()
        messages = await visitor.press("score", benchmark="zettelkatalog", file=uploaded)
        seconds = time.perf_counter() - begun
    told = json.dumps(messages[-2:], ensure_ascii=False)
    _, found, rest = told.partition("hdb-problem")
    return seconds, " ".join(rest[:400].split()) if found else "scored"


def one_answer(ids: list[str], keys: int = 2_000_000) -> bytes:
    """One answer of many keys."""
    record = ",".join(f'"k{key}":1' for key in range(keys))
    return f'{{"id": "{ids[0]}", "prediction": {{{record}}}}}\n'.encode()


def one_list(ids: list[str]) -> bytes:
    """One answer whose subjects are a long list."""
    subjects = ",".join(["1"] * 15_000_000)
    return f'{{"id": "{ids[0]}", "prediction": {{"subjects": [{subjects}]}}}}\n'.encode()


def models(ids: list[str], number: int = 50, invented: int = 30) -> bytes:
    """Answers of many models with fields of their own."""
    record = {f"field {each}": each for each in range(invented)}
    return "".join(
        json.dumps({"id": item, "model": f"m{model}", "prediction": record}) + "\n"
        for model in range(number)
        for item in ids
    ).encode()


def honest_models(ids: list[str]) -> bytes:
    """Answers of fifty models, as a visitor may well have them."""
    return models(ids, 50, 6)


def broken_texts(ids: list[str]) -> bytes:
    """Texts of damaged JSON."""
    text = '{"a": [{"b": "c" "d": ' * 6_000
    return "".join(json.dumps({"id": item, "text": text}) + "\n" for item in ids).encode()


def many_fields(ids: list[str]) -> bytes:
    """Answers with nearly as many fields as a report may show."""
    record = {f"field {each}": "x" for each in range(730)}
    return "".join(json.dumps({"id": item, "prediction": record}) + "\n" for item in ids).encode()


def long_names(ids: list[str]) -> bytes:
    """Values of a megabyte, which are compared."""
    record = {"publication": {"title": "ab" * 90_000}}
    return "".join(json.dumps({"id": item, "prediction": record}) + "\n" for item in ids).encode()


def brackets(_: list[str]) -> bytes:
    """Nothing but opened brackets."""
    return b"[" * 50_000_000


def list_of_one(ids: list[str]) -> bytes:
    """A JSON list of empty objects."""
    return b"[" + b"{}," * 16_000_000 + b"{}]"


def many_models(_: list[str]) -> bytes:
    """Each line is a model of its own."""
    return b"".join(b'{"id":"%d","model":"%d","text":""}\n' % (n, n) for n in range(1_100_000))


def table(ids: list[str]) -> bytes:
    """A CSV of many short rows."""
    return b"id,model,text\n" + b"".join(b"%d,,x\n" % n for n in range(4_500_000))


def wide_table(ids: list[str]) -> bytes:
    """A CSV of many columns."""
    return b"id," + b",".join(b"c%d" % n for n in range(5_000_000)) + b"\n1\n"


def workbook(_: list[str], rows: int = 3_000_000) -> bytes:
    """An XLSX of many rows, in sheets."""
    data, each = io.BytesIO(), 1_000_000
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    office = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as book:
        sheets = range(1, rows // each + 1)
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{office}/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/></Types>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="a" '
            f'Type="{office}/officeDocument/2006/relationships/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{office}/spreadsheetml/2006/main" xmlns:r="{office}/officeDocument/'
            '2006/relationships"><sheets>'
            + "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in sheets)
            + "</sheets></workbook>",
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships">'
            + "".join(
                f'<Relationship Id="r{n}" Type="{office}/officeDocument/2006/relationships/'
                f'worksheet" Target="worksheets/sheet{n}.xml"/>'
                for n in sheets
            )
            + "</Relationships>",
        )
        head = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("id", "text"))
        for number in sheets:
            with book.open(f"xl/worksheets/sheet{number}.xml", "w") as sheet:
                sheet.write(f'<worksheet xmlns="{office}/spreadsheetml/2006/main">'.encode())
                sheet.write(f"<sheetData><row>{head}</row>".encode())
                for _ in range(each // 1_000):
                    sheet.write(b"<row><c><v>1</v></c></row>" * 1_000)
                sheet.write(b"</sheetData></worksheet>")
    return data.getvalue()


def packed_lines(ids: list[str]) -> bytes:
    """A gzip file of almost two gigabytes of empty lines."""
    data = io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", compresslevel=1) as file:
        file.write(b'{"id": "%s", "text": ""}' % ids[0].encode())
        for _ in range(2_000):
            file.write(b"\n" * 2**20)
    return data.getvalue()


def packed_answer(ids: list[str]) -> bytes:
    """A ZIP of one huge answer."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answers.jsonl", one_answer(ids, 4_000_000))
    return data.getvalue()


def many_members(_: list[str]) -> bytes:
    """A ZIP of many files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for number in range(400_000):
            archive.writestr(f"{number}.txt", b"")
    return data.getvalue()


def bomb(ids: list[str]) -> bytes:
    """A ZIP of as much as may be unpacked."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for item in ids[:8]:
            archive.writestr(f"{item}.json", b'{"a":[' + b"1," * 30_000_000 + b"1]}")
    return data.getvalue()


Make = Callable[[list[str]], bytes]
ATTACKS: dict[str, tuple[str, Make]] = {
    "JSONL, 1 answer, 2,000,000 keys": ("a.jsonl", one_answer),
    "JSONL, 1 answer, a list of 15,000,000": ("a.jsonl", one_list),
    "JSONL, 50 models, 30 invented fields": ("a.jsonl", models),
    "JSONL, 195,000 fields": ("a.jsonl", many_fields),
    "JSONL, 263 texts of damaged JSON": ("a.jsonl", broken_texts),
    "JSONL, 263 titles of 180 kB": ("a.jsonl", long_names),
    "JSONL, 1,100,000 models": ("a.jsonl", many_models),
    "JSON, 50,000,000 brackets": ("a.json", brackets),
    "JSON, a list of 16,000,000": ("a.json", list_of_one),
    "CSV, 4,500,000 rows": ("a.csv", table),
    "CSV, 5,000,000 columns": ("a.csv", wide_table),
    "XLSX, 3,000,000 rows": ("a.xlsx", workbook),
    "gzip, 2 GiB of empty lines": ("a.jsonl.gz", packed_lines),
    "ZIP, 1 answer, 4,000,000 keys": ("a.zip", packed_answer),
    "ZIP, 400,000 files": ("a.zip", many_members),
    "ZIP, 480 MB in 8 answers": ("a.zip", bomb),
    "(no attack: 50 honest models)": ("a.jsonl", honest_models),
}


if __name__ == "__main__":
    main(sys.argv[1:])
