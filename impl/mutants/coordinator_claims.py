"""Mutants of the group coordinator, at least one for each claim about its own events."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant, ScenarioSearch
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER), last=300)
_JUDGED: Final = ScenarioSearch()
_NODES: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.CONNECT, faults=(FaultKind.COORDINATOR_PAUSE,))
)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch | ScenarioSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


CLAIM_MUTANTS: Final = [
    _mutant(
        "absent-leader-not-replaced",
        "a leader that did not rejoin is dropped, and the group has none",
        "leader_is_member",
        find=replace(_EAGER, first=90, last=100),
    ),
    _mutant(
        "all-get-one-assignment",
        "each member is handed the longest of the assignments instead of its own",
        "assigned_once_per_generation",
    ),
    _mutant(
        "assignment-not-persisted", "an assignment is handed out without a record of it", "persisted_before_propagated"
    ),
    _mutant(
        "commit-accepted-while-completing",
        "OffsetCommit is accepted in CompletingRebalance",
        "requests_are_fenced",
        _JUDGED,
    ),
    _mutant("deletes-any-group", "DeleteGroups deletes a group with members", "only_empty_groups_are_deleted", _JUDGED),
    _mutant(
        "deposed-coordinator-never-learns",
        "a coordinator that was paused and deposed goes on answering from memory for ever",
        "rebalance_completes",
        replace(_NODES, first=90, last=100),
    ),
    _mutant(
        "deposed-leader-appends",
        "what a deposed coordinator writes is appended behind what its successor wrote",
        "generation_monotonicity",
        replace(_NODES, first=20, last=30),
    ),
    _mutant(
        "emptied-without-preparing",
        "a group that its last member leaves is Empty at once, in the same generation",
        "generation_monotonicity",
    ),
    _mutant(
        "join-of-full-group-unanswered",
        "a JoinGroup for which a full group has no place is not answered",
        "join_group_is_answered",
        _JUDGED,
    ),
    _mutant(
        "join-phase-waits-for-ever",
        "a join phase waits for all members, however long the slowest of them takes",
        "join_group_is_answered",
        _JUDGED,
    ),
    _mutant(
        "sync-of-unknown-member-unanswered",
        "a SyncGroup of a member that the group does not know is not answered",
        "sync_group_is_answered",
        _JUDGED,
    ),
    _mutant("every-member-leads", "each member gets the reply of the leader, with the members", "one_leader"),
    _mutant(
        "fenced-heartbeat-accepted",
        "the heartbeat of a fenced static member is answered without an error",
        "requests_are_fenced",
        _JUDGED,
    ),
    _mutant(
        "followers-get-the-oldest-as-leader",
        "the replies to followers name the member that joined first as the leader",
        "one_leader",
        find=replace(_EAGER, first=90, last=100),
    ),
    _mutant(
        "followers-get-their-last-choice",
        "the replies to followers name the protocol that they list last",
        "one_protocol",
    ),
    _mutant(
        "heartbeat-accepted-while-preparing",
        "a heartbeat in PreparingRebalance is answered without an error",
        "requests_are_fenced",
    ),
    _mutant(
        "late-sync-gets-nothing",
        "a SyncGroup that comes when the group is Stable is answered without an assignment",
        "one_assignment_per_generation",
        find=replace(_EAGER, first=20, last=30),
    ),
    _mutant(
        "leader-decides-protocol",
        "the generation runs what its leader lists first, whatever the others list",
        "selected_protocol_is_listed_by_all",
        _JUDGED,
    ),
    _mutant(
        "load-forgets-static-followers",
        "a load leaves static members out that do not lead",
        "load_restores_the_log",
        _JUDGED,
    ),
    _mutant("members-shown-to-followers", "everybody is shown the members", "one_leader"),
    _mutant("parked-sync-answered-twice", "an answered SyncGroup stays parked", "one_response_per_request"),
    _mutant(
        "pending-id-admitted-at-once",
        "a new member counts as soon as it gets its id",
        "persisted_before_propagated",
    ),
    _mutant(
        "record-of-the-synced-only",
        "members that have not sent their SyncGroup when the leader does are left out of the record",
        "persisted_before_propagated",
    ),
    _mutant(
        "session-cut-short",
        "a session ends after half its timeout",
        "nobody_is_removed_early",
    ),
    _mutant(
        "live-groups-are-not-left",
        "a LeaveGroup to a group that is not Dead is refused with COORDINATOR_NOT_AVAILABLE",
        "refusals_are_true",
    ),
    _mutant(
        "session-runs-twice",
        "a session ends after twice its timeout",
        "silent_members_are_removed_in_time",
    ),
    _mutant("size-gate-open", "group.max.size is not looked at", "group_fits_max_size", _JUDGED),
    _mutant(
        "static-restart-keeps-predecessor",
        "a restarted static member is a new member, and its predecessor stays",
        "one_member_per_instance",
    ),
    _mutant(
        "sync-deadline-runs-twice",
        "who does not sync is removed after twice the rebalance timeout",
        "laggards_are_removed_in_time",
        FuzzSearch(
            options=SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.DROP,), steps=25),
            first=340,
            last=350,
        ),
    ),
    _mutant(
        "sync-debt-kept", "a member that sent its SyncGroup still counts as owing it", "member_removal_has_a_cause"
    ),
]
