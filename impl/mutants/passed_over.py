"""Mutants like those that random edits were: every claim passed them over until the one that is named here."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions


def _search(protocol: SimulatedProtocol, first: int = 0) -> FuzzSearch:
    return FuzzSearch(options=SimulationOptions(protocol=protocol), first=first, last=first + 100)


_EAGER: Final = _search(SimulatedProtocol.EAGER)
_COOPERATIVE: Final = _search(SimulatedProtocol.COOPERATIVE)
_CONNECT: Final = _search(SimulatedProtocol.CONNECT)
_CONFIGS: Final = _search(SimulatedProtocol.CONNECT_CONFIG)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


PASSED_OVER_MUTANTS: Final = [
    _mutant(
        "unnamed-member-leaves",
        "a member that has no member id yet sends LeaveGroup all the same",
        "leave_names_a_member",
    ),
    _mutant(
        "last-join-is-not-noticed",
        "the coordinator does not look whether all have joined when a JoinGroup comes, and waits for its timer",
        "last_join_ends_the_join_phase",
    ),
    _mutant(
        "initial-delay-runs-once",
        "members that come while the initial delay of a group runs do not prolong it",
        "new_members_prolong_the_initial_delay",
    ),
    _mutant(
        "loading-coordinator-refuses-heartbeats",
        "a coordinator that reads its log answers a heartbeat COORDINATOR_LOAD_IN_PROGRESS, which ends a client",
        "refusals_are_documented",
    ),
    _mutant(
        "commits-end-with-the-join-phase",
        "a commit is refused when a rebalance begins, and not when its generation is over",
        "refusals_are_true",
    ),
    _mutant(
        "roundrobin-deals-to-the-last",
        "the roundrobin assignor deals every partition to one member",
        "shares_are_of_one_size",
    ),
    _mutant(
        "sticky-keeps-nothing",
        "the sticky assignors keep what is far from a member, and nothing that is near",
        "sticky_members_keep_their_share",
        _COOPERATIVE,
    ),
    _mutant(
        "returning-followers-skip",
        "a static follower that comes back is notified not to assign, and a static leader that does is not",
        "only_returning_leaders_skip",
    ),
    _mutant(
        "group-record-written-twice",
        "the coordinator appends each record of a group twice",
        "only_written_records_are_appended",
    ),
    _mutant(
        "loading-coordinator-serves",
        "a coordinator serves while it reads its log, and knows no group",
        "recorded_group_is_not_denied",
    ),
    _mutant(
        "leave-is-not-answered",
        "a LeaveGroup that waits for earlier writes is never answered",
        "writes_are_answered",
    ),
    _mutant(
        "answered-leave-waits",
        "a LeaveGroup that was answered is kept, and one that was not is not",
        "only_open_requests_wait",
    ),
    _mutant(
        "old-claims-get-a-generation",
        "a claim of a member that names no generation is taken for one of generation 3",
        "claims_are_of_a_joined_generation",
    ),
    _mutant(
        "positions-outlive-the-partition",
        "a consumer goes on committing what it read of partitions that it gave up",
        "revoked_is_not_committed",
        _COOPERATIVE,
    ),
    _mutant(
        "failed-look-up-is-repeated-at-once",
        "a member that found no coordinator asks again without a pause",
        "look_ups_keep_the_backoff",
    ),
    _mutant(
        "moved-coordinator-is-kept",
        "a member whose heartbeat is answered NOT_COORDINATOR goes on with the node",
        "moved_coordinator_is_given_up",
    ),
    _mutant(
        "pauses-are-the-longest",
        "the first pause between retries is as long as the longest may be",
        "heartbeats_keep_the_interval",
    ),
    _mutant(
        "last-commit-is-not-waited-for",
        "a consumer that closes leaves before its last commit is answered",
        "last_commit_is_waited_for",
    ),
    _mutant(
        "process-ends-while-it-closes",
        "a consumer says that it has closed while its last commit is under way, and its process ends",
        "closing_ends_with_leaving",
    ),
    _mutant(
        "dealt-work-is-not-counted",
        "a leading worker does not count what it deals out in a round, and deals on to the same worker",
        "workers_get_shares_of_one_size",
        _CONNECT,
    ),
    _mutant(
        "asked-herder-sleeps-on",
        "a request to a worker does not wake its herder, which serves it when another timer does",
        "idle_herder_acts_at_once",
        replace(_CONNECT, first=0, last=10),
    ),
    _mutant(
        "read-configs-wake-no-herder",
        "what a worker reads of the configs does not wake its herder",
        "idle_herder_acts_at_once",
        _CONNECT,
    ),
    _mutant(
        "delay-postpones-nothing",
        "a leading worker takes work from others for the balance while lost work waits for a delay",
        "delay_postpones_revocations",
        _search(SimulatedProtocol.CONNECT, 60),
    ),
    _mutant(
        "halted-worker-leaves-its-tasks",
        "a worker that is stopped stops its connectors, and leaves its tasks running",
        "worker_leaves_when_its_work_has_stopped",
        _CONNECT,
    ),
    _mutant(
        "cancelled-work-runs-on",
        "a connector or task that its worker did not wait for never ends",
        "cancelled_work_ends",
        replace(_CONNECT, first=0, last=10),
    ),
    _mutant(
        "paused-tasks-use-topics",
        "records pass through a task that is paused or has failed, and through none that runs",
        "only_running_tasks_use_topics",
        replace(_CONNECT, first=80, last=90),
    ),
    _mutant(
        "configuring-resets-the-target-state",
        "a worker that gives a connector another configuration deletes its target state",
        "target_states_are_asked_for",
        _CONNECT,
    ),
    _mutant(
        "accepted-restart-is-refused",
        "a leading worker that has written a restart request answers that it does not lead",
        "refused_requests_are_not_written",
        replace(_CONNECT, first=30, last=40),
    ),
    _mutant(
        "compaction-keeps-what-is-old",
        "compaction of the config topic removes what it should keep",
        "compaction_keeps_the_last",
        _CONFIGS,
    ),
]
