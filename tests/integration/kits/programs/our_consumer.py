"""A consumer of ours as a program: BOOTSTRAP GROUP TOPIC PROTOCOL [INSTANCE]; consumes until SIGTERM.

It reads no records: each partition counts as read one record further with every poll. With ``CRASH`` in its environment
it ends by itself as soon as it owns a partition.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.runtime.recorder import SharedRecorder
from rebalance_check.integration.driver.sockets import Member
from rebalance_check.integration.machine_clock import now_ms

SESSION_MS = 15_000
ASSIGNORS: dict[str, Callable[[], Assignor]] = {"eager": RangeAssignor, "cooperative": CooperativeStickyAssignor}


def read_on(consumer: ConsumerCoordinator) -> None:
    """Count each partition that may be read as read one record further."""
    positions = consumer.positions()
    for partition in consumer.fetchable():
        consumer.consumed(partition, positions.get(partition, 0) + 1)


def main(bootstrap: str, group: str, topic: str, protocol: str, instance: str = "") -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    config = ClientConfig(
        group_id=group, client_id="ours", group_instance_id=instance or None, session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=100, rebalance_timeout_ms=5_000,
    )  # fmt: skip
    consumer = ConsumerCoordinator(
        config, SharedRecorder(group, "ours", now_ms, None), member="ours", topics=[topic],
        assignors=[ASSIGNORS[protocol]()], partitions_per_topic={}, auto_commit_ms=200,
    )  # fmt: skip
    with Member(consumer, bootstrap) as member:
        while not stopping.is_set():
            member.poll(0.1)
            member.call(read_on)
            if consumer.owned and os.environ.get("CRASH"):
                print("out of cheese", flush=True)
                os._exit(1)
        member.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
