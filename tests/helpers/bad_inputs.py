"""What nobody should give to a command: odd paths, numbers and names, and what each is told."""

import os
import re
import socket
from pathlib import Path

ESCAPE = "\x1b[31mred\x1b]0;title\x07"
NEWLINE = "two\nlines"
LONE = "\udcff"
"""A byte that is not UTF-8, as Python passes it on in a name."""

NAMES = [ESCAPE, NEWLINE, LONE, "x" * 300, "../../x", ".", "", "-x"]
NUMBERS = ["-1", "0", "nan", "inf", "9" * 400, ""]

RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal would obey, or show the wrong way round."""

DEVICES = ("null", "full")


def odd_paths(folder):
    """Name → a path that is not what a command wants, made in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        name: folder / name for name in ("folder", "empty", "binary", "deep", "fifo", "socket")
    }
    found["folder"].mkdir()
    found["empty"].write_bytes(b"")
    found["binary"].write_bytes(bytes(range(256)) * 20)
    found["deep"].write_text("[" * 50_000)
    os.mkfifo(found["fifo"])
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(folder)  # the name of a socket must be short
        made.bind("socket")
        os.chdir(here)
    found["loop"] = folder / "loop"
    found["loop"].symlink_to("loop")
    for name, odd in (("escape", ESCAPE), ("bytes", LONE)):
        found[name] = folder / f"{odd}.jsonl"
        found[name].write_text(
            '{"id": "\\u001b[31m", "prediction": {"\\u001b]0;x\\u0007": "\\u202e"}}\n'
        )
    found["missing"] = folder / f"none{ESCAPE}"
    found["long"] = folder / ("x" * 300)
    for name in DEVICES:  # links, so that a command that replaces one does not harm the machine
        found[name] = folder / name
        found[name].symlink_to(f"/dev/{name}")
    return found


def complaint(done):
    """What is wrong with how a command ended; None if it worked, or said in one line why not."""
    said = done.stdout + done.stderr
    if "Traceback" in said:
        return "traceback: " + done.stderr.strip().splitlines()[-1][:200]
    if found := RAW.search(said):
        return f"raw {found[0]!r} in {said[max(0, found.start() - 60) : found.end() + 20]!r}"
    if done.returncode not in (0, 1, 2):
        return f"exit status {done.returncode}"
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    is_usage = any("Usage: " in line for line in lines)
    if not lines and re.search(r"\d+ errors?, \d+ warnings?$", done.stdout.strip()):
        return None  # what `hdbench check` finds in a folder
    if done.returncode == 2 and not is_usage and (len(errors) != 1 or errors[0] != lines[-1]):
        return f"not one line: {done.stderr[:300]!r}"
    return None
