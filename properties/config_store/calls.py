"""The calls of a config store: each one ends, and a failed transaction costs the store its write privileges."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    ConfigCallStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    ProducerInitialised,
    RunEnded,
)
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

REFRESH: Final = "refresh"
"""The method that reads the topic to its end."""

CLAIM: Final = "claimWritePrivileges"
PRIVILEGED: Final = frozenset({
    CLAIM, "putConnectorConfig", "putTaskConfigs", "removeConnectorConfig", "putTaskCountRecord", "putSessionKey",
    "putRestartRequest",
})  # fmt: skip
"""The methods that need the leader's producer, or make it."""

FAILED_TRANSACTION: Final = "PrivilegedWriteException"


class ConfigCallsEndViolated(ConfigStoreViolated):
    """A call of a config store was never answered."""


class LostWritePrivilegesAreClaimedAnewViolated(ConfigStoreViolated):
    """A config store whose transaction failed went on with its write privileges."""


class CallsFold(SimulatedFold):
    """Per process: its calls that have not ended, by their number.

    A fold of these hears where calls end, and asks `started_of` then.
    """

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        every: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            ConfigCallStarted: self.on_started,
        }
        super().__init__(invariant, {**every, **handlers})
        self._open: dict[str, dict[int, ConfigCallStarted]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """The calls of a process end with it."""
        self._open.pop(event.member, None)

    def on_started(self, event: ConfigCallStarted) -> None:
        """Its caller waits, and its time begins."""
        self._open.setdefault(event.member, {})[event.call] = event

    def started_of(self, event: ConfigCallEnded) -> ConfigCallStarted | None:
        """Where the call that ends began; None where that is not recorded, or other events may not be."""
        started = self._open.get(event.member, {}).pop(event.call, None)
        return started if self.run.is_recorded else None


class _Ends(CallsFold):
    bookkeeping = frozenset({ConfigCallStarted, ConfigCallEnded, *PROCESS})
    needs = ((ConfigCallStarted,), (RunEnded,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigCallEnded: self.on_ended, RunEnded: self.on_run_ended})

    def on_ended(self, event: ConfigCallEnded) -> None:
        """Its caller waits no more."""
        self.started_of(event)

    def on_run_ended(self, event: RunEnded) -> None:
        """All faults are healed, and what was under way is done, unless the run says what is pending."""
        if event.pending or not self.run.is_recorded:
            return
        for member, calls in sorted(self._open.items()):
            for call in calls.values():
                self.contradiction(
                    f"{call.method} of {member}'s config store does not end",
                    (f"{member} called {call.method} at {STEP};", call),
                    (f"the run ended at {STEP} with nothing pending, and the call had neither returned nor thrown: "
                     "contradiction.", event),
                )  # fmt: skip


class _Privileges(SimulatedFold):
    """Per process: the failed transaction that cost its privileges, and the privileged calls that it made since."""

    bookkeeping = frozenset({ConfigCallStarted, ProducerInitialised, *PROCESS})
    needs = ((ConfigCallEnded,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                **dict.fromkeys(PROCESS, self.on_process),
                ConfigCallStarted: self.on_started,
                ConfigCallEnded: self.on_ended,
                ProducerInitialised: self.on_initialised,
            },
        )
        self.compared = 0
        self._lost: dict[str, ConfigCallEnded] = {}
        self._since: dict[str, set[int]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """The next process has a store of its own."""
        self._forget(event.member)

    def on_initialised(self, event: ProducerInitialised) -> None:
        """The store has a producer again; those of tasks are others."""
        if not event.work:
            self._forget(event.member)

    def on_started(self, event: ConfigCallStarted) -> None:
        """What began before the loss may have been through with its transaction."""
        if event.member in self._lost and event.method in PRIVILEGED:
            self._since.setdefault(event.member, set()).add(event.call)

    def on_ended(self, event: ConfigCallEnded) -> None:
        """A privileged call without privileges throws before it writes."""
        lost, since = self._lost.get(event.member), self._since.get(event.member, set())
        if lost is not None and event.call in since and self.run.is_recorded:
            since.discard(event.call)
            self.compared = (self.compared or 0) + 1
            if event.error in ("", FAILED_TRANSACTION):
                self._report(event, lost)
        if event.error == FAILED_TRANSACTION:
            self._lost[event.member] = event
            self._since.pop(event.member, None)

    def _report(self, event: ConfigCallEnded, lost: ConfigCallEnded) -> None:
        how = f"throws {event.error}" if event.error else "returns"
        self.contradiction(
            f"{event.method} of {event.member}'s config store {how}, and the store has no write privileges",
            (f"a transaction of {event.member} failed in {lost.method} at {STEP}, which closed its producer;", lost),
            (f"no other was initialised since, and {event.method} {how} at {STEP}: contradiction.", event),
        )

    def _forget(self, member: str) -> None:
        self._lost.pop(member, None)
        self._since.pop(member, None)


ConfigCallsEnd: Final = Invariant(
    name="config_calls_end",
    family="config_store",
    claim="a call of a config store returns or throws before the run ends, unless its process ended or the run says "
    "what is pending",
    source="KafkaConfigBackingStore (READ_WRITE_TOTAL_TIMEOUT_MS); Producer.commitTransaction (max.block.ms)",
    premises=(RECORDED,),
    exempted_by=(ConfigCallEnded, MemberCrashed, MemberLeft, MemberStarted),
    violation=ConfigCallsEndViolated,
    fold=_Ends,
)
"""The herder's thread waits for such a call. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigCallStarted(member="w0", call=0, method="refresh")
    RunEnded()
"""

LostWritePrivilegesAreClaimedAnew: Final = Invariant(
    name="lost_write_privileges_are_claimed_anew",
    family="config_store",
    claim="a config store whose transaction failed has lost its write privileges: until its producer is initialised "
    "again, no claim of privileges returns, and privileged methods throw before they write",
    source="KIP-618; KafkaConfigBackingStore.relinquishWritePrivileges, sendPrivileged, claimWritePrivileges",
    premises=(RECORDED,),
    exempted_by=(ConfigCallStarted, MemberCrashed, MemberLeft, MemberStarted, ProducerInitialised),
    violation=LostWritePrivilegesAreClaimedAnewViolated,
    fold=_Privileges,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigCallEnded(member="w0", call=1, method="putSessionKey", error="PrivilegedWriteException")
    ConfigCallStarted(member="w0", call=2, method="claimWritePrivileges")
    ConfigCallEnded(member="w0", call=2, method="claimWritePrivileges")
"""

CLAIMS: Final = (ConfigCallsEnd, LostWritePrivilegesAreClaimedAnew)
"""In the order in which reports name them."""
