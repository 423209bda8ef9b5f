"""How fast MARC records are read: `PYTHONPATH=tests python -m speed.marc [RECORDS]`.

Printed are the seconds for 100,000 records, and for finding their ends alone.
"""

import sys
import tempfile
import time
from pathlib import Path

from pymarc import Field, Indicators, Record, Subfield

from hdbench.ground_truth.marc import read_marc


def record(number):
    made = Record()
    made.add_field(Field("001", data=str(number)))
    for tag, code, text in (
        ("100", "a", "Frey, Hans"),
        ("245", "a", "Die Stadt"),
        ("260", "c", "1912"),
    ):
        made.add_field(Field(tag, Indicators("1", " "), [Subfield(code, text)]))
    return made.as_marc()


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    data = b"".join(map(record, range(records)))
    started = time.perf_counter()
    assert data.count(b"\x1d") == records
    floor = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.mrc"
        path.write_bytes(data)
        started = time.perf_counter()
        found = read_marc(path, None)
        took = time.perf_counter() - started
    assert len(found.truths) == records
    print(
        f"{records:,} records, {len(data) / 2**20:.0f} MiB: {took:.1f} s, ends alone {floor:.3f} s"
    )


if __name__ == "__main__":
    main()
