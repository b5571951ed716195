"""An application on aiokafka that is recorded: BOOTSTRAP GROUP TOPIC MEMBER HISTORY [WHAT IT DOES WRONG]."""

import asyncio
import contextlib
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from rebalance_check import recording

bootstrap, group, topic, member, history, fault = (*sys.argv[1:], "")[:6]


class Doubling(RangePartitionAssignor):  # type: ignore[misc] # the package ships no types
    """Gives every member all that is subscribed to."""

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        result = super().assign(cluster, members)
        return dict.fromkeys(result, max(result.values(), key=lambda each: len(each.partitions())))


async def consume() -> None:
    left = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=group, client_id=member, enable_auto_commit=False,
        partition_assignment_strategy=[Doubling if fault == "doubles" else RangePartitionAssignor],
        session_timeout_ms=1_000, heartbeat_interval_ms=100, max_poll_interval_ms=3_000, rebalance_timeout_ms=3_000,
        auto_offset_reset="earliest",
    )  # fmt: skip
    with recording(consumer, history, member=member) as consumer:
        await consumer.start()
        while not left.done():
            await consumer.getmany(timeout_ms=200, max_records=1)
            with contextlib.suppress(KafkaError):
                await consumer.commit()
        await consumer.stop()


asyncio.run(consume())
