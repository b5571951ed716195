"""kafka-python: consumes a topic in a group until SIGTERM."""

from __future__ import annotations

import signal
import threading

from rebalance_check.integration.kits.adapters.arguments import Shown, parsed
from rebalance_check.integration.live.kafka_python_api import (
    CooperativeStickyAssignor,
    KafkaConsumer,
    RangePartitionAssignor,
)

ASSIGNORS = {"eager": RangePartitionAssignor, "cooperative": CooperativeStickyAssignor}


def main() -> None:
    """Consume, commit each second, and leave the group at the end."""
    given, shown, stopping = parsed(list(ASSIGNORS)), Shown(), threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stopping.set())
    consumer = KafkaConsumer(
        given.topic,
        bootstrap_servers=given.bootstrap,
        group_id=given.group,
        group_instance_id=given.instance,
        partition_assignment_strategy=[ASSIGNORS[given.assignor]],
        session_timeout_ms=given.session_ms,
        heartbeat_interval_ms=given.heartbeat_ms,
        max_poll_interval_ms=given.rebalance_ms,
        auto_commit_interval_ms=1_000,
        auto_offset_reset="earliest",
    )
    consumer.topics()  # a leader that learns of its topic during a join may stay in it for ever (TRACK_RECORD.md)
    while not stopping.is_set():
        consumer.poll(100)
        shown(consumer.assignment())
    consumer.close()


if __name__ == "__main__":
    main()
