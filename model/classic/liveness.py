"""Liveness properties of the classic protocol: goals that its runs reach once faults stop.

Without faults no process crashes, leaves or expires while it runs, no message is duplicated and no group deleted.
Live processes go on polling, messages arrive, and the sessions of dead processes expire (`Rule.fair` in
`model.classic.model`).
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, LivenessProperty
from rebalance_check.model.classic.invariants import is_current
from rebalance_check.model.classic.state import Config, GroupStatus, MemberStatus, State, has


def rebalance_completes(s: State) -> bool:
    """The group becomes stable or empty, and stays so.

    Each join phase ends, each sync phase ends, and no member starts another rebalance for ever.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; ``GroupMetadataManager.expirePendingSync``.
    """
    return s.status <= GroupStatus.EMPTY or s.status == GroupStatus.STABLE


def no_stuck_member(s: State, m: int) -> bool:
    """A live process that goes on polling becomes a stable member of the group's generation.

    Whatever state its last fault left it in, its replies lead it back into the group.

    Source: ``AbstractCoordinator.ensureActiveGroup``.
    """
    me = s.member[m]
    return me.status == MemberStatus.DOWN or (me.status == MemberStatus.STABLE and is_current(s, m))


def parked_requests_are_answered(s: State, m: int) -> bool:
    """No JoinGroup or SyncGroup stays parked for ever.

    The join phase ends when all have joined or by the rebalance timeout, the sync phase by the leader's SyncGroup or
    the sync timeout.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; ``GroupMetadataManager.expirePendingSync``.
    """
    return not has(s.joined | s.synced, m)


def pending_ids_vanish(s: State, m: int) -> bool:
    """A handed-out member id is used, or forgotten after its session timeout.

    The coordinator arms the session timeout of the JoinGroup for the pending id.

    Source: KIP-394; ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    """
    return not has(s.pending, m)


def every_partition_gets_an_owner(c: Config, s: State, p: int) -> bool:
    """While some process runs, each partition gets a current member as its owner.

    A COOPERATIVE group may need a second rebalance for that.

    Source: KIP-429; ``ConsumerCoordinator.onJoinComplete``.
    """
    alive = False
    for m in range(c.members):
        if s.member[m].status != MemberStatus.DOWN:
            alive = True
        if has(s.member[m].owned, p) and is_current(s, m):
            return True
    return not alive


LIVENESS: Final = Concern(
    liveness=(
        LivenessProperty(rebalance_completes, stabilises=True),
        LivenessProperty(no_stuck_member),
        LivenessProperty(parked_requests_are_answered),
        LivenessProperty(pending_ids_vanish),
        LivenessProperty(every_partition_gets_an_owner),
    ),
)
