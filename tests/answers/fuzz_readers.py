"""Fuzz the readers: python tests/answers/fuzz_readers.py text|file [CORPUS] [-max_total_time=3600]

Not a test: it runs until it is stopped, with Atheris (`pip install atheris`). What it finds becomes
a test. Any error but HdbenchError, and any input that takes over ten seconds, is a finding.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["hdbench.answers", "hdbench.common.jsonio", "json_repair"]
):
    from hdbench.answers.answers import Answers
    from hdbench.answers.files import open_container
    from hdbench.answers.schema import AnswerSchema
    from hdbench.answers.text import read_text
    from hdbench.errors import HdbenchError

ROOT = Path(__file__).parents[2]
SCHEMAS = [
    AnswerSchema.load(path, [prompt.read_text() for prompt in path.parent.glob("**/prompt.txt")])
    for path in sorted(ROOT.glob("dataset_scripts/*/answer.schema.json"))
]
IDS = ["00414956", "00415264", "letter01", "image_1"]
ENDINGS = (".jsonl", ".json", ".csv", ".xlsx", ".zip", ".gz", "")


def text(data: bytes) -> None:
    """Read some bytes as a model's text, by each schema."""
    decoded = data.decode("utf-8", errors="surrogatepass" if data[:1] == b"\xed" else "replace")
    for schema in (None, *SCHEMAS):
        reading = read_text(decoded, schema)
        json.dumps(reading.prediction)  # a JSON value, without cycles
        if schema:
            schema.violations(reading.prediction)


def file(data: bytes, folder: Path) -> None:
    """Read some bytes as a file of answers; the first byte chooses ending and schema."""
    if not data:
        return
    path = folder / f"answers{ENDINGS[data[0] % len(ENDINGS)]}"
    schema = (None, *SCHEMAS)[data[0] // len(ENDINGS) % (len(SCHEMAS) + 1)]
    path.write_bytes(data[1:])
    with contextlib.suppress(HdbenchError):
        container = open_container(path, schema)
        try:
            for run, ids in container.runs.items():
                with contextlib.suppress(HdbenchError):
                    Answers(container, run, IDS, "hdb/cards", schema)
                answers = Answers(container, run, ids, "hdb/cards", schema)
                for item_id in ids:
                    with contextlib.suppress(HdbenchError):
                        json.dumps(answers.take(item_id).prediction)
        finally:
            container.close()
    path.unlink()


def main() -> None:
    """Fuzz what the first argument names."""
    target = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as folder:
        one = text if target == "text" else lambda data: file(data, Path(folder))
        atheris.Setup([*sys.argv, "-timeout=10", "-rss_limit_mb=2048"], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
