"""A round takes work from a worker only for a cause."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import ConnectAssignmentComputed
from rebalance_check.properties.connect.worker import NO_ERROR, connector_of, listed
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER


class WorkIsTakenForACauseViolated(Violation):
    """A round revoked work of a worker that had no more than its share, or more of it than that."""


class _Taken(SimulatedWorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})
        self.compared = 0
        self._waited: set[str] = set()

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """What each worker keeps of connectors, and of tasks, is its share at least."""
        has_waited = event.member in self._waited
        if event.delay_ms:
            self._waited.add(event.member)
        else:
            self._waited.discard(event.member)
        if event.protocol == EAGER or event.error != NO_ERROR or not event.claims:
            return
        configured = set(event.configured)
        if self.run.is_simulated and not has_waited and all(configured.issuperset(claim) for _, claim in event.claims):
            self._count(event)
        counts = Counter(work for _, some in event.claims for work in some)
        revoked, assigned = dict(event.revoked), dict(event.assigned)
        for member, claim in event.claims:
            taken, given = set(revoked.get(member, ())), set(assigned.get(member, ()))
            if not configured.issuperset(claim):
                continue
            self.compared = (self.compared or 0) + 1
            for of_tasks in (False, True):
                held = {work for work in (*claim, *given) if _is_task(work, configured) is of_tasks}
                share = sum(_is_task(work, configured) is of_tasks for work in configured) // len(event.claims)
                surplus = sorted(work for work in taken.intersection(claim) if work in held and counts[work] == 1)
                if surplus and len(held - taken) < share:
                    self._report(event, member, surplus, len(held - taken), share)

    def _count(self, event: ConnectAssignmentComputed) -> None:
        """All together give up what is beyond their shares, of which as many keep one more as there is left over."""
        configured = set(event.configured)
        counts = Counter(work for _, some in event.claims for work in some)
        for of_tasks in (False, True):
            of_kind = {work for work in configured if _is_task(work, configured) is of_tasks}
            share, left_over = divmod(len(of_kind), len(event.claims))
            held = {member: [work for work in claim if work in of_kind and counts[work] == 1]
                    for member, claim in event.claims}  # fmt: skip
            beyond = [len(work) - share for work in held.values() if len(work) > share]
            taken = [work for member, some in event.revoked for work in some if work in held.get(member, ())]
            most = sum(beyond) - min(left_over, len(beyond))
            if len(taken) > most:
                self.contradiction(
                    f"the round of {event.member} takes {listed(taken)}, more than shares of one size ask for",
                    (f"{len(of_kind)} of that kind are configured for {len(event.claims)} workers, so that they give "
                     f"up {most} of what they have;", None),
                    (f"generation {event.generation} takes {listed(taken)} at {STEP}: contradiction.", event),
                )  # fmt: skip

    def _report(self, event: ConnectAssignmentComputed, member: str, surplus: list[str], left: int, share: int) -> None:
        self.contradiction(
            f"{listed(surplus)} is taken from {member}, and nothing asked for it",
            (f"{listed(surplus)} is configured, and no other worker claims it;", None),
            (f"generation {event.generation} leaves {member} {left} of that kind, where {share} are the share of each "
             f"worker, at {STEP}: contradiction.", event),
        )  # fmt: skip


def _is_task(work: str, configured: set[str]) -> bool:
    """Whether this is the name of a task of a connector that is configured."""
    return connector_of(work) != work and connector_of(work) in configured


WorkIsTakenForACause: Final = Invariant(
    name="work_is_taken_for_a_cause",
    family="connect_rounds",
    claim="a round takes from a worker only what is not configured, what another worker claims, too, and what is "
    "beyond the worker's share of connectors, and of tasks; and no more in all than makes shares of one size",
    source="KIP-415; IncrementalCooperativeAssignor.performLoadBalancingRevocations",
    premises=(
        "the round is incremental and has no error",
        "what the round gives a worker counts: it may get lost work, and give up what it had for that",
        "how much is taken in all is counted in simulated runs, where the round before of this leader had no delay: "
        "after one, candidates may get lost work before",
        "of a worker that claims what the leader does not know as configured nothing is said",
        "a connector whose name is that of a task of another connector counts as that",
    ),
    violation=WorkIsTakenForACauseViolated,
    fold=_Taken,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, configured=("c", "d"), claims=(("a", ("c",)), ("b", ("d",))),
                              revoked=(("a", ("c",)),))
"""

CLAIMS: Final = (WorkIsTakenForACause,)
"""In the order in which reports name them."""
