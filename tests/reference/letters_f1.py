"""The rules of Letters F1 written down as they are read: the tests' reference, and the speed's.

Independent of `hdbench`. It takes letters and the authority file in their published form: persons
as texts, with `<…>` and `<<…>>` around the inferred ones, who are looked up in the authority file.
"""

import ast
import json

from reference.values import canonical

CATEGORIES = ("send_date", "sender_persons", "receiver_persons")


def ground_truth(letter, authority, protocol="documented"):
    """A published letter in the form of the dataset, and as its correction or as it was."""
    published = protocol == "published"

    def person(text):
        name, inferred = inferred_from(text)
        entry = look_up(name, authority, strip=True) or {"name": name, "alternateName": []}
        name, others = entry["name"], entry["alternateName"]
        if not published:
            name, others = name.strip(), [other.strip() for other in others]
        return {"name": name, "alternateName": others, "inferred": inferred}

    persons = {
        category: [person(text) for text in letter[category] if text != "None"]
        for category in CATEGORIES[1:]
    }
    signed = letter["has_signatures"] == "TRUE"
    return {"send_date": letter["send_date"], **persons, "has_signatures": signed}


def inferred_from(text):
    if text.startswith("<<") and text.endswith(">>"):
        return text[2:-2], "correspondence"
    if text.startswith("<") and text.endswith(">"):
        return text[1:-1], "function"
    return text, None


def look_up(name, authority, *, strip):
    for person in authority:
        if name == (person["name"].strip() if strip else person["name"]):
            return person
    return None


def metadata(answer):
    """The object of an answer that holds the categories."""
    if not isinstance(answer, dict):
        return {}
    inner = answer.get("metadata", answer)
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except ValueError:
            try:
                inner = ast.literal_eval(inner)
            except (ValueError, SyntaxError):
                return {}
    return inner if isinstance(inner, dict) else {}


def as_list(value):
    """A list of texts, None for each null."""
    if isinstance(value, str):
        value = value.split("|")
    if not isinstance(value, list):
        value = [value]
    return [None if item is None else str(item).strip() for item in value]


def person_names(value, wanted):
    """The names of persons as texts, None for each null, without objects that are left out."""
    if isinstance(value, dict) and "name" in value:
        value = [value]
    if not isinstance(value, list):
        return as_list(value)
    kept = []
    for item in value:
        if isinstance(item, dict) and "name" in item:
            if item.get("inferred") in (None, *wanted):
                kept.append(item["name"])
        else:
            kept.append(item)
    return as_list(kept)


def dates(answered, letter, protocol):
    """TP, FP and FN of the date."""
    if protocol == "published":
        first, truth = answered[0] if answered else None, letter["send_date"][0]
        if first in (None, "null"):
            return 0, 0, 1
        return (1, 0, 0) if first == truth else (0, 1, 1)
    found = set(answered) - {None, "", "null", "None"}
    truth = set(letter["send_date"]) - {None, "", "null", "None"}
    return len(found & truth), len(found - truth), len(truth - found)


def persons(answered, texts, authority, protocol, inferred):
    """TP, FP and FN of senders or receivers."""
    published = protocol == "published"
    truth = []
    for text in texts:
        name, source = inferred_from(text)
        if text == "None" or (source and source not in inferred) or name in truth:
            continue
        truth.append(name)
    found, false_positives = set(), set()
    for answered_name in answered:
        name = answered_name
        if published and name is not None:
            name = inferred_from(name)[0].strip()
        if not published and name is not None:
            sources = inferred_as(name, texts, authority)
            if sources & set(inferred):
                name = inferred_from(name)[0]
            elif sources:
                continue
        if name in (None, "null") or (name in ("", "None") and not published):
            continue
        is_person = False
        for known in truth:
            person = look_up(known, authority, strip=not published)
            names = [known, *(person["alternateName"] if person else [])]
            if name in (names if published else [other.strip() for other in names]):
                found.add(known)
                is_person = True
        if not is_person and name != "":
            false_positives.add(name)
    return len(found), len(false_positives), len(truth) - len(found)


def inferred_as(answered, texts, authority):
    """The source in an answer's brackets, in a set, if it is that of a person of the truth."""
    name, source = inferred_from(answered)
    for known, its_source in map(inferred_from, texts):
        person = look_up(known, authority, strip=True)
        names = (
            {known.strip(), *(other.strip() for other in person["alternateName"])}
            if person
            else {known.strip()}
        )
        if source and source == its_source and name in names - {"", "null", "None"}:
            return {source}
    return set()


def counts(answer, letter, authority, protocol="documented", inferred=()):
    """Category → TP, FP and FN of one letter; an answer of None is unanswered."""
    if protocol == "documented" and answer is not None and set(answer) == {"error"}:
        answer = None
    answered = metadata(answer)
    if protocol == "documented":
        answered, letter, authority = map(canonical, (answered, letter, authority))
    result = {"send_date": dates(as_list(answered.get("send_date")), letter, protocol)}
    for category in CATEGORIES[1:]:
        names = person_names(answered.get(category), inferred)
        result[category] = persons(names, letter[category], authority, protocol, inferred)
    return result


def f1(tp, fp, fn):
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score(letters, authority, protocol="documented", inferred=(), skip=None):
    """Micro and macro F1 and the counts of each category, of (answer, letter) pairs.

    `skip` is the value of `has_signatures` of the letters that are left out.
    """
    totals = {category: [0, 0, 0] for category in CATEGORIES}
    for answer, letter in letters:
        if letter["has_signatures"] == skip:
            continue
        for category, counted in counts(answer, letter, authority, protocol, inferred).items():
            totals[category] = [a + b for a, b in zip(totals[category], counted, strict=True)]
    micro = f1(*(sum(column) for column in zip(*totals.values(), strict=True)))
    macro = sum(f1(*counted) for counted in totals.values()) / 3
    if protocol == "published":
        micro, macro = round(micro, 2), round(macro, 2)
    return micro, macro, totals
