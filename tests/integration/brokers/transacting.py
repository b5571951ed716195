"""The requests of a transactional producer: see `administration`."""

import time
from collections.abc import Callable
from typing import Any

from rebalance_check.integration.wire.kafka_python import MemoryRecords, consumer, metadata, producer
from tests.integration.brokers.administration import (
    ABSENT,
    LOADING,
    NOW,
    PATIENCE,
    RETRIABLE,
    Answers,
    Call,
    Most,
    batch,
    error_codes,
    listed,
    produce,
    shown,
)


class Transacting:
    """A producer under a transactional id, its group, and what it asks."""

    def __init__(self, call: Call, topic: str) -> None:
        self.call, self.topic = call, topic
        self.name, self.group = f"{topic}-producer", f"{topic}-group"
        self.id, self.epoch = -1, -1
        for key, kind in ((self.group, 0), (self.name, 1)):
            request = metadata.FindCoordinatorRequest(key=key, key_type=kind)
            self._patiently(lambda request=request: call(request, 1))  # type: ignore[misc]  # bound at once

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        for _ in range(PATIENCE):
            answer = ask()
            if answer.error_code not in RETRIABLE:
                break
            time.sleep(0.05)
        return answer

    def _loaded(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Ask again while the coordinator of the transactional id loads, which it may do when the first asks for it."""
        for _ in range(PATIENCE):
            answer = ask()
            if LOADING.isdisjoint(error_codes(answer)):
                break
            time.sleep(0.05)
        return answer

    def begin(self, *, name: str | None = "", timeout_ms: int = 60_000, named: tuple[int, int] = (-1, -1),
              version: int = 4) -> Any:  # fmt: skip
        request = producer.InitProducerIdRequest(
            transactional_id=self.name if name == "" else name, transaction_timeout_ms=timeout_ms,
            producer_id=named[0], producer_epoch=named[1],
        )  # fmt: skip
        answer = self._patiently(lambda: self.call(request, version))
        if answer.error_code == 0 and name == "":
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
        return answer.error_code, answer.producer_epoch

    def add(self, partitions: list[int], *, topic: str = "", name: str = "", of: int = 0, epoch: int = 0,
            version: int = 3) -> Any:  # fmt: skip
        """``of`` and ``epoch`` are added to the producer's."""
        wanted = producer.AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
        topics = [wanted(name=self.topic, partitions=partitions)]
        topics += [wanted(name=topic, partitions=[0])] if topic else []
        request = producer.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name or self.name, v3_and_below_producer_id=self.id + of,
            v3_and_below_producer_epoch=self.epoch + epoch, v3_and_below_topics=topics,
        )  # fmt: skip
        return shown(self._loaded(lambda: self.call(request, version).to_dict()))

    def add_group(self, *, name: str = "", of: int = 0, epoch: int = 0, version: int = 3) -> Any:
        request = producer.AddOffsetsToTxnRequest(
            transactional_id=name or self.name, producer_id=self.id + of, producer_epoch=self.epoch + epoch,
            group_id=self.group,
        )  # fmt: skip
        return self._patiently(lambda: self.call(request, version)).error_code

    def end(self, is_committed: bool, *, name: str = "", of: int = 0, epoch: int = 0, version: int = 3) -> Any:
        request = producer.EndTxnRequest(
            transactional_id=name or self.name, producer_id=self.id + of, producer_epoch=self.epoch + epoch,
            committed=is_committed,
        )  # fmt: skip
        return self._patiently(lambda: self.call(request, version)).error_code

    def write(self, sequence: int, *, index: int = 0, name: str | None = "", epoch: int = 0) -> Any:
        records = batch([0], by=(self.id, self.epoch + epoch), sequence=sequence)
        return produce(self.call, self.topic, records, self.name if name == "" else name, index)

    def commit(self, offset: int, *, name: str = "", of: int = 0, epoch: int = 0, group: str | None = None) -> Any:
        topic = producer.TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
        partition = topic.TxnOffsetCommitRequestPartition
        wanted = [
            topic(name=each, partitions=[partition(
                partition_index=0, committed_offset=offset, committed_leader_epoch=-1, committed_metadata="m"
            )])
            for each in (self.topic, ABSENT)
        ]  # fmt: skip
        request = producer.TxnOffsetCommitRequest(
            transactional_id=name or self.name, group_id=self.group if group is None else group,
            producer_id=self.id + of, producer_epoch=self.epoch + epoch, generation_id=-1, member_id="",
            group_instance_id=None, topics=wanted,
        )  # fmt: skip
        return shown(self.call(request, 3).to_dict())

    def looks(self) -> Any:
        """A reader's view, committed and not: offsets of the log, records, offsets of the group."""
        offsets = [
            listed(self.call, self.topic, timestamp, 7, isolation=isolation)["topics"][0]["partitions"][0]["offset"]
            for timestamp in (-1, -3, NOW)
            for isolation in (0, 1)
        ]
        fetches = [self._fetched(first, isolation) for first in (0, 2) for isolation in (0, 1)]
        return offsets, fetches, [self._committed(is_stable) for is_stable in (True, False)]

    def _fetched(self, first: int, isolation: int) -> Any:
        of = consumer.FetchRequest.FetchTopic
        partition = of.FetchPartition(
            partition=0, current_leader_epoch=-1, fetch_offset=first, last_fetched_epoch=-1, log_start_offset=-1,
            partition_max_bytes=1 << 20,
        )  # fmt: skip
        request = consumer.FetchRequest(
            replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, isolation_level=isolation, session_id=0,
            session_epoch=-1, topics=[of(topic=self.topic, partitions=[partition])], forgotten_topics_data=[],
            rack_id="",
        )  # fmt: skip
        found = self.call(request, 11).responses[0].partitions[0]
        batches = [(each.base_offset, each.is_control_batch) for each in MemoryRecords(bytes(found.records or b""))]
        aborted = found.aborted_transactions and [each.first_offset for each in found.aborted_transactions]
        return found.error_code, found.high_watermark, found.last_stable_offset, aborted, batches

    def _committed(self, is_stable: bool) -> Any:
        topic = consumer.OffsetFetchRequest.OffsetFetchRequestTopic(name=self.topic, partition_indexes=[0])
        request = consumer.OffsetFetchRequest(group_id=self.group, topics=[topic], require_stable=is_stable)
        return shown(self._patiently(lambda: self.call(request, 7)).to_dict())

    def settled(self) -> Any:
        """A reader's view when the markers are written."""
        seen = self.looks()
        for _ in range(PATIENCE):
            time.sleep(0.03)
            before, seen = seen, self.looks()
            if before == seen:
                break
        return seen


def transactions(call: Call, topic: str, most: Most) -> Answers:
    """A transaction is committed, one aborted, one cut short by the next epoch; whatever does not belong is refused."""
    knows_epochs = most[producer.TxnOffsetCommitRequest.API_KEY] > 4
    transacting = Transacting(call, topic)
    yield from unknown(transacting)
    yield "begun", transacting.begin()
    yield "nothing to end", (transacting.end(True), transacting.end(False))
    yield "not added", (transacting.write(0), transacting.commit(5))
    yield "absent", transacting.add([0, 9], topic=ABSENT)
    for version in range(4):
        yield f"not its own in v{version}", [
            transacting.add([0], epoch=1, version=version), transacting.add([0], epoch=-1, version=version),
            transacting.add([0], of=1, version=version), transacting.add_group(epoch=1, version=version),
            transacting.end(True, epoch=1, version=version), transacting.end(True, of=1, version=version),
        ]  # fmt: skip
    yield (
        "added",
        (
            transacting.add([0], version=0),
            transacting.add([]),
            transacting.add([], epoch=1),
            transacting.add([], topic=ABSENT),
        ),
    )
    yield "written", transacting.write(0)
    yield "uncommitted", transacting.looks()
    yield "elsewhere, unnamed", (transacting.write(1, index=1), transacting.write(1, name=None))
    yield (
        "group",
        (transacting.commit(5), transacting.add_group(), transacting.commit(5, group=""), transacting.commit(5)),
    )
    if knows_epochs:  # an older Kafka takes the first of them, and the transaction never ends
        yield "of another", (transacting.commit(6, epoch=1), transacting.commit(6, of=1))
    yield "under way", transacting.looks()
    yield "ended", (transacting.end(True), transacting.end(True), transacting.end(False))
    yield "committed", transacting.settled()
    yield (
        "again",
        (
            transacting.add([0]),
            transacting.write(1),
            transacting.end(False),
            transacting.end(False),
            transacting.end(True),
        ),
    )
    yield "aborted", transacting.settled()
    yield "left open", (transacting.add([0]), transacting.write(2))
    yield "cut short", transacting.begin()
    yield "by the next", transacting.settled()
    yield "fenced", (transacting.write(3, epoch=-2), transacting.add([0], epoch=-2), transacting.end(True, epoch=-2))
    yield from epochs(transacting)


def unknown(transacting: Transacting) -> Answers:
    transacting.id, transacting.epoch = 7_000_000, 0
    for version in range(4):
        answers = [
            transacting.add([0], version=version),
            transacting.add_group(version=version),
            transacting.end(True, version=version),
        ]
        yield f"unknown in v{version}", answers
    yield "unknown", (transacting.commit(5), transacting.add([]))


def epochs(transacting: Transacting) -> Answers:
    """InitProducerId of a producer that says who it is (KIP-360), and of none that can be."""
    present = (transacting.id, transacting.epoch)
    yield "next epoch", transacting.begin(named=present)
    yield "repeated", transacting.begin(named=present)
    for named in (
        (transacting.id, 99),
        (transacting.id + 1_000_000, 0),
        (transacting.id, -1),
        (-1, 3),
        (transacting.id, 0),
    ):
        yield named[1], transacting.begin(named=named)
    for version in (3, 4):
        yield version, transacting.begin(named=(transacting.id, 99), version=version)
    for timeout_ms in (0, -1, 900_001):
        yield timeout_ms, transacting.begin(name=f"{transacting.name}-other", timeout_ms=timeout_ms)
    yield "plain", (transacting.begin(name=None, timeout_ms=0), transacting.begin(name=None, named=(5, 0)))
