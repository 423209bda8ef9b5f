"""Set the PDFs of the sample into pdf/, from the ground truths in metadata.jsonl and article.txt.

Run it with Python, reportlab and fonttools, no arguments: python make_pdfs.py
It needs the Debian packages fonts-liberation, fonts-crosextra-caladea, fonts-arphic-uming and
fonts-arphic-ukai.

The same fonts and packages give the same bytes. A PDF that comes out different gets a new
name, its sha256, and metadata.jsonl and predictions.jsonl the new id.

The three works are invented, and so are their authors, publishers and places. Their DOI has the
prefix that is reserved for examples, and their ISBNs are made up.
"""

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from fontTools import ttLib
from reportlab.graphics.shapes import Circle, Drawing, Line, String
from reportlab.lib.colors import black, white
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

HERE = Path(__file__).parent
FONT_FOLDER = Path("/usr/share/fonts/truetype")
FONTS = {
    "Serif": "liberation/LiberationSerif-Regular.ttf",
    "Serif-Bold": "liberation/LiberationSerif-Bold.ttf",
    "Serif-Italic": "liberation/LiberationSerif-Italic.ttf",
    "Book": "crosextra/Caladea-Regular.ttf",
    "Book-Bold": "crosextra/Caladea-Bold.ttf",
    "Song": "arphic/uming.ttc",
    "Kai": "arphic/ukai.ttc",
}
MISREAD = 8  # which point of the figure is out of line
POSTSCRIPT_NAME = 6  # the one entry of a font's name table that a PDF needs

PAPER = (176 * mm, 250 * mm)
TEXTBOOK = (165 * mm, 235 * mm)
EBOOK = (140 * mm, 203 * mm)

Truth = dict[str, str]
Story = list[Flowable]
Layout = tuple[tuple[float, float], list[PageTemplate], Story]


def style(font: str, size: float, leading: float = 1.3, **more: object) -> ParagraphStyle:
    """Return a style of paragraph; its leading is a multiple of its size."""
    return ParagraphStyle("", fontName=font, fontSize=size, leading=size * leading, **more)


def text(words: str, font: str, size: float, leading: float = 1.3, **more: object) -> Paragraph:
    """Return a paragraph of words without mark-up."""
    return Paragraph(escape(words), style(font, size, leading, **more))


def chinese(words: str, font: str, size: float, leading: float = 1.6, **more: object) -> Paragraph:
    """Return a Chinese paragraph; its Latin letters and figures are of the Latin typeface."""
    marked = re.sub(r"[!-~]+", r'<font name="Serif">\g<0></font>', words)
    return Paragraph(marked, style(font, size, leading, wordWrap="CJK", **more))


def names(listed: str) -> list[str]:
    """Return the names or keywords of a truth, which has them in one text."""
    return [name.strip() for name in listed.split(",")]


def hyphenated(isbn: str) -> str:
    """Return an ISBN as it is printed; all of the sample have a registrant of two digits."""
    return "-".join((isbn[:3], isbn[3], isbn[4:6], isbn[6:12], isbn[12]))


def paper(truth: Truth) -> Layout:
    """Return an article of a journal in English: two pages of two columns, the head above them."""
    width, height = PAPER
    margin, gap, head, foot = 17 * mm, 6 * mm, 82 * mm, 18 * mm
    column = (width - 2 * margin - gap) / 2
    top = height - 24 * mm

    def frame(x: float, y: float, w: float, h: float) -> Frame:
        return Frame(x, y, w, h, leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)

    def columns(upper: float) -> list[Frame]:
        return [frame(x, foot, column, upper - foot) for x in (margin, margin + column + gap)]

    def running_head(canvas: Canvas, document: BaseDocTemplate) -> None:
        year, doi = truth["pub_time"], truth["doi"]
        canvas.setFont("Serif-Italic", 8.5)
        line = height - 15 * mm
        canvas.drawString(margin, line, f"Journal of Imagined Archives 7 ({year}), pp. 41–42")
        canvas.setFont("Serif", 8.5)
        canvas.drawRightString(width - margin, line, f"https://doi.org/{doi}")
        canvas.setLineWidth(0.4)
        canvas.line(margin, line - 5, width - margin, line - 5)
        canvas.drawCentredString(width / 2, 10 * mm, str(40 + document.page))

    first = PageTemplate(
        "first",
        [frame(margin, top - head, width - 2 * margin, head), *columns(top - head)],
        onPage=running_head,
        autoNextPageTemplate="later",
    )
    later = PageTemplate("later", columns(top), onPage=running_head)

    keywords = " · ".join(names(truth["keyword"]))
    story: Story = [
        text(truth["title"], "Serif-Bold", 16, 1.2, spaceAfter=9),
        text(", ".join(names(truth["author"])), "Serif", 11, spaceAfter=3),
        text("Institute for Wet Paper, University of Sellow", "Serif-Italic", 9, spaceAfter=10),
        text("Abstract", "Serif-Bold", 9.5, spaceAfter=2),
        text(truth["abstract"], "Serif", 9.2, 1.28, alignment=TA_JUSTIFY, spaceAfter=6),
        Paragraph(f"<font name='Serif-Bold'>Keywords:</font> {keywords}", style("Serif", 9.2)),
        FrameBreak(),
    ]
    for block in (HERE / "article.txt").read_text(encoding="utf-8").split("\n\n"):
        story += article_block(" ".join(block.split()))
    story.append(
        text("An invented article, made by the hdbench project.", "Serif-Italic", 7, spaceBefore=8)
    )
    return PAPER, [first, later], story


def article_block(block: str) -> Story:
    """Return a block of article.txt: a heading, a reference, the table, the figure, a paragraph."""
    if block.startswith("# "):
        return [text(block[2:], "Serif-Bold", 10, spaceBefore=7, spaceAfter=3, keepWithNext=1)]
    if block.startswith("> "):
        hanging = style("Serif", 8.2, 1.25, leftIndent=9, firstLineIndent=-9, spaceAfter=2)
        return [Paragraph(block[2:], hanging)]
    if block == "[table]":
        return results_table()
    if block == "[figure]":
        return tides_figure()
    return [text(block, "Serif", 9.2, 1.28, alignment=TA_JUSTIFY, spaceAfter=3)]


def results_table() -> Story:
    """Return the article's only table, with its caption."""
    cells = (
        ("Volumes", "Column", "Unaided", "Here"),
        ("dry (9)", "hours", "97.8", "99.4"),
        ("", "heights", "98.1", "98.9"),
        ("wet (10)", "hours", "41.0", "93.2"),
        ("", "heights", "52.6", "74.5"),
    )
    look = (
        ("FONT", (0, 0), (-1, -1), "Serif", 8.5),
        ("FONT", (0, 0), (-1, 0), "Serif-Bold", 8.5),
        ("ALIGN", (2, 0), (-1, -1), "RIGHT"),
        ("LINEABOVE", (0, 0), (-1, 0), 0.8, "black"),
        ("LINEBELOW", (0, 0), (-1, 0), 0.4, "black"),
        ("LINEBELOW", (0, -1), (-1, -1), 0.8, "black"),
        ("TOPPADDING", (0, 0), (-1, -1), 1),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    )
    caption = "<font name='Serif-Bold'>Table 1.</font> Cells that pass the check, in per cent."
    return [
        Paragraph(caption, style("Serif", 8.5, spaceBefore=5, spaceAfter=3, keepWithNext=1)),
        Table(cells, style=TableStyle(look), spaceAfter=7),
    ]


def tides_figure() -> Story:
    """Return the article's only figure, with its caption: a week of high waters, one misread."""
    plot = Drawing(182, 92)
    plot.add(Line(22, 14, 180, 14, strokeWidth=0.5))
    plot.add(Line(22, 14, 22, 90, strokeWidth=0.5))
    for tide in range(14):
        height = 22 + 4.6 * tide - (33 if tide == MISREAD else 0)
        fill = white if tide == MISREAD else black
        plot.add(Circle(30 + 11 * tide, height, 2, fillColor=fill, strokeWidth=0.7))
    for label, x, y in (("day 1", 24, 3), ("day 7", 158, 3), ("hour", 2, 82)):
        plot.add(String(x, y, label, fontName="Serif", fontSize=8))
    caption = "<font name='Serif-Bold'>Figure 1.</font> High waters of a week; one is misread."
    return [plot, Paragraph(caption, style("Serif", 8.5, spaceBefore=3, spaceAfter=7))]


def textbook(truth: Truth) -> Layout:
    """Return the title page and the imprint of a German school book."""
    width, height = TEXTBOOK
    author, publisher, year = truth["author"], truth["publisher"], truth["pub_time"]

    def brook(canvas: Canvas, document: BaseDocTemplate) -> None:
        if document.page > 1:
            return
        canvas.setStrokeColorRGB(0.2, 0.42, 0.5)
        for number in range(5):
            x, y = 84 + number * 7, 66 * mm - number * 11
            canvas.setLineWidth(2.4 - number * 0.4)
            path = canvas.beginPath()
            path.moveTo(x, y)
            for _ in range(4):
                path.curveTo(x + 16, y + 13, x + 32, y + 13, x + 48, y)
                path.curveTo(x + 55, y - 6, x + 61, y - 6, x + 68, y)
                x += 68
            canvas.drawPath(path)

    page = PageTemplate(
        "page", [Frame(22 * mm, 20 * mm, width - 44 * mm, height - 42 * mm)], onPage=brook
    )
    centred = {"alignment": TA_CENTER}
    isbn = hyphenated(truth["isbn"])
    story: Story = [
        *(text(name, "Book", 13, **centred) for name in names(author)),
        Spacer(0, 30 * mm),
        text(truth["title"], "Book-Bold", 25, 1.25, **centred),
        Spacer(0, 10 * mm),
        text("Natur vor der Tür · Band 3", "Book", 12, **centred),
        Spacer(0, 90 * mm),
        text(publisher, "Book-Bold", 12, **centred),
        text("Mühlengrund am Wehr", "Book", 11, **centred),
        PageBreak(),
        Spacer(0, 62 * mm),
    ]
    imprint = (
        f"{' und '.join(names(author))} unterrichten Erdkunde und Biologie am Gymnasium an der "
        "Schleuse in Mühlengrund.",
        f"1. Auflage 1998\n2., durchgesehene Auflage {year}",
        f"© {year} {publisher} GmbH, Mühlengrund am Wehr\nAlle Rechte vorbehalten. Kopien für den "
        "Unterricht sind erlaubt.",
        "Lektorat: Wiebke Tümpel\nSatz und Zeichnungen: Atelier Schilf & Söhne\n"
        "Druck und Bindung: Papiermühle Oberbach",
        f"ISBN {isbn}\nDDC-Klassifikation: {truth['category']}",
        "Ein erfundenes Buch, gesetzt vom Projekt hdbench.",
    )
    story.append(text("Impressum", "Book-Bold", 11, spaceAfter=8))
    for block in imprint:
        story += [text(line, "Book", 9.5, 1.4) for line in block.splitlines()]
        story.append(Spacer(0, 4 * mm))
    return TEXTBOOK, [page], story


def ebook(truth: Truth) -> Layout:
    """Return the title page and the copyright page of a Chinese book."""
    width, height = EBOOK
    title, author, publisher = truth["title"], truth["author"], truth["publisher"]
    year, isbn = truth["pub_time"], hyphenated(truth["isbn"])

    def bridge(canvas: Canvas, document: BaseDocTemplate) -> None:
        if document.page > 1:
            return
        canvas.setLineWidth(0.6)
        canvas.rect(11 * mm, 11 * mm, width - 22 * mm, height - 22 * mm)
        middle, water = width / 2, 62 * mm
        canvas.setLineWidth(1.4)
        canvas.arc(middle - 62, water - 40, middle + 62, water + 40, 0, 180)
        canvas.setLineWidth(0.8)
        canvas.arc(middle - 27, water - 27, middle + 27, water + 27, 0, 180)
        for number, half in enumerate((80, 64, 46)):
            canvas.line(middle - half, water - 5 * number, middle + half, water - 5 * number)

    page = PageTemplate(
        "page", [Frame(17 * mm, 15 * mm, width - 34 * mm, height - 30 * mm)], onPage=bridge
    )
    centred = {"alignment": TA_CENTER}
    one, two = names(author)
    story: Story = [
        Spacer(0, 26 * mm),
        chinese(title, "Kai", 30, 1.4, **centred),
        Spacer(0, 12 * mm),
        chinese(f"{one}\u00a0\u00a0{two}\u00a0\u00a0著", "Kai", 15, **centred),
        Spacer(0, 78 * mm),
        chinese(publisher, "Song", 13, **centred),
        PageBreak(),
        chinese("内容简介", "Song", 11.5, spaceAfter=2),
        chinese(truth["abstract"], "Song", 9.5, 1.55, firstLineIndent=19),
        Spacer(0, 16 * mm),
        chinese("图书在版编目(CIP)数据", "Song", 11.5, spaceAfter=4),
    ]
    record = (
        f"{title}/{author}著.—云间:{publisher},{year}.3",
        f"ISBN {isbn}",
        f"Ⅰ.①{title[0]}… Ⅱ.①{one[0]}…②{two[0]}… Ⅲ.①桥-介绍-浦川 Ⅳ.①{truth['category']}",
        "中国版本图书馆CIP数据核字(虚构)第000000号",
    )
    imprint = (
        ("书名", title),
        ("著者", f"{one} {two}"),
        ("出版发行", publisher),
        ("责任编辑", "顾小舟"),
        ("印刷", "云间虚构印刷厂"),
        ("开本", "787mm×1092mm 1/32"),
        ("版次", f"{year}年3月第1版 {year}年3月第1次印刷"),
        ("书号", f"ISBN {isbn}"),
        ("定价", "28.00元"),
    )
    story += [chinese(line, "Song", 9.5, 1.55) for line in record]
    story.append(Spacer(0, 14 * mm))
    rows = [[chinese(cell, "Song", 9.5, 1.3) for cell in line] for line in imprint]
    look = (("LEFTPADDING", (0, 0), (-1, -1), 0), ("BOTTOMPADDING", (0, 0), (-1, -1), 1))
    story.append(Table(rows, colWidths=(20 * mm, 80 * mm), style=TableStyle(look), hAlign="LEFT"))
    story += [Spacer(0, 6 * mm), chinese("本书纯属虚构，由hdbench项目制作。", "Song", 8.5)]
    return EBOOK, [page], story


LAYOUTS: dict[str, Callable[[Truth], Layout]] = {
    "paper": paper,
    "textbook": textbook,
    "ebook": ebook,
}


def slim(file: Path) -> io.BytesIO:
    """Return a font without hints and licence texts, which would be half of a small PDF."""
    with ttLib.TTFont(file, fontNumber=0, recalcTimestamp=False) as font:
        for tag in {"cvt ", "fpgm", "prep"} & set(font.keys()):
            del font[tag]
        for glyph in font["glyf"].glyphs.values():
            glyph.expand(font["glyf"])
            glyph.removeHinting()
        font["name"].names = [name for name in font["name"].names if name.nameID == POSTSCRIPT_NAME]
        slimmed = io.BytesIO()
        font.save(slimmed)
    slimmed.seek(0)
    return slimmed


def register_fonts() -> None:
    """Make the typefaces known, or end with one line."""
    for name, file in FONTS.items():
        try:
            font = slim(FONT_FOLDER / file)
        except FileNotFoundError:
            sys.exit(f"The font {file} is missing: install the packages that make_pdfs.py names.")
        # Without asciiReadable=False all of ASCII would be embedded, used or not.
        pdfmetrics.registerFont(TTFont(name, font, asciiReadable=False))
    pdfmetrics.registerFontFamily("Serif", italic="Serif-Italic")


def typeset(truth: Truth) -> bytes:
    """Return the PDF of a work."""
    size, templates, story = LAYOUTS[truth["kind"]](truth)
    pdf = io.BytesIO()
    document = BaseDocTemplate(
        pdf, pagesize=size, pageTemplates=templates, invariant=1, pageCompression=1
    )
    document.build(story)
    return pdf.getvalue()


def main() -> None:
    """Set the work of every line of metadata.jsonl."""
    register_fonts()
    metadata, predictions = HERE / "metadata.jsonl", HERE / "predictions.jsonl"
    for line in metadata.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        pdf = typeset(item["ground_truth"])
        sha256 = hashlib.sha256(pdf).hexdigest()
        (HERE / item["file_name"]).unlink(missing_ok=True)
        (HERE / "pdf" / f"{sha256}.pdf").write_bytes(pdf)
        for path in (metadata, predictions):
            content = path.read_text(encoding="utf-8")
            path.write_text(content.replace(item["id"], sha256), encoding="utf-8")


if __name__ == "__main__":
    main()
