"""Values that have to be read once more, as a reading contradicts what the runs say."""

from hdbench.annotating.checking.checked_values import CheckedValues
from hdbench.trust.learned_files import read_learned
from hdbench.trust.learning import second_reading
from hdbench.trust.plan import read_plan


def contradicted(folder, plan_file):
    """The values of the second stage that lack a reading."""
    plan = read_plan(plan_file)
    readings = CheckedValues(folder).readings(plan.hash())
    return second_reading(plan, read_learned(plan, plan_file)).to_read(readings)
