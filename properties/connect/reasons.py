"""Why a worker asks for another round, and why it gives up all that it runs: what it says is so."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigCallEnded,
    ConfigCallStarted,
    ConnectAssignmentReceived,
    Event,
    HerderRequestStarted,
    MemberEvent,
    RejoinRequested,
    RequestSent,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.config_store.calls import REFRESH
from rebalance_check.properties.connect.topic_resets import RECONFIGURED
from rebalance_check.properties.connect.worker import EAGER_JOIN, NO_ERROR, Worker, listed
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

FAILED_ROUND: Final = "the assignment failed"
DUE: Final = "the scheduled rebalance is due"
UNREAD: Final = "the config topic could not be read"
REVOKED: Final = "work was revoked"

NEXT: Final[tuple[type[Event], ...]] = (HerderRequestStarted, WorkerClaimed, ConfigCallStarted)
"""What a herder may do after it has accepted an assignment, and asked for another round where that is needed."""

CHANGES: Final = frozenset({"onConnectorConfigUpdate", "onConnectorConfigRemove", "onTaskConfigUpdate"})
"""The callbacks of the config store that may ask for a round."""


class RoundsHaveAReasonViolated(Violation):
    """A worker asked for a round, or gave its work up, for a reason that was none, or did not ask for a round."""


class _Reasons(SimulatedWorkerFold):
    """Per worker: an assignment that asks for another round, what it read of configs, and its last read."""

    bookkeeping = frozenset({*PROCESS, *NEXT, RequestSent, AssignmentAccepted, ConfigCallbackCalled, ConfigCallEnded})
    needs = ((WorkerConfigured,), (ConnectAssignmentReceived,), (RejoinRequested,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            **dict.fromkeys(NEXT, self.on_next),
            RequestSent: self.on_request,
            AssignmentAccepted: self.on_accepted,
            ConfigCallbackCalled: self.on_callback,
            ConfigCallEnded: self.on_read,
            RejoinRequested: self.on_rejoining,
            WorkRevocationStarted: self.on_revocation,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._follows: dict[str, AssignmentAccepted] = {}
        self._changed: dict[str, ConfigCallbackCalled] = {}
        self._read: dict[str, ConfigCallEnded] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process begins anew."""
        for known in (self._follows, self._changed, self._read):
            known.pop(event.member, None)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """What was given up is given on in another round."""
        received = self.memory.of(event.member).received
        if received is not None and received.revoked and received.error == NO_ERROR and self.run.is_recorded:
            self._follows[event.member] = event

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """A connector came or went, or task configs were committed."""
        if event.callback in CHANGES:
            self._changed[event.member] = event

    def on_read(self, event: ConfigCallEnded) -> None:
        """It knows the newest configs, or could not read them."""
        if event.method == REFRESH:
            self._read[event.member] = event

    def on_request(self, event: RequestSent) -> None:
        """Heartbeats are sent by another thread."""
        if event.api != Api.HEARTBEAT and event.member in self._follows:
            self.on_next(event)

    def on_next(self, event: MemberEvent | RequestSent) -> None:
        """It goes on, and has asked for the round by now."""
        accepted, received = self._follows.pop(event.member, None), self.memory.of(event.member).received
        if accepted is not None:
            revoked = "" if received is None else listed(received.revoked)
            self.contradiction(
                f"{event.member} gave up {revoked} for others, and does not ask for the round that gives it on",
                (f"{event.member} received an assignment that takes {revoked} from it at {STEP};", received),
                (f"it accepted that at {STEP},", accepted),
                (f"and went on at {STEP} without a request for another round: contradiction.", event),
            )

    def on_rejoining(self, event: RejoinRequested) -> None:
        """What it says is so."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if event.reason == REVOKED:
            self._follows.pop(event.member, None)
        changed = self._changed.pop(event.member, None) if event.reason == RECONFIGURED else None
        worker, read = self.memory.of(event.member), self._read.get(event.member)
        against = _against(worker, event, read)
        if event.reason == RECONFIGURED and changed is None:
            against = "it has read of no connector that came or went, and no commit, since it asked for that last"
        if against:
            self._report(event, worker, f"asks for a round as {event.reason}", against)

    def on_revocation(self, event: WorkRevocationStarted) -> None:
        """Only eager workers stop all before they join."""
        worker = self.memory.of(event.member)
        if event.reason != EAGER_JOIN or worker.received is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if not worker.is_eager:
            self._report(event, worker, f"stops {listed(event.work)} before it joins", "its group is incremental")

    def _report(self, event: MemberEvent, worker: Worker, what: str, against: str) -> None:
        self.contradiction(
            f"{event.member} {what}, and {against}",
            (f"{event.member} received its last assignment at {STEP};", worker.received),
            (f"at {STEP} it {what}, and {against}: contradiction.", event),
        )


def _against(worker: Worker, event: RejoinRequested, read: ConfigCallEnded | None) -> str:
    """What contradicts the reason; empty where nothing does."""
    received = worker.received
    if received is None:
        return ""
    if event.reason == FAILED_ROUND and received.error == NO_ERROR:
        return "it did not fail"
    if event.reason == DUE and event.time_ms < received.time_ms + received.delay_ms:
        return f"is due {received.delay_ms} ms after the assignment"
    if event.reason == UNREAD and (read is None or not read.error):
        return "the last read succeeded"
    return "it revokes nothing" if event.reason == REVOKED and not received.revoked else ""


RoundsHaveAReason: Final = Invariant(
    name="rounds_have_a_reason",
    family="connect_rounds",
    claim="a worker asks for a round for a reason that is so: its assignment failed, revoked work, or announced a "
    "delay that is over, it could not read the config topic, or it read that connectors or task configs changed; it "
    "asks as soon as it accepts an assignment that revokes work, and only an eager worker stops all before it joins",
    source="DistributedHerder.handleRebalanceCompleted, tick; WorkerCoordinator.onJoinPrepare; KIP-415",
    premises=(RECORDED,),
    exempted_by=(
        *PROCESS,
        *NEXT,
        AssignmentAccepted,
        ConfigCallEnded,
        ConfigCallbackCalled,
        RejoinRequested,
        RequestSent,
    ),
    violation=RoundsHaveAReasonViolated,
    fold=_Reasons,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="compatible")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3)
    RejoinRequested(member="w0", reason="work was revoked")
"""

CLAIMS: Final = (RoundsHaveAReason,)
"""In the order in which reports name them."""
