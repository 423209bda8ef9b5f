"""Names that are like a given one, against a search that compares each of them."""

import random
import time
from itertools import product

import pytest
from rapidfuzz import fuzz

from hdbench.authorities.files import AuthorityLine
from hdbench.authorities.identifiers import AuthorityTable
from hdbench.authorities.search import AuthoritySearch, loosely_folded

SYLLABLES = ["ba", "mül", "ler", "frey", "von ", "sch", "ä", "witz, ", "Karl", "heim"]


def score(one, other):
    one, other = loosely_folded(one), loosely_folded(other)
    return max(fuzz.ratio(one, other), fuzz.token_sort_ratio(one, other))


def misread(chance, name):
    """A name with a letter that is wrong, missing or one too many."""
    place = chance.randrange(len(name))
    return name[:place] + chance.choice(["", "x", name[place] * 2]) + name[place + 1 :]


def test_the_best_match_is_that_of_a_full_comparison():
    chance = random.Random(1)
    names = sorted({"".join(chance.choices(SYLLABLES, k=4)).strip() for _ in range(2_000)})
    search = AuthoritySearch([AuthorityLine(name, str(n)) for n, name in enumerate(names)])
    for name in chance.sample(names, 200):
        wanted = misread(chance, name)
        best = max(score(wanted, each) for each in names)
        found = search.find(wanted, 5)
        assert found[0].score in {round(best, 1), 99.0 if best == 100 else None}
        assert found == sorted(found, key=lambda each: -each.score)


def test_short_names_and_other_scripts_are_found():
    names = ["Au", "É", "魯迅"]
    search = AuthoritySearch([AuthorityLine(name, name) for name in [*names, "Ur"]])
    found = [search.find(name, 1)[0].identifier for name in ("au", "e", "魯迅")]
    assert found == names


def test_a_name_of_two_has_no_identifier():
    lines = [AuthorityLine("Frey", "1"), AuthorityLine("FREY", "2"), AuthorityLine("Fréy", "3")]
    table = AuthorityTable([*lines, AuthorityLine("Frey, A.", "1"), AuthorityLine("Bern", "")])
    names = ["frey", "FRÉY", "Frey, a.", "Bern"]
    assert [table.identifier(name) for name in names] == [None, "3", "1", None]


@pytest.mark.nightly
def test_a_million_names_are_searched_while_one_waits():
    names = map("".join, product(SYLLABLES, repeat=6))
    lines = [AuthorityLine(f"{name} {number}", str(number)) for number, name in enumerate(names)]
    begun = time.process_time()
    search = AuthoritySearch(lines)
    assert time.process_time() - begun < 90
    chance = random.Random(1)
    begun = time.thread_time()
    for line in chance.sample(lines, 20):
        found = search.find(line.value.upper(), 5)
        assert found[0].identifier == line.identifier
        assert found[0].score == 100
    assert (time.thread_time() - begun) / 20 < 0.5
