"""The Tesseract baseline on a real page. One of three is read: all would take half a minute."""

import json

import pytest

from hdbench.running.backend import Asked, Question
from hdbench.running.tesseract_backend import TesseractBackend
from hdbench.scoring.avisblatt_cer import AvisblattCer

pytestmark = pytest.mark.nightly


@pytest.mark.needs("tesseract")
@pytest.mark.parametrize("page", ["image_5"])  # the one with four headings and two continuations
def test_advertisements_of_a_real_page_have_cer_below_a_quarter(shared, page):
    source = shared / "upstream/humanities_data_benchmark/benchmarks/fraktur_adverts"
    truth = json.loads((source / f"ground_truths/{page}.json").read_text("utf-8"))
    ads = truth if isinstance(truth, list) else [ad for group in truth.values() for ad in group]
    backend = TesseractBackend(Asked("tesseract"), "", {"properties": {"advertisements": {}}})
    [(_, reply)] = backend.answer([Question(page, [source / f"images/{page}.jpg"])])
    metric = AvisblattCer()
    score = metric.score(json.loads(reply.text), metric.prepare({"advertisements": ads}))
    assert score.statistics["scored_ads"] == len(ads)
    assert score.statistics["cer_sum"] / len(ads) < 0.25
    assert score.statistics["fuzzy_sum"] / len(ads) > 0.75
