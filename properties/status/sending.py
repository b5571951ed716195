"""S3, S6 and S7: what stands in the log was sent, as it was sent, and in the order in which it was sent."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusSent,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.status.stores import DESTROYED
from rebalance_check.properties.status.violations import (
    AppendWithoutSend,
    LogOrderContradictsSends,
    RetryChangedBytes,
)
from rebalance_check.properties.verdict import STEP, Because

SendId = tuple[str, int, int]
"""Worker, attempt, send."""


class _AppendsAnswerSends(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {StatusSent: self._sent, StatusAppended: self._appended, StatusAnswered: self._answered},
        )
        self._sends: dict[SendId, StatusSent] = {}
        self._appends: dict[SendId, StatusAppended] = {}
        self._places: dict[tuple[int, int], StatusAppended] = {}
        self._answers: dict[SendId, StatusAnswered] = {}

    def _sent(self, event: StatusSent) -> None:
        send = (event.worker, event.attempt, event.send)
        before = self._sends.get(send)
        answer = self._answers.get((event.worker, event.attempt, event.send - 1))
        if before is not None:
            reasons = [Because(f"send {event.send} of attempt {event.attempt} was made at {STEP}.", before)]
            self._break(f"{event.worker} made send {event.send} of attempt {event.attempt} twice", reasons, event)
        elif event.send > 1 and (answer is None or answer.outcome != "retriable"):
            said = "was not answered" if answer is None else f"was answered {answer.outcome} at {STEP}"
            reasons = [Because(f"send {event.send - 1} of attempt {event.attempt} {said}.", answer)]
            self._break(f"{event.worker} sent {event.key} again after no retriable failure", reasons, event)
        self._sends[send] = event

    def _answered(self, event: StatusAnswered) -> None:
        send = (event.worker, event.attempt, event.send)
        if send not in self._sends:
            headline = (
                f"{event.worker} was answered on send {event.send} of attempt {event.attempt}, which was not made"
            )
            self._break(headline, [], event)
        self._answers[send] = event

    def _appended(self, event: StatusAppended) -> None:
        send = (event.worker, event.attempt, event.send)
        sent, earlier = self._sends.get(send), self._appends.get(send)
        resident = self._places.get((event.partition, event.offset))
        place = f"{event.partition}/{event.offset}"
        if sent is None or sent.key != event.key:
            headline = f"a record of {event.key} stands at {place} that {event.worker} did not send"
            self._break(headline, [Because(f"{event.worker} sent {sent.key} at {STEP}.", sent)] if sent else [], event)
        elif earlier is not None:
            reasons = [Because(f"it was appended at {earlier.partition}/{earlier.offset} ({STEP}).", earlier)]
            self._break(f"one send of {event.worker} for {event.key} became two records", reasons, event)
        elif resident is not None:
            reasons = [Because(f"a send of {resident.worker} was appended there at {STEP}.", resident)]
            self._break(f"two sends were appended at {place}", reasons, event)
        self._appends[send] = self._places[event.partition, event.offset] = event

    def _break(
        self, headline: str, reasons: list[Because], event: StatusSent | StatusAppended | StatusAnswered
    ) -> None:
        """Reasons so far, then the event that contradicts them."""
        events = [reason.event for reason in reasons if reason.event is not None]
        self.violated(headline, [*reasons, Because(f"then came {STEP}: contradiction.", event)], [*events, event])


class _SameBytes(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self._attempted, StatusSent: self._sent})
        self._attempts: dict[tuple[str, int], StatusAttempted] = {}
        self._first: dict[tuple[str, int], StatusSent] = {}

    bookkeeping = frozenset({StatusAttempted})

    def _attempted(self, event: StatusAttempted) -> None:
        self._attempts[event.worker, event.attempt] = event

    def _sent(self, event: StatusSent) -> None:
        attempted = self._attempts.get((event.worker, event.attempt))
        first = self._first.setdefault((event.worker, event.attempt), event)
        if attempted is not None and (event.value is None) != (attempted.status == DESTROYED):
            what = "a tombstone" if event.value is None else event.value
            self.violated(
                f"{event.worker} wrote {attempted.status} of {event.key} as {what}",
                [
                    Because(f"{event.worker} was asked to write {attempted.status} at {STEP}.", attempted),
                    Because(f"it sent {what} at {STEP}; a tombstone is written for DESTROYED and for it alone.", event),
                ],
                [attempted, event],
            )
        elif event.value != first.value:
            self.violated(
                f"{event.worker} changed {event.key} between two sends of one write",
                [
                    Because(f"send {first.send} carried {first.value} ({STEP}).", first),
                    Because(f"send {event.send} carried {event.value} ({STEP}): contradiction.", event),
                ],
                [first, event],
            )


class _SendOrder(Fold):
    """Per store and partition: first sends by the order of sending, with the offsets that they got."""

    bookkeeping = frozenset({StatusSent})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusSent: self._sent, StatusAppended: self._appended})
        self._rank: dict[tuple[str, int], int] = {}
        self._order: dict[tuple[str, int], list[tuple[int, int, StatusAppended]]] = defaultdict(list)

    def _sent(self, event: StatusSent) -> None:
        if event.send == 1:
            self._rank[event.worker, event.attempt] = len(self._rank)

    def _appended(self, event: StatusAppended) -> None:
        rank = self._rank.get((event.worker, event.attempt))
        if event.send != 1 or rank is None:
            return
        order = self._order[event.worker, event.partition]
        at = bisect_left(order, rank, key=lambda placed: placed[0])
        older = order[at - 1][2] if at > 0 else None
        younger = order[at][2] if at < len(order) else None
        if older is not None and older.offset > event.offset:
            self._report(older, event)
        elif younger is not None and younger.offset < event.offset:
            self._report(event, younger)
        order.insert(at, (rank, event.offset, event))

    def _report(self, first: StatusAppended, second: StatusAppended) -> None:
        self.violated(
            f"{first.worker}'s sends of {first.key} and {second.key} changed places in partition {first.partition}",
            [
                Because(f"attempt {first.attempt}, sent first, stands at offset {first.offset} ({STEP}).", first),
                Because(f"attempt {second.attempt} stands before it, at {second.offset} ({STEP}).", second),
            ],
            [first, second],
        )


AppendsAnswerSends: Final = Invariant(
    name="safe_status_writes.appends_answer_sends",
    family="safe_status_writes",
    claim="every record was sent, every send becomes one record at most, and only a retriable failure is sent again",
    source="KafkaBasedLog producer settings: max.in.flight.requests.per.connection=1, retries=0",
    premises=("every send is recorded, and appends are distinguished by attempt and send",),
    exempted_by=(
        StatusAnswered,
        StatusSent,
    ),
    violation=AppendWithoutSend,
    fold=_AppendsAnswerSends,
)
"""S3. The smallest history that breaks it::

    StatusAppended(worker="w0", key="status-task-c-0", attempt=0, send=1, partition=0, offset=0)
"""

RetriesRepeatTheBytes: Final = Invariant(
    name="safe_status_writes.retries_repeat_the_bytes",
    family="safe_status_writes",
    claim="all sends of one write carry the same value, which is a tombstone exactly when the status is DESTROYED",
    source="KafkaStatusBackingStore.send, sendTopicStatus",
    violation=RetryChangedBytes,
    fold=_SameBytes,
)
"""S6. The smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="DESTROYED", generation=1, safe=False)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="{}")
"""

LogKeepsSendOrder: Final = Invariant(
    name="safe_status_writes.log_keeps_send_order",
    family="safe_status_writes",
    claim="first sends of one store to one partition are appended in the order in which they were sent",
    source="KafkaBasedLog producer settings: max.in.flight.requests.per.connection=1, retries=0",
    premises=("the broker has done with a request when the producer reports on it",),
    violation=LogOrderContradictsSends,
    fold=_SendOrder,
)
"""S7: only a retry may land behind a younger first send. The smallest history that breaks it::

    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value="a")
    StatusSent(worker="w0", key="status-task-c-0", attempt=1, send=1, value="b")
    StatusAppended(worker="w0", key="status-task-c-0", attempt=1, send=1, partition=0, offset=0)
    StatusAppended(worker="w0", key="status-task-c-0", attempt=0, send=1, partition=0, offset=1)
"""
