"""Fixtures of virtual Kafka: one process for all tests of a coordinator; ``-k virtual:4.3.1`` chooses one of them."""

from collections.abc import Iterator

import pytest

pytest.importorskip("kafka", reason="virtual Kafka needs the extra 'brokers'")

from rebalance_check.integration.virtual import VirtualKafka, World, find_release

TOPICS = {"t": 2}
AT_ONCE = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="session", params=["virtual:4.3.1", "virtual:3.9.2", "virtual:3.9.2-scala"])
def kafka(request: pytest.FixtureRequest) -> Iterator[VirtualKafka]:
    with VirtualKafka(find_release(request.param)) as started:
        yield started


@pytest.fixture
def world(kafka: VirtualKafka) -> Iterator[World]:
    """A fresh world without initial rebalance delay."""
    taken = kafka.world()
    taken.reset(1, TOPICS, AT_ONCE)
    yield taken
    kafka.give_back(taken)
