"""How a leading worker deals connectors and tasks out: shares of one size, where nothing is given up or waited for."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import ConnectAssignmentComputed
from rebalance_check.properties.connect.worker import NO_ERROR, connector_of
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import SIMULATED, SimulatedFold


class WorkersGetSharesOfOneSizeViolated(Violation):
    """A round that asks for no other one leaves a worker two connectors, or tasks, more than another."""


class NewWorkGoesToTheLeastViolated(Violation):
    """A round gave work to a worker that had enough of it, and another one had less."""


class _Shares(SimulatedFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})
        self.compared = 0

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Of connectors, and of tasks, where the round gives away all that is configured, and takes nothing."""
        takes = event.delay_ms or any(work for _, work in event.revoked)
        if event.error != NO_ERROR or takes or not self.run.is_simulated:
            return
        shares = _shares(event)
        dealt = [work for share in shares.values() for work in share]
        if not shares or sorted(dealt) != sorted(event.configured):
            return
        self.compared = (self.compared or 0) + 1
        connectors = _connectors(event.configured)
        for kind, of_kind in (("connectors", connectors), ("tasks", set(event.configured) - connectors)):
            sizes = {member: len(share & of_kind) for member, share in sorted(shares.items())}
            least, most = min(sizes, key=lambda one: sizes[one]), max(sizes, key=lambda one: sizes[one])
            if sizes[most] > sizes[least] + 1:
                self.contradiction(
                    f"{most} has {sizes[most]} {kind}, and {least} {sizes[least]}",
                    (f"the round of {event.member} at {STEP} takes nothing from any worker, waits for none, and leaves "
                     f"{most} {sizes[most]} {kind} and {least} {sizes[least]}: contradiction.", event),
                )  # fmt: skip


class _Least(SimulatedFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})
        self.compared = 0
        self._waited: set[str] = set()

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Who gets something has at most one more of it afterwards than any other."""
        has_waited = event.member in self._waited
        if event.delay_ms:
            self._waited.add(event.member)
        else:
            self._waited.discard(event.member)
        if event.error != NO_ERROR or has_waited or not event.assigned or not self.run.is_simulated:
            return
        if not all(set(event.configured).issuperset(claim) for _, claim in event.claims):
            return
        self.compared = (self.compared or 0) + 1
        revoked, assigned = dict(event.revoked), dict(event.assigned)
        shares = {member: share - set(revoked.get(member, ())) for member, share in _shares(event).items()}
        connectors = _connectors(event.configured)
        for kind, of_kind in (("connectors", connectors), ("tasks", set(event.configured) - connectors)):
            sizes = {member: len(share & of_kind) for member, share in sorted(shares.items())}
            least = min(sizes, key=lambda one: sizes[one])
            for member, given in sorted(assigned.items()):
                if of_kind.intersection(given) and sizes[member] > sizes[least] + 1:
                    self.contradiction(
                        f"{member} gets new {kind}, and has {sizes[member]} now, where {least} has {sizes[least]}",
                        (f"the round of {event.member} at {STEP} gives {member} new {kind}, and leaves {least} with "
                         "two less: contradiction.", event),
                    )  # fmt: skip


def _shares(event: ConnectAssignmentComputed) -> dict[str, frozenset[str]]:
    """What each worker has after the round: all of it is new in an eager one, else it comes to what it claims."""
    claims = {} if event.protocol == "default" else dict(event.claims)
    return {member: frozenset((*claims.get(member, ()), *work)) for member, work in event.assigned}


def _connectors(configured: tuple[str, ...]) -> set[str]:
    """The connectors among the work of a cluster: what is no task of another one."""
    names = set(configured)
    return {work for work in names if connector_of(work) == work or connector_of(work) not in names}


WorkersGetSharesOfOneSize: Final = Invariant(
    name="workers_get_shares_of_one_size",
    family="connect_rounds",
    claim="a round that gives all that is configured to some worker, takes nothing and waits for nothing leaves no "
    "worker two connectors more than another, nor two tasks",
    source="KIP-415; EagerAssignor, IncrementalCooperativeAssignor.performLoadBalancingRevocations",
    premises=(SIMULATED, "the release is one with KAFKA-12495 and KAFKA-12283 mended: older ones stay uneven"),
    violation=WorkersGetSharesOfOneSizeViolated,
    fold=_Shares,
)
"""Where nothing is to be moved any more, workers have as much to do as each other.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="default", leader="a", leader_url="", config_offset=1,
                              configured=("c", "d"), claims=(("a", ()), ("b", ())),
                              assigned=(("a", ("c", "d")), ("b", ())))
"""

NewWorkGoesToTheLeast: Final = Invariant(
    name="new_work_goes_to_the_least",
    family="connect_rounds",
    claim="no worker that a round gives a connector has two connectors more afterwards than another worker; and the "
    "same holds of tasks",
    source="IncrementalCooperativeAssignor.assignConnectors, assignTasks; EagerAssignor",
    premises=(
        SIMULATED,
        "the round before of this leader had no delay: after one, candidates get lost work first",
        "all that workers claim is configured",
    ),
    violation=NewWorkGoesToTheLeastViolated,
    fold=_Least,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="compatible", leader="a", leader_url="",
                              config_offset=1, configured=("c", "d", "e"), claims=(("a", ()), ("b", ())),
                              assigned=(("a", ("c", "d")), ("b", ())))
"""

CLAIMS: Final = (WorkersGetSharesOfOneSize, NewWorkGoesToTheLeast)
"""In the order in which reports name them."""
