"""XML that wants something else than to be read: refused in one line, soon, by every reader."""

import gzip
import os
import socket
import subprocess
import sys

import pytest

from hdbench.collections.truth.marc_reading import read_marc
from hdbench.collections.truth.page_files import read_page_files
from hdbench.errors import HdbenchError

SECRET = "the content of another file"
ENTITY = "&bomb;"
PAGE = f"""<PcGts><Page imageFilename="a.jpg"><TextRegion id="r"><TextLine id="l"><TextEquiv>
<Unicode>{ENTITY}</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""
ALTO = f"""<alto><Description><sourceImageInformation><fileName>{ENTITY}</fileName>
</sourceImageInformation></Description><Layout><Page><PrintSpace><TextBlock><TextLine>
<String CONTENT="{ENTITY}"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""
MARC = f"""<collection><record><controlfield tag="001">1</controlfield><datafield tag="245">
<subfield code="a">{ENTITY}</subfield></datafield></record></collection>"""

FORMS = [(read_page_files, PAGE), (read_page_files, ALTO), (read_marc, MARC)]
every_form = pytest.mark.parametrize(("reader", "document"), FORMS, ids=["PAGE", "ALTO", "MARC"])
AMPLIFIED = "Maximum entity amplification factor"
DOCUMENT_TYPE = "has a document type (<!DOCTYPE …>), which is not read: "


@pytest.fixture
def refused(tmp_path):
    """The message about a document."""

    def refused(reader, data):
        path = tmp_path / "a.xml"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.raises(HdbenchError) as caught:
            reader(path)
        message = str(caught.value)
        assert message.startswith(f"{path}:")
        assert "\n" not in message
        assert len(message) < 300
        assert SECRET not in message
        return message.removeprefix(f"{path}:")

    return refused


@every_form
def test_the_documents_are_read_if_they_are_harmless(reader, document, tmp_path):
    (tmp_path / "a.xml").write_text(document.replace(ENTITY, "text"))
    (truth,) = reader(tmp_path / "a.xml").truths
    assert "text" in truth.record.values() or truth.record["title"] == "text"


IN_LITTLE_MEMORY = """
import resource, sys
from importlib import import_module
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
module, name, path = sys.argv[1:]
getattr(import_module(module), name)(Path(path))
"""


def in_little_memory(reader):
    """The reader in a process of its own with 1 GiB, in which no bomb can be unpacked."""

    def read(path):
        asked = ("-c", IN_LITTLE_MEMORY, reader.__module__, reader.__name__, str(path))
        # The time is for a process that would never end.
        done = subprocess.run([sys.executable, *asked], capture_output=True, text=True, timeout=300)
        kind, _, message = done.stderr.strip().rpartition("\n")[2].partition(": ")
        assert kind == "hdbench.errors.HdbenchError", done.stderr
        raise HdbenchError(message)

    return read


@every_form
def test_a_bomb_is_not_unpacked(reader, document, refused):
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    laughs = f'<!DOCTYPE x [<!ENTITY l0 "{"ha" * 1000}">{levels}<!ENTITY bomb "&l11;">]>'
    message = refused(in_little_memory(reader), laughs + document)
    assert DOCUMENT_TYPE in message or AMPLIFIED in message
    # One entity, but large and often.
    blowup = f'<!DOCTYPE x [<!ENTITY bomb "{"ha" * 50_000}">]>'
    message = refused(in_little_memory(reader), blowup + document.replace(ENTITY, ENTITY * 50_000))
    assert any(told in message for told in (DOCUMENT_TYPE, AMPLIFIED, "XML of another kind"))


@every_form
def test_no_other_file_is_opened(reader, document, refused, tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "a.dtd").write_text(f'<!ENTITY bomb "{SECRET}">')
    secret = (tmp_path / "secret").as_uri()
    for document_type in (
        f'<!DOCTYPE x [<!ENTITY bomb SYSTEM "{secret}">]>',
        f'<!DOCTYPE x SYSTEM "{(tmp_path / "a.dtd").as_uri()}">',
        f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{(tmp_path / "a.dtd").as_uri()}">%p;]>',
        "<!DOCTYPE x>",
    ):
        message = refused(reader, document_type + document.replace(ENTITY, "text"))
        assert message.startswith(f" {DOCUMENT_TYPE}")
        refused(reader, document_type + document)
    include = f'<i xmlns="http://www.w3.org/2001/XInclude" href="{secret}" parse="text"/>'
    if document != ALTO:  # in which texts are attributes
        (tmp_path / "b.xml").write_text(document.replace(ENTITY, f"text{include}"))
        assert SECRET not in str(reader(tmp_path / "b.xml"))


@every_form
def test_nothing_is_asked_for_on_the_network(reader, document, refused):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.dtd"
        for document_type in (
            f'<!DOCTYPE x SYSTEM "{address}">',
            f'<!DOCTYPE x [<!ENTITY bomb SYSTEM "{address}">]>',
        ):
            refused(reader, document_type + document)
        with pytest.raises(TimeoutError):
            server.accept()


@every_form
def test_depth_and_length_are_bounded(reader, document, refused):
    deep = "<a>" * 100_000 + "</a>" * 100_000
    nested = document.replace(ENTITY, "").replace("<Page", deep + "<Page", 1)
    assert "not well-formed XML: Excessive depth" in refused(
        reader, deep if reader is read_marc else nested
    )
    if document != ALTO:
        long = document.replace(ENTITY, "x" * 11_000_000)
        assert "not well-formed XML: " in refused(reader, long)


@every_form
def test_a_large_file_is_not_read_and_a_packed_one_not_unpacked(
    reader, document, refused, monkeypatch
):
    monkeypatch.setattr("hdbench.common.xml_documents.MAX_XML", 2**20)
    padded = document.replace(ENTITY, "text") + " " * 2**20
    assert refused(reader, padded) == " larger than 1 MiB: shorten or divide it"
    packed = gzip.compress(padded.encode())
    assert len(packed) < 2**20
    refused(reader, packed)


@every_form
def test_what_is_no_file_is_not_opened(reader, document, tmp_path):
    os.mkfifo(tmp_path / "a.xml")
    with pytest.raises(HdbenchError, match=r"a\.xml: cannot be read: is a pipe or a device"):
        reader(tmp_path / "a.xml")
    with pytest.raises(HdbenchError, match=r"b\.xml: cannot be read: No such file"):
        reader(tmp_path / "b.xml")


@pytest.mark.parametrize(("reader", "document"), FORMS[:2], ids=["PAGE", "ALTO"])
def test_links_in_a_folder_are_not_followed(reader, document, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.xml").write_text(document.replace(ENTITY, "text"))
    (tmp_path / "folder/sub").mkdir(parents=True)
    (tmp_path / "folder/b.xml").write_text(document.replace(ENTITY, "text"))
    (tmp_path / "folder/linked").symlink_to(tmp_path / "outside")
    assert [truth.place for truth in reader(tmp_path / "folder").truths] == ["b.xml"]
    (tmp_path / "folder/sub/c.xml").symlink_to(tmp_path / "outside/a.xml")
    with pytest.raises(HdbenchError, match=r"c\.xml: is a symbolic link, which is not followed: "):
        reader(tmp_path / "folder")


@pytest.mark.parametrize(("reader", "document"), FORMS[:2], ids=["PAGE", "ALTO"])
def test_a_folder_has_a_bound(reader, document, tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.collections.truth.page_files.MAX_PAGE_FILES", 2)
    for name in "abc":
        (tmp_path / f"{name}.xml").write_text(document.replace(ENTITY, "text"))
    with pytest.raises(HdbenchError, match=r"more than 2 files$"):
        reader(tmp_path)


@every_form
def test_unknown_encodings_and_control_characters_are_refused(reader, document, refused):
    text = document.replace(ENTITY, "text")
    for data in (
        f'<?xml version="1.0" encoding="nonsense"?>{text}'.encode(),
        text.replace("text", "\x00").encode(),
        text.replace("text", "M\xfcller").encode("latin-1"),
        text.replace("text", "&bomb;").encode(),
        text.replace("text", "&#27;").encode(),
    ):
        assert "not well-formed XML: " in refused(reader, data)


@pytest.mark.parametrize(
    ("reader", "begin", "line", "end"),
    [
        (
            read_page_files,
            '<PcGts><Page imageFilename="a.jpg">' + "<TextRegion>" * 100,
            "<TextLine><TextEquiv><Unicode>{}</Unicode></TextEquiv></TextLine>",
            "</TextRegion>" * 100 + "</Page></PcGts>",
        ),
        (
            read_page_files,
            "<alto><Layout><Page><PrintSpace>" + "<TextBlock>" * 100,
            '<TextLine><String CONTENT="{}"/></TextLine>',
            "</TextBlock>" * 100 + "</PrintSpace></Page></Layout></alto>",
        ),
        (
            read_page_files,
            '<html><body><div class="ocr_page">' + '<div class="ocr_caption">' * 100,
            '<span class="ocr_line">{}</span>',
            "</div>" * 101 + "</body></html>",
        ),
        (
            read_marc,
            '<record><datafield tag="245"><subfield code="a">' * 60,
            "{}",
            "</subfield></datafield></record>" * 60,
        ),
    ],
    ids=["PAGE", "ALTO", "hOCR", "MARC"],
)
def test_a_text_within_many_elements_is_read_once(reader, begin, line, end, tmp_path):
    (tmp_path / "a.xml").write_text(begin + line.format("S" * 10_000) + end)
    truths = reader(tmp_path / "a.xml").truths
    assert sum(str(truth.record).count("S") for truth in truths) == 10_000


WRAPPED = '<a b="" c="" d="" e="" f="" g="" h="" i="" j=""><record/></a>'
MANY = {
    "PAGE": "<PcGts>" + "<a/>" * 15_000_000 + "</PcGts>",
    "PAGE, attributes": "<PcGts>" + '<a b="" c="" d=""/>' * 3_000_000 + "</PcGts>",
    "ALTO": "<alto>" + "<a/>" * 15_000_000 + "</alto>",
    "hOCR": "<html><p class=ocr_page>" + "<br>" * 15_000_000,
    "MARC": "<collection>" + "<a/>" * 15_000_000 + "</collection>",
    "MARC, one record": "<record>" + "<a/>" * 15_000_000 + "</record>",
    # What a record stands in stays when the record goes.
    "MARC, wrapped": f"<collection>{WRAPPED * 1_000_000}</collection>",
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", MANY)
def test_sixty_megabytes_of_empty_elements_do_not_fill_the_memory(name, refused):
    """In 1 GiB; a tree of all of them took 2."""
    reader = read_marc if name.startswith("MARC") else read_page_files
    message = refused(in_little_memory(reader), MANY[name])
    told = " more than 2,000,000 elements and attributes: export it in several files"
    assert message == told


def test_a_large_collection_of_records_is_read_record_by_record(tmp_path, monkeypatch):
    monkeypatch.setattr("hdbench.common.xml_documents.MAX_XML_NODES", 2_500)
    monkeypatch.setattr("hdbench.common.xml_documents._CHUNK", 2**10)
    record = MARC.replace(ENTITY, "text").removeprefix("<collection>").removesuffix("</collection>")
    (tmp_path / "a.xml").write_text(f"<collection>{record * 1_000}</collection>")
    assert len(read_marc(tmp_path / "a.xml").truths) == 1_000  # of 8,000 elements and attributes
