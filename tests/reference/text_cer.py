"""The rules of Text CER written down as they are read: the tests' reference.

Independent of `hdbench`. `texts` maps each text's path to when it is scored: `present` (unless it
is empty on both sides), `always`, or `until_absent` (numbered: `addition1`, `addition2`, … up to
the first that the truth lacks). A path may lie in one list of pages: `pages[].text`.

One letter of four is wrong, and of two words one:

>>> run = score_run([({"text": "abxd ef"}, {"text": "abcd ef"})], texts={"text": "always"})
>>> round(run["cer"], 4), run["wer"], round(run["similarity"], 4)
(0.1429, 0.5, 0.8571)

Micro weighs by length, macro by text: errors of 1 in 2 and 0 in 8.

>>> pages = {"pages": [{"t": "ab"}, {"t": "abcdefgh"}]}
>>> read = {"pages": [{"t": "ax"}, {"t": "abcdefgh"}]}
>>> run = score_run([(read, pages)], texts={"pages[].t": "present"})
>>> run["cer"], run["cer_macro"], run["texts_perfect"]
(0.1, 0.25, 1)

A missing page costs its length; an invented one is only counted:

>>> run = score_run([({"pages": [{"t": "abcdefgh"}]}, pages)], texts={"pages[].t": "present"},
...                 pages="aligned")
>>> run["cer"], run["cer_macro"], run["pairs"]
(0.2, 0.5, [[('pages', 0, None), ('pages', 1, 0)]])
>>> run = score_run([(pages, {"pages": [{"t": "ab"}]})], texts={"pages[].t": "present"})
>>> run["cer"], run["characters_invented"]
(0.0, 8)
"""

import re
from itertools import permutations
from xml.etree import ElementTree

import regex
from reference.values import add, canonical, distance, error_rate, normalized, rounded, similarity

DEFAULTS = {
    "texts": {"text": "always"},
    "pages": "position",
    "normalize": ["nfc"],
    "unit": "character",
    "xml": False,
    "unanswered": "failure",
    "round": {},
    "sum": "exact",
    "figures": {},
}
RATES = ("cer", "wer")


def text_of(page, name):
    """The text of a field; null, white space alone and whatever is no text are empty.

    >>> [text_of(page, "a") for page in ({"a": 3}, {"a": " "}, {"a": ["x"]}, None)]
    ['3', '', '', '']
    """
    value = page.get(name) if isinstance(page, dict) else None
    text = str(value) if isinstance(value, (str, int, float)) else ""
    return text if text.strip() else ""


def pages_of(record, name):
    """The list of pages at a path; without a name the record itself is the page."""
    if name is None:
        return [record]
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def numbered(page, name):
    """`addition1` → every field of a page that is numbered like it, by number."""
    stem = name.rstrip("0123456789")
    keys = page if isinstance(page, dict) else {}
    return sorted(
        (key for key in keys if re.fullmatch(re.escape(stem) + r"[1-9]\d*", key, re.A)),
        key=lambda key: int(key[len(stem) :]),
    )


def page_texts(truth, answer, fields):
    """(truth, answer) of each text of two pages that is scored; invented texts that are not."""
    pairs, invented = [], []
    for name, when in fields.items():
        names = [name]
        if when == "until_absent":
            stem, number = name.rstrip("0123456789"), int(re.search(r"\d+$", name)[0])
            while isinstance(truth, dict) and f"{stem}{number}" in truth:
                number += 1
            names = [f"{stem}{n}" for n in range(int(re.search(r"\d+$", name)[0]), number)]
            invented += [text_of(answer, key) for key in numbered(answer, name) if key not in names]
        for key in names:
            texts = text_of(truth, key), text_of(answer, key)
            if when == "always" or any(texts):
                pairs.append(texts)
    return pairs, invented


def pair_pages(truth, answer, fields, options):
    """Every page of the truth with its counterpart's place or None."""
    if options["pages"] == "position":
        return [(i, i if i < len(answer) else None) for i in range(len(truth))]

    def alike(i, j):
        names = options["normalize"]
        names = names if isinstance(names, list) else names.get("similarity", ["nfc"])
        texts, _ = page_texts(truth[i], answer[j], fields)
        return sum(
            round(1000 * round(similarity(*(normalized(text, names) for text in pair)), 3))
            for pair in texts
        )

    places = range(len(answer))
    if len(truth) <= len(answer):
        ways = [list(enumerate(chosen)) for chosen in permutations(places, len(truth))]
    else:
        ways = [
            sorted((i, j) for j, i in enumerate(chosen))
            for chosen in permutations(range(len(truth)), len(answer))
        ]
    best = dict(min(ways, key=lambda way: (-sum(alike(*p) for p in way), way)))
    return [(i, best.get(i)) for i in range(len(truth))]


def signs(text, options):
    """What counts as a character each."""
    return regex.findall(r"\X", text) if options["unit"] == "grapheme" else list(text)


def text_scores(truth, answer, there, options):
    """Distance, length and rate of one text by figure, and its similarity."""
    digits = options["round"].get("text")
    result = {}
    for figure in (*RATES, "similarity"):
        names = options["normalize"]
        names = names if isinstance(names, list) else names.get(figure, ["nfc"])
        a, b = normalized(truth, names), normalized(answer, names)
        if figure == "similarity":
            result[figure] = rounded(similarity(a, b) if there else 0.0, digits)
            continue
        if figure == "wer":
            a, b = a.split(), b.split()
            result["bag"] = bag_errors(a, b)
        else:
            a, b = signs(a, options), signs(b, options)
        errors = distance(a, b)
        rate = error_rate(errors, len(a)) if there else 1.0
        result[figure] = (errors, len(a), rounded(rate, digits))
    return result


def well_formed(text):
    """
    >>> [well_formed(text) for text in ("<a>x</a>", "<a>", '<!DOCTYPE a [<!ENTITY b "c">]><a/>')]
    [True, False, False]
    """
    if "<!DOCTYPE" in text:
        return False
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


def score(answer, truth, **given):
    """Scores of an item's texts, what was invented, and the pages paired."""
    options = DEFAULTS | given
    if not isinstance(answer, dict):
        answer = {}
    answer, truth = canonical(answer), canonical(truth)
    lists = {}
    for path, when in options["texts"].items():
        name, _, field = path.rpartition("[].")
        lists.setdefault(name or None, {})[field or path] = when
    texts, invented, pairs, parsed, edits = [], [], [], [], 0
    for name, fields in lists.items():
        expected, found = pages_of(truth, name), pages_of(answer, name)
        for i, j in pair_pages(expected, found, fields, options):
            page = found[j] if j is not None and isinstance(found[j], dict) else None
            there = bool(page) if name is None else page is not None
            of_page, more = page_texts(expected[i], page, fields)
            invented += more + [a for t, a in of_page if not t]
            of_texts = [text_scores(t, a, there, options) for t, a in of_page]
            texts += of_texts
            edits += sum(s["cer"][0] for s, (t, _) in zip(of_texts, of_page, strict=True) if t)
            parsed += [well_formed(a) for _, a in of_page]
            pairs += [(name, i, j)] if name else []
        for j in set(range(len(found))) - {j for _, _, j in pairs} if name else ():
            both, more = page_texts(None, found[j], fields)
            invented += more + [a for _, a in both]
    names = options["normalize"]
    names = names if isinstance(names, list) else names.get("cer", ["nfc"])
    digits = options["round"].get("item")
    means = {
        figure: add([t[figure][2] for t in texts], options["sum"]) / len(texts) if texts else 0.0
        for figure in RATES
    }
    alike = [t["similarity"] for t in texts]
    means["similarity"] = add(alike, options["sum"]) / len(alike) if alike else 1.0
    extra = sum(len(signs(normalized(text, names), options)) for text in invented)
    return {
        "texts": texts,
        "effort": (edits + extra, sum(text["cer"][1] for text in texts)),
        "means": {name: rounded(mean, digits) for name, mean in means.items()},
        "invented": extra,
        "pairs": pairs,
        "well_formed": parsed,
    }


def bag_errors(reference, answer):
    """Errors in words without their order, as Vidal and others (2023) define them.

    >>> bag_errors("a b c".split(), "c b a".split()), bag_errors(["a", "b"], ["a", "a", "x"])
    (0, 2)
    """
    left = {}
    for word in reference:
        left[word] = left.get(word, 0) + 1
    common = 0
    for word in answer:
        if left.get(word, 0):
            left[word] -= 1
            common += 1
    return max(len(reference), len(answer)) - common


def own_rate(texts, figure):
    """The micro rate of one item.

    >>> own_rate([{"cer": (1, 2, 0.5)}, {"cer": (0, 6, 0.0)}], "cer"), own_rate([], "cer")
    (0.125, 0.0)
    """
    errors, length = (sum(text[figure][place] for text in texts) for place in (0, 1))
    return errors / length if length else float(errors > 0)


def score_run(pairs, **given):
    """Figures of (answer, truth) pairs."""
    options = DEFAULTS | given
    scores = [score(answer, truth, **given) for answer, truth in pairs]
    texts = [text for one in scores for text in one["texts"]]
    figures = {}
    for figure in RATES:
        length = sum(text[figure][1] for text in texts)
        if not length:
            raise ValueError(f"{figure}: the reference has no text")
        # Item by item: where sums are not exact, other groups can differ in the last digit.
        of_items = [add([t[figure][2] for t in one["texts"]], options["sum"]) for one in scores]
        figures[figure] = sum(text[figure][0] for text in texts) / length
        figures[f"{figure}_macro"] = add(of_items, options["sum"]) / len(texts)
        items = [one["means"][figure] for one in scores]
        figures[f"{figure}_items"] = add(items, options["sum"]) / len(items)
    read = [one for one in scores if own_rate(one["texts"], "cer") < 1]
    figures["failure_share"] = (len(scores) - len(read)) / len(scores)
    errors, length = (sum(t["cer"][i] for one in read for t in one["texts"]) for i in (0, 1))
    if length:
        figures["cer_without_failures"] = errors / length
    words = sum(text["wer"][1] for text in texts)
    figures["bwer"] = sum(text["bag"] for text in texts) / words
    figures["order_gap"] = figures["wer"] - figures["bwer"]
    alike = [one["means"]["similarity"] for one in scores]
    figures["similarity"] = add(alike, options["sum"]) / len(alike)
    if options["xml"]:
        parsed = [value for one in scores for value in one["well_formed"]]
        figures["well_formed"] = sum(parsed) / len(parsed)
    digits = options["round"].get("run")
    figures = {name: rounded(value, digits) for name, value in figures.items()}
    figures["texts_perfect"] = sum(t["cer"][0] == 0 and t["cer"][2] == 0 for t in texts)
    figures["characters_invented"] = sum(one["invented"] for one in scores)
    figures["items"] = len(scores)
    own = dict(figures)
    for name, wanted in options["figures"].items():
        figures[name] = own[wanted["of"]] * wanted.get("scale", 1)
    return figures | {"pairs": [one["pairs"] for one in scores]}
