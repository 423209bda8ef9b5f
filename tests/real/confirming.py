"""What records must have of cards, worked out without hdbench: a program of its own.

It knows the mapping for cards as a cataloguer would tell it, reads records with nothing but the
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


NAME = ("author.last_name", "author.first_name")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def left(states):
    """The fields of a card, of which there is a record, whose values are not in it."""
    is_open = {field for field, (origin, _) in states.items() if origin == "open"}
    halves = {field for field in NAME if text(states[field][1])} if is_open & {*NAME} else set()
    return is_open | halves | {f for f, (_, value) in states.items() if CONTROL.search(text(value))}


def expected(states):
    """Field of MARC, and element of Dublin Core → the letters and figures in all of its values."""
    gone = left(states)
    get = {field: text(value) for field, (_, value) in states.items() if field not in gone}.get
    subjects = [
        text(part)
        for part in get("library_reference.subjects", "").split("/")
        if not re.fullmatch(r"[0-9]|.*\bDiss\b.*", text(part))
    ]
    place, publisher, year, title = (
        letters(get(f"publication.{part}", "")) for part in ("place", "publisher", "year", "title")
    )
    person = letters(*(name(get(field, "")) for field in NAME))
    signature = letters(get("library_reference.shelfmark", ""))
    marc = {"100": person, "245": title, "264": place + publisher + year, "852": signature}
    elements = {"creator": person, "title": title, "coverage": place, "publisher": publisher}
    elements |= {"date": year, "source": signature, "subject": letters(*subjects)}
    return marc | {"653": letters(*subjects)}, elements


def why_none(states):
    """Whether a card has no record: a reference, or what might be one."""
    origin, kind = states["type.type"]
    return origin == "open" or text(kind).casefold() == "reference"


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


def elements(path):
    """Each record of Dublin Core: the letters and figures of its elements, and what `id` it has."""
    for record in ElementTree.parse(path).getroot():
        texts = {}
        for each in record:
            texts.setdefault(each.tag.partition("}")[2], []).append(each.text)
        yield texts.pop("identifier")[0], {tag: letters(*given) for tag, given in texts.items()}


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
