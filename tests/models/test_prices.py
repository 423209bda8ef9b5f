"""What a run cost: from a given price, or from the replies, and never from what is not known."""

import json

import pytest
from models.faulty_server import FaultyServer, Response, completion
from models.scripted import Scripted

from hdbench.evaluation.run import read_run_info
from hdbench.models.backend import Question, Reply
from hdbench.models.run import Price, run_model

# 812 tokens in and 34 out, as the server counts: at $1 and $4 per million, $0.000948 a card.
CARD = 0.000948
ANSWER = json.dumps({"publication": {"year": 1898}})


@pytest.fixture
def run():
    """The command that asks such a server."""
    with FaultyServer(lambda _: Response(completion(ANSWER))) as server:
        yield ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url)


def test_a_given_price_is_said_wherever_the_run_is_shown(here, hdbench, run):
    done = hdbench(*run, "--price", "1000", "4000", "-o", "a")
    assert done.returncode == 0, done.stderr
    assert "price: 7.5840 USD" in done.stdout
    assert json.loads((here / "a/run.json").read_text())["cost_usd"] == pytest.approx(8000 * CARD)
    assert "0.95 US dollars" in hdbench("score", "hdb/zettelkatalog", "a").stdout
    assert "948.00" in hdbench("leaderboard", "a").stdout  # a thousand cards


@pytest.mark.parametrize("price", [("-1", "4"), ("1", "nan"), ("1", "inf")])
def test_what_is_no_price_is_refused_in_a_line(hdbench, run, price):
    done = hdbench(*run, "--price", *price, "-o", "a")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "must be US dollars per million tokens" in done.stderr


def test_what_a_reply_says_counts_before_the_given_price(tmp_path):
    tokens = {"input": 1000, "output": 100}
    replies = {
        "a": Reply("{}", tokens, usd=0.5),
        "b": Reply("{}", tokens),
        "c": Reply(None, error="refused"),
        "d": Reply("{}", {"output": 100}),
    }
    settings = {"benchmark": "hdb/cards", "model": "m"}
    for ids, usd in (("abc", 0.5014), ("abcd", None)):
        questions = [Question(item, []) for item in ids]
        outcome = run_model(
            Scripted(replies.get), questions, tmp_path / "run", settings, price=Price(1, 4)
        )
        assert outcome.usd == usd
        assert read_run_info(tmp_path / "run").cost_usd == usd
    costs = [json.loads(line).get("usd") for line in (tmp_path / "run/answers.jsonl").open()]
    assert costs == [0.5, 0.0014, None, None]
