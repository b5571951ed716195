"""Mutants of the classic model that break no safety claim: something that must happen does not."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_MEMBER: Final = "rebalance_check.model.classic.client"

LIVENESS_MUTANTS: Final = (
    ModelMutant(
        name="sessions-stop-while-preparing",
        what="no session expires during a join phase, which waits for a dead member for ever",
        edit=Edit(
            _COORDINATOR,
            "    if is_held(c, s, m) and not is_abandoned(s, m):",
            "    if s.status == GroupStatus.PREPARING or (is_held(c, s, m) and not is_abandoned(s, m)):",
        ),
        caught_by="rebalance_completes",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&initial_delay=off"),
        liveness=True,
    ),
    ModelMutant(
        name="heartbeat-makes-join-again",
        what="a member joins again after each Heartbeat reply: when the leader does, all members have to",
        edit=Edit(
            _MEMBER,
            "    if net.kind != MessageKind.HEARTBEAT_REPLY or is_error_reply(net):\n        return False\n",
            "    if net.kind != MessageKind.HEARTBEAT_REPLY or is_error_reply(net):\n        return False\n"
            "    s.member[m].status = MemberStatus.UNJOINED\n",
        ),
        caught_by="rebalance_completes",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"),
        liveness=True,
    ),
    ModelMutant(
        name="unknown-id-is-kept",
        what="a member that learns UNKNOWN_MEMBER_ID joins with the same id again, for ever",
        edit=Edit(
            _MEMBER,
            "    if error == Error.UNKNOWN_MEMBER_ID:\n        me.has_id = 0",
            "    if error == Error.UNKNOWN_MEMBER_ID:\n        me.has_id = 1",
        ),
        caught_by="no_stuck_member",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off"),
        liveness=True,
    ),
    ModelMutant(
        name="leader-sync-is-parked",
        what="the leader's SyncGroup is parked like a follower's, and no member gets the assignment",
        edit=Edit(
            _COORDINATOR,
            " and (m != s.leader or c.failovers > 0):\n        if m == s.leader:",
            ":\n        if m == s.leader and c.failovers > 0:",
        ),
        caught_by="parked_requests_are_answered",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"),
        liveness=True,
    ),
    ModelMutant(
        name="pending-id-never-expires",
        what="the coordinator waits for ever for the pending id of a process that died",
        edit=Edit(
            _COORDINATOR,
            "    if not has(s.members | s.pending, m) or is_writing(s)",
            "    if not has(s.members, m) or is_writing(s)",
        ),
        caught_by="pending_ids_vanish",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=1&initial_delay=off&member_id_required"),
        liveness=True,
    ),
    ModelMutant(
        name="second-round-is-forgotten",
        what="a cooperative member that revoked partitions does not join again, so they stay without an owner",
        edit=Edit(
            _MEMBER,
            "MemberStatus.UNJOINED if revoked != 0 and keeps_partitions(c, s, m) else MemberStatus.STABLE",
            "MemberStatus.STABLE",
        ),
        caught_by="every_partition_gets_an_owner",
        bounds=Bounds.from_address("cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off"),
        liveness=True,
    ),
)
