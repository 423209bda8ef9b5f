"""English words that are left in something that is to be German."""

import re

from helpers.translations import german

COMMON = frozenset(
    """
    the of and to is are with for this that not from by on which you your it as be at have has no
    can here more than been being will would should their there they them these those what when
    where who why how if only other another each every any some such into out up down over under
    again before after then does did done or but error errors please try
    choose upload uploaded download scored answer item field reports
    truth reference models run rank ranks figure figures values settings language
    search page new next back yes
    """.split()  # noqa: SIM905  a list would have a line for each
)
"""English words that a page would have if a text of ours were left in English."""

WORD = re.compile(r"[A-Za-zÄÖÜäöüß]+(?:[-_.][A-Za-zÄÖÜäöüß0-9]+)*")


def words(texts):
    return {word.lower() for text in texts for word in WORD.findall(re.sub(r"\{.*?\}", "", text))}


def english(names):
    """The words of our own English texts that are in none of our German ones, and `COMMON`.

    Args:
        names: what is neither English nor German, such as the names of figures.
    """
    own = {"en": words(german()), "de": words(german().values())}
    return ((own["en"] - own["de"]) | COMMON) - words(names)
