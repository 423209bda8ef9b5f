"""What a person is told before somebody else's work is taken in."""

from collections import Counter
from datetime import date

from hdbench.annotating.changes import SETTLED
from hdbench.annotating.merging import Incoming
from hdbench.benchmarks.provenance import BLIND
from hdbench.errors import Message

MAX_NAMED = 20
"""Maximum number of assignments and people that are named."""


def news_of(incoming: Incoming) -> list[Message]:
    """Return a line for each kind of change that a hand-over would bring."""
    changes = [change for change in incoming.changes if not change.is_base]
    news = []
    if changes:
        days = sorted({date.fromisoformat(change.at[:10]) for change in changes})
        first, last = days[0], days[-1]
        news.append(
            Message(
                "new changes by {name}: {count:,}, items changed: {items:,}, {when}"
                if incoming.is_known
                else "changes by {name}, of whom nothing is here yet: {count:,}, items changed: "
                "{items:,}, {when}",
                count=len(changes),
                items=len({change.item for change in changes}),
                name=incoming.annotator,
                when=Message("{low} to {high}", low=first, high=last)
                if first != last
                else Message("{day}", day=first),
            )
        )
    statuses = Counter(change.to for change in changes if change.what == "status")
    hows = Counter(
        change.how for change in (*changes, *incoming.records) if change.what == "ground_truth"
    )
    if done := statuses["done"]:
        news.append(Message("items said to be done: {count:,}", count=done))
    if blind := hows[BLIND]:
        news.append(Message("values said to be made without a draft: {count:,}", count=blind))
    if settled := hows[SETTLED]:
        news.append(Message("values said to settle what differs: {count:,}", count=settled))
    if incoming.records:
        news.append(
            Message(
                "records from before anybody annotated, according to {name}, that are others here: "
                "{count:,}",
                name=incoming.annotator,
                count=len(incoming.records),
            )
        )
    for assignment in incoming.assignments[:MAX_NAMED]:
        names = ", ".join(assignment.annotators)
        count = len(assignment.items)
        news.append(Message("items assigned to {names}: {count:,}", names=names, count=count))
    if further := incoming.assignments[MAX_NAMED:]:
        count = sum(len(assignment.items) for assignment in further)
        news.append(Message("items assigned to others: {count:,}", count=count))
    if incoming.strangers:
        news.append(
            Message(
                "assigned, but not known here so far: {count:,}, such as {names}",
                count=len(incoming.strangers),
                names=", ".join(incoming.strangers[:MAX_NAMED]),
            )
        )
    if incoming.blind:
        news.append(
            Message("items no longer to be annotated from a draft: {count:,}", count=incoming.blind)
        )
    return news
