"""An install without the extras, for processes that need none: `evaluate` imports transformers
wherever it finds it, which takes 4 s, and `datasets` imports torch, which takes 1.5 s."""

import os
from pathlib import Path

_FOLDERS = (str(Path(__file__).parent / "plain_install"), os.environ.get("PYTHONPATH"))
PLAIN = {"PYTHONPATH": os.pathsep.join(filter(None, _FOLDERS)), "USE_TORCH": "0"}
