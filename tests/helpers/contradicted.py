"""Values that have to be read once more, as a reading contradicts what the runs say."""

from hdbench.collections.trust.learning import read_learned, second_reading
from hdbench.collections.trust.plan import read_plan
from hdbench.collections.truth.event_files import People


def contradicted(folder, plan_file):
    """The values of the second stage that lack a reading."""
    plan = read_plan(plan_file)
    readings = People(folder).readings(plan.hash())
    return second_reading(plan, read_learned(plan, plan_file)).to_read(readings)
