"""The stub log under our config store: prompt, recorded call by call, and failing where a step says so."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.connect.config.errors import ConfigRecordError
from rebalance_check.impl.connect.config.log import LogStep, ReadToEnd, Send
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import ConfigRecord

SEND_FAILS: Final = "send"
READ_FAILS: Final = "readToEnd"
READ_HANGS: Final = "readHang"
COMMIT_IS_FENCED: Final = "fenced"


class StubConfigLog:
    """Records in memory; ``trace`` takes the store's questions, in the words of the Java side."""

    def __init__(self, trace: list[str], partitions: int = 1) -> None:
        self.partitions = partitions
        self.failing: str | None = None
        self.transactions: str | None = None
        self.next_offset = 0
        self.starting = False
        self.store: ConfigStore | None = None
        self._trace = trace
        self._fenced = False
        self._records: list[tuple[int, str | None, bytes | None]] = []
        self._position = 0

    def append(self, key: str | None, value: bytes | None) -> None:
        """A record, at the next offset."""
        self._records.append((self.next_offset, key, value))
        self.next_offset += 1

    def deliver(self) -> None:
        """Let the store read its unread records; an exception that escapes is recorded, and the next record is read."""
        assert self.store is not None
        while self._position < len(self._records):
            offset, key, value = self._records[self._position]
            self._position += 1
            try:
                self.store.read(offset, key, value)
            except ConfigRecordError as error:
                self._trace.append(f"ESCAPES callback at offset {offset}: {error.java}")

    # -------------------------------------------------------------------------------------------- the port

    def submit(self, number: int, step: LogStep) -> None:
        """Do the step at once, or let it fail."""
        assert self.store is not None
        if isinstance(step, Send):
            failure = self._transaction(step) if step.transaction else self._send(step)
        elif isinstance(step, ReadToEnd):
            failure = self._read()
            if self.failing == READ_HANGS and not self.starting:
                return
        else:
            failure = "" if self.transactions else "no broker"
            self._fenced = self.transactions == COMMIT_IS_FENCED
        self.store.completed(number, failure)

    def _read(self) -> str:
        self._trace.append("log.start" if self.starting else "readToEnd")
        if self.failing in (READ_FAILS, READ_HANGS) and not self.starting:
            return "boom"
        self.deliver()
        return ""

    def _send(self, step: Send) -> str:
        for record in step.records:
            self._trace.append(f"send {_shown(record)}")
            if self.failing != SEND_FAILS:
                self.append(*record)
        return "boom" if self.failing == SEND_FAILS else ""

    def _transaction(self, step: Send) -> str:
        self._trace.append("tx.begin")
        self._trace.extend(f"tx.send {_shown(record)}" for record in step.records)
        self._trace.append("tx.commit")
        if self._fenced:
            return "fenced"
        for record in step.records:
            self.append(*record)
        self.next_offset += 1
        return ""

    def close_transactions(self) -> None:
        """Recorded."""
        self._trace.append("tx.close(PT0S)")

    def close(self) -> None:
        """Recorded."""
        self._trace.append("log.stop")


def _shown(record: ConfigRecord) -> str:
    return f"{record.key} = {'<null>' if record.value is None else record.value.decode()}"
