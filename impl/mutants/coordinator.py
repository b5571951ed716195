"""Mutants of the group coordinator: `rebalance_check.impl.coordinator`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant, ScenarioSearch
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER), last=300)
_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE), last=300)
_RARE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, steps=40), last=400)
_STALE_SYNC: Final = FuzzSearch(
    options=SimulationOptions(
        protocol=SimulatedProtocol.COOPERATIVE,
        steps=40,
        faults=(
            FaultKind.DUPLICATE, FaultKind.LOOK_UP, FaultKind.WAKE_UP, FaultKind.SEEK, FaultKind.MIXED_MEMBERS,
        ),
    ),
    last=100,
)  # fmt: skip


COORDINATOR_MUTANTS: Final = [
    Mutant(
        name="commit-not-fenced",
        what="OffsetCommit compares neither member nor generation",
        caught_by="stale_generation_is_refused",
        where="impl",
        find=_RARE,
    ),
    Mutant(
        name="expiry-without-rebalance",
        what="a session that expires in a Stable group starts no rebalance",
        caught_by="rebalance_completes",
        where="impl",
        find=replace(_EAGER, first=40, last=50),
    ),
    Mutant(
        name="generation-not-advanced",
        what="a completed join phase keeps the old generation",
        caught_by="generation_monotonicity",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="generation-reused",
        what="a group that became empty starts again with generation 1",
        caught_by="generation_monotonicity",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="heartbeat-accepts-stale-generation",
        what="a heartbeat of an older generation is answered without an error",
        caught_by="stale_generation_is_refused",
        where="impl",
        find=replace(_RARE, first=100, last=110),
    ),
    Mutant(
        name="heartbeat-accepts-unknown-member",
        what="a heartbeat of a member that was removed is answered without an error",
        caught_by="stale_generation_is_refused",
        where="impl",
        find=replace(_EAGER, first=60, last=70),
    ),
    Mutant(
        name="heartbeat-rejected-while-preparing",
        what="a heartbeat answered REBALANCE_IN_PROGRESS does not prolong the session",
        caught_by="nobody_is_removed_early",
        where="impl",
        find=ScenarioSearch(first=20, last=60),
        catalogue_id="heartbeat-rejected-while-preparing",
    ),
    Mutant(
        name="join-completes-before-all-joined",
        what="the join phase ends as soon as one member has joined",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="join-keeps-absent-members",
        what="members that did not rejoin in time stay in the new generation",
        caught_by="generation_has_only_joined",
        where="impl",
        find=replace(_EAGER, first=20, last=30),
    ),
    Mutant(
        name="leave-does-not-complete-join",
        what="a leave during the join phase does not look whether all others have joined",
        caught_by="join_phase_ends",
        where="impl",
        find=ScenarioSearch(first=50, last=60),
        catalogue_id="kop-leave-does-not-complete-join",
    ),
    Mutant(
        name="leave-without-rebalance",
        what="a leave from a Stable group starts no rebalance",
        caught_by="rebalance_completes",
        where="impl",
        find=replace(_EAGER, first=60, last=70),
        catalogue_id="iggy-leave-without-rebalance",
    ),
    Mutant(
        name="new-member-join-timeout-never-fires",
        what="a new member that waits in JoinGroup is never given up",
        caught_by="new_members_are_given_up_in_time",
        where="impl",
        find=ScenarioSearch(first=10, last=20),
        catalogue_id="new-member-join-timeout-never-fires",
    ),
    Mutant(
        name="no-sync-deadline",
        what="nothing removes a member that owes its SyncGroup",
        caught_by="laggards_are_removed_in_time",
        where="impl",
        find=ScenarioSearch(first=0, last=10),
        catalogue_id="no-sync-deadline-in-completing-rebalance",
    ),
    Mutant(
        name="parked-member-expires",
        what="a member waiting in JoinGroup or SyncGroup is removed when its session runs out",
        caught_by="member_removal_has_a_cause",
        where="impl",
        find=ScenarioSearch(first=0, last=20),
    ),
    Mutant(
        name="stale-assignment-kept",
        what="members that the leader forgot keep the assignment of an earlier generation",
        caught_by="persisted_before_propagated",
        where="impl",
        find=ScenarioSearch(first=330, last=340),
    ),
    Mutant(
        name="static-join-in-completing-gets-empty",
        what="a static restart in CompletingRebalance starts no rebalance",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="static-join-in-completing-rebalance-gets-empty",
    ),
    Mutant(
        name="static-rejoin-keeps-old-member-id",
        what="a restarted static member shares the member id of its predecessor",
        caught_by="assigned_member_ids_are_new",
        where="impl",
        find=ScenarioSearch(first=20, last=30),
        catalogue_id="static-rejoin-keeps-old-member-id",
    ),
    Mutant(
        name="sync-accepts-stale-generation",
        what="SyncGroup of an older generation is answered as if it were current",
        caught_by="rebalance_completes",
        where="impl",
        find=replace(_STALE_SYNC, first=60, last=70),
    ),
    Mutant(
        name="sync-answered-before-leader",
        what="a follower's SyncGroup is answered from memory before the leader's has arrived",
        caught_by="requests_are_fenced",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="static-rejoin-new-id-not-persisted",
        what="the new id of a static member that comes back to a Stable group is answered and not written",
        caught_by="load_restores_the_log",
        where="impl",
        find=ScenarioSearch(first=85, last=95),
        catalogue_id="static-rejoin-new-id-not-persisted",
    ),
    Mutant(
        name="static-member-id-not-unique",
        what="the id of a static member is made of its instance id and the time of the group's last change",
        caught_by="assigned_member_ids_are_new",
        where="impl",
        find=ScenarioSearch(first=20, last=30),
        catalogue_id="static-member-id-not-unique",
    ),
    Mutant(
        name="join-v0-zero-rebalance-timeout",
        what="JoinGroup v0, which has no rebalance timeout, gives its member a millisecond",
        caught_by="nobody_is_removed_early",
        where="impl",
        find=ScenarioSearch(first=0, last=20),
        catalogue_id="join-v0-zero-rebalance-timeout",
    ),
    Mutant(
        name="join-retry-creates-abandoned-members",
        what="a new member is admitted at once: a client that gets no reply and asks again is another member",
        caught_by="member_id_is_known_before_membership",
        where="impl",
        find=ScenarioSearch(first=0, last=5),
        catalogue_id="join-retry-creates-ghost-members",
    ),
    Mutant(
        name="max-size-evicts-first-rejoiner",
        what="a group that has outgrown the limit refuses those that rejoin first",
        caught_by="member_removal_has_a_cause",
        where="impl",
        find=ScenarioSearch(first=15, last=25),
        catalogue_id="max-size-evicts-first-rejoiner",
    ),
    Mutant(
        name="redpanda-join-timer-not-cancelled",
        what="the timer of a join phase that ended early goes on, and ends a later one",
        caught_by="nobody_is_removed_early",
        where="impl",
        find=ScenarioSearch(first=140, last=160),
        catalogue_id="redpanda-join-timer-not-cancelled",
    ),
    Mutant(
        name="redpanda-ops-served-before-recovery",
        what="requests are served while the log is being read, from nothing",
        caught_by="load_restores_the_log",
        where="impl",
        find=ScenarioSearch(first=0, last=20),
        catalogue_id="redpanda-ops-served-before-recovery",
    ),
    Mutant(
        name="redpanda-recovery-exception-leaves-loading",
        what="a tombstone in the log stops its reading, and the coordinator stays loading",
        caught_by="refusals_are_true",
        where="impl",
        find=ScenarioSearch(first=70, last=80),
        catalogue_id="redpanda-recovery-exception-leaves-loading",
    ),
    Mutant(
        name="iggy-leave-lookup-outside-update",
        what="a batch of leaves is looked up by place before the first one moves the places",
        caught_by="leave_removes_only_named_members",
        where="impl",
        find=ScenarioSearch(first=110, last=120),
        catalogue_id="iggy-leave-lookup-outside-update",
    ),
    Mutant(
        name="iggy-stale-client-misreported",
        what="a heartbeat of a member that was removed is answered as if there were no such group",
        caught_by="refusals_are_documented",
        where="impl",
        find=ScenarioSearch(first=0, last=5),
        catalogue_id="iggy-stale-client-misreported",
    ),
    Mutant(
        name="iggy-offset-keyed-by-member",
        what="a commit is kept under the name of the member, not of the group",
        caught_by="committed_offset_is_fetched",
        where="impl",
        find=ScenarioSearch(first=15, last=30),
        catalogue_id="iggy-offset-keyed-by-member",
    ),
    Mutant(
        name="offsets-expired-while-rebalancing",
        what="while a group rebalances its old offsets go, whichever topics its members subscribe to",
        caught_by="committed_offset_is_fetched",
        where="impl",
        find=ScenarioSearch(first=140, last=150),
        catalogue_id="offsets-expired-while-rebalancing",
    ),
    Mutant(
        name="late-unload-wipes-newer-load",
        what="a resignation of an earlier epoch that comes late unloads what a newer election has loaded",
        caught_by="rebalance_completes",
        where="impl",
        find=FuzzSearch(
            options=SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.FAILOVER,)), first=0, last=20
        ),
        catalogue_id="late-unload-wipes-newer-load",
    ),
]
