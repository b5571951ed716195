"""kafka-python's consumer as a program: BOOTSTRAP GROUP TOPIC; consumes until SIGTERM."""

from __future__ import annotations

import signal
import sys
import threading

from rebalance_check.integration.live.kafka_python_api import CooperativeStickyAssignor, KafkaConsumer


def main(bootstrap: str, group: str, topic: str) -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        partition_assignment_strategy=[CooperativeStickyAssignor],
        session_timeout_ms=15_000,
        heartbeat_interval_ms=100,
        max_poll_interval_ms=5_000,
        auto_commit_interval_ms=200,
    )
    consumer.topics()  # without it, a leader that learns of its topic late may stay in its join for ever
    while not stopping.is_set():
        consumer.poll(500)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
