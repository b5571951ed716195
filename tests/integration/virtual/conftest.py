"""Fixtures of virtual Kafka: one process for all tests of a coordinator; ``-k virtual:4.3.1`` chooses one of them."""

from collections.abc import Iterator

import pytest

pytest.importorskip("kafka", reason="virtual Kafka needs the extra 'brokers'")

from rebalance_check.integration.virtual import VirtualEnvironment, VirtualKafka, find_release

TOPICS = {"t": 2}
AT_ONCE = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="session", params=["virtual:4.3.1", "virtual:3.9.2", "virtual:3.9.2-scala"])
def kafka(request: pytest.FixtureRequest) -> Iterator[VirtualKafka]:
    with VirtualKafka(find_release(request.param)) as started:
        yield started


@pytest.fixture
def environment(kafka: VirtualKafka) -> Iterator[VirtualEnvironment]:
    """A new environment without initial rebalance delay."""
    taken = kafka.environment()
    taken.reset(1, TOPICS, AT_ONCE)
    yield taken
    kafka.give_back(taken)
