"""Which reader a ground truth goes to, by its content and not by its name."""

import os

import pytest

from hdbench.answers.tables import SourceTable
from hdbench.collections.new.truth_files import open_truth
from hdbench.errors import HdbenchError

PAGE = """<PcGts><Page imageFilename="7.jpg"><TextRegion><TextEquiv><Unicode>Wein</Unicode>
</TextEquiv></TextRegion></Page></PcGts>"""
ALTO = """<alto><Description><sourceImageInformation><fileName>7.jpg</fileName>
</sourceImageInformation></Description><Layout><Page><PrintSpace><TextBlock><TextLine>
<String CONTENT="Wein"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""
JSON = '{"7.jpg": {"text": "Wein"}}'
LINES = '{"id": "7.jpg", "ground_truth": "Wein"}\n{"id": "8.jpg", "ground_truth": "Korn"}\n'


@pytest.mark.parametrize("content", [PAGE, ALTO, JSON, LINES, f"\ufeff\n{ALTO}"])
def test_what_a_file_holds_decides_and_not_its_name(tmp_path, content):
    path = tmp_path / "export.dat"
    path.write_text(content)
    first = open_truth(path).truths[0]
    assert (first.key, first.record) == ("7.jpg", {"text": "Wein"})


def test_xml_in_utf_16_is_xml_all_the_same(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="UTF-16"?>{PAGE}'.encode("utf-16"))
    assert open_truth(path).truths[0].record == {"text": "Wein"}


@pytest.mark.parametrize("content", [PAGE, ALTO])
def test_a_folder_of_xml_is_what_its_first_file_is(tmp_path, content):
    (tmp_path / "7.xml").write_text(content)
    assert [truth.record for truth in open_truth(tmp_path).truths] == [{"text": "Wein"}]


def test_anything_else_is_a_table(tmp_path):
    path = tmp_path / "export.dat"
    path.write_text("Datei;Text\n7.jpg;Wein\n")
    assert isinstance(open_truth(path), SourceTable)


@pytest.mark.parametrize("name", ["a.xml", "folder/a.xml"])
def test_xml_of_another_kind_is_named(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("<!-- <alto> --><TEI/>")
    with pytest.raises(HdbenchError, match=r"<TEI>.*PAGE XML nor ALTO nor hOCR"):
        open_truth(path.parent if "/" in name else path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HdbenchError, match="pipe: neither a file nor a folder"):
        open_truth(tmp_path / "pipe")


@pytest.mark.parametrize("name", [b"w\xfcrde.csv", b"truths/m\xfcller.json", b"page/m\xfcller.xml"])
def test_a_name_that_is_not_utf_8_is_refused(tmp_path, name):
    page = b"<PcGts><Page/></PcGts>"
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes({".csv": b"id,title\n1,a\n", ".json": b"{}", ".xml": page}[path.suffix])
    if path.suffix == ".xml":
        (path.parent / "a.xml").write_bytes(page)
    with pytest.raises(HdbenchError) as caught:
        open_truth(path if path.suffix == ".csv" else path.parent)
    shown = name.decode(errors="backslashreplace")
    assert str(caught.value) == f"{tmp_path}/{shown}: its name is not in UTF-8: rename it"
