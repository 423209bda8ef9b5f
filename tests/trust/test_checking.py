"""Where people read the values of a plan and of a control sample."""

import shutil

import pytest
from helpers.single_values import ReadCatalogue

from hdbench.errors import HdbenchError
from hdbench.trust.applying import apply
from hdbench.trust.checking import values_to_read
from hdbench.trust.plan import read_plan


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """A plan for `hdb/cards`, which was applied in `out`; the same cards are in `cards`."""
    made = ReadCatalogue(tmp_path_factory.mktemp("catalogue"), learn=150, verify=300)
    shutil.copytree(made.path, made.folder / "cards")
    made.read_first()
    made.read_second()
    plan = read_plan(made.plan_file)
    apply(plan, made.benchmark, made.plan_file, made.folder / "out", control=20)
    return made


@pytest.mark.parametrize("only", ["plan.yaml", "out/control.yaml"])
def test_of_a_dataset_no_values_are_read_in_its_collection(catalogue, only):
    path = catalogue.folder / only
    assert values_to_read(path, catalogue.folder / "cards")  # nothing is built: all are collections
    built = catalogue.path / "SHA256SUMS"
    built.touch()
    try:
        with pytest.raises(HdbenchError) as refused:
            values_to_read(path, catalogue.folder / "cards")
        advice = f"hdbench annotate {catalogue.path} --only {path}"
        assert str(refused.value).endswith(f"would not be found by hdbench trust: {advice}")
        assert values_to_read(path, catalogue.path)
        copied = shutil.copytree(catalogue.path, catalogue.folder / path.stem / "cards")
        assert values_to_read(path, copied)  # as somebody gets it who reads elsewhere
    finally:
        built.unlink()
