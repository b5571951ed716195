"""One live member: an unmodified kafka-python consumer in a process of its own, recorded through its public face.

``python -m rebalance_check.integration.live.member ORDER`` where ORDER is a `MemberOrder` as JSON. The end of standard
input asks it to leave; signals do to it what they do to any process.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from rebalance_check.impl.recorder import Recorder
from rebalance_check.integration.kafka_clients import (
    ConsumerRebalanceListener,
    KafkaConsumer,
    MemberState,
    OffsetAndMetadata,
    errors,
)
from rebalance_check.integration.live.assignors import recording_assignor
from rebalance_check.integration.live.recording import RawRecording
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.model.events import (
    AssignmentCompleted,
    Event,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.model.ids import NO_GENERATION

GRACE_MS = 5_000


def names(partitions: Iterable[Any]) -> tuple[str, ...]:
    """Kafka's names of partitions (``t-0``), sorted."""
    return tuple(sorted(f"{p.topic}-{p.partition}" for p in partitions))


class Observer(ConsumerRebalanceListener):
    """Turns what the consumer shows into events: its callbacks, and its generation between two polls."""

    def __init__(self, member: str, recorder: Recorder) -> None:
        self.member = member
        self.consumer: Any = None
        self._recorder = recorder
        self._generation = NO_GENERATION
        self._member_id = ""

    def emit(self, event: Event) -> None:
        """Record an event."""
        self._recorder.emit(event)

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """The consumer's callback; it runs in its event loop."""
        generation, member_id, _state = self.membership()
        self.emit(
            PartitionsAssigned(
                member=self.member, generation=generation, member_id=member_id, partitions=names(assigned)
            )
        )

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        """The consumer's callback; EAGER calls it with nothing before the first join, which is no event."""
        generation, member_id, _state = self.membership()
        if partitions := names(revoked):
            self.emit(
                PartitionsRevoked(member=self.member, generation=generation, member_id=member_id, partitions=partitions)
            )

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        """The consumer's callback."""
        self._lose()
        generation, member_id, _state = self.membership()
        self.emit(
            PartitionsLost(member=self.member, generation=generation, member_id=member_id, partitions=names(lost))
        )

    def membership(self) -> tuple[int, str, Any]:
        """Generation, member id and state, read at once."""
        now = self.consumer.group_metadata()
        return now.generation_id, now.member_id, now.state

    def after_poll(self) -> None:
        """Note a rebalance that completed, or a membership that was lost, since the last time."""
        generation, member_id, state = self.membership()
        if generation == NO_GENERATION:
            self._lose()
        elif generation != self._generation and state == MemberState.STABLE:
            self._generation, self._member_id = generation, member_id
            owned = names(self.consumer.assignment())
            self.emit(AssignmentCompleted(member=self.member, generation=generation, member_id=member_id, owned=owned))

    def _lose(self) -> None:
        if self._generation != NO_GENERATION:
            # The consumer does not tell why: its heartbeat thread got an answer, or its own poll timer ran out.
            self.emit(
                MembershipLost(
                    member=self.member, generation=self._generation, member_id=self._member_id, reason="not told"
                )
            )
            self._generation = NO_GENERATION

    def commit(self) -> None:
        """Commit the position of every partition it owns, and record each outcome."""
        positions = {tp: self.consumer.position(tp, timeout_ms=0) for tp in sorted(self.consumer.assignment())}
        offsets = {tp: OffsetAndMetadata(at, "", -1) for tp, at in positions.items() if at is not None}
        if not offsets:
            return
        generation, member_id, _state = self.membership()
        error: str | None = "NONE"
        try:
            self.consumer.commit(offsets, timeout_ms=GRACE_MS)
        except errors.KafkaTimeoutError:
            error = None
        except errors.KafkaError as failure:
            error = kafka_name(failure)
        for tp, offset in offsets.items():
            self.emit(
                OffsetCommitted(
                    member=self.member,
                    generation=generation,
                    member_id=member_id,
                    partition=f"{tp.topic}-{tp.partition}",
                    offset=offset.offset,
                    error=error,
                )
            )


def kafka_name(failure: Exception) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for what the client made up itself."""
    return getattr(failure, "message", None) if getattr(failure, "errno", -1) > 0 else None


def build_consumer(order: MemberOrder, observer: Observer) -> Any:
    """The consumer, subscribed; it joins when it is polled."""
    settings = order.settings
    consumer = KafkaConsumer(
        bootstrap_servers=order.bootstrap,
        group_id=order.group,
        client_id=order.member,
        partition_assignment_strategy=[recording_assignor(settings, observer)],
        session_timeout_ms=settings.session_timeout_ms,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        max_poll_interval_ms=settings.max_poll_interval_ms,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=1,
        metrics_enabled=False,
        reconnect_backoff_max_ms=500,
    )
    observer.consumer = consumer
    # A leader that knows no partitions of the topic yet assigns none, and may not look again: know them first.
    consumer.topics()
    consumer.subscribe([order.topic], listener=observer)
    return consumer


def run(order: MemberOrder, recording: RawRecording, leaving: threading.Event) -> None:
    """Poll until asked to leave, then leave."""
    observer = Observer(order.member, recording.recorder(order.group, order.member))
    consumer = build_consumer(order, observer)
    observer.emit(MemberStarted(member=order.member, protocol=order.settings.protocol))
    commit_at = time.monotonic()
    while not leaving.is_set():
        # After a retriable error the next poll tries again; what it did to the membership is noted below.
        with contextlib.suppress(errors.RetriableError):
            consumer.poll(timeout_ms=order.settings.poll_timeout_ms)
        observer.after_poll()
        if time.monotonic() >= commit_at:
            observer.commit()
            commit_at = time.monotonic() + order.settings.commit_interval_ms / 1000
    consumer.close(timeout_ms=GRACE_MS)
    observer.emit(MemberLeft(member=order.member))


def _await_end_of_input(leaving: threading.Event) -> None:
    sys.stdin.buffer.read()
    leaving.set()


def main() -> None:
    """Run the member that the command line orders."""
    # Ctrl-C reaches the whole process group; the harness decides what becomes of its members.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = msgspec.json.decode(sys.argv[1], type=MemberOrder)
    leaving = threading.Event()
    threading.Thread(target=_await_end_of_input, args=(leaving,), daemon=True).start()
    with RawRecording(Path(order.recording)) as recording:
        run(order, recording, leaving)


if __name__ == "__main__":
    main()
