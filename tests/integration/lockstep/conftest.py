"""The releases whose Connect classes run in lockstep with ours; ``-k 4.3.1`` chooses one of them."""

from collections.abc import Iterator

import pytest

pytest.importorskip("kafka", reason="the releases are found as those of virtual Kafka are, with the extra 'brokers'")

from rebalance_check.integration.comparison.workers.java_worker import JavaWorker
from rebalance_check.integration.virtual import Release, VirtualKafka, find_release


@pytest.fixture(scope="session", params=["4.3.1", "3.9.2"])
def release(request: pytest.FixtureRequest) -> Release:
    return find_release(f"virtual:{request.param}")


@pytest.fixture(scope="module")
def java_worker(release: Release) -> Iterator[JavaWorker]:
    """A process with Kafka's workers; a step ``reset`` begins a new one."""
    with JavaWorker(release) as started:
        yield started


@pytest.fixture(scope="module")
def kafka(release: Release) -> Iterator[VirtualKafka]:
    with VirtualKafka(release) as started:
        yield started
