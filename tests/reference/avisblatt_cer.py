"""The rules of Avisblatt CER written down as they are read: the tests' reference, and the speed's.

Independent of `hdbench`: it shares nothing with what it checks but RapidFuzz's `fuzz.ratio`. It
tries every assignment, so pages must be small, and texts are strings or absent.
"""

import re
import unicodedata
from itertools import permutations

from rapidfuzz import fuzz
from reference.values import canonical, distance


def similarity(a, b):
    return 1.0 if a == b else fuzz.ratio(a, b) / 100


def cer(truth, answer):
    if truth == "":
        return 0.0 if answer == "" else 1.0
    return min(1.0, distance(truth, answer) / len(truth))


def published_cer(truth, answer):
    truth, answer = (re.sub(r"\s+", " ", text.lower()) for text in (truth, answer))
    if truth == answer:
        return 0.0
    if truth == "" or answer == "":
        return 1.0
    return min(1.0, distance(truth, answer) / len(truth))


def text_of(ad):
    return ad.get("text") or ""


def number(ad):
    match = re.match(r"^\s*(\d+)\.", text_of(ad))
    return int(match.group(1)) if match else None


def section(ad):
    return (ad.get("tags_section") or "").strip()


def add(values):
    total = 0.0
    for value in values:
        total = total + value
    return total


def best_assignment(truth, found):
    """Every way of pairing two lists of ads; of the best the one of lowest CER, then in order."""
    n, m = len(truth), len(found)
    if n == m == 1:
        return [(0, 0)]
    if n <= m:
        ways = (list(enumerate(columns)) for columns in permutations(range(m), n))
    else:
        ways = ([(i, j) for j, i in enumerate(rows)] for rows in permutations(range(n), m))

    alike = [[similarity(text_of(a), text_of(b)) for b in found] for a in truth]
    errors = [[cer(text_of(a), text_of(b)) for b in found] for a in truth]

    def worth(pairs):
        return (
            -round(add(alike[i][j] for i, j in pairs), 9),
            round(add(errors[i][j] for i, j in pairs), 9),
            sum((i - j) ** 2 for i, j in pairs),
        )

    return min(ways, key=worth)


def documented_pairs(truth, found, continued):
    """Truth ad's place → answer ad's place."""
    paired = {}

    def pair(places, others):
        places = [i for i in places if i not in paired]
        others = [j for j in others if j not in paired.values()]
        for value in {number(truth[i]) for i in places}:
            left = [i for i in places if number(truth[i]) == value]
            right = [j for j in others if number(found[j]) == value]
            for i, j in best_assignment([truth[i] for i in left], [found[j] for j in right]):
                paired[left[i]] = right[j]

    def places(ads, name):
        return [place for place, ad in enumerate(ads) if section(ad) == name]

    names = list(dict.fromkeys(map(section, truth)))
    others = list(dict.fromkeys(map(section, found)))
    for name in names:
        if name in others:
            pair(places(truth, name), places(found, name))
    for name in names:
        if name not in others and name != "":
            nearest = max(filter(None, others), key=lambda o: similarity(name, o), default=None)
            if nearest and similarity(name, nearest) >= 0.95:
                pair(places(truth, name), places(found, nearest))
    if continued:
        numbered = [i for i in places(truth, continued) if number(truth[i]) is not None]
        pair(numbered, places(found, ""))
        pair(numbered, range(len(found)))
    return paired


def published_pairs(truth, found, continued):
    """(truth text, answer text or None) of every ad that is scored."""

    def sections(ads):
        kept = {}
        for ad in ads:
            name = section(ad) or continued
            if isinstance(ad.get("text"), str) and name and number(ad):
                kept.setdefault(name, {})[number(ad)] = ad["text"]
        return kept

    truth, found = sections(truth), sections(found)
    pairs = []
    if continued and continued in truth:
        for value, text in truth[continued].items():
            other = found.get(continued, {}).get(value)
            for ads in found.values():
                if other is None:
                    other = ads.get(value)
            pairs.append((text, other))
        return pairs
    for name, ads in truth.items():
        others = found.get(name)
        if not others:
            for other_name in found:
                if not others and similarity(name, other_name) >= 0.95:
                    others = found[other_name]
        for value, text in ads.items():
            pairs.append((text, (others or {}).get(value)))
    return pairs


def page_scores(answer, truth, protocol):
    """(fuzzy, CER) of every ad that is scored."""
    found = ads_of(answer)
    continued = truth.get("continued_section") or ""
    if protocol == "published":
        return [
            (0.0, 1.0)
            if other is None
            else (round(similarity(text, other), 3), published_cer(text, other))
            for text, other in published_pairs(truth["advertisements"], found, continued)
        ]
    paired = documented_pairs(truth["advertisements"], found, continued)
    texts = [
        (text_of(ad), text_of(found[paired[i]]) if i in paired else None)
        for i, ad in enumerate(truth["advertisements"])
    ]
    return [(0.0, 1.0) if b is None else (similarity(a, b), cer(a, b)) for a, b in texts]


def ads_of(answer):
    ads = (answer or {}).get("advertisements")
    return ads if isinstance(ads, list) else []


def page_means(answer, truth, scores, protocol):
    if protocol == "published":
        if not scores:
            return 0.0, 1.0
        return (
            round(add(fuzzy for fuzzy, _ in scores) / len(scores), 2),
            round(add(error for _, error in scores) / len(scores), 3),
        )
    if not scores:
        return (1.0, 0.0) if answer is not None and not ads_of(answer) else (0.0, 1.0)
    return mean([fuzzy for fuzzy, _ in scores], 0.0), mean([error for _, error in scores], 1.0)


def mean(values, otherwise):
    return add(values) / len(values) if values else otherwise


def as_compared(pages, protocol):
    return pages if protocol == "published" else [tuple(map(canonical, page)) for page in pages]


def protocol_scores(pages, protocol="documented"):
    """The protocol's own two figures of (answer, truth) pairs, and nothing else."""
    every, means = [], []
    for answer, truth in as_compared(pages, protocol):
        scores = page_scores(answer, truth, protocol)
        every += scores
        means.append(page_means(answer, truth, scores, protocol))
    if protocol == "published":
        return round(mean([f for f, _ in means], 0.0), 3), round(
            mean([c for _, c in means], 1.0), 3
        )
    return mean([fuzzy for fuzzy, _ in every], 0.0), mean([error for _, error in every], 1.0)


def without_final_punctuation(name):
    while name and (unicodedata.category(name[-1])[0] == "P" or name[-1].isspace()):
        name = name[:-1]
    return name


def figures(pages, protocol="documented"):
    """Every figure of (answer, truth) pairs."""
    every, means, by_text, errors = [], [], [], []
    tp = fp = fn = sections = loose = dates = perfect = 0
    for answer, truth in as_compared(pages, protocol):
        scores = page_scores(answer, truth, protocol)
        every += scores
        means.append(page_means(answer, truth, scores, protocol))
        ads, found = truth["advertisements"], ads_of(answer)
        paired = documented_pairs(ads, found, truth.get("continued_section") or "")
        tp += len(paired)
        fp += len(found) - len(paired)
        fn += len(ads) - len(paired)
        perfect += (
            answer is not None
            and len(paired) == len(ads) == len(found)
            and all(
                (text_of(ads[i]), section(ads[i]), ads[i].get("date"))
                == (text_of(found[j]), section(found[j]), found[j].get("date"))
                for i, j in paired.items()
            )
        )
        for i, j in paired.items():
            a, b = section(ads[i]), section(found[j])
            sections += a == b
            loose += without_final_punctuation(a) == without_final_punctuation(b)
            dates += ads[i].get("date") == found[j].get("date")
        legible = [ad for ad in ads if text_of(ad)]
        partners = dict(best_assignment(legible, found))
        for i, ad in enumerate(legible):
            if i not in partners:
                by_text.append((0.0, 1.0))
                continue
            a, b = text_of(ad), text_of(found[partners[i]])
            if protocol == "published":
                by_text.append((round(similarity(a, b), 3), published_cer(a, b)))
            else:
                by_text.append((similarity(a, b), cer(a, b)))
        for ad in found:
            tokens, given = len(text_of(ad).split()), ad.get("ntokens")
            if given is not None:
                off = abs(given - tokens)
                errors.append(min(1.0, off / tokens) if tokens else float(off > 0))
    fuzzy, error = protocol_scores(pages, protocol)
    precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
    return {
        "fuzzy": fuzzy,
        "cer": error,
        "fuzzy_ads": mean([f for f, _ in every], 0.0),
        "cer_ads": mean([c for _, c in every], 1.0),
        "fuzzy_pages": mean([f for f, _ in means], 0.0),
        "cer_pages": mean([c for _, c in means], 1.0),
        "fuzzy_text": mean([f for f, _ in by_text], 0.0),
        "cer_text": mean([c for _, c in by_text], 1.0),
        "f1_micro": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "precision_micro": precision,
        "recall_micro": recall,
        "section_accuracy": sections / (tp + fn) if tp + fn else 0.0,
        "section_accuracy_loose": loose / (tp + fn) if tp + fn else 0.0,
        "date_accuracy": dates / (tp + fn) if tp + fn else 0.0,
        "ntokens_error": mean(errors, None),
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "items_perfect": perfect,
    }
