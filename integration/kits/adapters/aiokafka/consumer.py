"""aiokafka: consumes a topic in a group until SIGTERM. It has no cooperative protocol."""

from __future__ import annotations

import asyncio
import signal

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from rebalance_check.integration.kits.adapters.arguments import Shown, parsed


async def main() -> None:
    """Consume, commit each second, and leave the group at the end."""
    given, shown, stopping = parsed(["eager"]), Shown(), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    consumer = AIOKafkaConsumer(
        given.topic,
        bootstrap_servers=given.bootstrap,
        group_id=given.group,
        group_instance_id=given.instance,
        partition_assignment_strategy=[RangePartitionAssignor],
        session_timeout_ms=given.session_ms,
        heartbeat_interval_ms=given.heartbeat_ms,
        max_poll_interval_ms=given.rebalance_ms,
        rebalance_timeout_ms=given.rebalance_ms,
        auto_commit_interval_ms=1_000,
        auto_offset_reset="earliest",
    )
    await consumer.start()
    while not stopping.is_set():
        await consumer.getmany(timeout_ms=100)
        shown(consumer.assignment())
    await consumer.stop()


if __name__ == "__main__":
    asyncio.run(main())
