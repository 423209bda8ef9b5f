"""Little lists for second looks."""

from hdbench.annotating.reviewing.review_list import (
    Entry,
    ReviewList,
    ReviewListHead,
    key_of,
    write_review_list,
)


def entry(item, field, truth, value, kind="finding"):
    key = key_of(item, field, truth)
    return Entry(
        key=key, id=item, field=field, truth=truth, value=value, kind=kind, agreeing=9, good=14
    )


def write_list(path, *entries):
    kinds = [each.kind for each in entries]
    head = ReviewListHead(
        benchmark="cards",
        dataset_version="1.0.0",
        dataset_sha256=None,
        metric="zettel_f1",
        protocol="documented",
        findings=kinds.count("finding"),
        controls=kinds.count("control"),
        agreeing_values=20,
        agreeing=0.1,
        seed=1,
    )
    write_review_list(path, ReviewList(head, entries))
    return path


def judge(looks, annotator, key, verdict, *, new=None, evidence="the card has it", blind=True):
    """A reading, and the verdict on it."""
    looks.add(annotator, key, "reading", value=new, blind=blind)
    said = {"new": new} if verdict == "slip" else {}
    looks.add(annotator, key, "verdict", verdict=verdict, evidence=evidence, **said)
