from pathlib import Path

import pytest

from hdbench.collections.new.drawing import read_population
from hdbench.errors import HdbenchError

TABLE = "Datei;Typ;Jahr\r\na.jpg;Brief;1800\r\nb.jpg;Größe, usw.;#NV\r\n\r\nc.jpg;;=1+1\r\n"


def test_a_table_as_a_german_spreadsheet_program_writes_it(tmp_path):
    path = tmp_path / "kat.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    found = read_population(path)
    assert found.ids == ["a.jpg", "b.jpg", "c.jpg"]
    assert found.columns["Typ"] == ["Brief", "Größe, usw.", ""]
    assert found.columns["Jahr"] == ["1800", "", "=1+1"]
    assert any("the ids are in the column 'Datei'" in note for note in found.notes)


def test_a_device_that_never_ends_is_not_read():
    with pytest.raises(HdbenchError, match="neither a file nor a folder"):
        read_population(Path("/dev/zero"))
