"""The words of a page in a model's text: marks go, and letters stay."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.plain_text import plain_text

MARKED = {
    "heading": ("# Anzeigen\n\nEin Haus", "Anzeigen\n\nEin Haus"),
    "heading with a mark at its end": ("## Anzeigen ##", "Anzeigen"),
    "emphasis": ("Ein *neues* und **schönes** __Haus__", "Ein neues und schönes Haus"),
    "emphasis over lines": ("Ein *neues\nHaus* hier", "Ein neues\nHaus hier"),
    "link": ("siehe [Seite 3](https://example.org/3) unten", "siehe Seite 3 unten"),
    "image": ("![](images/0.jpg)\nText", "\nText"),
    "rule": ("a\n\n***\n\nb", "a\n\n\n\nb"),
    "page break": ("a\n\n---\n\nb", "a\n\n\f\n\nb"),
    "rule at the end": ("a\n\n---", "a\n\n"),
    "table": ("| Ort | Jahr |\n|---|---|\n| *Bern* | 1905 |", "Ort Jahr\nBern 1905"),
    "fence": ("```markdown\n# Titel\nText\n```", "Titel\nText"),
    "fence in the text": ("Titel\n\n```\n1 *a* 2\n```\n", "Titel\n\n1 *a* 2\n"),
    "quotation": ("> Ein *Haus*\n> im Dorf", "Ein Haus\nim Dorf"),
    "escape": (r"3 \* 4", "3 * 4"),
    "no character's number": (f"&#{'9' * 5000};", f"&#{'9' * 5000};"),
    "line ends of Windows": ("# A\r\n\r\nB *c*\r\n", "A\r\n\r\nB c\r\n"),
    "item with emphasis": ("1. Ein *Haus*\n2. Heu", "1. Ein Haus\n2. Heu"),
    "HTML": (
        "<p>Ein Haus<br/>im Dorf</p>\n<p>Heu &amp; Stroh</p>",
        "Ein Haus\nim Dorf\nHeu & Stroh",
    ),
    "HTML table": (
        '<table><tr><td colspan="2">a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
        "a b\nc d",
    ),
    "tags in a word": ("N<sup>o</sup> 3", "No 3"),
    "DocTags": (
        "<doctag><page_header><loc_1><loc_2>Blatt</page_header>\n<text><loc_3>Ein Haus</text>"
        "<otsl><fcel>a<fcel>b<nl><fcel>c<fcel>d<nl></otsl></doctag>",
        "Blatt\nEin Haus\na b\nc d",
    ),
    "page break's tag": ("a<page_break>b", "a\n\f\nb"),
    "places of DeepSeek": (
        "<|ref|>title<|/ref|><|det|>[[3, 4, 50, 60]]<|/det|>\nAnzeigen",
        "Anzeigen",
    ),
    "places of Unlimited-OCR": (
        "<|det|>image [38, 8, 49, 17]<|/det|>\n<|det|>text [33, 2, 5, 3]<|/det|>Ein Haus\nim Dorf",
        "Ein Haus\nim Dorf",
    ),
    "DocLang": (
        '<doclang><heading level="1"><location value="45"/>Blatt</heading><text>Ein Haus</text>'
        "</doclang>",
        "Blatt\nEin Haus",
    ),
    "front matter of olmOCR": (
        "---\nprimary_language: de\nis_rotation_valid: True\nrotation_correction: 0\n"
        "is_table: False\nis_diagram: False\n---\n\nEin Haus\n\n---\n\nim Dorf",
        "Ein Haus\n\n\f\n\nim Dorf",
    ),
    "words between marks": ("<|ref|>Ein Haus<|/ref|><|det|>[[3, 4]]<|/det|>", "Ein Haus"),
    "places of Qwen": ("Haus<|box_start|>(3,4),(50,60)<|box_end|>", "Haus"),
    "places of Nemotron": ("<x_0.1><y_0.2>Haus<x_0.3><y_0.4><class_Text>", "Haus"),
    "bbox": ("<bbox>[3, 4, 50, 60]</bbox>Haus", "Haus"),
    "thoughts": ("<think>Ist es ein *H*?</think>Haus", "Haus"),
    "another turn": ("Haus<|im_end|>\n<|im_start|>user\nDanke", "Haus"),
    "turn of Gemma": ("<bos><start_of_turn>model\nHaus<end_of_turn>", "Haus"),
    "Harmony": (
        "<|channel|>analysis<|message|>A page.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Haus<|return|>",
        "Haus",
    ),
}

KEPT = [
    "3 * 4 * 5 = 60",
    "* 12. Mai 1820, † 3. Juni 1871",
    "*) Siehe Seite 3.\nein Wort*)",
    "snake_case_name und __",
    "Name: ________ Ort: ________",
    "#kein Titel, sondern #12",
    "    eingerückt\n  1. Ein Thälchen\n\n     2. Zweites",
    "1. Ein Thälchen\n2. Zweites\n- und\n+ dazu",
    "wenn a < b und c > d, <unleserlich> und <a und c>",
    "[unleserlich] [?] [Müller](?) [1]: Anmerkung",
    "a | b\nc | d",
    "Summe\n=====\nSumme  \nmit Leerzeichen",
    "a\fb",
    "``Wort'' und `a'",
    "AT&T &c. § 3",
    "",
]


@pytest.mark.parametrize(("text", "words"), MARKED.values(), ids=MARKED)
def test_marks_go_and_words_stay(text, words):
    assert plain_text(text) == words


@pytest.mark.parametrize("text", KEPT)
def test_letters_of_a_page_stay(text):
    assert plain_text(text) == text


@given(st.text(st.sampled_from("aäſ1 .,;:()'\"/=?!%§†\n-–"), max_size=60))
def test_plain_text_is_unchanged(text):
    if not any(set(line.strip()) == {"-"} for line in text.split("\n")):
        assert plain_text(text) == text


def test_markdown_stays_on_request():
    text = "# Titel\n\n*Haus* [a](b.c)"
    assert plain_text(f"<think>x</think>{text}</s>", markdown=False) == text


@pytest.mark.parametrize(
    "sign",
    [
        "*",
        "_",
        "`",
        "[",
        "](",
        "<",
        ">",
        "|",
        "-",
        "#",
        " ",
        "<p ",
        "\n> ",
        "*a ",
        "[a](",
        "&amp;",
        "<|det|>[",
        "**a",
        "\n- ",
        "|-|\n",
    ],
)
def test_long_runs_take_no_longer_than_their_length(sign):
    start = time.process_time()
    plain_text(sign * (20_000 // len(sign)))
    assert time.process_time() - start < 1
