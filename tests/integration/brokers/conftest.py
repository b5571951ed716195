"""The broker that ``--broker`` names: started once for all tests, and an error, never a skip, when it cannot be had."""

from collections.abc import Iterator

import pytest

from rebalance_check.integration.brokers import Broker, open_broker
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

USAGE_ERROR = 2
STARTED_HERE = ("local", "testcontainers")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of starting and ending a broker concern only one that is started here; some, one that is a process."""
    spec = config.getoption("--broker")
    concerned = {"started_here": STARTED_HERE, "local_process": ("local",)}
    elsewhere = [
        item
        for item in items
        if any(item.get_closest_marker(marker) and spec not in specs for marker, specs in concerned.items())
    ]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]


@pytest.fixture(scope="session")
def spec(request: pytest.FixtureRequest) -> str:
    chosen: str | None = request.config.getoption("--broker")
    if chosen is None:
        pytest.exit("the tests marked broker need a broker: add --broker embedded|local|testcontainers|HOST:PORT", 2)
    return chosen


@pytest.fixture(scope="session")
def real(spec: str) -> Iterator[Broker]:
    try:
        opened = open_broker(spec)
        broker = opened.__enter__()
    except RebalanceCheckError as error:
        pytest.exit(str(error), USAGE_ERROR)
    try:
        yield broker
    finally:
        opened.__exit__(None, None, None)
