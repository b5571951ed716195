"""The catalogue: every built-in invariant, in the order in which reports name them, and how to select some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.properties.agreement import AssignmentIsComplete, AssignmentIsDisjoint, OneLeader, OneProtocol
from rebalance_check.properties.callbacks import CallbacksAlternate, EagerJoinsEmptyHanded
from rebalance_check.properties.clients import (
    CooperativeKeepsWhatItOwns,
    OwnedIsAssigned,
    ResetLosesAll,
    WhoRevokesRejoins,
)
from rebalance_check.properties.cooperative import RevokedBeforeReassigned
from rebalance_check.properties.fencing import LostIsNotCommitted, StaleGenerationIsRefused
from rebalance_check.properties.gates import (
    CommitIsFenced,
    HeartbeatIsFenced,
    InstanceIsExclusive,
    OneResponsePerRequest,
    SyncIsFenced,
)
from rebalance_check.properties.generation import GenerationMonotonicity
from rebalance_check.properties.identity import (
    HeartbeatNamesAMember,
    LeaveIsLast,
    MemberIdIsKept,
    MembershipEndsForAReason,
)
from rebalance_check.properties.joining import (
    CommonProtocol,
    GenerationHasOnlyJoined,
    GroupSize,
    JoinAnswersAgree,
    MembersGoToTheLeader,
    ParkedRequestsFitTheStatus,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.membership import (
    EmptyGroupIsClean,
    LeaderIsMember,
    LegalTransitions,
    OneMemberPerInstance,
    OnlyLaggardsTimeOut,
    PendingIdsAreNoMembers,
)
from rebalance_check.properties.ownership import NoDoubleOwnership
from rebalance_check.properties.persistence import (
    LoadRestoresTheLog,
    OneAssignmentPerGeneration,
    OnlyEmptyGroupsAreDeleted,
    PersistedBeforeTheyArePropagated,
    StableIsPersisted,
)
from rebalance_check.properties.progress import RebalanceCompletes
from rebalance_check.properties.sending import CommitsWhenStable, OneChainInFlight
from rebalance_check.properties.status.catalogue import SafeStatusWrites

CATALOGUE: Final[tuple[Invariant, ...]] = (
    NoDoubleOwnership,
    GenerationMonotonicity,
    RevokedBeforeReassigned,
    CallbacksAlternate,
    EagerJoinsEmptyHanded,
    StaleGenerationIsRefused,
    LostIsNotCommitted,
    MembershipEndsForAReason,
    MemberIdIsKept,
    HeartbeatNamesAMember,
    LeaveIsLast,
    OneLeader,
    OneProtocol,
    AssignmentIsDisjoint,
    AssignmentIsComplete,
    LegalTransitions,
    PendingIdsAreNoMembers,
    OneMemberPerInstance,
    LeaderIsMember,
    EmptyGroupIsClean,
    OnlyLaggardsTimeOut,
    ParkedRequestsFitTheStatus,
    GenerationHasOnlyJoined,
    CommonProtocol,
    GroupSize,
    MembersGoToTheLeader,
    JoinAnswersAgree,
    PersistedBeforeTheyArePropagated,
    OneAssignmentPerGeneration,
    StableIsPersisted,
    LoadRestoresTheLog,
    OnlyEmptyGroupsAreDeleted,
    SyncIsFenced,
    HeartbeatIsFenced,
    CommitIsFenced,
    InstanceIsExclusive,
    OneResponsePerRequest,
    CooperativeKeepsWhatItOwns,
    OwnedIsAssigned,
    WhoRevokesRejoins,
    ResetLosesAll,
    OneChainInFlight,
    CommitsWhenStable,
    *SafeStatusWrites,
    RebalanceCompletes,
)
"""Every built-in invariant."""


def families() -> tuple[str, ...]:
    """The families of the catalogue, in order, each once."""
    return tuple(dict.fromkeys(invariant.family for invariant in CATALOGUE))


def select(names: Iterable[str]) -> tuple[Invariant, ...]:
    """The invariants with these names or in these families, in the order of the catalogue; none given means all.

    ``no_double_ownership`` and ``NoDoubleOwnership`` are the same name. `RebalanceCheckError` lists what there is when
    a name is unknown.
    """
    wanted = {_plain(name): name for name in names}
    known = {_plain(word) for invariant in CATALOGUE for word in (invariant.name, invariant.family)}
    unknown = [name for plain, name in wanted.items() if plain not in known]
    if unknown:
        raise RebalanceCheckError(
            f"{unknown[0]!r} names no invariant and no family: choose from {', '.join(i.name for i in CATALOGUE)} "
            f"or the families {', '.join(families())}"
        )
    return tuple(i for i in CATALOGUE if not wanted or _plain(i.name) in wanted or _plain(i.family) in wanted)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
