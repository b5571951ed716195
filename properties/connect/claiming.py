"""What a worker says of its assignment: what it claims when it joins, and who owns a connector or task."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    Event,
    OwnerLookedUp,
    WorkerClaimed,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.worker import listed
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation


class ClaimFollowsAssignmentsViolated(Violation):
    """A worker claims other work than its assignments gave it."""


class OwnerUrlIsTheOwnersViolated(Violation):
    """A worker named an owner that it could not know, or the wrong one."""


class _Claims(WorkerFold):
    needs = ((ConnectAssignmentReceived,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {WorkerClaimed: self.on_claimed})

    def on_claimed(self, event: WorkerClaimed) -> None:
        """What was assigned since the claim before, without what was revoked."""
        worker = self.memory.of(event.member)
        if worker.received is None:
            return
        wanted = None if worker.claim is None else set(worker.claim)
        claims = None if event.claim is None else set(event.claim)
        if wanted == claims:
            return
        self.contradiction(
            f"{event.member} claims {_named(claims)}, and its assignments make it {_named(wanted)}",
            (f"{event.member} received its last assignment at {STEP}, and owns {_named(wanted)} since.",
             worker.received),
            (f"it joins with a claim to {_named(claims)} at {STEP}: contradiction.", event),
        )  # fmt: skip


def _named(claim: set[str] | None) -> str:
    return "no assignment" if claim is None else listed(claim)


class _OwnerUrl(WorkerFold):
    needs = ((ConnectAssignmentReceived,), (ConnectAssignmentComputed,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {OwnerLookedUp: self.on_looked_up})

    def on_looked_up(self, event: OwnerLookedUp) -> None:
        """Only a leader that is not about to join again knows the owners."""
        worker = self.memory.of(event.member)
        if not event.url or worker.received is None:
            return
        computed = self.memory.round_computed(worker.received)
        if worker.unstable is not None:
            self._refuse(event, "it is joining again since {step}", worker.unstable)
        elif not worker.leads:
            self._refuse(event, f"{worker.received.leader} leads since {STEP}", worker.received)
        elif computed is not None:
            self._compare(event, computed)

    def _compare(self, event: OwnerLookedUp, computed: ConnectAssignmentComputed) -> None:
        owner = dict(computed.owners).get(event.work)
        if owner is None:
            self._refuse(event, f"no worker owns it since {STEP}", computed)
            return
        holder = self.memory.with_id(owner)
        if holder is not None and holder.claimed is not None and holder.claimed.url != event.url:
            self._refuse(event, f"{owner}, its owner, advertised {holder.claimed.url} at {STEP}", holder.claimed)

    def _refuse(self, event: OwnerLookedUp, why: str, shown: Event) -> None:
        self.contradiction(
            f"{event.member} says that {event.url} owns {event.work}",
            (f"{why}.", shown),
            (f"{event.member} answered {event.url} for {event.work} at {STEP}: contradiction.", event),
        )


ClaimFollowsAssignments: Final = Invariant(
    name="claim_follows_assignments",
    family="connect_rounds",
    claim="a worker claims what it was assigned and not revoked, and nothing after it stopped all for want of a "
    "coordinator",
    source="KIP-415; WorkerCoordinator.onJoinComplete, metadata",
    premises=("every assignment of the worker is recorded, from its start",),
    exempted_by=(ConnectAssignmentReceived, WorkRevocationEnded, WorkRevocationStarted),
    violation=ClaimFollowsAssignmentsViolated,
    fold=_Claims,
)
"""An eager assignment replaces a claim. The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, assigned=("c",))
    WorkerClaimed(member="w0", generation=1, url="http://w0/", config_offset=2, claim=())
"""

OwnerUrlIsTheOwners: Final = Invariant(
    name="owner_url_is_the_owners",
    family="connect_rounds",
    claim="a worker names the owner of work only while it leads and need not rejoin, and then the URL of the worker "
    "that its round gave the work to",
    source="WorkerCoordinator.ownerUrl, LeaderState",
    premises=("a worker that answers null says nothing",),
    violation=OwnerUrlIsTheOwnersViolated,
    fold=_OwnerUrl,
)
"""The smallest history that breaks it::

    WorkerClaimed(member="w0", generation=-1, member_id="a", url="http://w0/", config_offset=2, claim=None)
    ConnectAssignmentComputed(member="w0", generation=1, member_id="a", protocol="compatible", leader="a",
                              leader_url="http://w0/", config_offset=2, configured=("c",), owners=())
    ConnectAssignmentReceived(member="w0", generation=1, member_id="a", protocol="compatible", leader="a",
                              leader_url="http://w0/", config_offset=2)
    OwnerLookedUp(member="w0", generation=1, member_id="a", work="c", url="http://w1/")
"""

CLAIMS: Final = (
    ClaimFollowsAssignments,
    OwnerUrlIsTheOwners,
)
"""In the order in which reports name them."""
