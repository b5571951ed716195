"""The queue of a herder (``DistributedHerder.requests``): by when each request may be served, then by age."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    InternalRequestAnswered,
    InternalRequestChecked,
    MemberEvent,
    MemberLeft,
    RunEnded,
    WorkerConfigured,
    WorkerStopRequested,
)
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

Asked: TypeAlias = HerderAsked | InternalRequestChecked
"""What an operator, or another worker, asks a herder for."""


class HerderQueuesAreInOrderViolated(Violation):
    """A herder served a request before its time, before an earlier one, twice, or during another one."""


class ServedRequestsAreAnsweredOnceViolated(Violation):
    """A herder served or refused a request without its answer, or answered one twice, or one that it was not asked."""


@dataclass(slots=True, eq=False)
class Queue:
    """What waits in a herder, by number, the request that it serves, and what waited when it was asked to stop."""

    waiting: dict[int, HerderRequestQueued] = field(default_factory=dict)
    serves: HerderRequestStarted | None = None
    stopped: frozenset[int] = frozenset()

    def head(self) -> HerderRequestQueued | None:
        """What is served next."""
        return min(self.waiting.values(), key=turn_of, default=None)


def turn_of(queued: HerderRequestQueued) -> tuple[int, int]:
    """When it may be served, then its age."""
    return queued.time_ms + queued.delay_ms, queued.number


def _named(queued: HerderRequestQueued) -> str:
    return f"request {queued.number} to {queued.operation} {queued.work}"


class _InOrder(SimulatedWorkerFold):
    """Per worker: its queue."""

    bookkeeping = frozenset({*PROCESS, HerderRequestQueued, WorkerStopRequested})
    needs = ((WorkerConfigured,), (HerderRequestQueued,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            HerderRequestQueued: self.on_queued,
            HerderRequestStarted: self.on_started,
            HerderRequestEnded: self.on_ended,
            WorkerStopRequested: self.on_stopping,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._queues: dict[str, Queue] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its queue is gone; a worker that leaves has refused what waited."""
        queue = self._queues.pop(event.member, None)
        head = None if queue is None else queue.head()
        if queue is not None and head is not None and isinstance(event, MemberLeft) and head.number in queue.stopped:
            self.contradiction(
                f"{event.member} leaves with {_named(head)} in its queue",
                (f"{event.member} queued {_named(head)} at {STEP};", head),
                (f"it left at {STEP}, and had neither served nor refused it: contradiction.", event),
            )

    def on_stopping(self, event: WorkerStopRequested) -> None:
        """What waits by now is refused at last."""
        queue = self._queues.setdefault(event.member, Queue())
        queue.stopped = frozenset(queue.waiting)

    def on_queued(self, event: HerderRequestQueued) -> None:
        """It waits until its time."""
        if self.run.is_recorded:
            self._queues.setdefault(event.member, Queue()).waiting[event.number] = event

    def on_started(self, event: HerderRequestStarted) -> None:
        """It is the first that waits, its time has come, and nothing else is served."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        queue = self._queues.setdefault(event.member, Queue())
        head, queued = queue.head(), queue.waiting.pop(event.number, None)
        serves, queue.serves = queue.serves, event
        if queued is None or head is None:
            self._report(event, f"request {event.number}, which does not wait in its queue", None)
        elif queued is not head:
            self._report(event, f"{_named(queued)} before {_named(head)}, whose turn it is", head)
        elif event.time_ms < turn_of(queued)[0]:
            early = turn_of(queued)[0] - event.time_ms
            self._report(event, f"{_named(queued)} {early} ms before its time", queued)
        elif serves is not None:
            self._report(event, f"{_named(queued)} while it serves another one", serves)

    def on_ended(self, event: HerderRequestEnded) -> None:
        """It was served to its end, or waited when the herder stopped."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        queue = self._queues.setdefault(event.member, Queue())
        if event.refused:
            if queue.waiting.pop(event.number, None) is None:
                self._report(event, f"request {event.number}, which does not wait in its queue", None)
            return
        serves, queue.serves = queue.serves, None
        if serves is None or serves.number != event.number:
            self._report(event, f"request {event.number}, which it did not begin", serves)

    def _report(self, event: HerderRequestStarted | HerderRequestEnded, what: str, before: MemberEvent | None) -> None:
        verb = ("refuses" if event.refused else "ends") if isinstance(event, HerderRequestEnded) else "serves"
        self.contradiction(
            f"{event.member} {verb} {what}",
            *([(f"{event.member} queued, or began to serve, that at {STEP};", before)] if before is not None else []),
            (f"at {STEP} it {verb} {what}: contradiction.", event),
        )


class _AnsweredOnce(SimulatedWorkerFold):
    """Per worker: what it was asked for and has not queued, the callers of what is queued, and of what is refused.

    What a worker refuses before it queues it is answered before the worker, or time, goes on.
    """

    bookkeeping = frozenset({*PROCESS, HerderAsked, HerderRequestQueued})
    needs = ((WorkerConfigured,), (HerderAsked, InternalRequestChecked))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            HerderAsked: self.on_asked,
            InternalRequestChecked: self.on_asked,
            HerderRequestQueued: self.on_queued,
            HerderAnswered: self.on_answered,
            InternalRequestAnswered: self.on_answered,
            HerderRequestEnded: self.on_ended,
            RunEnded: self.on_run_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._unsigned: dict[str, InternalRequestChecked] = {}
        self._asked: dict[str, Asked] = {}
        self._open: dict[str, dict[tuple[bool, int], Asked]] = {}
        self._queued: dict[str, dict[int, Asked]] = {}
        self._refused: dict[str, Asked] = {}

    def on_process(self, event: MemberEvent) -> None:
        """It answers no more."""
        if isinstance(event, MemberLeft):
            self._look_at_refused(event)
            self._look_at_unsigned(event)
        self._refused.pop(event.member, None)
        self._unsigned.pop(event.member, None)
        for kept in (self._asked, self._open, self._queued):
            kept.pop(event.member, None)

    def on_asked(self, event: Asked) -> None:
        """An answer is due; what a worker queues next is this, unless it answers at once."""
        self._look_at_unsigned(event)
        if not self.run.is_recorded:
            return
        self._asked[event.member] = event
        self._open.setdefault(event.member, {})[_key_of(event)] = event
        if isinstance(event, InternalRequestChecked) and event.refusal:
            self._unsigned[event.member] = event

    def on_queued(self, event: HerderRequestQueued) -> None:
        """It is queued under the name of what was asked for."""
        self._look_at_unsigned(event)
        asked = self._asked.pop(event.member, None)
        if asked is None:
            return
        work = asked.work if isinstance(asked, HerderAsked) else asked.connector
        if (asked.operation, work) == (event.operation, event.work):
            self._queued.setdefault(event.member, {})[event.number] = asked

    def on_answered(self, event: HerderAnswered | InternalRequestAnswered) -> None:
        """It answers what is open."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        self._asked.pop(event.member, None)
        asked = self._open.get(event.member, {}).pop(_key_of(event), None)
        if asked is None:
            self.contradiction(
                f"{event.member} answers a request that is not open",
                (f"{event.member} answers {event.answer} to request {event.request} at {STEP}, which it was not asked, "
                 "or has answered before: contradiction.", event),
            )  # fmt: skip
        elif asked is self._unsigned.get(event.member):
            self._unsigned.pop(event.member)
            self._look_at_answer(asked, event)

    def _look_at_answer(self, asked: Asked, event: HerderAnswered | InternalRequestAnswered) -> None:
        """What a worker refuses has the status that it refused it with."""
        if isinstance(asked, InternalRequestChecked) and event.answer != asked.refusal:
            self.contradiction(
                f"{event.member} refuses a request with {asked.refusal}, and answers {event.answer}",
                (f"{event.member} refused a request of another worker with {asked.refusal} at {STEP};", asked),
                (f"it answered {event.answer} at {STEP}: contradiction.", event),
            )

    def on_run_ended(self, event: RunEnded) -> None:
        """Nothing comes any more."""
        for member in sorted(self._unsigned):
            self._look_at_unsigned(event, member)

    def on_ended(self, event: HerderRequestEnded) -> None:
        """The caller has the answer; what is refused is answered behind that."""
        self._look_at_refused(event)
        self._look_at_unsigned(event)
        asked = self._queued.get(event.member, {}).pop(event.number, None)
        if asked is None:
            return
        if event.refused:
            self._refused[event.member] = asked
            return
        self.compared = (self.compared or 0) + 1
        if _key_of(asked) in self._open.get(event.member, {}):
            self.contradiction(
                f"{event.member} serves a request to {asked.operation}, and does not answer it",
                (f"{event.member} was asked to {asked.operation} at {STEP};", asked),
                (f"it had served that by {STEP}, and had given no answer: contradiction.", event),
            )

    def _look_at_refused(self, event: MemberEvent) -> None:
        """The caller of what was refused last has the answer by now."""
        asked = self._refused.pop(event.member, None)
        if asked is not None and _key_of(asked) in self._open.get(event.member, {}):
            self.contradiction(
                f"{event.member} refuses a request to {asked.operation}, and does not answer it",
                (f"{event.member} was asked to {asked.operation} at {STEP};", asked),
                (f"it had refused that by {STEP}, and had given no answer: contradiction.", event),
            )

    def _look_at_unsigned(self, event: Event, member: str = "") -> None:
        """The caller of what was refused before it was queued has the answer by now."""
        name = event.member if isinstance(event, MemberEvent) else member
        asked = self._unsigned.pop(name, None)
        if asked is not None:
            self.contradiction(
                f"{name} refuses a request of another worker with {asked.refusal}, and does not answer it",
                (f"{name} refused a request to {asked.operation} at {STEP};", asked),
                (f"it went on, or the run ended, at {STEP}, and it had given no answer: contradiction.", event),
            )


def _key_of(event: Asked | HerderAnswered | InternalRequestAnswered) -> tuple[bool, int]:
    return isinstance(event, (HerderAsked, HerderAnswered)), event.request


HerderQueuesAreInOrder: Final = Invariant(
    name="herder_queues_are_in_order",
    family="connect_duties",
    claim="a herder serves each request that it queued once, one after the other, none before its time, and of those "
    "that wait the one that is due first, of equal ones the oldest; it refuses only what waits, and before it leaves "
    "all that waited when it was asked to stop",
    source="DistributedHerder.requests, DistributedHerderRequest.compareTo, tick, halt",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, HerderRequestEnded, HerderRequestQueued, HerderRequestStarted),
    violation=HerderQueuesAreInOrderViolated,
    fold=_InOrder,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    HerderRequestQueued(member="w0", number=0, operation="reconfigure", work="c", delay_ms=250)
    HerderRequestStarted(member="w0", number=0, time_ms=249)
"""

ServedRequestsAreAnsweredOnce: Final = Invariant(
    name="served_requests_are_answered_once",
    family="connect_duties",
    claim="when a herder has served or refused what an operator or another worker asked it for, it has answered, and "
    "it answers nothing twice; a request of another worker that it refuses for its signature is answered with that "
    "refusal, before the worker does anything else",
    source="DistributedHerder.addRequest, forwardErrorAndTickThreadStages, requestNotSignedProperly; "
    "Callback.onCompletion",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, HerderAnswered, HerderAsked, HerderRequestQueued, InternalRequestAnswered,
                 InternalRequestChecked),
    violation=ServedRequestsAreAnsweredOnceViolated,
    fold=_AnsweredOnce,
)  # fmt: skip
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    HerderRequestQueued(member="w0", number=0, operation="pause", work="c")
    HerderRequestStarted(member="w0", number=0)
    HerderRequestEnded(member="w0", number=0)
"""

CLAIMS: Final = (HerderQueuesAreInOrder, ServedRequestsAreAnsweredOnce)
"""In the order in which reports name them."""
