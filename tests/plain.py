"""An install without the extras, for processes that need none: `evaluate` imports transformers, and
with it torch, wherever it finds it, which takes 4 s."""

from pathlib import Path

PLAIN = {"PYTHONPATH": str(Path(__file__).parent / "plain_install")}
