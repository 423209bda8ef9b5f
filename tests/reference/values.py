"""How two values compare: for the references of several metrics, without `hdbench`."""

import math
import re
import unicodedata
from datetime import datetime
from decimal import Decimal

from rapidfuzz import fuzz

MARKS = {"de": (".", ","), "en": (",", "."), "de_CH": ("'’", "."), "fr": (" \u00a0\u202f", ",")}
"""The signs between thousands and before decimals in each locale."""


def add(values, kind="exact"):
    """The sum, rounded once, or rounded after each addition.

    >>> add([0.1] * 10), add([0.1] * 10, "plain")
    (1.0, 0.9999999999999999)
    """
    if kind == "exact":
        return math.fsum(values)
    total = 0.0
    for value in values:
        total = total + value
    return total


def canonical(value):
    r"""A JSON value as it is compared under `documented`: its texts in one form of writing.

    >>> canonical({"Gro\u0308ße": ["\ufeffZa\u0308hle\u00a010\r\n", 7, "\u200dx\u200d\xady\u200d"]})
    {'Größe': ['Zähle 10\n', 7, 'x\u200d\xady']}
    """
    if isinstance(value, dict):
        return {canonical(key): canonical(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    if not isinstance(value, str):
        return value
    for sign in ("\r\n", "\r", "\N{LINE SEPARATOR}", "\N{PARAGRAPH SEPARATOR}"):
        value = value.replace(sign, "\n")
    for sign in ("\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{FIGURE SPACE}"):
        value = value.replace(sign, " ")
    value = "".join(
        sign
        for sign in value
        if sign not in ("\N{ZERO WIDTH SPACE}", "\N{ZERO WIDTH NO-BREAK SPACE}")
        and unicodedata.name(sign, "")
        not in ("LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK", "ARABIC LETTER MARK")
        and unicodedata.bidirectional(sign)
        not in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    )
    joiners = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}", "\N{WORD JOINER}")
    while value.startswith(joiners):
        value = value[1:]
    while value.endswith(joiners):
        value = value[:-1]
    return unicodedata.normalize("NFC", value)


def rounded(value, digits):
    return value if digits is None else round(value, digits)


def normalized(value, names):
    """
    >>> normalized("Waſſer-\\n  Melone!", ["long_s", "hyphenation", "whitespace", "punctuation"])
    'WasserMelone'
    >>> normalized("Zuͤrich é", ["diacritics", {"remove": "Z "}])
    'uriche'
    """
    if not isinstance(value, str):
        return value
    for name in names:
        if isinstance(name, dict):
            value = "".join(c for c in value if c not in name["remove"])
        elif name in ("nfc", "nfkc"):
            value = unicodedata.normalize(name.upper(), value)
        elif name == "diacritics":
            apart = unicodedata.normalize("NFD", value)
            apart = "".join(c for c in apart if unicodedata.category(c) != "Mn")
            value = unicodedata.normalize("NFC", apart)
        elif name == "punctuation":
            value = "".join(c for c in value if not unicodedata.category(c).startswith("P"))
        else:
            value = {
                "lowercase": str.lower,
                "casefold": str.casefold,
                "whitespace": lambda text: " ".join(text.split()),
                "long_s": lambda text: text.replace("ſ", "s"),
                "line_breaks": lambda text: re.sub(
                    r"\r\n|\r|\n", " ", re.sub(r"(\r\n|\r|\n)$", "", text)
                ),
                "hyphenation": lambda text: re.sub(r"[-‐¬⸗=]\s*?\n[^\S\n]*", "", text),
            }[name](value)
    return value


def similarity(a, b):
    if a == b:
        return 1.0
    if a is None or b is None:
        return 0.0
    if str(a) == str(b):
        return 1.0
    if not isinstance(a, (str, int, float)) or not isinstance(b, (str, int, float)):
        return 0.0
    return fuzz.ratio(str(a), str(b)) / 100


def distance(a, b):
    """
    >>> distance("kitten", "sitting"), distance([], ["a", "b"])
    (3, 2)
    """
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (x != y)))
        previous = current
    return previous[-1]


def error_rate(errors, length):
    """
    >>> error_rate(1, 4), error_rate(0, 0), error_rate(1, 0), error_rate(3, 1)
    (0.25, 0.0, 1.0, 1.0)
    """
    if not errors:
        return 0.0
    return min(1.0, errors / length) if length else 1.0


def number(value, locale="en"):
    """
    >>> number("1'200", "de_CH") == number("1.200,0", "de") == number(1200) == number("1200.0")
    True
    >>> number("1,2,3", "en"), number(True), number("12.00", "de")
    (None, None, None)
    """
    groups, point = MARKS[locale]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if not isinstance(value, str):
        return Decimal(str(value)) if math.isfinite(value) else None
    grouped = rf"\d{{1,3}}(?:[{groups}]\d{{3}})+|" if groups else ""
    match = re.fullmatch(
        rf"([-+−]?)({grouped}\d+)(?:{re.escape(point)}(\d+))?", value.strip(), re.A
    )
    if not match:
        return None
    return Decimal(
        match[1].replace("−", "-") + re.sub(r"\D", "", match[2]) + "." + (match[3] or "0")
    )


def date(value, formats=()):
    """Year, month and day, as far as they are given.

    >>> date("1947"), date("1947-03"), date("2.3.1947", ["%d.%m.%Y"]), date("1947-13")
    ((1947,), (1947, 3), (1947, 3, 2), None)
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value).strip()
    iso = ["%Y", "%Y-%m", "%Y-%m-%d"] if re.fullmatch(r"\d{4}(-\d\d){0,2}", text, re.A) else []
    for form in [*iso, *formats]:
        try:
            read = datetime.strptime(text, form)
        except ValueError:
            continue
        known = 3 if "%d" in form else 2 if re.search("%[mbB]", form) else 1
        return (read.year, read.month, read.day)[:known]
    return None


def boolean(value, **spellings):
    """
    >>> boolean("ja", true=["ja"]), boolean("false"), boolean(1)
    (True, False, None)
    """
    if isinstance(value, str):
        value = value.strip().casefold()
    for result, name in ((True, "true"), (False, "false")):
        if value is result or (
            isinstance(value, str) and value in [name, *map(str.casefold, spellings.get(name, []))]
        ):
            return result
    return None


def text(value):
    """
    >>> text(True), text(1), text("1")
    ('true', '1', '1')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def compared(truth, answer, how):
    """Similarity of two values by one kind of comparison, a name or {name: parameters}.

    >>> compared("1947", "1947-03-02", "date"), compared("1947-03-02", "1947", "date")
    (1.0, 0.0)
    >>> compared(1947, "1947", "exact"), compared(True, 1, "exact"), compared("abcd", "abxd", "cer")
    (1.0, 0.0, 0.75)
    """
    how, parameters = next(iter(how.items())) if isinstance(how, dict) else (how, {})
    if how == "similarity":
        return similarity(truth, answer)
    if how == "cer":
        truth, answer = text(truth), text(answer)
        return 1 - error_rate(distance(truth, answer), len(truth))
    if how != "exact":
        read = {"number": number, "date": date, "boolean": boolean}[how]
        a, b = read(truth, **parameters), read(answer, **parameters)
        if a is not None and b is not None:
            return float(a == b[: len(a)] if how == "date" else a == b)
    return float(text(truth) == text(answer))
