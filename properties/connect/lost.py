"""When a worker that finds no coordinator gives its work up: one heartbeat interval after it began to wait."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    CoordinatorAwaited,
    CoordinatorFound,
    Event,
    HerderRequestEnded,
    HerderRequestStarted,
    LookUpAnswered,
    LookUpSent,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RunStarted,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.awaited import GOES_ON, OF_STATUSES
from rebalance_check.properties.connect.idle_herders import GOES_ON_ITSELF, STOPS
from rebalance_check.properties.connect.other_work import OtherWorkFold
from rebalance_check.properties.connect.worker import COORDINATOR_UNKNOWN
from rebalance_check.properties.contract.pace import SLACK_MS
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED

OF_THE_WAIT: Final = frozenset({CoordinatorAwaited, CoordinatorFound, LookUpAnswered, LookUpSent,
                                MemberCrashed, MemberLeft, MemberStarted, WorkRevocationStarted})  # fmt: skip
"""What belongs to the wait itself, and is no other work of the herder."""

OTHER_WORK: Final[tuple[type[Event], ...]] = (
    *(one for one in (*GOES_ON, *GOES_ON_ITSELF, *STOPS) if one not in OF_THE_WAIT),
    HerderRequestEnded, HerderRequestStarted, RequestAnswered,
)  # fmt: skip
"""What a herder may have been blocked by until then."""


class WorkIsGivenUpAfterAWaitViolated(Violation):
    """A worker gave its work up sooner or later than one heartbeat interval after it began to wait."""


class _AfterAWait(OtherWorkFold):
    """Per member, too: the first poll in vain since it had a coordinator, or gave its work up."""

    needs = ((RunStarted,), (WorkerConfigured,))
    bookkeeping = frozenset({*OF_THE_WAIT, *OTHER_WORK, *OF_STATUSES, ConfigAppended}) - {WorkRevocationStarted}

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MemberCrashed, MemberLeft, MemberStarted), self.on_over),
            CoordinatorFound: self.on_found,
            CoordinatorAwaited: self.on_awaited,
            WorkRevocationStarted: self.on_revocation,
        }
        super().__init__(invariant, OTHER_WORK, handlers)
        self.compared = 0
        self._since: dict[str, CoordinatorAwaited] = {}
        self._known: set[str] = set()

    def on_over(self, event: MemberEvent) -> None:
        """Its process ends, or begins anew."""
        self._since.pop(event.member, None)

    def on_found(self, event: CoordinatorFound) -> None:
        """The next poll in vain begins a new wait; a herder that polls only after the next loss waits on."""
        self._known.add(event.member)

    def on_awaited(self, event: CoordinatorAwaited) -> None:
        """It begins to wait, or waits on."""
        if event.member in self._known:
            self._known.discard(event.member)
            self._since.pop(event.member, None)
        self._since.setdefault(event.member, event)

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """It gives its work up; where the reason is another one, a wait goes on."""
        configured = self.memory.of(event.member).configured
        if event.reason != COORDINATOR_UNKNOWN:
            self.on_other(event)
        elif configured is not None and self.paces.run.is_recorded:
            self.compared = (self.compared or 0) + 1
            self._judge(event, configured)

    def _judge(self, event: WorkRevocationStarted, configured: WorkerConfigured) -> None:
        since = self._since.pop(event.member, None)
        if since is None:
            self.contradiction(
                f"{event.member} gives its work up and has not waited for a coordinator",
                (f"{event.member} waits for {configured.heartbeat_interval_ms} ms as of {STEP};", configured),
                (f"it gives up at {STEP} and had never begun to wait: contradiction.", event),
            )
            return
        due_ms = since.time_ms + configured.heartbeat_interval_ms
        if event.time_ms < due_ms or event.time_ms > self.able_ms(event.member, due_ms) + SLACK_MS:
            self.contradiction(
                f"{event.member} gives its work up after {event.time_ms - since.time_ms} ms without a coordinator",
                (f"{event.member} began to wait for a coordinator at {STEP},", since),
                (f"for {configured.heartbeat_interval_ms} ms as of {STEP};", configured),
                (f"it gives its work up at {STEP}, and did nothing else: contradiction.", event),
            )


WorkIsGivenUpAfterAWait: Final = Invariant(
    name="work_is_given_up_after_a_wait",
    family="connect_work",
    claim="a worker gives its work up for want of a coordinator heartbeat.interval.ms after the first poll that found "
    "none: never sooner, and later only when its herder was blocked or paused",
    source="WorkerCoordinator.poll; KAFKA-9184",
    premises=(
        RECORDED,
        "a herder may have been blocked until whatever else happened last in its worker",
        "a coordinator that was found and lost between two polls ends no wait",
    ),
    exempted_by=(*OTHER_WORK, *OF_STATUSES, ConfigAppended, CoordinatorFound),
    violation=WorkIsGivenUpAfterAWaitViolated,
    fold=_AfterAWait,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible")
    WorkRevocationStarted(member="w0", generation=1, work=("c",), reason="coordinator unknown")
"""

CLAIMS: Final = (WorkIsGivenUpAfterAWait,)
"""In the order in which reports name them."""
