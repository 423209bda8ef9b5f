"""Cases for mutations: of the samples, and of recorded answers."""

import gzip
import json
from pathlib import Path

from answers.mutations import Case

from hdbench.answers.schema import AnswerSchema

SCRIPTS = Path(__file__).parents[2] / "dataset_scripts"
BENCHMARKS = ("avisblatt", "rheinschifffahrt", "sciencemetabench", "zettelkatalog")
RECORDED = {
    "avisblatt": "fraktur_adverts",
    "rheinschifffahrt": "business_letters",
    "zettelkatalog": "library_cards",
}


def prompt_of(benchmark):
    folder = SCRIPTS / benchmark
    path = folder / "sample/prompt.txt"
    return (path if path.exists() else folder / "prompt.txt").read_text()


def forms_of(benchmark, prompts):
    """The answers' form as reading has it, and the JSON Schema."""
    path = SCRIPTS / benchmark / "answer.schema.json"
    return AnswerSchema.load(path, prompts), json.loads(path.read_text())


def cases(records, prompt, schema):
    """A case of each record; the next one is the other item's."""
    return [
        Case(record, prompt, schema, records[(number + 1) % len(records)])
        for number, record in enumerate(records)
    ]


def sample_cases(benchmark):
    """The sample's answers in the form that its schema asks for."""
    prompt = prompt_of(benchmark)
    form, schema = forms_of(benchmark, [prompt])
    lines = (SCRIPTS / benchmark / "sample/predictions.jsonl").read_text().splitlines()
    given = [json.loads(line).get("prediction") for line in lines]
    return cases([record for record in given if form.keeps_to(record)], prompt, schema), form


def recorded_cases(shared, benchmark, wanted):
    """Recorded answers that are valid JSON, evenly over all runs, and with the published prompt."""
    name = RECORDED[benchmark]
    folder = shared / "upstream/humanities_data_benchmark/benchmarks" / name / "prompts"
    prompt = (folder / "prompt.txt").read_text()
    form, schema = forms_of(benchmark, [prompt])
    texts = set()
    with gzip.open(shared / f"recorded/{name}.jsonl.gz", "rt") as file:
        for line in file:
            texts |= {answer["text"] for answer in json.loads(line)["answers"]}
    records = []
    for text in sorted(texts - {None}):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict) and set(value) == form.names - {"metadata"}:
            records.append(value)
    return cases(records[:: max(1, len(records) // wanted)][:wanted], prompt, schema), form
