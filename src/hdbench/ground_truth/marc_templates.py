"""Templates of fields in MARC records, such as `264|#1|$a{place} : $b{publisher}, $c{year}`."""

import re
from collections.abc import Callable
from typing import NamedTuple

MAIN_ENTRY, ARTICLE = "{main}", "{article}"
"""Indicators by rule: 1 if there is a main entry (a field 1XX), otherwise 0; and the number of
characters that sorting ignores."""

_FIELD = re.compile(
    r"(?P<tag>[0-9]{3})(?:\|(?P<first>[#0-9a-z]|\{main\}|\{article\})"
    r"(?P<second>[#0-9a-z]|\{main\}|\{article\})\|)?(?P<subfields>\$[0-9a-z].*)"
)
_CONTROL_FIELD = re.compile(r"(?P<tag>00[37]) (?P<text>[^${}]+)")
_SUBFIELD = re.compile(r"\$(?=[0-9a-z])")
_VALUE = re.compile(r"\{([^{}]+)\}")
_PUNCTUATION = re.compile(r"(?:\s[:;=/+]|[,.])\s*\Z")
"""Prescribed punctuation of ISBD at the end of a text, which belongs to what follows."""

_FULL_STOP = re.compile(r"\.\s*\Z")


class SubfieldTemplate(NamedTuple):
    """Template of a subfield.

    Attributes:
        code: the subfield.
        before: punctuation that is written at the end of the subfield before it.
        fields: fields of the ground truth whose values are written.
        texts: texts before, between and after the values: one more than there are values.
    """

    code: str
    before: str
    fields: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def is_rest(self) -> bool:
        """Whether it gets what stands behind its punctuation in the value before."""
        return self.texts == ("",) and bool(self.before)

    def filled(self, value_of: Callable[[str], str]) -> str:
        """Return the text with values, empty if it has fields and none of them has a value."""
        if not self.fields:
            return self.texts[0]
        text = ""
        for number, field in enumerate(self.fields):
            value = value_of(field)
            if value:
                # A text between two values stands only where there are two.
                text += (self.texts[number] if text or not number else "") + value
        return text + self.texts[-1] if text else ""


class FieldTemplate(NamedTuple):
    """Template of a field.

    Attributes:
        tag: the field. A control field has one subfield without a code.
        indicators: two of `#`, a digit or letter, `MAIN_ENTRY` and `ARTICLE`.
        subfields: its subfields.
        end: punctuation at its end.
        each: a list in the ground truth, for each entry of which the field is written.
        split: what the entries are divided by, if it is a text.
        without: the entries that are not written.
    """

    tag: str
    indicators: tuple[str, str]
    subfields: tuple[SubfieldTemplate, ...]
    end: str
    each: str | None = None
    split: str | None = None
    without: re.Pattern[str] | None = None

    @property
    def fields(self) -> list[str]:
        """The fields of the ground truth whose values are written."""
        return [field for subfield in self.subfields for field in subfield.fields]

    @property
    def joined(self) -> set[str]:
        """The fields whose values share a subfield with others, such as the parts of a name."""
        shared = (subfield.fields for subfield in self.subfields if len(subfield.fields) > 1)
        return set().union(*shared)

    def filled(self, value_of: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return the subfields with values; none if the field has fields without any value."""
        if self.fields and not any(map(value_of, self.fields)):
            return []
        written: list[tuple[str, str]] = []
        for subfield in self.subfields:
            if subfield.is_rest and written:
                head, text = _divided(written[-1][1], subfield.before)
                written[-1] = (written[-1][0], head)
            else:
                text = subfield.filled(value_of)
            if not text:
                continue
            if written and subfield.before:
                written[-1] = (written[-1][0], _with_end(written[-1][1], subfield.before))
            written.append((subfield.code, text))
        if self.end and written:
            written[-1] = (written[-1][0], _with_end(written[-1][1], self.end))
        return written


def read_template(text: str) -> FieldTemplate | None:
    """Return the template that a text describes; None if it does not describe any.

    Example:
        >>> template = read_template("264|#1|$a{place} : $b{publisher}, $c{year}")
        >>> template.filled({"place": "Basel", "publisher": "", "year": "1912"}.__getitem__)
        [('a', 'Basel,'), ('c', '1912')]
        >>> template = read_template("245$a{title} : $b.")
        >>> template.filled({"title": "Die Stadt : Roman"}.__getitem__)
        [('a', 'Die Stadt :'), ('b', 'Roman.')]
    """
    match = _CONTROL_FIELD.fullmatch(text)
    if match:
        text = match["text"].strip()
        subfield = SubfieldTemplate("", "", (), (text,))
        return FieldTemplate(match["tag"], ("#", "#"), (subfield,), end="")
    match = _FIELD.fullmatch(text)
    if not match or match["tag"] < "010":
        return None
    _, *pieces = _SUBFIELD.split(match["subfields"])
    subfields: list[SubfieldTemplate] = []
    before = ""
    for number, piece in enumerate(pieces, 1):
        content, behind = _parted(piece[1:], _PUNCTUATION if number < len(pieces) else _FULL_STOP)
        values = _VALUE.split(content)
        fields, texts = tuple(values[1::2]), tuple(values[::2])
        is_empty = not content and not before
        if is_empty or any("{" in text or "}" in text for text in texts):
            return None
        subfields.append(SubfieldTemplate(piece[0], before, fields, texts))
        before = behind
    indicators = (match["first"] or "#", match["second"] or "#")
    return FieldTemplate(match["tag"], indicators, tuple(subfields), end=before)


def _parted(text: str, punctuation: re.Pattern[str]) -> tuple[str, str]:
    """Return a text without the punctuation at its end, and that punctuation."""
    match = punctuation.search(text)
    if not match:
        return text.strip(), ""
    return text[: match.start()].strip(), match[0].rstrip()


def _divided(text: str, punctuation: str) -> tuple[str, str]:
    """Return what stands in a text before and behind punctuation; all before if it has none."""
    parts = re.split(rf"{re.escape(punctuation)}\s+", text, maxsplit=1)
    if len(parts) == 1 or not (parts[0].strip() and parts[1].strip()):
        return text, ""
    return parts[0].rstrip(), parts[1].strip()


def _with_end(text: str, punctuation: str) -> str:
    """Return a text with punctuation at its end, once.

    Example:
        >>> _with_end("Basel :", " :"), _with_end("Springfield, Ill.", ".")
        ('Basel :', 'Springfield, Ill.')
    """
    return text if text.endswith(punctuation.strip()) else text + punctuation
