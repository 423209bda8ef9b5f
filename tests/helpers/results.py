"""Results of statistics that a test makes up."""

import json

from hdbench.evaluation.result import Result


def result_of(metric, ids, statistics, **more):
    """The result of items whose answers were read as they are."""
    given = {"metric": metric, "ids": ids, "statistics": statistics}
    return Result.model_construct(statuses=["clean"] * len(ids), **given, **more)


def in_detail(result):
    """Its figures with those of its fields, and what became of its items."""
    told = {"signature": result.signature, "notes": result.reading.notes}
    return result.figures | told | {"fields": result.field_rates(), "per_item": result.per_item}


def flat(record):
    """What a file has of a result, with its figures and its parts beside the rest."""
    protocol = {"protocol": record["metric"]["protocol"]}
    return record | protocol | record["dataset"] | record["reading"] | record["figures"]


def flat_of(path):
    """The same of a file."""
    return flat(json.loads(path.read_text()))
