"""The mistakes that our client can be asked for: for each claim about the wire one that it must catch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rebalance_check.integration.kits.adapters.ours import claiming_slips as claiming
from rebalance_check.integration.kits.adapters.ours import identity_slips as identity
from rebalance_check.integration.kits.adapters.ours import joining_slips as joining
from rebalance_check.integration.kits.adapters.ours import leading_slips as leading
from rebalance_check.integration.kits.adapters.ours.slipping import Slip
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class KnownSlip:
    """A mistake by ``name``; ``make`` makes the `Slip`, whose class describes it.

    ``caught_by`` is the claim that it violates.
    """

    name: str
    caught_by: str
    make: Callable[[], Slip]

    @property
    def what(self) -> str:
        """Its mistake, in a sentence."""
        return (self.make.__doc__ or "").partition("\n")[0]


_ALL: Final = (
    KnownSlip("joins-twice", "wire_joins_one_at_a_time", joining.JoinsTwice),
    KnownSlip("ignores-rebalance", "wire_rejoins_when_rebalancing", joining.IgnoresRebalance),
    KnownSlip("never-syncs", "wire_sync_follows_join", joining.NeverSyncs),
    KnownSlip("joins-again", "wire_no_needless_join", joining.JoinsAgain),
    KnownSlip("joins-after-move", "wire_no_needless_join", joining.JoinsAfterMove),
    KnownSlip("cuts-subscription", "wire_metadata_is_readable", claiming.CutsSubscription),
    KnownSlip("forgets-id", "wire_member_id_is_kept", identity.ForgetsId),
    KnownSlip("ignores-required-id", "wire_required_member_id_is_used", identity.IgnoresRequiredId),
    KnownSlip("keeps-lost-id", "wire_lost_membership_is_not_used", identity.KeepsLostId),
    KnownSlip("stale-generation", "wire_generation_is_the_last", identity.StaleGeneration),
    KnownSlip("hides-instance", "wire_instance_id_is_sent", identity.HidesInstance),
    KnownSlip("new-instance", "wire_static_restart", identity.NewInstance),
    KnownSlip("static-leaves", "wire_static_member_stays", identity.StaticLeaves),
    KnownSlip("fights-back", "wire_fenced_member_stops", identity.FightsBack),
    KnownSlip("claims-less", "wire_claims_are_the_assignment", claiming.ClaimsLess),
    KnownSlip("claims-lost", "wire_lost_partitions_are_not_claimed", claiming.ClaimsLost),
    KnownSlip("eager-claims", "wire_lost_partitions_are_not_claimed", claiming.EagerClaims),
    KnownSlip("keeps-revoked", "wire_revoked_partitions_are_handed_over", claiming.KeepsRevoked),
    KnownSlip("old-claims", "wire_generation_is_the_last", claiming.OldClaims),
    KnownSlip("commits-foreign", "wire_commits_what_it_owns", claiming.CommitsForeign),
    KnownSlip("follower-assigns", "wire_skipped_assignment_is_empty", leading.FollowerAssigns),
    KnownSlip("assigns-to-unknown", "wire_leader_assigns_its_members", leading.AssignsToUnknown),
    KnownSlip("assigns-twice", "assignment_is_disjoint", leading.AssignsTwice),
    KnownSlip("drops-partition", "wire_leader_assigns_all_partitions", leading.DropsPartition),
    KnownSlip("gives-away-early", "wire_cooperative_hand_over", leading.GivesAwayEarly),
    KnownSlip("assigns-anyway", "wire_skipped_assignment_is_empty", leading.AssignsAnyway),
    KnownSlip("early-heartbeat", "wire_heartbeats_as_a_member", joining.EarlyHeartbeat),
    KnownSlip("heartbeats-while-joining", "wire_no_heartbeat_while_joining", joining.HeartbeatsWhileJoining),
    KnownSlip("skips-heartbeats", "wire_heartbeats_keep_the_session", joining.SkipsHeartbeats),
    KnownSlip("stays", "wire_leaves_on_close", joining.Stays),
    KnownSlip("ignores-not-coordinator", "wire_looks_up_the_coordinator", joining.IgnoresNotCoordinator),
    KnownSlip("hot-loop", "wire_pauses_after_refusals", joining.HotLoop),
)

SLIPS: Final[Mapping[str, KnownSlip]] = {slip.name: slip for slip in _ALL}
"""By name."""


def slip(name: str) -> Slip:
    """The mistake of that name, "" for none.

    Raises: RebalanceCheckError where there is none of that name.
    """
    if name and name not in SLIPS:
        raise RebalanceCheckError(f"{name!r} is no slip: choose {', '.join(SLIPS)}")
    return SLIPS[name].make() if name else Slip()
