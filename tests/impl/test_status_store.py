"""Bytes that a status store sends, and records that make it throw: ``tests/data/status`` shows the rest."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.status.attempts import StatusStoreError
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    StatusWriteError,
    TaskKey,
    write_status,
)
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, StatusGivenUp, StatusIgnored

TASK, OTHER_TASK, CONNECTOR = TaskKey("c", 0), TaskKey("c", 1), ConnectorKey("c")


class Bench:
    """A store on a channel of its own, and every event it emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.log = SharedLog(1, self._recorder("log"))
        self.channel = Channel(self.log, "w0")
        self.store = StatusStore("w0", self.channel, self._recorder("w0"))
        self.channel.store = self.store
        self._offset = 0

    def _recorder(self, source: str) -> Recorder:
        return Recorder("connect", source, lambda: 0, self.events.append)

    def read(self, key: object, status: Status, worker: str | None = "w1", generation: int = 1) -> None:
        value = StatusValue(status, worker or "nobody", generation)
        data = write_status(value)
        if worker is None and data is not None:
            data = data.replace(b'"nobody"', b"null")
        self.raw(str(key), data)

    def raw(self, key: str | None, data: bytes | None) -> None:
        self._offset += 1
        self.store.read(0, self._offset - 1, key, data)

    def fail(self) -> None:
        self.channel.answer(SendOutcome.RETRIABLE)

    def reasons(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, StatusGivenUp)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def value(status: Status = Status.RUNNING, generation: int = 1, worker: str | None = "w0") -> StatusValue:
    return StatusValue(status, worker, generation)


def test_a_status_of_no_worker_cannot_be_written__after_generation_and_sequence_have_moved(bench: Bench) -> None:
    with pytest.raises(StatusWriteError):
        bench.store.put(TASK, value(worker=None, generation=4))
    assert (bench.store.generation, bench.store.cache.entry(TASK).sequence) == (4, 1)


@pytest.mark.parametrize("safe", [True, False])
def test_a_retriable_failure_is_retried_with_the_same_bytes(bench: Bench, safe: bool) -> None:
    (bench.store.put_safe if safe else bench.store.put)(TASK, value())
    first = bench.channel.waiting[0].value
    bench.fail()
    assert bench.store.retries == 1
    bench.store.run_retry()
    assert (first, 2) == (bench.channel.waiting[0].value, bench.channel.waiting[0].send)


def test_what_cannot_be_read_changes_nothing_and_stops_nobody(bench: Bench) -> None:
    bench.read(TASK, Status.RUNNING)
    for key, data in [(str(TASK), b"{"), ("status-task-c", b"{}"), ("session-key", b"{}"), (str(TASK), b"")]:
        bench.raw(key, data)
    assert [event.reason for event in bench.events if isinstance(event, StatusIgnored)] == [
        "malformed", "malformed", "unknown key", "malformed",
    ]  # fmt: skip
    assert bench.store.get(TASK) == value(worker="w1")


def test_a_record_without_a_key_throws(bench: Bench) -> None:
    with pytest.raises(StatusStoreError, match="has no key"):
        bench.raw(None, b"{}")


def test_stop_drops_retries__answers_still_come__and_no_write_or_read_follows(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.put(OTHER_TASK, value())
    bench.fail()
    bench.store.stop()
    bench.fail()
    assert bench.reasons() == ["stopped", "stopped"]
    with pytest.raises(StatusStoreError, match="is stopped"):
        bench.store.put(TASK, value())
    with pytest.raises(StatusStoreError, match="is stopped"):
        bench.raw(str(TASK), None)


def test_one_request_is_in_flight(bench: Bench) -> None:
    bench.store.put(TASK, value())
    bench.store.put(OTHER_TASK, value())
    bench.channel.append()
    with pytest.raises(RebalanceCheckError, match="appended already"):
        bench.channel.append()
    bench.channel.answer(SendOutcome.OK)
    bench.channel.append()
    assert [record.key for record in bench.log.partitions[0]] == [str(TASK), str(OTHER_TASK)]
