"""The invariants that the wire shows of a client, by the KIP that asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws import client_causes, leaders
from rebalance_check.properties.laws.requests import (
    claiming,
    coordinating,
    heartbeats,
    identity,
    joining,
    metadata,
    static,
)

BY_KIP: Final[Mapping[str, tuple[Invariant, ...]]] = MappingProxyType(
    {
        "base protocol": (
            joining.JoinsOneAtATime,
            joining.RejoinsWhenRebalancing,
            joining.SyncFollowsJoin,
            metadata.MetadataIsReadable,
            client_causes.NoNeedlessJoin,
            identity.MemberIdIsKept,
            identity.LostMembershipIsNotUsed,
            identity.GenerationIsTheLast,
            leaders.LeaderAssignsItsMembers,
            leaders.AssignmentIsDisjoint,
            leaders.LeaderAssignsAllPartitions,
            claiming.CommitsWhatItOwns,
            coordinating.LeavesOnClose,
            coordinating.LooksUpTheCoordinator,
            coordinating.PausesAfterRefusals,
        ),
        "KIP-62": heartbeats.LAWS,
        "KIP-345": static.LAWS,
        "KIP-394": (identity.RequiredMemberIdIsUsed,),
        "KIP-429": (
            claiming.ClaimsAreTheAssignment,
            claiming.LostPartitionsAreNotClaimed,
            claiming.RevokedPartitionsAreHandedOver,
            leaders.CooperativeHandOver,
        ),
        "KIP-814": (leaders.SkippedAssignmentIsEmpty,),
    }
)
"""Each once; the classic protocol without KIPs comes first."""

WireClaims: Final[tuple[Invariant, ...]] = tuple(one for each in BY_KIP.values() for one in each)
"""The same in one row."""
