"""Long work shows a bar to a person at a terminal, and nothing to a file."""

import os
import pty
import subprocess
import sys


def build(folder, stderr):
    return subprocess.run(
        [sys.executable, "-m", "hdbench", "build", "zettelkatalog", "--sample"],
        cwd=folder,
        env=os.environ | {"HF_HOME": str(folder / "cache"), "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        timeout=300,
    )


def test_a_terminal_sees_a_bar(tmp_path):
    reader, terminal = pty.openpty()
    try:
        assert build(tmp_path, terminal).returncode == 0
        os.set_blocking(reader, False)
        assert b"Zettelkatalog" in os.read(reader, 65536)
    finally:
        os.close(reader)
        os.close(terminal)
