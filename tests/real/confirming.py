"""What MARC records must have of cards, worked out without hdbench: a program of its own.

It knows the mapping for cards as a cataloguer would tell it, reads MARCXML with nothing but the
standard library, and what people and models said from the files that commands have written.
"""

import re
from xml.etree import ElementTree

SLIM = "{http://www.loc.gov/MARC21/slim}"
SMALL = ("von", "van", "de", "der", "du", "zu", "di", "da", "della", "ten", "zur", "zum")


def text(value):
    """A value as it is written: nothing for null, 0 and false as they are."""
    if value is None or value == "null":
        return ""
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(written.split())


def name(value):
    """A name; one in capitals in small letters."""
    value = text(value)
    if value.upper() != value:
        return value
    words = []
    for word in value.split():
        small = word.lower() in SMALL
        roman = len(word) > 1 and not re.sub("[IVX]", "", word)
        words.append(word.lower() if small else word if roman else word.title())
    return " ".join(words)


def expected(values):
    """Tag → the letters and figures in all of its fields, for a card's decided values."""
    get = values.get
    if not {"author.last_name", "author.first_name"} <= values.keys():
        values = values | {"author.last_name": None, "author.first_name": None}  # half a name: none
        get = values.get
    subjects = [
        text(part)
        for part in text(get("library_reference.subjects")).split("/")
        if not re.fullmatch(r"[0-9]|.*\bDiss\b.*", text(part))
    ]
    publication = ("place", "publisher", "year")
    return {
        "100": letters(name(get("author.last_name")), name(get("author.first_name"))),
        "245": letters(text(get("publication.title"))),
        "264": letters(*(text(get(f"publication.{part}")) for part in publication)),
        "653": letters(*subjects),
        "852": letters(text(get("library_reference.shelfmark"))),
    }


def letters(*texts):
    """Letters and figures, without punctuation, which moves between subfields."""
    return "".join(each for each in "".join(texts) if each.isalnum())


def records(path):
    """Each record: its fields in order, as tag and subfields, or tag and text."""
    for record in ElementTree.parse(path).getroot().iter(f"{SLIM}record"):
        fields = [field for field in record if field.get("tag")]
        yield [
            (field.get("tag"), [(each.get("code"), each.text or "") for each in field])
            if len(field)
            else (field.get("tag"), field.text)
            for field in fields
        ]


def found(record, tags):
    """Tag → the letters and figures of its subfields, but of links and identifiers."""
    return {
        tag: letters(
            *(
                part
                for each, subfields in record
                if each == tag
                for code, part in subfields
                if code not in "08"
            )
        )
        for tag in tags
    }
