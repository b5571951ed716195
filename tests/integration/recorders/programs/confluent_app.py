"""An application on confluent-kafka that is recorded: BOOTSTRAP GROUP TOPIC MEMBER HISTORY [WHAT IT DOES WRONG]."""

import contextlib
import sys
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from rebalance_check import recording

bootstrap, group, topic, member, history, fault = (*sys.argv[1:], "")[:6]
asked_to_stay = threading.Thread(target=sys.stdin.read, daemon=True)
asked_to_stay.start()
config: dict[str, Any] = {
    "bootstrap.servers": bootstrap, "group.id": group, "client.id": member, "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "cooperative-sticky" if fault == "cooperative" else "range",
    "session.timeout.ms": 1_000, "heartbeat.interval.ms": 100, "max.poll.interval.ms": 3_000,
    "enable.auto.commit": False, "broker.address.family": "v4",
}  # fmt: skip
read: dict[int, int] = {}
with recording(Consumer(config), history, member=member, config=config) as consumer:
    consumer.subscribe([topic])
    while asked_to_stay.is_alive():
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            read[message.partition() or 0] = (message.offset() or 0) + 1
        if fault != "commits-lost":
            owned = {tp.partition for tp in consumer.assignment()}
            read = {index: offset for index, offset in read.items() if index in owned}
        if read:
            offsets = [TopicPartition(topic, index, offset) for index, offset in read.items()]
            with contextlib.suppress(KafkaException):
                consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
