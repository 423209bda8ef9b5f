"""What people did in a folder, written and read by the code that does so."""

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Reading


def add_events(folder, events):
    """Add events, person by person."""
    people, by_person = People(folder), {}
    for event in events:
        by_person.setdefault(event.by, []).append(event)
    for name, own in by_person.items():
        with people.writing(name):
            people.append(own)


def readings_in(folder):
    """All readings in a folder."""
    return list(People(folder).of_kind(Reading))
