"""librdkafka (the package confluent-kafka): consumes a topic in a group until SIGTERM."""

from __future__ import annotations

import signal
import threading

from confluent_kafka import Consumer

from rebalance_check.integration.kits.adapters.arguments import Shown, parsed

ASSIGNORS = {"eager": "range", "cooperative": "cooperative-sticky"}


def main() -> None:
    """Consume, commit each second, and leave the group at the end."""
    given, shown, stopping = parsed(list(ASSIGNORS)), Shown(), threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stopping.set())
    settings = {
        "bootstrap.servers": given.bootstrap,
        "group.id": given.group,
        "partition.assignment.strategy": ASSIGNORS[given.assignor],
        "session.timeout.ms": given.session_ms,
        "heartbeat.interval.ms": given.heartbeat_ms,
        "max.poll.interval.ms": given.rebalance_ms,
        "auto.commit.interval.ms": 1_000,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings | ({"group.instance.id": given.instance} if given.instance else {}))
    consumer.subscribe([given.topic])
    while not stopping.is_set():
        consumer.poll(0.1)
        shown((owned.topic, owned.partition) for owned in consumer.assignment())
    consumer.close()


if __name__ == "__main__":
    main()
