"""Requests of members, to and of herders and leaders, and calls and writes of stores are numbered one after another: a
gap is something unrecorded."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallStarted,
    Event,
    HerderRequestQueued,
    InternalRequestChecked,
    LeaderAsked,
    LookUpSent,
    MemberStarted,
    ReplyEvent,
    RequestParked,
    RequestSent,
    RunStarted,
    StatusAttempted,
    StatusSent,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY, REPLIES
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import DEPARTED, WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

COORDINATOR: Final = "the coordinator"
"""Who numbers the requests that arrive."""

REQUEST: Final = "request"
QUEUED: Final = "request to its herder"
INTERNAL: Final = "request to its leader"
RECEIVED: Final = "request of another worker"
CALL: Final = "call of its config store"
OF_A_PROCESS: Final = (REQUEST, QUEUED, INTERNAL, RECEIVED, CALL)
"""What each process counts from 0."""


class NumbersHaveNoGapsViolated(Violation):
    """The number of a request, or of a status write, is not the one after the last."""


class _Numbers(SimulatedFold):
    """The last number of each process, and of each status store; None before the first."""

    bookkeeping = frozenset({MemberStarted})
    needs = ((RunStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            RequestSent: self.on_sent,
            LookUpSent: self.on_sent,
            StatusAttempted: self.on_attempt,
            HerderRequestQueued: self.on_queued,
            LeaderAsked: self.on_asked,
            InternalRequestChecked: self.on_checked,
            ConfigCallStarted: self.on_called,
            StatusSent: self.on_written,
            **dict.fromkeys((RequestParked, *REPLIES), self.on_arrived),
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._last: Recent[tuple[str, str], Event] = Recent(DEPARTED)
        self._arrived = 0
        self._numbers: Recent[tuple[str, str], int] = Recent(DEPARTED)
        self._sends: Recent[tuple[str, int], StatusSent] = Recent(WAITING)

    def on_process(self, event: MemberStarted) -> None:
        """A process counts anew."""
        for what in OF_A_PROCESS:
            key = (what, event.member)
            self._last[key], self._numbers[key] = event, -1

    def on_sent(self, event: RequestSent | LookUpSent) -> None:
        """Requests and look-ups are counted together."""
        self._next((REQUEST, event.member), event.request, event)

    def on_queued(self, event: HerderRequestQueued) -> None:
        """What is queued for the herder's thread of a worker is."""
        self._next((QUEUED, event.member), event.number, event)

    def on_asked(self, event: LeaderAsked) -> None:
        """What a worker asks its leader for is."""
        self._next((INTERNAL, event.member), event.request, event)

    def on_checked(self, event: InternalRequestChecked) -> None:
        """What other workers ask a worker for is, whether it is refused or not."""
        self._next((RECEIVED, event.member), event.request, event)

    def on_called(self, event: ConfigCallStarted) -> None:
        """What the config store of a worker is called for is."""
        self._next((CALL, event.member), event.call, event)

    def on_written(self, event: StatusSent) -> None:
        """The sends of one write are, from 1."""
        before = self._sends.get((event.worker, event.attempt))
        self._sends[event.worker, event.attempt] = event
        expected = 1 if before is None else before.send + 1
        if self.run.is_recorded and event.send != expected:
            what = f"send {event.send} of its write {event.attempt}"
            self._report(f"{event.worker} makes {what}, and the next one is {expected}", before, event)

    def on_attempt(self, event: StatusAttempted) -> None:
        """All writes of a store are, also those that it suppresses; each store has a name of its own."""
        key = ("write", event.worker)
        if key not in self._numbers:
            self._numbers[key] = -1
        self._next(key, event.attempt, event)

    def on_arrived(self, event: RequestParked | ReplyEvent) -> None:
        """A coordinator keeps each request, or answers it at once: those of all nodes are counted together, from 1."""
        if event.request <= self._arrived:
            return
        key = ("request that arrives", COORDINATOR)
        self._numbers[key] = self._arrived
        self._arrived = event.request
        self._next(key, event.request, event)

    def _next(self, key: tuple[str, str], number: int, event: Event) -> None:
        what, who = key
        expected = self._numbers.get(key, number - 1) + 1
        before, self._last[key], self._numbers[key] = self._last.get(key), event, number
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if number != expected:
            self._report(f"{who} numbers a {what} {number}, and the next number is {expected}", before, event)

    def _report(self, headline: str, before: Event | None, event: Event) -> None:
        self.contradiction(
            headline,
            *([(f"what came before it is recorded at {STEP};", before)] if before is not None else []),
            (f"this one is recorded at {STEP}, and has another number than the next: contradiction.", event),
        )


NumbersHaveNoGaps: Final = Invariant(
    name="numbers_have_no_gaps",
    family=FAMILY,
    claim="the requests and look-ups of a process are numbered from 0 without a gap, and so are those to its herder "
    "and to the leader of its workers, those that it receives of other workers, the calls of its config store, the "
    "writes of a status store and, from 1, the sends of each; a coordinator, whose numbers begin with 1, keeps each "
    "request that arrives or answers it at once",
    source="AbstractCoordinator.client; NetworkClient (correlation ids)",
    premises=(RECORDED,),
    exempted_by=(
        ConfigCallStarted,
        HerderRequestQueued,
        InternalRequestChecked,
        LeaderAsked,
        LookUpSent,
        MemberStarted,
        RequestParked,
        RequestSent,
        StatusAttempted,
        StatusSent,
        *REPLIES,
    ),
    violation=NumbersHaveNoGapsViolated,
    fold=_Numbers,
)  # fmt: skip
"""A number that is left out is a request that no claim sees.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    LookUpSent(member="m0", request=0)
    RequestSent(member="m0", api="JoinGroup", request=2)
"""

CLAIMS: Final = (NumbersHaveNoGaps,)
"""In the order in which reports name them."""
