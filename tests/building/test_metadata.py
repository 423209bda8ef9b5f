"""Lines of a dataset's metadata."""

import pytest
from helpers.run_folders import SPEC

from hdbench.benchmarks.spec import BenchmarkSpec
from hdbench.datasets.building.metadata import RecipeRow, metadata_line
from hdbench.errors import HdbenchError


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_script_ground_truth_with_a_non_json_number_is_refused(number):
    spec = BenchmarkSpec.model_validate(SPEC | {"media": "text"})
    row = RecipeRow("0001", (), {"year": number}, text="Wein")
    with pytest.raises(HdbenchError, match=r"^0001: "):
        metadata_line(row, [], spec, has_proposed=False)
