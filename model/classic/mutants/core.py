"""Mutants of the classic model: each edits one line of its coordinator, its members or its assignment."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_JOIN_PHASE: Final = "rebalance_check.model.classic.parts.join_phase"
_ASSIGNMENT: Final = "rebalance_check.model.classic.parts.assignment"
_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_MEMBER: Final = "rebalance_check.model.classic.client"
_ZOMBIE: Final = "rebalance_check.model.classic.concerns.zombie_coordinator"
_COMMITS: Final = "rebalance_check.model.classic.concerns.offset_commits"
_LOG: Final = "rebalance_check.model.classic.parts.group_log"
_FAILOVER: Final = "rebalance_check.model.classic.concerns.failover"

CLASSIC_MUTANTS: Final = (
    ModelMutant(
        name="leader-does-not-withhold",
        what="a cooperative leader hands a partition out while another member still owns it",
        edit=Edit(
            _ASSIGNMENT,
            "        if not (withholding and is_withheld(c, reply, taker(target, p), p)):",
            "        if not (withholding and has(reply.partitions, p)):",
        ),
        caught_by="no_double_ownership",
        bounds=Bounds.from_address("cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="older-ownership-wins",
        what="of two members that list a partition as owned, the leader follows the one of the older generation",
        edit=Edit(
            _ASSIGNMENT,
            "                if s.member[x].owned_generation > newest:",
            "                if newest < 0 or s.member[x].owned_generation < newest:",
        ),
        caught_by="no_double_ownership",
        bounds=Bounds.from_address(
            "cooperative?partitions=2&generations=3&crashes=0&expiries=1&duplicates=1&member_id_required"
        ),
        catalogue="librdkafka-lowest-generation-wins",
    ),
    ModelMutant(
        name="double-ownership-is-honoured",
        what="a partition that two members of one generation list as owned is given to one of them at once",
        edit=Edit(_ASSIGNMENT, "                    owner = NIL", "                    owner = owner"),
        caught_by="no_double_ownership",
        bounds=Bounds.from_address("cooperative?partitions=2&crashes=0&expiries=1&duplicates=1&member_id_required"),
        catalogue="sticky-same-generation-multi-claim",
    ),
    ModelMutant(
        name="eager-member-keeps-partitions",
        what="an eager member keeps its partitions while it joins",
        edit=Edit(_MEMBER, "        me.owned = 0\n", "        me.owned = me.owned\n"),
        caught_by="eager_owns_nothing_while_joining",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="sync-accepts-stale-generation",
        what="the coordinator answers a SyncGroup of an earlier generation with an assignment",
        edit=Edit(_COORDINATOR, "    error = fence(s, m, net.generation)", "    error = fence(s, m, s.generation)"),
        caught_by="sync_is_fenced",
        bounds=Bounds.from_address("eager?members=2&partitions=1&duplicates=1&initial_delay=off"),
    ),
    ModelMutant(
        name="heartbeat-accepts-stale-generation",
        what="the coordinator accepts the Heartbeat of a member of an earlier generation",
        edit=Edit(_COORDINATOR, "    refusal = fence(s, m, net.generation)", "    refusal = fence(s, m, s.generation)"),
        caught_by="heartbeat_is_fenced",
        bounds=Bounds.from_address("eager?members=2&partitions=1&crashes=0&duplicates=1&initial_delay=off"),
    ),
    ModelMutant(
        name="generation-is-reused",
        what="a join phase completes without a new generation",
        edit=Edit(_JOIN_PHASE, "    s.generation += 1", "    s.generation = max(s.generation, 1)"),
        caught_by="generation_is_new_after_each_join_phase",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="unknown-member-is-not-fenced",
        what="SyncGroup and Heartbeat of a member that was removed are accepted",
        edit=Edit(
            _COORDINATOR,
            "    if not has(s.members, m):\n        return Error.UNKNOWN_MEMBER_ID",
            "    if not has(s.members, m):\n        return Error.NONE",
        ),
        caught_by="sync_is_fenced",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off"),
    ),
    ModelMutant(
        name="unknown-member-joins-again",
        what="a JoinGroup under an id that the coordinator has removed is answered with the current generation",
        edit=Edit(
            _COORDINATOR,
            "    elif not has(s.members, m):",
            "    elif not has(s.members, m) and s.status == GroupStatus.DEAD:",
        ),
        caught_by="join_is_fenced",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off"),
    ),
    ModelMutant(
        name="lost-partitions-are-kept",
        what="a member that learns UNKNOWN_MEMBER_ID forgets its generation and keeps its partitions",
        edit=Edit(_MEMBER, "        lose_everything(me)", "        me.generation = 0"),
        caught_by="reset_member_loses_everything",
        bounds=Bounds.from_address(
            "cooperative?members=1&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off"
        ),
    ),
    ModelMutant(
        name="illegal-generation-is-ignored",
        what="a member that learns ILLEGAL_GENERATION keeps its generation and its partitions",
        edit=Edit(_MEMBER, " or error == Error.ILLEGAL_GENERATION", ""),
        caught_by="reset_member_loses_everything",
        bounds=Bounds.from_address("cooperative?members=2&partitions=1&crashes=0&duplicates=1&initial_delay=off"),
    ),
    ModelMutant(
        name="join-barrier-dropped",
        what="the join phase completes before every member has joined",
        edit=Edit(
            _JOIN_PHASE,
            "    return s.joined == s.members and s.pending == 0",
            "    return s.joined != 0 and s.pending == 0",
        ),
        caught_by="generation_has_only_joined",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="pending-ids-are-not-awaited",
        what="the join phase completes while a pending id has not joined",
        edit=Edit(
            _JOIN_PHASE, "    return s.joined == s.members and s.pending == 0", "    return s.joined == s.members"
        ),
        caught_by="generation_waits_for_pending_ids",
        bounds=Bounds.from_address("eager?partitions=1&generations=2&crashes=0&initial_delay=off&member_id_required"),
    ),
    ModelMutant(
        name="leave-does-not-rebalance",
        what="a member that leaves is removed, and no other member gets its partitions",
        edit=Edit(
            _COORDINATOR,
            "        rebalance_without(c, s)\n    return True\n\n\ndef expire_choices",
            "        maybe_complete_join(c, s)\n    return True\n\n\ndef expire_choices",
        ),
        caught_by="empty_group_is_clean",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=3&crashes=0&leaves=1&initial_delay=off"),
        catalogue="iggy-leave-without-rebalance",
    ),
    ModelMutant(
        name="leader-is-not-replaced",
        what="the leader goes and no other member leads",
        edit=Edit(
            _COORDINATOR,
            "        s.leader = NIL if s.members == 0 else nth(s.members, k)",
            "        s.leader = NIL",
        ),
        caught_by="leader_is_member",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&leaves=1&initial_delay=off"),
    ),
    ModelMutant(
        name="sync-is-answered-while-preparing",
        what="SyncGroup and Heartbeat are answered with NONE while a rebalance is being prepared",
        edit=Edit(
            _COORDINATOR,
            "    if s.status == GroupStatus.PREPARING:\n        return Error.REBALANCE_IN_PROGRESS",
            "    if s.status == GroupStatus.DEAD:\n        return Error.REBALANCE_IN_PROGRESS",
        ),
        caught_by="sync_is_fenced",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="parked-sync-is-forgotten",
        what="SyncGroups of the generation before are still parked when a rebalance is prepared",
        edit=Edit(
            _JOIN_PHASE,
            "        s.synced = 0\n    if s.status == GroupStatus.EMPTY:",
            "    if s.status == GroupStatus.EMPTY:",
        ),
        caught_by="parked_requests_fit_the_status",
        bounds=Bounds.from_address("eager?partitions=1&generations=3&crashes=0&initial_delay=off"),
    ),
    ModelMutant(
        name="unknown-outcome-is-a-refusal",
        what="a member whose request gets no reply treats that as a refusal, and forgets its id",
        edit=Edit(
            _MEMBER,
            "    if error == Error.UNKNOWN_MEMBER_ID:\n",
            "    if error == Error.UNKNOWN_MEMBER_ID or error == Error.NONE:\n",
        ),
        caught_by="unknown_outcome_resets_nothing",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1"),
    ),
    ModelMutant(
        name="assignment-is-not-persisted",
        what="the coordinator answers SyncGroups with an assignment that it does not write to its log",
        edit=Edit(
            _COORDINATOR,
            "    elif s.status == GroupStatus.COMPLETING and (m != s.leader or c.failovers > 0):",
            "    elif s.status == GroupStatus.COMPLETING and m != s.leader:",
        ),
        caught_by="persisted_before_propagated",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1"
        ),
    ),
    ModelMutant(
        name="load-forgets-the-generation",
        what="a coordinator that loads its log counts generations from 0 again",
        edit=Edit(_FAILOVER, "        s.generation = log.generation\n", "        s.generation = 0\n"),
        caught_by="load_restores_the_log",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1"
        ),
    ),
    ModelMutant(
        name="load-begins-a-rebalance",
        what="a coordinator that loads a group with members begins a rebalance",
        edit=Edit(
            _FAILOVER,
            "GroupStatus.EMPTY if log.members == 0 else GroupStatus.STABLE",
            "GroupStatus.EMPTY if log.members == 0 else GroupStatus.PREPARING",
        ),
        caught_by="load_restores_the_log",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1"
        ),
    ),
    ModelMutant(
        name="restored-member-id-is-not-fenced",
        what="a process whose old id the log restored is taken for that member, whatever id it sends",
        edit=Edit(_LOG, "    elif has_stale_id(s, m) and names_its_id(", "    elif False and names_its_id("),
        caught_by="restored_member_id_serves_no_other_process",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&failovers=1"),
    ),
    ModelMutant(
        name="no-coordinator-is-a-refusal",
        what="a member that gets NOT_COORDINATOR loses its partitions and its generation",
        edit=Edit(
            _MEMBER,
            "error == Error.ILLEGAL_GENERATION:\n",
            "error == Error.ILLEGAL_GENERATION or error == Error.NOT_COORDINATOR:\n",
        ),
        caught_by="failover_resets_no_member",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1"
        ),
    ),
    ModelMutant(
        name="commit-of-an-unknown-member-is-accepted",
        what="the coordinator accepts the commits of members that it has removed",
        edit=Edit(
            _COMMITS,
            "    if error == Error.REBALANCE_IN_PROGRESS:\n",
            "    if error == Error.REBALANCE_IN_PROGRESS or error == Error.UNKNOWN_MEMBER_ID:\n",
        ),
        caught_by="commit_is_fenced",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&commits=1"
        ),
    ),
    ModelMutant(
        name="commit-is-accepted-while-completing",
        what="the coordinator accepts commits while the group waits for an assignment",
        edit=Edit(_COMMITS, "s.status == GroupStatus.COMPLETING:", "s.status == GroupStatus.DEAD:"),
        caught_by="no_commit_while_completing",
        bounds=Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&commits=1"),
    ),
    ModelMutant(
        name="commit-without-generation-into-a-group-with-members",
        what="a client that is no member commits without a generation into a group that has members",
        edit=Edit(
            _COMMITS,
            "    if s.status == GroupStatus.DEAD or s.status == GroupStatus.EMPTY:\n        s.outside_commits += 1\n",
            "    if s.status <= GroupStatus.STABLE:\n        s.outside_commits += 1\n",
        ),
        caught_by="commit_without_generation_needs_an_empty_group",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&commits=1"),
    ),
    ModelMutant(
        name="lost-partitions-are-committed",
        what="a member commits all partitions, also those that it has lost",
        edit=Edit(_COMMITS, "    me.net.partitions = me.owned\n", "    me.net.partitions = (1 << c.partitions) - 1\n"),
        caught_by="lost_is_not_committed",
        bounds=Bounds.from_address("eager?members=2&partitions=2&generations=1&crashes=0&commits=1"),
    ),
    ModelMutant(
        name="zombie-coordinator-assigns",
        what="a zombie coordinator answers SyncGroups before an assignment could be written",
        edit=Edit(
            _ZOMBIE,
            "    if s.zombie_coordinator.status != GroupStatus.STABLE:\n",
            "    if s.zombie_coordinator.status < GroupStatus.COMPLETING:\n",
        ),
        caught_by="sync_is_fenced",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1"
        ),
    ),
)
