"""A paper's or a book's first pages: title, authors, numbers, abstract and keywords.

The pages are read as images, though a PDF may hold its text: this is the floor for models that are
shown images. Chinese needs its own language data and is not read.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from hdbench.baselines.layout import TextLine, joined

_ALIKE = 0.8  # of the largest line's height: the title's other lines
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_ISBN = re.compile(r"\bISBN\D{0,15}((?:97[89][- ]?)?(?:\d[- ]?){9}[\dX])\b")
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_ABSTRACT = re.compile(r"(?i)\W*(?:abstract|summary|zusammenfassung)\b\W*")
_KEYWORDS = re.compile(r"(?i)\W*(?:key ?words|schlagw[öo]rter|index terms)\b\W*")
_HEADING = re.compile(r"(?i)\W*(?:\d\.?\s+)?(?:introduction|einleitung|references)\b")
_PUBLISHER = re.compile(r".*\b(?:Verlag|Press|Publish(?:er|ers|ing))\b.*")
_CLASS = re.compile(r"\b(?:DDC|Dewey|UDC|UDK)\b\D{0,25}(\d{3}(?:\.\d+)?)")
_MARKS = re.compile(r"[\d*†‡§¹²³]+")


def paper(pages: Sequence[Sequence[TextLine]]) -> dict[str, str]:
    """Return the record made from the lines of the first pages."""
    texts = [line.text for page in pages for line in page]
    whole = "\n".join(texts)
    title, authors = _title(pages[0] if pages else [])
    doi, isbn, year = _DOI.search(whole), _ISBN.search(whole), _YEAR.search(whole)
    common = {
        "title": title,
        "author": authors,
        "abstract": _below(texts, _ABSTRACT),
        "pub_time": year[1] if year else "",
    }
    if isbn:
        shelf, publisher = _CLASS.search(whole), _PUBLISHER.search(whole)
        return common | {
            "isbn": re.sub(r"\D(?!$)", "", isbn[1]),
            "category": shelf[1] if shelf else "",
            "publisher": publisher[0].strip() if publisher else "",
        }
    keywords = _below(texts, _KEYWORDS)
    return common | {
        "doi": doi[0].rstrip(".,;)") if doi else "",
        "keyword": ", ".join(
            word.strip(" .") for word in re.split("[;,·]", keywords) if word.strip()
        ),
    }


def _title(page: Iterable[TextLine]) -> tuple[str, str]:
    """Return the largest lines, and the line below them."""
    prose = [line for line in page if re.search(r"\w{3}", line.text)]
    if not prose:
        return "", ""
    largest = max(line.height for line in prose)
    place = next(n for n, line in enumerate(prose) if line.height >= _ALIKE * largest)
    title = list(takewhile(lambda line: line.height >= _ALIKE * largest, prose[place:]))
    below = prose[place + len(title) : place + len(title) + 1]
    names = re.split(r",|;|&|\band\b|\bund\b", _MARKS.sub("", below[0].text)) if below else []
    return (
        joined(line.text for line in title),
        ",".join(name.strip() for name in names if name.strip()),
    )


def _below(texts: Sequence[str], heading: re.Pattern[str]) -> str:
    """Return the text below a heading, up to the next one."""
    for place, text in enumerate(texts):
        if match := heading.match(text):
            rest = takewhile(lambda line: not _is_heading(line), texts[place + 1 :])
            return joined([part for part in (text[match.end() :], *rest) if part])
    return ""


def _is_heading(text: str) -> bool:
    return any(heading.match(text) for heading in (_ABSTRACT, _KEYWORDS, _HEADING))
