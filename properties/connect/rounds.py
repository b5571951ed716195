"""What a leader may compute: nothing granted that is still claimed, nothing without an owner, and delays that hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER
from rebalance_check.properties.views.worker import NO_ERROR


class ClaimedWorkIsNotGrantedViolated(Violation):
    """Work was assigned in a round in which a worker claims it, or in which it is revoked."""


class WorkIsGrantedOnceViolated(Violation):
    """One round gave work to two workers."""


class ConfiguredWorkHasAnOwnerViolated(Violation):
    """A round left configured work without an owner, and no delay explains it."""


class DelayIsHonouredViolated(Violation):
    """Work of a worker that left was assigned before its delay was over."""


class DelayIsBoundedViolated(Violation):
    """A delay is negative, or longer than ``scheduled.rebalance.max.delay.ms``."""


def _union(by_member: Iterable[tuple[str, tuple[str, ...]]]) -> set[str]:
    return {work for _, some in by_member for work in some}


def _owned(event: ConnectAssignmentComputed) -> set[str]:
    """What has an owner after the round."""
    if event.protocol == EAGER:
        return _union(event.assigned)
    revoked = dict(event.revoked)
    kept = {work for member, some in event.claims for work in some if work not in revoked.get(member, ())}
    return kept | (_union(event.assigned) - _union(event.revoked))


class _NotGranted(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """What a worker holds is taken from it first, and granted in a later round."""
        if event.protocol == EAGER:
            return
        taken = {"claimed": event.claims, "revoked": event.revoked}
        granted = {work: member for member, some in event.assigned for work in some}
        for how, by_member in taken.items():
            for member, some in by_member:
                clash = sorted(granted.keys() & set(some))
                if clash:
                    self.contradiction(
                        f"{clash[0]} is assigned to {granted[clash[0]]} in the round in which {member} has it {how}",
                        (f"{event.member} computed this round at {STEP}: contradiction.", event),
                    )
                    return


class _Once(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Each piece of work is listed once."""
        granted: dict[str, str] = {}
        for member, some in event.assigned:
            for work in some:
                if work in granted:
                    self.contradiction(
                        f"{work} is assigned to {granted[work]} and to {member} in generation {event.generation}",
                        (f"{event.member} computed this round at {STEP}: contradiction.", event),
                    )
                    return
                granted[work] = member


class _HasOwner(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectAssignmentComputed: self.on_computed,
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
            },
        )
        self._owned: dict[str, set[str]] = {}

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """A new process remembers no round."""
        self._owned.pop(event.member, None)

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Only work that was lost with its worker may wait, and only while there is a delay."""
        if event.error != NO_ERROR:
            return
        known = self._owned.setdefault(event.member, set())
        owned = _owned(event)
        waiting = set(event.configured) - owned - _union(event.revoked)
        known &= set(event.configured)
        unexplained = waiting if not event.delay_ms else waiting - known
        known |= owned
        if unexplained:
            first = min(unexplained)
            why = "there is no delay" if not event.delay_ms else "no worker had it before"
            self.contradiction(
                f"{first} has no owner after generation {event.generation}",
                (f"{first} is configured, no worker owns it after the round of {STEP}, and {why}: contradiction.",
                 event),
            )  # fmt: skip


class _Delay(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectAssignmentComputed: self.on_computed,
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
            },
        )
        self._before: dict[str, ConnectAssignmentComputed] = {}

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """A new process remembers no round."""
        self._before.pop(event.member, None)

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """The leader that announced a delay, and completed that round, keeps to it."""
        before = self._before.get(event.member)
        if event.error == NO_ERROR:
            self._before[event.member] = event
        if before is None or event.error != NO_ERROR or event.completed != before.generation:
            return
        over_ms = before.time_ms + before.delay_ms
        waiting = set(before.configured) - _owned(before) - _union(before.revoked)
        early = sorted(waiting & _union(event.assigned))
        forgotten = _union(before.revoked) & _union(event.claims)  # a revocation that did not happen ends the memory
        if early and event.time_ms < over_ms and not forgotten and event.protocol == before.protocol:
            self.contradiction(
                f"{early[0]} was assigned {over_ms - event.time_ms} ms before the delay was over",
                (f"{before.member} left {early[0]} without an owner at {STEP}, for {before.delay_ms} ms.", before),
                (f"it assigned {early[0]} at {STEP}, {event.time_ms - before.time_ms} ms later: contradiction.", event),
            )


class _Bounded(WorkerFold):
    needs = ((WorkerConfigured,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """The leader's own setting counts."""
        configured = self.memory.of(event.member).configured
        if configured is None or 0 <= event.delay_ms <= configured.scheduled_rebalance_max_delay_ms:
            return
        self.contradiction(
            f"generation {event.generation} has a delay of {event.delay_ms} ms",
            (f"{event.member} began at {STEP} with scheduled.rebalance.max.delay.ms "
             f"{configured.scheduled_rebalance_max_delay_ms}.", configured),
            (f"it computed a delay of {event.delay_ms} ms at {STEP}: contradiction.", event),
        )  # fmt: skip


ClaimedWorkIsNotGranted: Final = Invariant(
    name="claimed_work_is_not_granted",
    family="connect_rounds",
    claim="under the incremental protocols a round assigns nothing that any worker claims, or that it revokes",
    source="KIP-415; IncrementalCooperativeAssignor.performTaskAssignment",
    violation=ClaimedWorkIsNotGrantedViolated,
    fold=_NotGranted,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, claims=(("a", ("c",)), ("b", ())), assigned=(("a", ()), ("b", ("c",))))
"""

WorkIsGrantedOnce: Final = Invariant(
    name="work_is_granted_once",
    family="connect_rounds",
    claim="a round assigns each connector and task to one worker at most",
    source="EagerAssignor.performTaskAssignment, IncrementalCooperativeAssignor.performTaskAssignment",
    violation=WorkIsGrantedOnceViolated,
    fold=_Once,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), assigned=(("a", ("c",)), ("b", ("c",))))
"""

ConfiguredWorkHasAnOwner: Final = Invariant(
    name="configured_work_has_an_owner",
    family="connect_rounds",
    claim="after a round without error every configured connector and task has an owner, is being revoked, or was lost "
    "with its worker and waits for a delay",
    source="KIP-415; EagerAssignor, IncrementalCooperativeAssignor.handleLostAssignments",
    violation=ConfiguredWorkHasAnOwnerViolated,
    fold=_HasOwner,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), assigned=(("a", ()),))
"""

DelayIsHonoured: Final = Invariant(
    name="delay_is_honoured",
    family="connect_rounds",
    claim="a leader assigns the work of a worker that left no earlier than the delay that it announced allows",
    source="KIP-415, scheduled.rebalance.max.delay.ms; IncrementalCooperativeAssignor.handleLostAssignments",
    premises=(
        "the leader completed the round that announced the delay; another leader does not know of it",
        "what that round revoked was given up, else the leader forgets its rounds",
    ),
    exempted_by=(MemberStarted,),
    violation=DelayIsHonouredViolated,
    fold=_Delay,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u", time_ms=0,
                              config_offset=2, configured=("c",), assigned=(("a", ()),), delay_ms=300000, completed=1)
    ConnectAssignmentComputed(member="w0", generation=3, protocol="compatible", leader="a", leader_url="u", time_ms=9,
                              config_offset=2, configured=("c",), assigned=(("a", ("c",)),), completed=2)
"""

DelayIsBounded: Final = Invariant(
    name="delay_is_bounded",
    family="connect_rounds",
    claim="a delay lies between 0 and the leader's scheduled.rebalance.max.delay.ms",
    source="KIP-415, scheduled.rebalance.max.delay.ms; IncrementalCooperativeAssignor",
    violation=DelayIsBoundedViolated,
    fold=_Bounded,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=1000)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, delay_ms=1001)
"""

CLAIMS: Final = (
    ClaimedWorkIsNotGranted,
    WorkIsGrantedOnce,
    ConfiguredWorkHasAnOwner,
    DelayIsHonoured,
    DelayIsBounded,
)
"""In the order in which reports name them."""
