"""Price lists: what is read, and what is refused in one line."""

import datetime

import pytest

from hdbench.errors import HdbenchError
from hdbench.trust.forecasting import price_list
from hdbench.trust.forecasting.price_list import read_prices

GOOD = """
gpt-4.1: {input: 2, output: 8.0, date: 2026-11-01, source: https://example.org/prices}
"Qwen/Qwen3-VL": {per_hour: 1.8, date: "2026-11-02", source: " invoice 17 "}
"""


def read(tmp_path, text):
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    return read_prices(path)


def test_prices_have_their_date_and_source(tmp_path):
    found = read(tmp_path, GOOD)
    assert list(found) == ["gpt-4.1", "Qwen/Qwen3-VL"]
    assert found["gpt-4.1"].date == datetime.date(2026, 11, 1)
    assert found["Qwen/Qwen3-VL"].source == "invoice 17"
    # 1,340 and 143 tokens, and 2 s of hardware.
    assert found["gpt-4.1"].usd((1340, 143), 2) == pytest.approx(0.00268 + 0.001144)
    assert found["Qwen/Qwen3-VL"].usd((1340, 143), 2) == pytest.approx(0.001)


@pytest.mark.parametrize("tokens", [(None, 5), (5, None), (None, None)])
def test_without_tokens_there_is_no_price(tmp_path, tokens):
    found = read(tmp_path, GOOD)
    assert found["gpt-4.1"].usd(tokens, 2) is None
    assert found["Qwen/Qwen3-VL"].usd((5, 5), None) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m: {input: 1, output: 2, source: x}", "m.date: Field required"),
        ("m: {input: 1, output: 2, date: 2026-11-01}", "m.source: Field required"),
        ("m: {input: 1, output: 2, date: 2026-11-01, source: ' '}", "m.source: "),
        ("m: {input: 1, output: 2, date: soon, source: x}", "m.date: "),
        ("m: {input: 1, output: 2, date: 86400, source: x}", "m.date: "),
        ("m: {input: 1, date: 2026-11-01, source: x}", "m: needs either input and output"),
        ("m: {date: 2026-11-01, source: x}", "m: needs either input and output"),
        ("m: {input: 1, output: 2, per_hour: 3, date: 2026-11-01, source: x}", "m: needs either"),
        ("m: {input: -1, output: 2, date: 2026-11-01, source: x}", "m.input: "),
        ("m: {input: .nan, output: 2, date: 2026-11-01, source: x}", "not YAML: line 1: .nan is"),
        ("m: {input: .inf, output: 2, date: 2026-11-01, source: x}", "not YAML: line 1: .inf is"),
        ("m: {input: true, output: 2, date: 2026-11-01, source: x}", "m.input: "),
        ("m: {input: '1', output: 2, date: 2026-11-01, source: x}", "m.input: "),
        ("m: {per_hour: 1e400, date: 2026-11-01, source: x}", "m.per_hour: "),
        ("m: {input: 1, output: 2, date: 2026-11-01, source: x, cached: 1}", "m.cached: Extra"),
        ("m: 5", "m: "),
        ("- m", "the file: "),
        ("", "the file: "),
        ("m: [", "not YAML: "),
        ("a: &a [1]\nb: &b [*a, *b]", "not YAML: "),
        ("m: !!python/object/apply:os.system [id]", "not YAML: "),
    ],
)
def test_what_is_no_price_is_refused_in_one_line(tmp_path, text, said):
    with pytest.raises(HdbenchError) as raised:
        read(tmp_path, text)
    assert f"prices.yaml: {said}" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_missing_or_too_large_is_refused(tmp_path, monkeypatch):
    with pytest.raises(HdbenchError, match="cannot be read"):
        read_prices(tmp_path / "none.yaml")
    monkeypatch.setattr(price_list, "MAX_FILE", 100)
    with pytest.raises(HdbenchError, match="not a price list"):
        read(tmp_path, GOOD)
