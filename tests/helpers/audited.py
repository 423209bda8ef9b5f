"""Runs of little cards for the tests of the audit, scored as any other."""

from hdbench.answers.answer import Answer
from hdbench.evaluation.run import RunInfo
from hdbench.evaluation.score import score_items
from hdbench.scoring.letters_f1 import LettersF1
from hdbench.scoring.record_f1 import RecordF1
from hdbench.scoring.zettel_f1 import ZettelF1

MAKERS = ("Antares", "Bellatrix", "Capella", "Deneb", "Electra", "Fomalhaut")


def run(metric, truths, answers, maker, model):
    candidates = [
        (Answer(answers.get(name), id=name), metric.prepare(truth))
        for name, truth in truths.items()
    ]
    result = score_items(metric, candidates, details=True)
    return result.replaced(
        run=RunInfo(
            **{"run": "", "benchmark": "", "model": ""}
            | {"run": f"{model} 1", "provider": maker, "model": model}
        ),
    )


def card_runs(truth, *answers):
    """A run of another maker for each answer to the card "1"; 19 other cards are all right."""
    others = {f"right-{number}": {"title": "Stellingen"} for number in range(19)}
    return {
        maker: run(ZettelF1(), {"1": truth} | others, {"1": answer} | others, maker, f"{maker}-1")
        for maker, answer in zip(MAKERS, answers, strict=False)
    }


def list_runs(truth, *answers):
    """A run of another maker for each list of entries on the page "1"; 19 pages are all right."""
    others = {f"right-{number}": {"entries": [{"name": "Abegg"}]} for number in range(19)}
    return {
        maker: run(
            RecordF1(),
            {"1": {"entries": truth}} | others,
            {"1": {"entries": answer}} | others,
            maker,
            f"{maker}-1",
        )
        for maker, answer in zip(MAKERS, answers, strict=False)
    }


def letter_runs(truth, *answers):
    others = {f"right-{number}": {"send_date": ["1930-01-01"]} for number in range(19)}
    right = {name: {"metadata": letter} for name, letter in others.items()}
    return {
        maker: run(
            LettersF1(),
            {"1": truth} | others,
            {"1": {"metadata": answer}} | right,
            maker,
            f"{maker}-1",
        )
        for maker, answer in zip(MAKERS, answers, strict=False)
    }
