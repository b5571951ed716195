"""A log of any process: broker, Connect worker, client. One file may hold lines of several, as compose prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood
from rebalance_check.pipeline.diagnose.logs.broker import BrokerLog
from rebalance_check.pipeline.diagnose.logs.connect import ConnectLog, is_connect_worker
from rebalance_check.pipeline.diagnose.logs.franz_go import FranzGoLog, is_franz_go
from rebalance_check.pipeline.diagnose.logs.java import JavaClientLog, is_java_client
from rebalance_check.pipeline.diagnose.logs.librdkafka import LibrdkafkaLog, is_librdkafka
from rebalance_check.pipeline.diagnose.logs.python_clients import PythonClientLog, is_aiokafka, is_kafka_python
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sarama import SaramaLog, is_sarama


class Reader(Protocol):
    """Reads the records of one process."""

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        ...


CLIENTS: Final[tuple[tuple[str, Callable[[LogRecord], bool], Callable[[], Reader]], ...]] = (
    ("a Connect worker", is_connect_worker, ConnectLog),
    ("Java consumers", is_java_client, JavaClientLog),
    ("librdkafka", is_librdkafka, LibrdkafkaLog),
    ("kafka-python", is_kafka_python, PythonClientLog),
    ("aiokafka", is_aiokafka, PythonClientLog),
    ("franz-go", is_franz_go, FranzGoLog),
    ("sarama", is_sarama, SaramaLog),
)
"""The name of each client, a predicate that knows its lines, and its reader, which remembers one process."""
CONFIGS: Final = ("ConsumerConfig values", "Kafka version")
"""Lines of Java's clients that name no client."""


class ProcessLogs:
    """The readers of all kinds of logs, each with its own memory for each process of the file.

    A client's reader is used from the first line that is surely its own: its other lines name no client.
    """

    def __init__(self) -> None:
        self._broker = BrokerLog()
        self._readers: dict[str, dict[str, Reader]] = {}

    def read(self, record: LogRecord) -> Iterator[tuple[str, Fact | NotUnderstood]]:
        """The facts of a record, each with the kind of process that says it."""
        for found in self._broker.read(record):
            yield "a broker", found
        readers = self._readers.setdefault(record.process, {})
        for name, is_own, reader in CLIENTS:
            if name not in readers and (is_own(record) or _may_be_java(name, record)):
                readers[name] = reader()
        for name, known in readers.items():
            for found in known.read(record):
                yield name, found


def _may_be_java(name: str, record: LogRecord) -> bool:
    return name == "Java consumers" and any(text in record.message for text in CONFIGS)
