"""librdkafka's mock cluster, a broker in memory for that library's own tests: listens until SIGTERM.

The port is the system's choice: its interface has no way to ask for one. It is reached through the shared library that
the package confluent-kafka brings along.
"""

from __future__ import annotations

import argparse
import ctypes
import signal
from pathlib import Path
from typing import Any, Final

import confluent_kafka

PRODUCER: Final = 0
"""A mock cluster is part of a client of librdkafka, whichever."""

NO_DELAY_MS: Final = 0
"""How long an empty group waits for more members, as ``group.initial.rebalance.delay.ms`` of Kafka."""


def main() -> None:
    """Start it, print its address, and wait."""
    parser = argparse.ArgumentParser(description="Runs librdkafka's mock cluster until SIGTERM.")
    parser.add_argument("--topics", default="t:4", help="topics with their numbers of partitions: a:3,b:6")
    topics = [topic.split(":") for topic in parser.parse_args().topics.split(",")]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # before it starts threads, which inherit this
    library = _library()
    client = library.rd_kafka_new(PRODUCER, None, None, 0)
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(ctypes.c_void_p(client), 1))
    library.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, NO_DELAY_MS)
    for name, partitions in topics:
        library.rd_kafka_mock_topic_create(cluster, name.encode(), int(partitions), 1)
    print("listening", library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    signal.sigwait({signal.SIGTERM})


def _library() -> Any:
    wheels = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(wheels.glob("librdkafka*"))))
    library.rd_kafka_new.restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_new.restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


if __name__ == "__main__":
    main()
