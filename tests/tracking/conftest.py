"""One real MLflow store for all tests here: making its tables takes seconds."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mlflow_project import Project

from skillopt_exp.tracking.store import connect, resolve

if TYPE_CHECKING:
    from mlflow import MlflowClient


@pytest.fixture(scope="session")
def store_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A name that a URL cannot take as it is.
    return tmp_path_factory.mktemp("a läunch folder #1")


@pytest.fixture(scope="session")
def store_client(store_base: Path) -> "MlflowClient":
    return connect(resolve(None, store_base))


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return count(1)


@pytest.fixture
def project(store_base: Path, store_client: "MlflowClient", numbers: Iterator[int]) -> Project:
    """The store, with a data set (and so an experiment) of the test's own."""
    return Project(store_base, store_client, f"demo{next(numbers)}")
