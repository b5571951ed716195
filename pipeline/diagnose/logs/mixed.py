"""A log of any process: broker, Connect worker, client. One file may hold lines of several, as compose prints them."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood
from rebalance_check.pipeline.diagnose.logs.broker import BrokerLog
from rebalance_check.pipeline.diagnose.logs.connect import ConnectLog
from rebalance_check.pipeline.diagnose.logs.java import JavaClientLog
from rebalance_check.pipeline.diagnose.logs.records import LogRecord


class ProcessLogs:
    """The readers of all kinds of logs, each with its own memory for each process of the file."""

    def __init__(self) -> None:
        self._broker = BrokerLog()
        self._java: dict[str, JavaClientLog] = {}
        self._connect: dict[str, ConnectLog] = {}

    def read(self, record: LogRecord) -> Iterator[tuple[str, Fact | NotUnderstood]]:
        """The facts of a record, each with the kind of process that says it."""
        for found in self._broker.read(record):
            yield "a broker", found
        java = self._java.setdefault(record.process, JavaClientLog())
        for found in java.read(record):
            yield "Java consumers", found
        connect = self._connect.setdefault(record.process, ConnectLog())
        for found in connect.read(record):
            yield "a Connect worker", found
