"""Planted defects of the group coordinator: `rebalance_check.impl.coordinator`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant, Told
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_RARE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, steps=40), last=400)
_STORIES: Final = Told(test="tests/impl/test_coordinator_stories.py")

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
        find=_EAGER,
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
        find=_RARE,
    ),
    Mutant(
        name="heartbeat-accepts-unknown-member",
        what="a heartbeat of a member that was removed is answered without an error",
        caught_by="stale_generation_is_refused",
        where="impl",
        find=_EAGER,
        catalogue_id="iggy-stale-client-misreported",
    ),
    Mutant(
        name="heartbeat-rejected-while-preparing",
        what="a heartbeat answered REBALANCE_IN_PROGRESS does not prolong the session",
        caught_by="stories",
        where="impl",
        find=_STORIES,
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
        caught_by="stories",
        where="impl",
        find=_STORIES,
    ),
    Mutant(
        name="leave-does-not-complete-join",
        what="a leave during the join phase does not look whether all others have joined",
        caught_by="stories",
        where="impl",
        find=_STORIES,
        catalogue_id="kop-leave-does-not-complete-join",
    ),
    Mutant(
        name="leave-without-rebalance",
        what="a leave from a Stable group starts no rebalance",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="iggy-leave-without-rebalance",
    ),
    Mutant(
        name="new-member-join-timeout-never-fires",
        what="a new member that waits in JoinGroup is never given up",
        caught_by="stories",
        where="impl",
        find=_STORIES,
        catalogue_id="new-member-join-timeout-never-fires",
    ),
    Mutant(
        name="no-sync-deadline",
        what="nothing removes a member that owes its SyncGroup",
        caught_by="stories",
        where="impl",
        find=_STORIES,
        catalogue_id="no-sync-deadline-in-completing-rebalance",
    ),
    Mutant(
        name="parked-member-expires",
        what="a member waiting in JoinGroup or SyncGroup is removed when its session runs out",
        caught_by="stories",
        where="impl",
        find=_STORIES,
    ),
    Mutant(
        name="stale-assignment-kept",
        what="members that the leader forgot keep the assignment of an earlier generation",
        caught_by="stories",
        where="impl",
        find=_STORIES,
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
        caught_by="stories",
        where="impl",
        find=_STORIES,
        catalogue_id="static-rejoin-keeps-old-member-id",
    ),
    Mutant(
        name="sync-accepts-stale-generation",
        what="SyncGroup of an older generation is answered as if it were current",
        caught_by="rebalance_completes",
        where="impl",
        find=_RARE,
    ),
    Mutant(
        name="sync-answered-before-leader",
        what="a follower's SyncGroup is answered from memory before the leader's has arrived",
        caught_by="rebalance_completes",
        where="impl",
        find=_COOPERATIVE,
    ),
]
