"""Lists of an audit's findings: a work list for a librarian, and a list for reviews."""

from collections.abc import Mapping
from random import Random
from typing import Literal

from hdbench.annotating.reviewing.review_list import Entry, ReviewList, ReviewListHead, key_of
from hdbench.output.audit.findings import Audit, Finding, agreeing_values
from hdbench.output.report.tables import TableRows, csv_bytes, text
from hdbench.results.result import Result

AGREEING = 0.1
"""Share of the values on which ground truth and models agree that is looked at too by default."""

_HEAD = ("id", "field", "truth", "proposed value", "agreement", "makers", "error class", "verdict")


def work_list(audit: Audit) -> bytes:
    """Return the findings as a CSV file, with an empty column `verdict` to fill in.

    As in `hdbench.output.report.tables`, no spreadsheet takes anything in it for a formula, and
    invisible characters are written as escapes.

    Args:
        audit: from `hdbench.output.audit.findings.audit`.
    """
    rows = (
        (
            finding.id,
            finding.field,
            text(finding.truth),
            text(finding.value),
            f"{finding.agreeing} of {finding.good}",
            ", ".join(finding.makers),
            finding.error_class,
            None,
        )
        for finding in audit.findings
    )
    return csv_bytes(TableRows(_HEAD, rows))


def review_list(
    audit: Audit, runs: Mapping[str, Result], *, agreeing: float, seed: int
) -> ReviewList:
    """Return the list of an audit's values to review, in random order.

    Args:
        audit: from `hdbench.output.audit.findings.audit`.
        runs: the results that were audited.
        agreeing: the share of the agreeing values to look at too, 0.0 to 1.0.
        seed: for the draw and the order.
    """
    # Separate generators: the draw depends on the seed alone, not on what else is drawn.
    agreed = agreeing_values(runs)
    controls = Random(f"controls {seed}").sample(agreed, round(agreeing * len(agreed)))  # noqa: S311  no secret
    by_key = {entry.key: entry for entry in [_entry(control, "control") for control in controls]}
    for finding in audit.findings:  # a place with both is a finding
        entry = _entry(finding, "finding")
        by_key[entry.key] = entry
    entries = sorted(by_key.values(), key=lambda entry: entry.key)
    Random(f"order {seed}").shuffle(entries)  # noqa: S311  no secret
    kinds = [entry.kind for entry in entries]
    head = ReviewListHead(
        benchmark=audit.benchmark,
        dataset_version=audit.dataset_version,
        dataset_sha256=audit.dataset_sha256,
        metric=audit.metric,
        protocol=audit.protocol,
        findings=kinds.count("finding"),
        controls=kinds.count("control"),
        agreeing_values=len(agreed),
        agreeing=agreeing,
        seed=seed,
    )
    return ReviewList(head, tuple(entries))


def _entry(finding: Finding, kind: Literal["finding", "control"]) -> Entry:
    return Entry(
        key=key_of(finding.id, finding.field, finding.truth),
        id=finding.id,
        field=finding.field,
        truth=finding.truth,
        value=finding.value,
        kind=kind,
        agreeing=finding.agreeing,
        good=finding.good,
    )
