import io
import re
import tracemalloc

import pytest
from helpers.pica_records import invented_records
from hypothesis import given
from hypothesis import strategies as st

from hdbench.errors import HdbenchError
from hdbench.ground_truth import pica, pica_xml
from hdbench.ground_truth.pica import PicaField, to_normalized, to_plain
from hdbench.ground_truth.pica_files import is_pica, pica_form, read_records, write_records
from hdbench.ground_truth.pica_xml import to_xml

pytestmark = pytest.mark.nightly

FORMS = ("plain", "normalized", "xml")
every_form = pytest.mark.parametrize("form", FORMS)

BOOK = [
    PicaField("003@", "", (("0", "12345X"),)),
    PicaField("021A", "", (("a", "Ein @Buch"), ("h", "für 5 $ & mehr"))),
    PicaField("028B", "01", (("a", "Meier"), ("d", ""))),
    PicaField("209A", "002", (("a", "A 12"), ("a", "<B>"), ("x", "00"))),
]
CARD = [PicaField("021A", "", (("a", "$"), ("h", "Ende$")))]

# Written by hand after the descriptions.
PLAIN = """003@ $012345X
021A $aEin @Buch$hfür 5 $$ & mehr
028B/01 $aMeier$d
209A/002 $aA 12$a<B>$x00

021A $a$$$hEnde$$

""".encode()
NORMALIZED = (
    "003@ \x1f012345X\x1e021A \x1faEin @Buch\x1fhfür 5 $ & mehr\x1e028B/01 \x1faMeier\x1fd\x1e"
    "209A/002 \x1faA 12\x1fa<B>\x1fx00\x1e\n021A \x1fa$\x1fhEnde$\x1e\n"
).encode()
XML = """<?xml version="1.0" encoding="UTF-8"?>
<collection xmlns="info:srw/schema/5/picaXML-v1.0">
<record>
  <datafield tag="003@">
    <subfield code="0">12345X</subfield>
  </datafield>
  <datafield tag="021A">
    <subfield code="a">Ein @Buch</subfield>
    <subfield code="h">für 5 $ &amp; mehr</subfield>
  </datafield>
  <datafield tag="028B" occurrence="01">
    <subfield code="a">Meier</subfield>
    <subfield code="d"></subfield>
  </datafield>
  <datafield tag="209A" occurrence="002">
    <subfield code="a">A 12</subfield>
    <subfield code="a">&lt;B&gt;</subfield>
    <subfield code="x">00</subfield>
  </datafield>
</record>
<record>
  <datafield tag="021A">
    <subfield code="a">$</subfield>
    <subfield code="h">Ende$</subfield>
  </datafield>
</record>
</collection>
""".encode()
FILES = {"plain": PLAIN, "normalized": NORMALIZED, "xml": XML}


def read(data):
    return list(read_records(io.BytesIO(data), "a.pica"))


def written(records, form):
    file = io.BytesIO()
    write_records(file, records, form)
    return file.getvalue()


def refused(data):
    """The message about a file, without its beginning and its remedy."""
    with pytest.raises(HdbenchError) as caught:
        read(data)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250
    assert message.startswith("a.pica: record ")
    assert message.endswith(": correct it, or export the file again")
    return message.removeprefix("a.pica: ").removesuffix(": correct it, or export the file again")


@every_form
def test_a_file_is_read_and_written_byte_for_byte(form):
    data = FILES[form]
    assert is_pica(data)
    assert pica_form(data) == form
    assert read(data) == [BOOK, CARD]
    assert written([BOOK, CARD], form) == data


def writable(form):
    """Texts that a form can have in a value."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\x1e\x1f")
    if form == "xml":
        characters = characters.filter(lambda sign: not pica_xml.NO_XML_CHARACTER.search(sign))
    return st.text(st.sampled_from("$ @/ƒ") | characters, max_size=12)


def records(form):
    code = st.sampled_from("0129abzABZ")
    subfields = st.lists(st.tuples(code, writable(form)), min_size=1, max_size=4).map(tuple)
    titles = st.builds(PicaField, tags("01"), occurrences(2) | st.just(""), subfields)
    copies = st.builds(PicaField, tags("2"), occurrences(2) | occurrences(3), subfields)
    return st.lists(titles | copies, min_size=1, max_size=6)


def tags(levels):
    parts = st.sampled_from(levels), st.integers(0, 99), st.sampled_from("@AKZ")
    return st.builds("{}{:02}{}".format, *parts)


def occurrences(digits):
    return st.integers(0, 10**digits - 1).map(f"{{:0{digits}}}".format)


@every_form
@given(st.data())
def test_whatever_is_written_is_read_back(form, data):
    given_records = data.draw(st.lists(records(form), min_size=1, max_size=3))
    once = written(given_records, form)
    assert read(once) == given_records
    assert written(read(once), form) == once


@pytest.mark.nightly
@every_form
def test_ten_thousand_records_make_the_round_trip(form):
    invented = invented_records(10_000, seed=7)
    data = written(invented, form)
    back = read(data)
    assert back == invented
    assert written(back, form) == data
    for other in FORMS:
        assert written(read(written(back, other)), form) == data


def test_ends_of_lines_and_marks_of_windows_are_read():
    for form in ("plain", "normalized"):
        assert read(b"\xef\xbb\xbf" + FILES[form].replace(b"\n", b"\r\n")) == [BOOK, CARD]
    assert read(PLAIN.removesuffix(b"\n\n")) == [BOOK, CARD]
    assert read(b"\n\n" + PLAIN.replace(b"\n\n", b"\n\n\n\n")) == [BOOK, CARD]
    assert read(NORMALIZED.removesuffix(b"\n")) == [BOOK, CARD]
    assert read(XML.decode().replace("UTF-8", "UTF-16").encode("utf-16")) == [BOOK, CARD]


def test_xml_is_read_in_a_reply_and_with_short_occurrences():
    bare = XML.replace(b' xmlns="info:srw/schema/5/picaXML-v1.0"', b"")
    assert is_pica(bare)
    assert read(bare) == [BOOK, CARD]
    start, end = XML.index(b"<record>"), XML.index(b"</collection>")
    inner = XML[start:end].replace(b"<record", b'<record xmlns="info:srw/schema/5/picaXML-v1.0"')
    inner = inner.replace(b'"01"', b'"1"')
    for wrapper in (b"http://www.loc.gov/zing/srw/", b"http://www.openarchives.org/OAI/2.0/"):
        reply = b'<r xmlns="%b"><record><x/><d>%b</d></record></r>' % (wrapper, inner)
        assert read(reply) == [BOOK, CARD]
    none = XML.replace(b' occurrence="01"', b' occurrence=""')
    assert read(none)[0][2].occurrence == ""


def test_marc_is_not_taken_for_pica():
    assert not is_pica(b'<collection><record><datafield tag="245" ind1=" "/></record></collection>')
    assert not is_pica(b"00123nam a2200049 a 4500")
    assert not is_pica(b"title;year\n021A;1912\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("21A $aTitel", "'21A' is not a tag such as 021A or 003@"),
        ("321A $aTitel", "'321A' is not a tag such as 021A or 003@"),
        ("021a $aTitel", "'021a' is not a tag such as 021A or 003@"),
        ("٠٢١A $aTitel", "'٠٢١A' is not a tag such as 021A or 003@"),
        (f"{'x' * 500} $aTitel", f"'{'x' * 20}' is not a tag such as 021A or 003@"),
        ("+ 021A $aTitel", "'+ 021A' is not a tag such as 021A or 003@"),
        ("021A", "'021A' is not a field such as 021A $aTitel"),
        ("021A ", "'021A ' is not a field such as 021A $aTitel"),
        ("021A$aTitel", "'021A$aTitel' is not a field such as 021A $aTitel"),
        ("021A ƒaTitel", "'021A ƒaTitel' is not a field such as 021A $aTitel"),
        ("021A  $aTitel", "'021A ' is not a tag such as 021A or 003@"),
        ("021A $$aTitel", "'021A $$aTitel' is not a field such as 021A $aTitel"),
        ("021A x$aTitel", "'021A x$aTitel' is not a field such as 021A $aTitel"),
        ("021A/ $aTitel", "'021A/ ' has no occurrence after the slash"),
        ("021A/1 $aTitel", "021A: '1' is not an occurrence of two digits, as 028B/01 has"),
        ("021A/100 $aTitel", "021A: '100' is not an occurrence of two digits, as 028B/01 has"),
        ("209A $aA 1", "209A must have an occurrence of two or three digits, as 209A/01 has"),
        ("209A/1000 $aA", "209A must have an occurrence of two or three digits, as 209A/01 has"),
        ("021A $aTitel$", "021A: '' is not the code of a subfield, a letter or digit"),
        ("021A $aTitel$ä", "021A: 'ä' is not the code of a subfield, a letter or digit"),
        ("021A $-Titel", "021A: '-' is not the code of a subfield, a letter or digit"),
        ("021A $aTi\x1ftel", "separators of normalized PICA in a line of PICA Plain"),
        ("021A $aTi\rtel", "separators of normalized PICA in a line of PICA Plain"),
    ],
)
def test_damaged_line_is_refused_with_record_and_line(line, message):
    assert refused(f"003@ $01\n\n003@ $02\n{line}\n".encode()) == f"record 2, line 4: {message}"


def test_damaged_normalized_record_is_refused():
    good = "021A \x1faTitel\x1e\n"
    assert refused(f"{good}{good[:-2]}\n".encode()) == (
        "record 2, line 2: no end (1E) of the last field: is the file cut off?"
    )
    assert refused(f"{good}\n21A \x1faTitel\x1e\n".encode()) == (
        "record 2, line 3: '21A' is not a tag such as 021A or 003@"
    )
    assert refused(f"{good}021A \x1faTi\rtel\x1e\n".encode()) == (
        "record 2, line 2: 021A$a has a line break or separator in it"
    )
    assert refused(f"{good}\x1e\n".encode()) == (
        "record 2, line 2: '' is not a field such as 021A $aTitel"
    )


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("", "no fields"),
        ('<datafield tag="21A"/>', "'21A' is not a tag such as 021A or 003@"),
        ("<datafield/>", "'' is not a tag such as 021A or 003@"),
        ('<datafield tag="021A"/>', "021A has no subfield"),
        (
            '<datafield tag="021A" occurrence="x"><subfield code="a"/></datafield>',
            "021A: 'x' is not an occurrence of two digits, as 028B/01 has",
        ),
        (
            '<datafield tag="021A"><subfield>x</subfield></datafield>',
            "021A: '' is not the code of a subfield, a letter or digit",
        ),
        (
            '<datafield tag="021A"><subfield code="a">x\ny</subfield></datafield>',
            "021A$a has a line break or separator in it",
        ),
        (
            '<datafield tag="021A"><subfield code="a">x<b>y</b></subfield></datafield>',
            "an element 'b', which PICA XML does not have there",
        ),
        ("<leader/>", "an element 'leader', which PICA XML does not have there"),
        (
            '<datafield tag="021A"><x code="a"/></datafield>',
            "an element 'x', which PICA XML does not have there",
        ),
    ],
)
def test_damaged_xml_record_is_refused(inner, message):
    good = '<record><datafield tag="021A"><subfield code="a"/></datafield></record>'
    data = f"<collection>\n{good}\n<record>{inner}</record></collection>"
    assert refused(data.encode()) == f"record 2, line 3: {message}"


def test_wrong_encodings_are_refused():
    latin = "021A $aMüller\n".encode("latin-1")
    assert refused(b"003@ $01\n" + latin) == "record 1, line 2: not in UTF-8"
    assert refused(PLAIN.decode().encode("utf-16")[2:]).startswith("record 1, line 1: ")
    assert refused(NORMALIZED.decode().encode("latin-1")) == "record 1, line 1: not in UTF-8"
    with pytest.raises(HdbenchError, match="not well-formed XML: "):
        read(XML.decode().encode("latin-1"))


class Endless(io.RawIOBase):
    """A file that begins in some way and goes on with the same bytes for ever.

    Attributes:
        size: how much of it was read.
    """

    def __init__(self, begin, more):
        self.begin, self.more, self.size = begin, more, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        assert not offset
        assert not whence
        self.size = 0
        return 0

    def readinto(self, buffer):
        size = len(buffer)
        start = max(self.size - len(self.begin), 0) % len(self.more)
        data = self.begin[self.size : self.size + size]
        data += (self.more * (size // len(self.more) + 2))[start : start + size - len(data)]
        buffer[:] = data
        self.size += size
        return size


@pytest.mark.parametrize(
    ("begin", "more", "reason"),
    [
        (b"021A $a", b"a", "a record larger than 8 MiB"),
        (b"", b"021A $a" + b"a" * 5_000 + b"\n", "a record larger than 8 MiB"),
        (b"021A $ax\n", b"021A $a\n", "more than 100,000 subfields in a record"),
        (b"021A \x1fa", b"a", "a record larger than 8 MiB"),
        (b"021A \x1fa", b"\x1fa", "a record larger than 8 MiB"),
        (b"<collection>", b" ", "a record larger than 8 MiB"),
        (b"<collection><record>", b"<datafield/>", "a record larger than 8 MiB"),
        (b"<collection>", b"<x></x>", "a record larger than 8 MiB"),
        (b"<collection>", b"<!-- \n -->", "a record larger than 8 MiB"),
    ],
)
def test_a_file_without_end_is_refused(begin, more, reason):
    endless = Endless(begin, more)
    with pytest.raises(HdbenchError, match=reason):
        list(read_records(io.BufferedReader(endless), "a.pica"))
    assert endless.size < 9 * 2**20


def test_many_subfields_are_refused_in_each_form(monkeypatch):
    for form in FORMS:
        assert len(read(written([BOOK] * 3, form))) == 3
    monkeypatch.setattr(pica, "MAX_SUBFIELDS", 7)
    monkeypatch.setattr(pica_xml, "MAX_SUBFIELDS", 7)
    for form, data in {**FILES, "a line": b"021A " + b"$a" * 8}.items():
        assert refused(data).endswith(": more than 7 subfields in a record"), form
    for to_bytes in (to_plain, to_normalized, to_xml):
        with pytest.raises(ValueError, match="more than 7 subfields"):
            to_bytes(BOOK)


@every_form
def test_only_one_record_is_in_memory(form, tmp_path):
    path = tmp_path / "a.pica"
    with path.open("wb") as file:
        write_records(file, (BOOK for _ in range(5_000)), form)
    with path.open("rb") as file:
        tracemalloc.start()
        count = sum(1 for _ in read_records(file, "a.pica"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == 5_000
    assert path.stat().st_size > 400_000
    assert peak < 200_000


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "no fields"),
        ([PicaField("21A", "", (("a", ""),))], "'21A' is not a tag"),
        ([PicaField("021A\n", "", (("a", ""),))], "is not a tag"),
        ([PicaField("021A", "1", (("a", ""),))], "is not an occurrence"),
        ([PicaField("209A", "", (("a", ""),))], "must have an occurrence"),
        ([PicaField("021A", "", ())], "has no subfield"),
        ([PicaField("021A", "", (("ab", ""),))], "is not the code"),
        ([PicaField("021A", "", (("", ""),))], "is not the code"),
        *(
            ([PicaField("021A", "", (("a", f"x{sign}y"),))], "line break or separator")
            for sign in ("\n", "\r", "\x1e", "\x1f", "\ud800")
        ),
    ],
)
def test_what_could_not_be_read_back_is_not_written(record, message):
    for to_bytes in (to_plain, to_normalized, to_xml):
        with pytest.raises(ValueError, match=re.escape(message)):
            to_bytes(record)


def test_characters_that_xml_cannot_have_are_not_written():
    for sign in "\x00\x08\x1b\ufffe":
        record = [PicaField("021A", "", (("a", sign),))]
        assert read(to_plain(record)) == read(to_normalized(record)) == [record]
        with pytest.raises(ValueError, match=r"021A\$a has characters that XML cannot have"):
            to_xml(record)
