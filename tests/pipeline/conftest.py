"""Subjects that worker processes can import, and the one Spark session that all tests share."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions

SUBJECTS = Path(__file__).parent / "subjects"
sys.path.insert(0, str(SUBJECTS))


@pytest.fixture(scope="session")
def toy() -> Any:
    """The module `toy_subject`, importable by spawned processes, and pickled by value for Spark's workers."""
    return importlib.import_module("toy_subject")


@pytest.fixture
def options() -> SimulationOptions:
    return SimulationOptions()


@pytest.fixture(scope="session")
def spark(toy: Any) -> Iterator[Any]:
    from pyspark import cloudpickle  # noqa: PLC0415 - an extra

    from rebalance_check.pipeline.session import start  # noqa: PLC0415 - an extra

    by_value: Any = cloudpickle.register_pickle_by_value  # it has no types
    by_value(toy)
    session = start("local[2]")
    yield session
    session.stop()
