"""A home with a collection."""

import pytest
from home.collections import make_collection
from starlette.testclient import TestClient

from hdbench.collections.home.app import build_app
from hdbench.collections.home.folder import key_of
from hdbench.collections.home.page import Home
from hdbench.collections.home.recent import Recent


@pytest.fixture
def recent(tmp_path):
    return Recent(tmp_path / "state")


@pytest.fixture
def home(recent):
    home = Home(recent)
    yield home
    home.close()


@pytest.fixture
def client(home):
    return TestClient(build_app(home), base_url="http://127.0.0.1" + home.root)


@pytest.fixture
def folder(tmp_path, recent):
    folder = make_collection(tmp_path)
    recent.add(folder)
    return folder


@pytest.fixture
def at(folder):
    return f"/{key_of(folder)}/"
