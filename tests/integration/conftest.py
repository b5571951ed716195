"""Fixtures of the socket tests: an embedded broker, a raw group on it, and a consumer that is closed again."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the socket tests need the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.kafka_python_api import (
    CooperativeStickyAssignor,
    KafkaConsumer,
    RangePartitionAssignor,
)
from rebalance_check.integration.wire.raw_group import RawGroup

TOPIC = "t"
ASSIGNORS = {"eager": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker({TOPIC: 4}) as started:
        yield started


@pytest.fixture
def group(broker: EmbeddedBroker) -> Iterator[RawGroup]:
    with RawGroup(broker.bootstrap, "g") as opened:
        yield opened


@pytest.fixture
def consumer(broker: EmbeddedBroker) -> Iterator[Callable[..., Any]]:
    """Makes consumers of one group, by protocol; all are closed at the end."""
    with ExitStack() as stack:

        def make(protocol: str, **settings: Any) -> Any:
            made = KafkaConsumer(
                TOPIC,
                bootstrap_servers=broker.bootstrap,
                group_id="g",
                partition_assignment_strategy=[ASSIGNORS[protocol]],
                session_timeout_ms=6_000,
                heartbeat_interval_ms=50,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                metrics_enabled=False,
                **settings,
            )
            stack.callback(made.close)
            # A kafka-python leader that knows no partitions of a topic yet assigns none, and may not look again.
            made.topics()
            return made

        yield make
