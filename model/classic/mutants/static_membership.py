"""Mutants of static membership in the classic model (`model.classic.parts.static_members`)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_JOIN_PHASE: Final = "rebalance_check.model.classic.parts.join_phase"
_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_STATICS: Final = "rebalance_check.model.classic.parts.static_members"
_COMMITS: Final = "rebalance_check.model.classic.concerns.offset_commits"
_TIMEOUTS: Final = "rebalance_check.model.classic.concerns.timeouts"

STATIC_MEMBER_MUTANTS: Final = (
    ModelMutant(
        name="static-rejoin-does-not-replace",
        what="a second process with an instance id joins, and the first one stays a member",
        edit=Edit(_STATICS, "    s.members = with_(without(s.members, old), m)", "    s.members = with_(s.members, m)"),
        caught_by="one_member_per_instance",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1"
        ),
        catalogue="static-rejoin-keeps-old-member-id",
    ),
    ModelMutant(
        name="static-join-in-completing-does-not-rebalance",
        what="a static member that restarts while the leader assigns is answered as if the group were stable",
        edit=Edit(
            _COORDINATOR,
            "    if s.status != GroupStatus.STABLE or would_change_the_protocol(c, s):\n",
            "    if s.status == GroupStatus.PREPARING or would_change_the_protocol(c, s):\n",
        ),
        caught_by="eager_assignment_is_complete",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=3&initial_delay=off&static_members=1"),
        catalogue="static-join-in-completing-rebalance-gets-empty",
    ),
    ModelMutant(
        name="replaced-member-is-not-fenced",
        what="a static member that was replaced gets UNKNOWN_MEMBER_ID, and joins to replace the other one again",
        edit=Edit(_STATICS, "        return Error.FENCED_INSTANCE_ID\n", "        return Error.UNKNOWN_MEMBER_ID\n"),
        caught_by="replaced_static_member_is_fenced",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1"
        ),
    ),
    ModelMutant(
        name="static-member-starts-with-nothing",
        what="a static member that restarts in a stable group does not get the assignment of its instance id",
        edit=Edit(
            _STATICS, "    s.member[m].assignment = assignment\n", "    s.member[m].assignment = assignment & 0\n"
        ),
        caught_by="instance_id_keeps_its_assignment",
        bounds=Bounds.from_address(
            "cooperative?members=1&partitions=1&generations=2&initial_delay=off&static_members=1"
        ),
    ),
    ModelMutant(
        name="fenced-commit-is-unknown",
        what="the commit of a static member that was replaced gets UNKNOWN_MEMBER_ID, after which it may join again",
        edit=Edit(
            _COMMITS,
            "    error = or_fenced(s, m, fence(s, m, generation))\n",
            "    error = fence(s, m, generation)\n",
        ),
        caught_by="replaced_static_member_is_fenced",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&commits=1"
        ),
    ),
    ModelMutant(
        name="static-member-id-is-not-persisted",
        what="the log still has the old id of a static member that restarted in a stable group",
        edit=Edit(_COORDINATOR, "    write_replacement(c, s)\n", ""),
        caught_by="stable_is_persisted",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&initial_delay=off&static_members=1&failovers=1"
        ),
    ),
    ModelMutant(
        name="leader-is-not-substituted",
        what="a static leader restarts under a new id, and its old id stays the leader",
        edit=Edit(_STATICS, "    if s.leader == old:\n        s.leader = m\n", ""),
        caught_by="leader_is_member",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&static_members=2&shared_instances=1"
        ),
    ),
    ModelMutant(
        name="parked-request-outlives-its-id",
        what="the JoinGroup of a replaced member id stays parked in the join phase",
        edit=Edit(_STATICS, "    s.joined = without(s.joined, old)\n", ""),
        caught_by="parked_requests_fit_the_status",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&static_members=2&shared_instances=1"
        ),
    ),
    ModelMutant(
        name="silent-static-member-is-removed",
        what="the rebalance timeout removes static members that have not joined",
        edit=Edit(
            _TIMEOUTS,
            "    late = minus(late_to_join(s), static_members(c, s))",
            "    late = late_to_join(s)",
        ),
        caught_by="join_phase_keeps_silent_static_members",
        bounds=Bounds.from_address("eager?partitions=1&generations=2&crashes=0&expiries=1&timeouts&static_members=1"),
    ),
    ModelMutant(
        name="replaced-id-owes-for-ever",
        what="the SyncGroup that a replaced member id owed is not forgotten at the end of its generation",
        edit=Edit(
            _JOIN_PHASE,
            "    s.replaced_member_owes_sync = 0\n",
            "    s.replaced_member_owes_sync = s.replaced_member_owes_sync\n",
        ),
        caught_by="replaced_id_owes_sync_only_while_stable",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=3&initial_delay=off&timeouts&static_members=2"
        ),
    ),
)
