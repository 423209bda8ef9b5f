import pytest
from trust.sheet.work_sheets import Desk, made_collection


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return made_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture
def desk(collection, tmp_path):
    made = Desk(collection, tmp_path)
    made.write()
    return made
