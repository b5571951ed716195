"""The claims about the wire, in the order in which reports name them, and by the KIP that they are taken from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.wire import (
    claiming,
    committing,
    coordinating,
    following,
    heartbeating,
    identity,
    joining,
    leading,
    leaving,
    static,
)

CLAIMS_BY_KIP: Final[Mapping[str, tuple[Invariant, ...]]] = MappingProxyType(
    {
        "base protocol": (
            *joining.CLAIMS,
            identity.MemberIdIsKept,
            identity.LostMembershipIsNotUsed,
            identity.GenerationIsTheLast,
            following.FollowersAssignNothing,
            leading.LeaderAssignsItsMembers,
            leading.LeaderAssignsEachPartitionOnce,
            leading.LeaderAssignsAllPartitions,
            *committing.CLAIMS,
            *leaving.CLAIMS,
            *coordinating.CLAIMS,
        ),
        "KIP-62": heartbeating.CLAIMS,
        "KIP-345": static.CLAIMS,
        "KIP-394": (identity.RequiredMemberIdIsUsed,),
        "KIP-429": (
            claiming.ClaimsAreTheAssignment,
            claiming.LostPartitionsAreNotClaimed,
            claiming.EagerMembersClaimNothing,
            claiming.RevokedPartitionsAreHandedOver,
            leading.CooperativeHandOver,
        ),
        "KIP-792": (claiming.ClaimedGenerationFits,),
        "KIP-814": (following.SkippedAssignmentIsEmpty,),
    }
)
"""Each claim once, under the KIP that asks for it; the classic protocol without KIPs comes first."""

WireClaims: Final[tuple[Invariant, ...]] = tuple(claim for claims in CLAIMS_BY_KIP.values() for claim in claims)
"""Every claim of the family ``wire``."""
