"""An application on kafka-python that is recorded: BOOTSTRAP GROUP TOPIC MEMBER HISTORY [WHAT IT DOES WRONG]."""

import contextlib
import sys
import threading
from typing import Any

from rebalance_check import recording
from rebalance_check.integration.live.kafka_python_api import (
    CooperativeStickyAssignor,
    KafkaConsumer,
    OffsetAndMetadata,
    RangePartitionAssignor,
    errors,
)

bootstrap, group, topic, member, history, fault = (*sys.argv[1:], "")[:6]


class Doubling(RangePartitionAssignor):
    """Gives every member all that is subscribed to."""

    def assign(self, cluster: Any, members: Any) -> Any:
        result = super().assign(cluster, members)
        for one in result:
            result[one] = max(result.values(), key=lambda each: len(each.partitions()))
        return result


asked_to_stay = threading.Thread(target=sys.stdin.read, daemon=True)
asked_to_stay.start()
assignor = {"doubles": Doubling, "cooperative": CooperativeStickyAssignor}.get(fault, RangePartitionAssignor)
consumer = KafkaConsumer(
    bootstrap_servers=bootstrap, group_id=group, client_id=member, partition_assignment_strategy=[assignor],
    session_timeout_ms=1_000, heartbeat_interval_ms=100, max_poll_interval_ms=3_000, auto_offset_reset="earliest",
    enable_auto_commit=False, max_poll_records=1,
)  # fmt: skip
consumer.topics()
read: dict[Any, Any] = {}
with recording(consumer, history, member=member) as consumer:
    consumer.subscribe([topic])
    while asked_to_stay.is_alive():
        with contextlib.suppress(errors.KafkaError):
            for tp, records in consumer.poll(timeout_ms=500).items():
                read[tp] = OffsetAndMetadata(records[-1].offset + 1, "", -1)
            if fault != "commits-lost":
                read = {tp: at for tp, at in read.items() if tp in consumer.assignment()}
            if read:
                consumer.commit(read)
    consumer.close()
