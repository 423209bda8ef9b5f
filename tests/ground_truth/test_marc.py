import io
import tracemalloc
import unicodedata

import pymarc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymarc import Field, Indicators, MARCReader, MARCWriter, Record, Subfield, XMLWriter

from hdbench.collections.truth import marc_reading
from hdbench.collections.truth.marc_reading import read_marc
from hdbench.common.bounds import MAX_XML
from hdbench.errors import HdbenchError

REMEDY = ": export the file again, or leave them out with --skip-damaged"


def field(tag, *subfields, indicators="  "):
    """A field with subfields such as `a Die Stadt :`."""
    given = [Subfield(text[0], text[2:]) for text in subfields]
    return Field(tag, Indicators(*indicators), given)


def book(number=1, *more):
    """A book as libraries with ISBD punctuation catalogue it."""
    record = Record(force_utf8=True)
    record.add_field(
        Field("001", data=f"99{number:04}"),
        Field("008", data="850101s1912    sz            000 0 ger d"),
        field("020", "a 3406123456", "q kart."),
        field("100", "a Müller, Hans,", "d 1870-1930,", "4 aut", indicators="1 "),
        field("245", "a Die Stadt :", "b Roman /", "c Hans Müller.", indicators="10"),
        field("264", "a [Basel] :", "b Schwabe & Co.,", "c 1912.", indicators=" 1"),
        field("264", "c ©1911", indicators=" 4"),
        field("300", "a XII, 312 S. ;", "c 22 cm."),
        field("700", "a Meier, Anna,", "e Illustratorin.", indicators="1 "),
        field("700", "a Keller, G."),
        field("852", "b A100", "h HS 191 V 10"),
        *more,
    )
    return record


BOOK = {
    "title": "Die Stadt : Roman",
    "names": [
        {"name": "Müller, Hans", "role": "aut"},
        {"name": "Meier, Anna", "role": "Illustratorin"},
        {"name": "Keller, G.", "role": None},
    ],
    "imprint": {"place": "Basel", "publisher": "Schwabe & Co.", "year": "1912"},
    "extent": "XII, 312 S.",
    "shelfmark": "HS 191 V 10",
    "language": "ger",
    "isbn": ["3406123456"],
}


def as_marc21(*records):
    file = io.BytesIO()
    writer = MARCWriter(file)
    for record in records:
        writer.write(record)
    return file.getvalue()


def as_marcxml(*records):
    file = io.BytesIO()
    writer = XMLWriter(file)
    for record in records:
        writer.write(record)
    writer.close(close_fh=False)
    return file.getvalue()


def with_field(*fields, number=1):
    record = Record(force_utf8=True)
    record.add_field(Field("001", data=str(number)), *fields)
    return record


@pytest.fixture
def read(tmp_path):
    def read(data, mapping=None, **options):
        path = tmp_path / "records.mrc"
        path.write_bytes(data)
        given = None
        if mapping is not None:
            given = tmp_path / "mapping.yaml"
            given.write_text(mapping, encoding="utf-8")
        return read_marc(path, given, **options)

    return read


@pytest.fixture
def refused(read):
    """The message about what cannot be read, without the path."""

    def refused(*arguments):
        with pytest.raises(HdbenchError) as caught:
            read(*arguments)
        message = str(caught.value)
        assert "\n" not in message
        return message.rpartition("/records.mrc: ")[2].rpartition("/mapping.yaml: ")[2]

    return refused


@pytest.mark.parametrize("form", [as_marc21, as_marcxml])
def test_default_mapping_reads_records_written_by_pymarc(read, form):
    found = read(form(book(1), book(2)))
    assert [truth[:3] for truth in found.truths] == [
        ("records.mrc, record 1", "990001", BOOK),
        ("records.mrc, record 2", "990002", BOOK),
    ]
    assert found.notes == []


def test_marcxml_is_read_bare_or_in_a_reply_with_any_namespace(read):
    alone = pymarc.record_to_xml(book(), namespace=True)
    bare = pymarc.record_to_xml(book())
    oai = "http://www.openarchives.org/OAI/2.0/"
    harvested = (
        f'<OAI-PMH xmlns="{oai}"><ListRecords>'
        + "".join(
            f"<record><header><identifier>{n}</identifier></header><metadata>"
            f"{alone.decode()}</metadata></record>"
            for n in (1, 2)
        )
        + "</ListRecords></OAI-PMH>"
    ).encode()
    assert b'xmlns="http://www.loc.gov/MARC21/slim"' in alone
    assert b"xmlns" not in bare
    for data, number in [
        (alone, 1),
        (bare, 1),
        (harvested, 2),
        (alone.decode().encode("utf-8-sig"), 1),
    ]:
        truths = read(data).truths
        assert [truth.record for truth in truths] == [BOOK] * number
        assert truths[-1].place == f"records.mrc, record {number}"
    utf16 = f'<?xml version="1.0" encoding="UTF-16"?>{bare.decode()}'.encode("utf-16")
    assert read(utf16).truths[0].record == BOOK


SRU = """<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>
<numberOfRecords>2</numberOfRecords><records>{}</records></searchRetrieveResponse>"""
IN_SRU = """<record><recordSchema>marcxml</recordSchema><recordPacking>xml</recordPacking>
<recordData>{}</recordData><recordPosition>1</recordPosition></record>"""
ALMA = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<bibs total_record_count="2">{}</bibs>"""
IN_ALMA = """<bib><mms_id>990001</mms_id><record_format>marc21</record_format><linked_record_id/>
<title>Die Stadt</title>{}</bib>"""


@pytest.mark.parametrize("namespace", [True, False])
@pytest.mark.parametrize(
    ("whole", "each"),
    [(SRU, IN_SRU), (SRU.replace(" xmlns", " x"), IN_SRU), (ALMA, IN_ALMA), ("<a>{}</a>", "{}")],
    ids=["SRU", "SRU without a namespace", "Alma", "anything"],
)
def test_marcxml_is_found_within_any_wrapper(read, whole, each, namespace):
    records = [pymarc.record_to_xml(book(n), namespace=namespace).decode() for n in (1, 2)]
    found = read(whole.format("".join(map(each.format, records))).encode())
    assert [(truth.key, truth.record) for truth in found.truths] == [
        ("990001", BOOK),
        ("990002", BOOK),
    ]
    assert found.truths[1].place == "records.mrc, record 2"


SCRIPTS = (
    field("245", "6 880-01", "a Voina i mir :", "b roman /", "c L.N. Tolstoi", indicators="10"),
    field("100", "6 880-02", "a Tolstoi, Lev,", "4 aut", indicators="1 "),
    field("700", "6 880-03", "a Petrov, I."),
    field("700", "a Meier, Anna"),
    field("880", "6 700-03/(N", "a Петров, И."),
    field("880", "6 245-01/(N", "a Война и мир :", "b роман /", "c Л.Н. Толстой"),
    field("880", "6 100-02/(N", "a Толстой, Лев,", indicators="1 "),
    field("880", "6 264-00/(N", "a Москва", indicators=" 1"),
    field("880", "6 damaged"),
)


@pytest.mark.parametrize("form", [as_marc21, as_marcxml])
def test_linked_fields_count_in_their_original_script(read, form):
    """Where they have what only the transliteration has, such as a role, it is kept."""
    found = read(form(with_field(*SCRIPTS)))
    truth = found.truths[0].record
    assert truth["title"] == "Война и мир : роман"
    assert truth["names"] == [
        {"name": "Толстой, Лев", "role": "aut"},
        {"name": "Петров, И.", "role": None},
        {"name": "Meier, Anna", "role": None},
    ]
    assert truth["imprint"]["place"] == "Москва"  # which is linked to no field
    assert found.notes == ["in their original script, by fields 880: records.mrc, record 1"]


def test_a_mapping_may_ask_for_transliterations(read, refused):
    mapping = "key: 001\nscript: {}\nrecord: {{title: 245$a, other: 880$a}}\n"
    data = as_marc21(with_field(*SCRIPTS))
    assert read(data, mapping.format("transliterated")).truths[0].record == {
        "title": "Voina i mir",
        "other": "Петров, И.",
    }
    assert read(data, mapping.format("original")).truths[0].record["title"] == "Война и мир"
    assert refused(data, mapping.format("both")) == "script: must be original or transliterated"


def test_numbers_keep_their_zeros_and_0_is_a_value(read):
    record = with_field(field("245", "a 0"), field("300", "a 0007"), number="000123")
    (truth,) = read(as_marc21(record)).truths
    assert (truth.key, truth.record["title"], truth.record["extent"]) == ("000123", "0", "0007")


def test_marc8_is_converted(read):
    record = with_field(field("245", "a Xller"))
    # In MARC-8 the diaeresis (0xE8) precedes its letter. This makes the field two bytes longer.
    data = as_marc21(record).replace(b"Xller", b"M\xe8uller")
    data = f"{len(data):05}".encode() + data[5:9] + b" " + data[10:]
    entry = data[36:48]  # the second in the directory
    longer = f"{int(entry[3:7]) + 2:04}".encode()
    data = data.replace(entry, b"245" + longer + entry[7:])
    assert next(MARCReader(data))["245"]["a"] == "Müller"
    found = read(data)
    assert found.truths[0].record["title"] == "Müller"
    assert found.notes == []


def test_utf8_that_calls_itself_marc8_is_read_as_utf8(read):
    data = bytearray(as_marc21(book()))
    data[9:10] = b" "
    found = read(bytes(data))
    assert found.truths[0].record == BOOK
    assert found.notes == [
        "in UTF-8, although the leader says MARC-8, and read as such: records.mrc, record 1"
    ]


@pytest.mark.parametrize(
    ("leader", "fault"),
    [
        (b" ", "is neither in UTF-8 nor in MARC-8: choose UTF-8 as its encoding"),
        (b"a", "is not in the encoding that its leader says"),
    ],
)
def test_latin_1_is_neither(refused, leader, fault):
    """pymarc alone puts a blank for a byte that MARC-8 does not have."""
    data = bytearray(as_marc21(with_field(field("245", "a Mxxller"))).replace(b"xx", b"\xfcx"))
    data[9:10] = leader
    assert refused(bytes(data)) == f"record 1 (at byte 0, 001 1) {fault}{REMEDY}"


def test_values_are_trimmed_and_what_is_not_there_is_null(read):
    record = with_field(
        field("245", "a <<Der>> Weg", "b ins Freie"),
        field("245", "a a second title"),
        field("260", "a Wien :", "b \x98Der\x9c Verlag,", "c [1908?]"),
        field("100", "a Schnitzler, A. =", "e  Verfasser /"),
        field("700", "d 1900"),
        field("090", "a PT", "b 2638"),
    )
    expected = {
        "title": "Der Weg : ins Freie",
        "names": [{"name": "Schnitzler, A.", "role": "Verfasser"}],
        "imprint": {"place": "Wien", "publisher": "Der Verlag", "year": "1908?"},
        "extent": None,
        "shelfmark": "PT 2638",
        "language": None,
        "isbn": [],
    }
    assert read(as_marc21(record)).truths[0].record == expected
    assert (
        read(as_marcxml(record).replace(b"\xc2\x98", b"").replace(b"\xc2\x9c", b""))
        .truths[0]
        .record
        == expected
    )


def test_imprints_are_those_of_publication(read):
    record = with_field(
        field("264", "a Druckort", indicators=" 3"),
        field("260", "a Alter Ort"),
        field("264", "a Verlagsort", indicators="31"),
        Field("008", data="850101s1912    xx ||||||||||||||||||||||||||"[:40]),
    )
    truth = read(as_marc21(record)).truths[0].record
    assert truth["imprint"]["place"] == "Verlagsort"
    assert truth["language"] is None


def test_records_without_mapped_fields_or_key_are_noted(read):
    nothing = with_field(field("999", "a x"))
    keyless = Record(force_utf8=True)
    keyless.add_field(field("245", "a Ohne"))
    found = read(as_marc21(book(), nothing, keyless))
    assert [(truth.key, truth.record is None) for truth in found.truths] == [
        ("990001", False),
        ("1", True),
        (None, False),
    ]
    assert found.notes == [
        "none of the fields in the mapping, so no ground truth: records.mrc, record 2",
        "no key, which says which item it belongs to: records.mrc, record 3",
    ]


def test_another_mapping_names_other_fields(read):
    mapping = """
key: 856$u
record:
  author: [110$a, 100$a]
  note: {each: "500$a"}
  whole: {of: {statement: 245$c, responsible: "245$c = $a"}}
  language: 008/35-37
  year: 008/7-10
  first: 008/6
  others: {each: ["700|1#|"], fields: {who: "$a, $e"}}
"""
    record = book(
        1,
        field("500", "a one.", "a two", indicators="  "),
        field("500", "a three"),
        field("856", "u https://example.org/a/", indicators="40"),
    )
    (truth,) = read(as_marc21(record), mapping).truths
    assert truth.key == "https://example.org/a/"
    assert truth.record == {
        "author": "Müller, Hans",
        "note": ["one", "two", "three"],
        "whole": {"of": {"statement": "Hans Müller", "responsible": "Hans Müller. Die Stadt"}},
        "language": "ger",
        "year": "1912",
        "first": "s",
        "others": [{"who": "Meier, Anna, Illustratorin"}],
    }


EDITED = "has {} bytes, but {} by its leader (was the file changed in an editor?)"
THREE = as_marc21(book(1), book(2), book(3))
SIZE = len(THREE) // 3


@pytest.mark.parametrize(
    ("data", "named", "fault"),
    [
        (THREE[:-9], (3, "990003"), "is cut off at the end of the file"),
        (THREE[:-1], (3, "990003"), "is cut off at the end of the file"),
        (THREE[: SIZE + 3], (2, ""), "is cut off at the end of the file"),
        (THREE[:SIZE] + b"00100" + THREE[SIZE + 5 :], (2, "990002"), EDITED.format(SIZE, 100)),
        (THREE[:SIZE] + b"99999" + THREE[SIZE + 5 :], (2, "990002"), EDITED.format(SIZE, 99999)),
        (THREE[:SIZE] + b"x" + THREE[SIZE + 1 :], (2, "990002"), "has a damaged leader"),
        (THREE[:12] + b"99999" + THREE[17:], (1, "990001"), "has a damaged directory"),
        (THREE[:12] + b"00000" + THREE[17:], (1, "990001"), "has a damaged directory"),
        (THREE[:24] + b"00\xff" + THREE[27:], (1, ""), "has a damaged directory"),
        (THREE[:27] + b"0009" + THREE[31:], (1, "990001"), "has a damaged field 001"),
    ],
)
def test_a_damaged_record_is_named_and_left_out_if_asked(refused, read, data, named, fault):
    record, control = named
    byte = (record - 1) * SIZE
    known = f"at byte {byte:,}, 001 {control}" if control else f"at byte {byte:,}"
    assert refused(data) == f"record {record} ({known}) {fault}{REMEDY}"
    if len(data) > 2 * SIZE:
        found = read(data, skip_damaged=True)
        assert [truth.place for truth in found.truths] == [
            f"records.mrc, record {n}" for n in (1, 2, 3) if n != record
        ]
        assert found.notes == [f"damaged, and left out: record {record} ({known}) {fault}"]


def test_all_damaged_records_are_named(refused, read):
    edited = THREE.replace(b"Stadt", b"Staedte")
    problems = [
        f"record {n + 1} (at byte {n * (SIZE + 2)}, 001 99000{n + 1}) "
        f"{EDITED.format(SIZE + 2, SIZE)}"
        for n in range(3)
    ]
    assert refused(edited) == "; ".join(problems) + REMEDY
    with pytest.raises(HdbenchError, match="no MARC record in it has any of the fields"):
        read(edited, skip_damaged=True)


def test_a_damaged_record_in_xml_is_named_by_its_line(refused, read):
    data = as_marcxml(book(1), book(2), book(3)).replace(b"<record", b"\n<record")
    _, second, _ = data.split(b"\n<record")[1:]
    data = data.replace(second, second.replace(b'code="a"', b'code=""', 1))
    fault = "record 2 (line 3, 001 990002) has a subfield without a code in 020"
    assert refused(data) == fault + REMEDY
    found = read(data, skip_damaged=True)
    assert [truth.key for truth in found.truths] == ["990001", "990003"]
    assert found.notes == [f"damaged, and left out: {fault}"]


def bomb(*entries):
    """A record whose directory has the same field thousands of times."""
    data = b"1\x1e" + (b"  \x1fa" + b"S" * 9_990 + b"\x1e")
    directory = b"001000200000" + b"".join(b"020%04d%05d" % entry for entry in entries) + b"\x1e"
    base = 24 + len(directory)
    leader = b"%05dnam a22%05d   4500" % (base + len(data) + 1, base)
    return leader + directory + data + b"\x1d"


def test_a_record_has_no_byte_twice(refused, read):
    assert read(bomb((9_995, 2))).truths[0].record["isbn"] == ["S" * 9_990]
    overlapping = "record 1 (at byte 0, 001 1) has a damaged directory (fields overlap)"
    for entries in (
        [(9_995, 2)] * 2,
        [(9_995, 2), (5, 9_992)],  # the end of the one before
        [(9_995, 2), (2, 0)],  # of field 001
        [(5, 9_992), (9_995, 2)],
    ):
        assert refused(bomb(*entries)) == overlapping + REMEDY


def test_many_such_records_take_little_memory(refused, read):
    read(THREE)  # imports what it needs
    data = bomb(*[(9_995, 2)] * 4_500) * 10
    tracemalloc.start()
    message = refused(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "record 10" not in message
    assert message.count("fields overlap") == 3
    assert peak < MAX_XML + 10 * len(data)  # each record would have been 45 MB


def test_blank_lines_between_records_do_no_harm(read):
    data = as_marc21(book(1)) + b"\r\n" * 30 + as_marc21(book(2)) + b"\n\x1a"
    assert [truth.record for truth in read(data).truths] == [BOOK, BOOK]


def test_too_large_file_and_too_many_records_are_refused(refused, monkeypatch):
    monkeypatch.setattr(marc_reading, "MAX_RECORDS", 2)
    assert refused(THREE) == "more than 2 records: export fewer"
    assert refused(as_marcxml(*[book()] * 3)) == "more than 2 records: export fewer"
    monkeypatch.setattr("hdbench.common.xml_documents.MAX_XML", 2**20)
    assert refused(b" " * (2**20 + 1)) == "larger than 1 MiB: shorten or divide it"


# What MARC cannot hold, or the mapping removes.
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="<>[],/;:=.|#"),
    min_size=1,
    max_size=10,
).map(lambda text: unicodedata.normalize("NFC", text))


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3)), min_size=1, max_size=3))
def test_what_pymarc_writes_is_read(tmp_path_factory, drawn):
    records = [
        with_field(
            field("245", f"a {title}"),
            *(field("700", f"a {name}") for name in names),
            number=number,
        )
        for number, (title, names) in enumerate(drawn)
    ]
    expected = [
        (str(number), title, [{"name": name, "role": None} for name in names])
        for number, (title, names) in enumerate(drawn)
    ]
    folder = tmp_path_factory.mktemp("marc")
    for form in (as_marc21, as_marcxml):
        path = folder / form.__name__
        path.write_bytes(form(*records))
        found = read_marc(path).truths
        assert [(t.key, t.record["title"], t.record["names"]) for t in found] == expected


CHANGES = st.lists(
    st.tuples(st.integers(0, 2 * SIZE - 1), st.binary(max_size=3)), min_size=1, max_size=4
)


@settings(max_examples=150)
@given(st.sampled_from([as_marc21, as_marcxml]), CHANGES, st.booleans())
def test_whatever_the_bytes_nothing_but_one_line_comes_of_it(
    tmp_path_factory, form, changes, same_length
):
    data = form(book(1), book(2))
    for place, put in changes:
        data = data[:place] + put + data[place + (len(put) if same_length else 0) :]
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(data)
    message = ""
    try:
        read_marc(path)
    except HdbenchError as error:
        message = str(error)
    assert "\n" not in message
