"""Files as programs write them, by hand and much shortened."""

import pytest

from hdbench.common.page_text.boxes import as_column, of_column
from hdbench.common.page_text.reading import form_of, read_page_text
from hdbench.errors import HdbenchError

ABBYY = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v2#"
 xmlns:xlink="http://www.w3.org/1999/xlink"><Description>
<MeasurementUnit>pixel</MeasurementUnit><OCRProcessing ID="IdOcr"><ocrProcessingStep>
<processingSoftware><softwareCreator>ABBYY</softwareCreator>
<softwareName>ABBYY Recognition Server</softwareName></processingSoftware></ocrProcessingStep>
</OCRProcessing></Description><Layout>
<Page ID="Page1" PHYSICAL_IMG_NR="1" HEIGHT="3000" WIDTH="2000">
<TopMargin HEIGHT="100" WIDTH="2000" VPOS="0" HPOS="0"/>
<PrintSpace HEIGHT="2800" WIDTH="1900" VPOS="100" HPOS="50">
<TextBlock ID="Page1_Block1" HEIGHT="90" WIDTH="800" VPOS="100" HPOS="50">
<TextLine BASELINE="150" HEIGHT="40" WIDTH="800" VPOS="110" HPOS="60">
<String STYLEREFS="p1 f1" HEIGHT="40" WIDTH="80" VPOS="110" HPOS="60" CONTENT="Rother" WC="1.0"/>
<SP WIDTH="12" VPOS="110" HPOS="140"/>
<String CONTENT="Burgun" SUBS_TYPE="HypPart1" SUBS_CONTENT="Burgunder" HPOS="152"/>
<HYP CONTENT="¬" WIDTH="9"/></TextLine>
<TextLine BASELINE="195" HEIGHT="40" WIDTH="700" VPOS="155" HPOS="60">
<String CONTENT="der," SUBS_TYPE="HypPart2" SUBS_CONTENT="Burgunder" HPOS="60"/>
<SP WIDTH="12"/><String CONTENT="8"/><SP WIDTH="12"/><String CONTENT="Batzen."/></TextLine>
</TextBlock></PrintSpace></Page></Layout></alto>"""

TRANSKRIBUS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Metadata><Creator>prov=READ</Creator>
<TranskribusMetadata docId="1" pageId="2" pageNr="1" tsid="3" status="GT"
 imgUrl="https://files.transkribus.eu/Get?id=ABC&amp;fileType=view"/></Metadata>
<Page imageFilename="0001.jpg" imageWidth="9" imageHeight="9">
<ReadingOrder><OrderedGroup id="ro_1" caption="Regions reading order">
<RegionRefIndexed index="0" regionRef="r2"/><RegionRefIndexed index="1" regionRef="r1"/>
</OrderedGroup></ReadingOrder>
<TextRegion orientation="0.0" id="r1" custom="readingOrder {index:1;} structure {type:paragraph;}">
<Coords points="0,0 9,0 9,9"/>
<TextLine id="r1l2" custom="readingOrder {index:1;}"><Coords points="0,5 9,5"/>
<TextEquiv><Unicode>und Brod</Unicode></TextEquiv></TextLine>
<TextLine id="r1l1" custom="readingOrder {index:0;} textStyle {offset:0; length:5;}">
<Coords points="0,1 9,1"/><Baseline points="0,2 9,2"/>
<TextEquiv><Unicode>Rother Wein</Unicode></TextEquiv></TextLine>
<TextEquiv><Unicode>Rother Wein
und Brod</Unicode></TextEquiv></TextRegion>
<TextRegion id="r2" custom="readingOrder {index:0;}"><Coords points="0,0 9,0 9,9"/>
<TextLine id="r2l1" custom="readingOrder {index:0;}"><Coords points="0,1 9,1"/>
<TextEquiv><Unicode>1731</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""

TESSERACT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
    "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
 <head><title></title>
  <meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
  <meta name='ocr-system' content='tesseract 5.3.0' />
  <meta name='ocr-capabilities' content='ocr_page ocr_carea ocr_par ocr_line ocrx_word'/>
 </head><body>
  <div class='ocr_page' id='page_1' title='image "scans/0001.png"; bbox 0 0 9 9; ppageno 0'>
   <div class='ocr_carea' id='block_1_1' title="bbox 0 0 9 9">
    <p class='ocr_par' id='par_1_1' lang='deu' title="bbox 0 0 9 9">
     <span class='ocr_header' id='line_1_1' title="bbox 0 0 9 2; baseline 0 -5">
      <span class='ocrx_word' id='word_1_1' title='bbox 0 0 4 2'><strong>Rother</strong></span>
      <span class='ocrx_word' id='word_1_2' title='bbox 5 0 9 2; x_wconf 91'>Wein</span>
     </span>
     <span class='ocr_line' id='line_1_2' title="bbox 0 2 9 4">
      <span class='ocrx_word' id='word_1_3' title='bbox 0 2 4 4'>Mäßig</span>
      <span class='ocrx_word' id='word_1_4' title='bbox 5 2 9 4'>&amp;</span>
     </span>
    </p>
   </div>
   <div class='ocr_photo' id='block_1_2' title="bbox 0 5 9 6"></div>
   <div class='ocr_carea' id='block_1_3'><p class='ocr_par'>
     <span class='ocr_line' id='line_1_3'><span class='ocrx_word'> </span></span>
     <span class='ocr_caption' id='line_1_4'><span class='ocrx_word'>1731</span></span></p></div>
  </div>
 </body></html>"""

KRAKEN = """<!DOCTYPE html>
<html><head><title></title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<meta name="ocr-system" content="kraken" /></head>
<body><div class="ocr_page" title="bbox 0 0 9 9; image 0001.png; x_source /tmp/0001.png">
<div class="ocr_carea" id="region_0" title="bbox 0 0 9 9">
<span class="ocr_line" id="line_0" title="bbox 0 0 9 2; poly 0 0 9 0">
<span class="ocrx_word" id="segment_0" title="bbox 0 0 4 2; x_confs 0.9">Rother</span> <span
class="ocrx_word" id="segment_1" title="bbox 5 0 9 2">Wein</span><span
class="ocrx_word" id="segment_2">,</span></span><br/>
<span class="ocr_line" id="line_1"><span class="ocrx_word">gut</span><span
class="ocrx_word">kalt</span></span>
</div></div></body></html>"""


@pytest.mark.parametrize(
    ("document", "form", "regions", "image"),
    [
        (ABBYY, "ALTO", [["Rother Burgun¬", "der, 8 Batzen."]], None),
        (TRANSKRIBUS, "PAGE XML", [["1731"], ["Rother Wein", "und Brod"]], "0001.jpg"),
        (TESSERACT, "hOCR", [["Rother Wein", "Mäßig &"], ["1731"]], "0001.png"),
        (KRAKEN, "hOCR", [["Rother Wein,", "gut kalt"]], "0001.png"),
    ],
    ids=["ABBYY", "Transkribus", "Tesseract", "kraken"],
)
def test_what_programs_write_is_read_in_lines(document, form, regions, image, tmp_path):
    data = document.encode()
    assert form_of(data[:4096]) == form
    (tmp_path / "a").write_bytes(data)
    for source in (data, tmp_path / "a"):
        read = read_page_text(source, "a")
        [page] = read.pages
        texts = [[line.text for line in lines] for lines in page.regions]
        assert (read.form, texts, page.image) == (form, regions, image)
    assert page.text == "\n".join(line for lines in regions for line in lines)


def test_blanks_that_begin_a_line_are_kept_but_not_those_of_the_file_s_own_form():
    page = TRANSKRIBUS.replace("<Unicode>Rother", "<Unicode>  Rother")
    page = page.replace("<Unicode>und Brod<", "<Unicode>\n      und Brod\n    <")
    assert read_page_text(page.encode(), "a").pages[0].text == "1731\n  Rother Wein\nund Brod"
    alto = ABBYY.replace("<String STYLEREFS", "<SP/><String STYLEREFS")
    assert read_page_text(alto.encode(), "a").pages[0].text.startswith(" Rother")


PARTED = """<PcGts><Page imageWidth="200" imageHeight="50"><TextRegion>
<TextLine id="l2"><Coords points="20,30 180,30 180,42 20,44"/><Baseline points="0,0 1,1"/>
<TextEquiv><Unicode>und Brod</Unicode></TextEquiv></TextLine>
<TextLine id="l1"><Coords points="-20,-5 500,20"/><TextEquiv><Unicode>Wein</Unicode></TextEquiv>
</TextLine><TextLine id="l3"><Coords points="900,0 999999999,20"/>
<TextEquiv><Unicode>Heu</Unicode></TextEquiv></TextLine>
<TextEquiv><Unicode>Wein
und Brod
Heu</Unicode></TextEquiv></TextRegion></Page></PcGts>"""


@pytest.mark.parametrize(
    ("document", "boxes"),
    [
        (ABBYY, [(300, 367, 4300, 500), (300, 517, 3800, 650)]),  # 110 / 3000, …
        (TRANSKRIBUS, [None] * 3),  # no line has a height
        (TESSERACT, [(0, 0, 10_000, 2222), (0, 2222, 10_000, 4444), None]),
        (TESSERACT.replace("bbox 0 0 9 9", "bbox 0 0 0 9"), [None] * 3),
        # In the order of the region's own text, and no further than the page goes.
        (PARTED, [(0, 0, 10_000, 4000), (1000, 6000, 9000, 8800), None]),
        (PARTED.replace('"200"', '"1e999"'), [None] * 3),
    ],
)
def test_lines_have_the_boxes_that_programs_write(document, boxes):
    [page] = read_page_text(document.encode(), "a").pages
    assert page.boxes == boxes
    assert of_column(as_column([[], page.boxes])).get(1) == boxes


@pytest.mark.parametrize(
    "column",
    [
        None,
        "0",
        {"0": 1},
        [0],
        ["0 1 2 3"],
        ["0 1 2 3 4 5"],
        ["0 -1 2 3 4"],
        ["0 1e9 2 3 4"],
        ["x"],
    ],
)
def test_what_is_no_column_of_boxes_has_none(column):
    assert of_column(column) == {}


def test_a_line_without_text_is_remarked():
    number = TESSERACT[: TESSERACT.index("line_1_3")].count("\n") + 1
    assert read_page_text(TESSERACT.encode(), "a").remarks == [
        ("a line without text, left out", f"a:{number}")
    ]


def test_several_pages_of_hocr_are_apart_and_unclosed_tags_do_no_harm():
    pages = "".join(f"<div class=ocr_page><p><span class=ocr_line>Seite {n}</div>" for n in (1, 2))
    read = read_page_text(f"<html><body>{pages}".encode(), "a")
    assert [page.text for page in read.pages] == ["Seite 1", "Seite 2"]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_hocr_is_read_in_the_encoding_it_has(encoding):
    document = TESSERACT.replace("utf-8", encoding).replace("UTF-8", encoding)
    assert "Mäßig" in read_page_text(document.encode(encoding), "a").pages[0].text


def test_entities_of_hocr_are_those_of_html_and_no_file_is_opened(tmp_path):
    (tmp_path / "secret").write_text("the content of another file")
    begin = f'<!DOCTYPE html [<!ENTITY e SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    line = "<span class=ocr_line>M&auml;ßig &e;</span>"
    read = read_page_text(f"{begin}<html><div class=ocr_page>{line}".encode(), "a")
    assert read.pages[0].text.endswith("Mäßig &e;")
    assert "another" not in read.pages[0].text


@pytest.mark.parametrize("document", ["<html><p>Rother Wein</p></html>", "<TEI/>", "<mets/>"])
def test_anything_else_is_refused(document):
    assert form_of(document.encode()) is None
    with pytest.raises(HdbenchError, match=r"^a: is neither PAGE XML nor ALTO nor hOCR, but <"):
        read_page_text(document.encode(), "a")
