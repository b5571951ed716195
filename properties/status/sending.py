"""S3: each append answers one send."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusSent,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.status.violations import (
    AppendWithoutSend,
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
