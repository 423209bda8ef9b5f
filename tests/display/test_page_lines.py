"""Pages beside what a program read, line by line."""

import random

from hypothesis import given
from hypothesis import strategies as st

from hdbench.common.display.differences import page_lines


def marked(pieces):
    """Pieces as a text: [wrong], {moved}."""
    signs = {"same": "{}", "wrong": "[{}]", "moved": "{{{}}}"}
    return "".join(signs[piece.kind].format(piece.text) for piece in pieces).removesuffix("\n")


def lines(reference, prediction):
    found = page_lines(reference, prediction)
    return [(marked(line.reference), marked(line.prediction)) for line in found]


def test_letters_that_differ_are_marked_in_both_and_equal_lines_are_known():
    truth = "Haſe im Kern\nvnd das Gelt\nAmen"
    assert lines(truth, "Hafe im Kern\nvnd das Gelt\nAmeu") == [
        ("Ha[ſ]e im Kern", "Ha[f]e im Kern"),
        ("vnd das Gelt", "vnd das Gelt"),
        ("Ame[n]", "Ame[u]"),
    ]
    assert [line.is_same for line in page_lines(truth, truth)] == [True] * 3


def test_a_line_end_that_one_lacks_is_marked_where_it_is():
    assert lines("Item die\nZahl", "Item die Zahl") == [
        ("Item die[\n]", "Item die[ ]"),
        ("Zahl", "Zahl"),
    ]


def test_two_columns_in_the_other_order_are_moved_and_not_wrong():
    left, right = "Eins zwey drey\nvier fünf", "Sechs ſieben\nacht neun zehen"
    assert lines(f"{left}\n{right}", f"{right}\n{left}") == [
        ("{Eins} {zwey} {drey}", "{Sechs} {ſieben}"),
        ("{vier} {fünf}", "{acht} {neun} {zehen}"),
        ("{Sechs} {ſieben}", "{Eins} {zwey} {drey}"),
        ("{acht} {neun} {zehen}", "{vier} {fünf}"),
    ]


def test_one_word_elsewhere_is_moved_and_another_page_is_wrong():
    truth = "der rothe Wein ist gut und theuer heuer\nwohlfeil"
    answer = "der Wein ist gut und theuer heuer rothe\nwohlfeil"
    [(first, read), _] = lines(truth, answer)
    assert first == "der {rothe} Wein ist gut und theuer heuer".replace("{rothe} ", "{rothe}[ ]")
    assert read.endswith("{rothe}")
    assert lines("Ein Stock\nHeu", "xx yyy\nzzzz") == [
        ("[Ein] [Stock]", "[xx] [yyy]"),
        ("[Heu]", "[zzzz]"),
    ]


words = st.lists(st.sampled_from(["a", "ab", "Heu", "ſo", "u\u0308b", "—"]), max_size=12)


@given(words, st.randoms(use_true_random=False), st.integers(0, 3))
def test_pieces_joined_are_the_texts(given_words, rng, edits):
    truth = "".join(word + rng.choice([" ", "\n", ""]) for word in given_words)
    other = [*given_words]
    rng.shuffle(other)
    answer = "".join(word + rng.choice([" ", "\n"]) for word in other)
    for _ in range(edits):
        at = rng.randrange(len(answer) + 1)
        answer = answer[:at] + random.Random(at).choice("xy\n") + answer[at + 1 :]
    found = page_lines(truth, answer)
    for text, side in ((truth, "reference"), (answer, "prediction")):
        joined = "".join(piece.text for line in found for piece in getattr(line, side))
        assert joined == text
