"""What is read of the first stage after it was learned from."""

from helpers.single_values import ReadCatalogue

from hdbench.collections.trust.learning import read_learned
from hdbench.collections.trust.plan import read_plan


def test_a_late_reading_of_the_first_stage_changes_nothing(tmp_path):
    # Somebody's second reading was on its way while the first stage was being learned from.
    catalogue = ReadCatalogue(tmp_path, learn=100, verify=120)
    catalogue.read_first()
    catalogue.read_second()
    plan = read_plan(catalogue.plan_file)
    decided = catalogue.decide()
    learned = read_learned(plan, catalogue.plan_file)
    assert len(learned.reading_ids) == 110

    item, field = plan.sample[0]
    catalogue.cards.truths[item][field] = "something else"
    catalogue.read([plan.sample[0]], plan, "learn")

    again = catalogue.decide()
    assert again.model_copy(update={"decided": decided.decided}) == decided
