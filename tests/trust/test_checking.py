"""Where people read the values of a plan and of a control sample."""

import shutil

import pytest
from helpers.single_values import ReadCatalogue

from hdbench.collections.trust.acceptance import apply
from hdbench.collections.trust.blind_reading import values_to_read
from hdbench.collections.trust.plan import read_plan
from hdbench.errors import HdbenchError


@pytest.mark.parametrize("only", ["plan.yaml", "out/control.yaml"])
def test_of_a_dataset_no_values_are_read_in_its_collection(tmp_path, only):
    catalogue = ReadCatalogue(tmp_path, learn=150, verify=300)
    shutil.copytree(catalogue.path, tmp_path / "cards")
    if only != "plan.yaml":
        catalogue.read_first()
        catalogue.read_second()
        plan = read_plan(catalogue.plan_file)
        apply(plan, catalogue.benchmark, catalogue.plan_file, tmp_path / "out", control=20)
    path = catalogue.folder / only
    assert values_to_read(path, catalogue.folder / "cards")  # nothing is built: all are collections
    built = catalogue.path / "SHA256SUMS"
    built.touch()
    with pytest.raises(HdbenchError) as refused:
        values_to_read(path, catalogue.folder / "cards")
    advice = f"hdbench annotate {catalogue.path} --only {path}"
    assert str(refused.value).endswith(f"would not be found by hdbench trust: {advice}")
    assert values_to_read(path, catalogue.path)
    copied = shutil.copytree(catalogue.path, catalogue.folder / path.stem / "cards")
    assert values_to_read(path, copied)  # as somebody gets it who reads elsewhere
