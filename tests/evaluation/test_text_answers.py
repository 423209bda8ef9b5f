"""A text is an answer where a benchmark asks for one text, whatever it comes as."""

import json
import unicodedata

import evaluate
import pandas as pd
import pytest

import hdbench.api as hd

PAGES = {
    "p1": {"folios": [{"folio": "1r", "text": "Item die *Zähle*\nvnd das Gelt"}]},
    "p2": {"folios": [{"folio": "1v", "text": "Anno\n1450"}, {"folio": "2r", "text": "Amen."}]},
}
OPTIONS = {
    "metric": "text_cer",
    "texts": {"folios[].folio": "present", "folios[].text": "always"},
}
TEXTS = {item: "\f".join(folio["text"] for folio in page["folios"]) for item, page in PAGES.items()}


def scored(answers, truths=PAGES):
    return hd.score(truths, answers, **OPTIONS)


def assert_perfect(answers):
    result = scored(answers)
    assert (result.rates["cer"], result.rates["wer"], result.answered) == (0.0, 0.0, 2)
    return result


def alto(text):
    lines = "".join(
        "<TextLine>"
        + "".join(f'<String CONTENT="{word}"/>' for word in line.split())
        + "</TextLine>"
        for line in text.split("\n")
    )
    space = "http://www.loc.gov/standards/alto/ns-v4#"
    pages = f"<Page><PrintSpace><TextBlock>{lines}</TextBlock></PrintSpace></Page>"
    return f'<alto xmlns="{space}"><Layout>{pages}</Layout></alto>'


def test_texts_in_files_of_their_own(tmp_path):
    for item, text in TEXTS.items():
        (tmp_path / f"{item}.txt").write_text(f"{text}\n")
    result = assert_perfect(tmp_path)
    assert any("2 answers are texts" in note for note in result.reading.notes)


def test_markdown_loses_its_marks(tmp_path):
    (tmp_path / "p1.md").write_text("# Item die\n\n**vnd** das _Gelt_\n")
    (tmp_path / "p2.md").write_text("Anno\n\n---\n\n> Amen.\n")
    truths = {
        "p1": {"folios": [{"text": "Item die\n\nvnd das Gelt\n"}]},
        "p2": {"folios": [{"text": "Anno\n"}, {"text": "Amen."}]},
    }
    result = scored(tmp_path, truths)
    assert (result.rates["wer"], result.answered) == (0.0, 2)
    kept = hd.score(truths, tmp_path, markdown="keep", **OPTIONS)
    # "#", ">" are words more, "**vnd**" and "_Gelt_" are others, and "---" still divides the pages.
    assert (kept.statistics["wer_errors"], 'markdown:"keep"' in kept.signature) == ([3, 1], True)


def test_page_files_are_read_as_ground_truths_are(tmp_path):
    truth = {"p1": PAGES["p1"], "p3": {"folios": [{"text": "Eins zwei\ndrei"}]}}
    (tmp_path / "p1.xml").write_text(alto(PAGES["p1"]["folios"][0]["text"]))
    (tmp_path / "p3.hocr").write_text(
        "<html><body><div class='ocr_page'><span class='ocr_line'>Eins zwei</span>"
        "<span class='ocr_line'>drei</span></div></body></html>"
    )
    result = scored(tmp_path, truth)
    assert (result.rates["cer"], result.answered) == (0.0, 2)


@pytest.mark.parametrize(
    "key", ["text", "transcription", "ocr_text", "response", "output", "answer"]
)
def test_texts_under_the_keys_that_programs_have(tmp_path, key):
    lines = [json.dumps({"id": item, key: text}) for item, text in TEXTS.items()]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    assert_perfect(tmp_path / "answers.jsonl")


def test_texts_in_memory():
    assert_perfect(TEXTS)
    assert_perfect(pd.DataFrame({"id": list(TEXTS), "text": list(TEXTS.values())}))
    assert_perfect(pd.Series(TEXTS))
    assert_perfect(pd.DataFrame({"text": TEXTS.values()}, index=list(TEXTS)))
    assert_perfect(
        pd.DataFrame({"Datei": [f"{item}.jpg" for item in TEXTS], "text": TEXTS.values()})
    )
    metric = evaluate.load("metrics/text_cer")
    texts = ["Item die Zahl", "vnd das Gelt"]
    assert metric.compute(predictions=texts, references=texts)["cer"] == 0.0
    for nothing in (None, float("nan")):
        found = metric.compute(predictions=["Item di Zahl", nothing], references=texts)
        assert found["cer"] == (1 + len(texts[1])) / len("".join(texts))


@pytest.mark.parametrize("key", ["text", "prediction"])
def test_a_text_that_is_json_by_itself_is_a_text(tmp_path, key):
    texts = {"1": "1450", "2": "2.50", "3": "[7]", "4": "true"}
    frame = pd.DataFrame({"id": list(texts), key: texts.values()})
    frame.to_parquet(tmp_path / "answers.parquet")
    truths = {item: {"text": text} for item, text in texts.items()}
    for answers in (frame, tmp_path / "answers.parquet"):
        result = hd.score(truths, answers, metric="text_cer")
        assert (result.value, result.answered) == (0, 4)
    metric = evaluate.load("metrics/text_cer")
    alike = [*texts.values()]
    assert metric.compute(predictions=alike, references=alike)["cer"] == 0


def test_a_record_in_a_text_is_a_record():
    records = {item: f"Here it is:\n{json.dumps(page)}" for item, page in PAGES.items()}
    result = assert_perfect(records)
    assert not any("texts" in note for note in result.reading.notes)
    assert result.rates["texts"] == 6  # the folios' numbers are asked of it, too


def test_another_unicode_form_is_the_same_text():
    assert_perfect({item: unicodedata.normalize("NFD", text) for item, text in TEXTS.items()})


def test_without_a_page_break_all_of_a_text_is_the_first_page():
    result = scored({item: text.replace("\f", "\n") for item, text in TEXTS.items()})
    assert any("1 text has no page break" in note for note in result.reading.notes)
    # "\nAmen." is too much on the first page, and "Amen." is missing on the second.
    assert result.rates["cer"] == pytest.approx((6 + 5) / (29 + 9 + 5))


def test_an_answer_that_is_only_an_error_is_no_text():
    result = scored({"p1": '{"error": "no image"}', "p2": TEXTS["p2"]})
    assert result.answered == 1


def test_why_there_is_no_answer_is_said_once(tmp_path):
    lines = [
        {"id": "p1", "reasoning_content": "The page says Item."},
        {"id": "p2", "error": "time-out\x1b[0m"},
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = scored(tmp_path / "answers.jsonl")
    assert result.answered == 0
    reasons = [note for note in result.reading.notes if note.startswith("why there is no answer")]
    assert reasons == ["why there is no answer: reasoning only (1), time-out\\x1b[0m (1)"]
