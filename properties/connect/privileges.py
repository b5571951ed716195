"""A worker claims the write privileges of the config topic only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    ConfigCallStarted,
    ConnectAssignmentReceived,
    Event,
    MemberEvent,
    WorkerConfigured,
)
from rebalance_check.properties.config_store.calls import CLAIM, FAILED_TRANSACTION
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class PrivilegeClaimHasACauseViolated(Violation):
    """A worker claimed write privileges that it held, and had not been assigned anything as the leader since."""


class _Claims(SimulatedFold):
    """Per worker: the assignment as the leader and the failed call that it has not claimed for, and the last claim."""

    bookkeeping = frozenset({*PROCESS, ConfigCallEnded, ConnectAssignmentReceived, WorkerConfigured})
    needs = ((WorkerConfigured,), (ConfigCallStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            WorkerConfigured: self.on_configured,
            ConnectAssignmentReceived: self.on_received,
            ConfigCallStarted: self.on_call,
            ConfigCallEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._last: dict[str, WorkerConfigured | ConfigCallStarted] = {}
        self._leads: set[str] = set()
        self._failed: set[str] = set()
        self._claiming: dict[str, int] = {}

    def on_process(self, event: MemberEvent) -> None:
        """The next process has a store of its own."""
        self._last.pop(event.member, None)
        self._leads.discard(event.member)
        self._failed.discard(event.member)
        self._claiming.pop(event.member, None)

    def on_configured(self, event: WorkerConfigured) -> None:
        """A worker that records its settings records its calls."""
        if self.run.is_recorded:
            self._last[event.member] = event

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """A leader claims them with each assignment that it takes over."""
        if event.leader == event.member_id:
            self._leads.add(event.member)

    def on_call(self, event: ConfigCallStarted) -> None:
        """One cause is enough for one claim."""
        last = self._last.get(event.member)
        if last is None or event.method != CLAIM:
            return
        self.compared = (self.compared or 0) + 1
        self._last[event.member], self._claiming[event.member] = event, event.call
        if event.member in self._leads:
            self._leads.discard(event.member)
        elif event.member in self._failed:
            self._failed.discard(event.member)
        else:
            self._report(last, event)

    def on_return(self, event: ConfigCallEnded) -> None:
        """A transaction that failed costs the privileges, and a claim that failed is repeated."""
        is_claim = self._claiming.get(event.member) == event.call
        if event.error == FAILED_TRANSACTION or (is_claim and event.error):
            self._failed.add(event.member)

    def _report(self, last: WorkerConfigured | ConfigCallStarted, event: ConfigCallStarted) -> None:
        before = "claimed them last" if isinstance(last, ConfigCallStarted) else "began"
        self.contradiction(
            f"{event.member} claims write privileges, and nothing asked for that",
            (f"{event.member} {before} at {STEP};", last),
            (f"it claims them at {STEP}, and since then no call of its config store had failed for want of them, and "
             "it had received no assignment as the leader: contradiction.", event),
        )  # fmt: skip


PrivilegeClaimHasACause: Final = Invariant(
    name="privilege_claim_has_a_cause",
    family="connect_duties",
    claim="a worker claims the write privileges of the config topic when it has received an assignment as the leader, "
    "when a transaction of its own failed, or when a claim failed, and otherwise not",
    source="DistributedHerder.RebalanceListener.onAssigned, tick (fencedFromConfigTopic), writeToConfigTopicAsLeader; "
    "KIP-618",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, ConfigCallEnded, ConnectAssignmentReceived),
    violation=PrivilegeClaimHasACauseViolated,
    fold=_Claims,
)
"""A claim fences the producer of the leader before, and the herder waits for it. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="sessioned", store="w0")
    ConfigCallStarted(member="w0", call=0, method="claimWritePrivileges")
"""

CLAIMS: Final = (PrivilegeClaimHasACause,)
"""In the order in which reports name them."""
