"""Draw the letters of the sample into images/, one image a page.

Run it in the repository's root with Python and Pillow:
python -m dataset_scripts.rheinschifffahrt.sample.draw
It needs the Debian packages fonts-breip, fonts-courier-prime, fonts-dancingscript,
fonts-gnutypewriter, fonts-kristi and fonts-league-spartan.

The firms, their town and their people were made up.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from dataset_scripts.scans import SCALE, Colour, clouded, new_ink, save, stained, typeface

HERE = Path(__file__).parent
SIZE = (1080, 1500)
SHEET = (46, 40, 1036, 1462)  # where the paper lies on its white mount
LEFT, LEADING = 172, 36


BED: Colour = (26, 25, 25)
MOUNT: Colour = (238, 238, 234)
RIBBON: Colour = (40, 42, 58)
CARBON: Colour = (62, 54, 112)
PRINT: Colour = (34, 40, 46)
PEN: Colour = (30, 34, 66)
PENCIL: Colour = (196, 52, 44)


@dataclass(frozen=True)
class Note:
    """A text at one place: its baseline begins at (x, y), or (x, y) is its middle."""

    face: str
    size: int
    x: int
    y: int
    text: str
    ink: Colour = PRINT
    anchor: str = "ls"
    slant: float = 0.0  # degrees


@dataclass(frozen=True)
class Machine:
    """A typewriter: its face, how far its letters are apart, and how clean they come out."""

    face: str
    size: int
    pitch: float
    ink: Colour
    jitter: float
    wear: int  # the least opacity of the ink, 0 to 255
    blur: float = 0.0


@dataclass(frozen=True)
class Sheet:
    """A page: what is typed on it, from its top downwards, and what is printed or written."""

    typed: str
    machine: Machine
    top: int
    paper: Colour
    notes: tuple[Note, ...] = ()
    angle: float = 0.0


OFFICE = Machine("GNUTypewriter.ttf", 21, 13.3, RIBBON, 0.35, 185)
COPY = Machine("Courier Prime.otf", 23, 13.8, CARBON, 0.45, 175, blur=1.1)

BOLD, LIGHT = "LeagueSpartan-SemiBold.otf", "LeagueSpartan-Regular.otf"
LETTERHEAD = (
    Note(BOLD, 31, 300, 130, "Schleppschiffahrt", anchor="ms"),
    Note(BOLD, 31, 300, 168, "Rheinfurt A.-G.", anchor="ms"),
    Note(LIGHT, 18, 300, 204, "Hafenstrasse 12", anchor="ms"),
    Note(LIGHT, 16, 300, 238, "Direktor: T. Klingenberg", anchor="ms"),
    Note(LIGHT, 16, 300, 262, "Fernsprecher: Nr. 4 16", anchor="ms"),
)

SHEETS = {
    "sample-1_p1": Sheet(
        """
                             Rheinfurt, den 12. März 1929.

                        Herrn H. W a n n e r - L u t z,
                          Präsident der Personenfähren,
                              R h e i n f u r t.
                              Uferweg 7

Betr. Landungssteg

Sehr geehrter Herr Präsident Wanner,

             Bei dem niedrigen Wasserstand der letzten
Wochen haben unsere Kohlenkähne am oberen Quai nicht mehr
anlegen können. Wir mussten sie am unteren Quai löschen,
dicht neben Ihrem Landungssteg. Dabei ist es am letzten
Samstag zu einem Zwischenfall gekommen: der Kahn "Gertrud"
hat Ihre Fähre eine gute Viertelstunde lang aufgehalten,
und die Fahrgäste haben sich, wie uns Herr Ingenieur Falk
berichtet, mit Recht beklagt. Wir bedauern dies sehr.

             Damit sich dergleichen nicht wiederholt,
möchten wir Ihnen einen Vorschlag machen. Ihr Steg steht
an einem Platz, den wir bei Niederwasser nicht entbehren
können; 40 Meter stromabwärts, beim alten Zollhaus, ist
das Ufer dagegen frei und die Strömung schwächer. Herr
Falk hat die Stelle ausgemessen und hält sie für durchaus
geeignet. Er rechnet für die Verlegung mit Fr. 2'850.--,
die neue Beleuchtung inbegriffen.

             Wir wären bereit, von diesem Betrag zwei
Drittel zu übernehmen und Ihnen überdies unseren Schwimm-
kran für drei Tage ohne Entgelt zu überlassen. Ihre
                                                     ./.""",
        OFFICE,
        top=150,
        paper=(246, 234, 200),
        notes=(*LETTERHEAD, Note("Breip.ttf", 60, 930, 130, "14", PENCIL, slant=8)),
        angle=0.3,
    ),
    "sample-1_p2": Sheet(
        """
                        - 2 -

Herrn H. Wanner-Lutz, Rheinfurt.            12. 3. 29.
---------------------------------------------------------

Gesellschaft hätte somit noch rund Fr. 950.-- aufzubrin-
gen.

             Die Arbeiten liessen sich in der Woche vor
Palmsonntag ausführen, so dass Ihr Osterverkehr keine
Störung erlitte. Während der drei Tage könnten Ihre Boote
an unserem Ponton anlegen.

             Dürfen wir Sie bitten, diesen Vorschlag Ihrem
Vorstand zu unterbreiten und uns bis Ende des Monats
Bescheid zu geben? Zu einer Besichtigung an Ort und Stelle
sind wir jederzeit gerne bereit.

             Mit vorzüglicher Hochachtung

             SCHLEPPSCHIFFAHRT RHEINFURT A.-G.
             Der Direktor:          Der Prokurist:




Beilage: 1 Plan""",
        OFFICE,
        top=110,
        paper=(246, 234, 200),
        notes=(
            Note("Kristi.ttf", 80, 330, 974, "T. Klingenberg", PEN, slant=4),
            Note("DancingScript-Regular.otf", 52, 680, 972, "R. Aebi", PEN, slant=7),
        ),
        angle=-0.25,
    ),
    "sample-2_p1": Sheet(
        """
K o p i e

                         Rheinfurt, den 25. Februar 1930.


                    Herrn R. A e b i - S t o r z,
                      in Firma Schleppschiffahrt
                      Rheinfurt A.-G.,
                           R h e i n f u r t.


Sehr geehrte Herren,

            Wir bestätigen den Empfang Ihres Schreibens
vom 21. ds. und danken Ihnen für die Schlussabrechnung
über die Verlegung unseres Landungssteges. Sie stimmt mit
unseren Büchern überein. Den Restbetrag von Fr. 316.40
haben wir heute auf Ihr Konto überweisen lassen.

            Bei dieser Gelegenheit dürfen wir Ihnen mit-
teilen, dass sich der neue Steg auch bei dem Hochwasser
dieses Winters aufs beste bewährt hat.

                    Hochachtungsvoll

                    PERSONENFÄHREN RHEINFURT

                    Der Präsident:""",
        COPY,
        top=120,
        paper=(240, 226, 192),
        notes=(Note("Breip.ttf", 60, 930, 130, "15", PENCIL, slant=8),),
        angle=0.45,
    ),
}


def paper(rng: random.Random, colour: Colour) -> Image.Image:
    """Return writing paper: grain and clouds, browner at the edges, with two folds."""
    sheet = clouded(Image.new("RGB", SIZE, colour), rng, ((2, 244), (110, 240), (400, 238)))
    x0, y0, x1, y1 = SHEET
    edge = Image.new("L", SIZE, 225)
    ImageDraw.Draw(edge).rectangle((x0 + 20, y0 + 20, x1 - 20, y1 - 20), fill=255)
    sheet = ImageChops.multiply(sheet, edge.filter(ImageFilter.GaussianBlur(18)).convert("RGB"))
    folds = Image.new("L", SIZE, 255)
    for third in (1, 2):
        y = y0 + (y1 - y0) * third // 3 + rng.randint(-12, 12)
        ImageDraw.Draw(folds).line((x0, y, x1, y + rng.randint(-3, 3)), fill=212, width=3)
    return ImageChops.multiply(sheet, folds.filter(ImageFilter.GaussianBlur(1.6)).convert("RGB"))


def type_out(rng: random.Random, sheet: Sheet) -> Image.Image:
    """Return the mask of all that is typed on a page, letter by letter."""
    machine, mask = sheet.machine, new_ink(SIZE)
    font, draw = typeface(machine.face, machine.size), ImageDraw.Draw(mask)
    for row, line in enumerate(sheet.typed.splitlines()):
        for place, letter in enumerate(line):
            x = LEFT + place * machine.pitch + rng.gauss(0, machine.jitter)
            y = sheet.top + row * LEADING + rng.gauss(0, machine.jitter)
            ink = rng.randint(machine.wear, 255)
            draw.text((x * SCALE, y * SCALE), letter, fill=ink, font=font, anchor="ls")
    return mask.filter(ImageFilter.GaussianBlur(machine.blur))


def write_out(note: Note) -> Image.Image:
    """Return the mask of a text that is printed or written by hand."""
    mask, at = new_ink(SIZE), (note.x * SCALE, note.y * SCALE)
    ImageDraw.Draw(mask).text(
        at, note.text, fill=235, font=typeface(note.face, note.size), anchor=note.anchor
    )
    return mask.rotate(note.slant, Image.Resampling.BICUBIC, center=at)


def draw_page(sheet: Sheet, rng: random.Random) -> Image.Image:
    """Return the scan of a page on its mount."""
    page = paper(rng, sheet.paper)
    for note in sheet.notes:
        page = stained(page, write_out(note), note.ink)
    page = stained(page, type_out(rng, sheet), sheet.machine.ink)

    shape = Image.new("L", SIZE)
    draw = ImageDraw.Draw(shape)
    draw.rectangle(SHEET, fill=255)
    for y in (560, 860):
        draw.ellipse((78, y, 104, y + 26), fill=0)  # punched for the file
    shape = shape.rotate(sheet.angle, Image.Resampling.BICUBIC)
    page = page.rotate(sheet.angle, Image.Resampling.BICUBIC)

    scan = Image.new("RGB", SIZE, BED)
    ImageDraw.Draw(scan).rectangle((18, 16, SIZE[0] - 19, SIZE[1] - 15), fill=MOUNT)
    scan.paste(page, mask=shape)
    return scan


def main() -> None:
    """Draw every page."""
    for name, sheet in SHEETS.items():
        save(draw_page(sheet, random.Random(name)), HERE / "images" / f"{name}.jpg")


if __name__ == "__main__":
    main()
