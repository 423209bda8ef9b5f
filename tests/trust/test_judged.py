"""The value to take, from any JSON, beside what its definition gives."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hdbench.collections.trust.fields import ItemField, value_of
from hdbench.collections.trust.runs import Judged, Runs, choose
from hdbench.common.value_text import text_of
from hdbench.scoring import make_metric

FIELDS = [ItemField("a", (("a",),)), ItemField("b.c", (("b", "c"),))]
VALUES = st.sampled_from(
    [None, True, 0, 1, 1.0, "", " ", "null", "1", "Basel", "Bassel", "\ud800", ["Basel"], {"x": 1}]
)
RECORDS = st.one_of(
    st.none(),
    st.fixed_dictionaries({"a": VALUES, "b": st.fixed_dictionaries({"c": VALUES})}),
    st.fixed_dictionaries({"b": VALUES}),
)


def by_definition(records, field):
    values = [None if each is None else value_of(each, field) for each in records]
    texts = [
        None if record is None else text_of(value)
        for record, value in zip(records, values, strict=True)
    ]
    run, score = choose(texts)
    if run is None:
        return Judged(None, "", None, None)
    return Judged(values[run], texts[run], score, run)


@settings(max_examples=150, deadline=None)
@example([{"a": 1}, {"a": True}])
@example([{"a": ["Basel", 1]}, {"a": ["Basel", True]}])
@given(st.lists(RECORDS, min_size=2, max_size=4))
def test_the_short_way_for_equal_values_gives_the_same(records):
    runs = Runs([], make_metric("record_f1"), FIELDS)
    expected = [by_definition(records, field) for field in FIELDS]
    for one, other in zip(runs.judged(records), expected, strict=True):
        assert one == other
        assert type(one.value) is type(other.value)
