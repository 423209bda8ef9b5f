"""A card's placeholders: what is filled in, what stays, and what is refused."""

import random
import tracemalloc
from pathlib import Path

import pytest

from hdbench.benchmarks.markdown import PlaceholderError, as_code, as_prose, as_text, fill
from hdbench.common.bounds import MAX_FILLED
from hdbench.errors import HdbenchError

CARD = Path("README.md")
VALUES = {"rows": "3", "picture": "", "example": "{{ rows }} {% if picture %} {{{{ rows }}}}"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ rows }} cards, {{rows}}, {{  rows  }}", "3 cards, 3, 3"),
        ("{{ example }}|{{ rows }}", VALUES["example"] + "|3"),  # a value is never looked into
        ("{{The Title}}, {{RISE}}, {#id}, {%x%}", "{{The Title}}, {{RISE}}, {#id}, {%x%}"),
        ("{{{rows}}}", "{3}"),
        ("a{% if rows %} b{% endif %}\nc", "a b\nc"),
        ("a\n{% if picture %}\nb\n{% else %}\nc\n{% endif %}\nd\n", "a\nc\nd\n"),
        ("{% if not picture %}{% if rows %}a{% else %}b{% endif %}{% endif %}", "a"),
        ("{% if picture %}{% if rows %}a{% else %}b{% endif %}{{ rows }}{% endif %}", ""),
    ],
)
def test_what_is_filled_in(text, filled):
    assert fill(text, VALUES, CARD) == filled


@pytest.mark.parametrize(
    "text",
    [
        "{{ row }}",
        "{{ rows.__class__ }}",
        "{{ rows * 10**9 }}",
        "{{ rows | upper }}",
        "{{ ''.join(range(9)) }}",
        '{{ spec.parse_raw("x", proto="pickle", allow_pickle=true) }}',
        "{{ " + "(" * 5_000,
        "{{- rows }}",
        "{% for x in range(10**9) %}{% endfor %}",
        "{%- if rows %}{% endif %}",
        '{% include "benchmark.yaml" %}',
        "{% macro a() %}{{ a() }}{% endmacro %}",
        "{% if rows and picture %}{% endif %}",
        "{% endif %}",
        "{% else %}",
        "{# a remark that is not for the public #}",
        "{{\nrows }}",
    ],
)
def test_what_is_not_a_placeholder_is_refused_with_its_line(text):
    with pytest.raises(
        PlaceholderError, match=r"README\.md:12: .* choose one of rows, "
    ) as refused:
        fill(f"a\nb {text}\n", VALUES, CARD, first=11)
    assert "\n" not in str(refused.value)


def test_a_card_cannot_grow_without_bound():
    values = {"example": "x" * 2**20}
    tracemalloc.start()
    with pytest.raises(HdbenchError, match="longer than 64 MiB when it is filled in"):
        fill("{{ example }}" * 300_000, values, CARD)
    assert tracemalloc.get_traced_memory()[1] < MAX_FILLED
    tracemalloc.stop()


HOSTILE = [
    "{{{ {1:X }}}",
    "{{ rows }}",
    "{{{{ rows }}}}",
    "{{%{% if rows %}%}}",
    "{# a #}{{#}}",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a`b``c|d\n\n# e\n| f",
    "\x1b[2J\x1b]8;;https://example.org\x07\x9b1m\u202e\u2028",
    "[a](javascript:x) ![b](https://example.org/pixel.png)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_user_text_is_escaped_and_never_a_placeholder(text):
    for shown in (as_text(text), as_code(text), as_code(text, in_table=True), as_prose(text)):
        assert fill(shown, VALUES, CARD) == shown
        assert shown.isprintable()
    for shown in (as_text(text), as_prose(text)):
        assert "<" not in shown.replace("&lt;", "")
    assert as_code(text).count("`") == 2
    assert "](" not in as_text(text).replace("\\](", "")
    assert "|" not in as_code(text, in_table=True).replace("\\|", "")


def test_random_signs_never_become_a_placeholder():
    signs = random.Random(1)
    for _ in range(20_000):
        text = "".join(signs.choices("{}%# \n|`\\rows", k=signs.randrange(2, 14)))
        for shown in (as_text(text), as_code(text, in_table=True)):
            assert fill(shown, VALUES, CARD) == shown
