"""Titles of figures, for readers; files, commands and programs use the names."""

from pathlib import Path

from hdbench.common.texts import Texts

_TEXTS = Texts(Path(__file__).with_name("texts"))


def figure_title(name: str, language: str = "en") -> str:
    """Return what a figure is called in a text; its name if it is from another package's metric.

    Example:
        >>> figure_title("cer", "de"), figure_title("their_rate", "de")
        ('Zeichenfehlerrate', 'their_rate')
    """
    return _TEXTS.text(name, language) if name in _TEXTS.english else name


def figure_heading(name: str, language: str = "en") -> str:
    """Return a figure's title as a heading or the beginning of a sentence.

    Example:
        >>> figure_heading("cer"), figure_heading("their_rate")
        ('Character error rate', 'their_rate')
    """
    title = figure_title(name, language)
    return title[:1].upper() + title[1:] if name in _TEXTS.english else name
