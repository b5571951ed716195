"""Every transition of small bounds is performed on the reference coordinator; planted bugs are found by it."""

from dataclasses import replace
from functools import cache

import pytest

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.known import KnownDifference
from rebalance_check.impl.comparison.to_model.exhaustive import every_transition
from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.touring import Coordinator, is_complete, tour_of_transitions
from rebalance_check.impl.mutants import planted
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds


@cache
def conformance(address: str, mutant: str = "") -> Compared:
    bounds = Bounds.from_address(address)
    with planted(mutant):
        return every_transition(ConformanceRun(ReferenceTransport(), bounds, name="ours"))


def size_of_the_model(address: str) -> tuple[int, int]:
    """States and transitions, counted on the model alone."""
    machine = Machine(model_for(Bounds.from_address(address)), Bounds.from_address(address))
    frontier = [machine.initial()]
    seen, transitions = {machine.pack(frontier[0])}, 0
    while frontier:
        state = frontier.pop()
        for _, after in machine.successors(state):
            transitions += 1
            if machine.pack(after) not in seen:
                seen.add(machine.pack(after))
                frontier.append(machine.copy(after))
    return len(seen), transitions


UPGRADES = (
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2",
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&member_id_required&upgrade=single-upgrade&rolling_restarts=1",
)
"""Lists of assignors: the vote, and who is refused for what it offers."""

SMALL = (
    "eager?members=2&partitions=1&generations=2",
    "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
    "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required",
    "cooperative?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&initial_delay=off",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1",
    "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&commits=1",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts&static_members=1",
    "cooperative?members=2&partitions=2&generations=2&leaves=1&initial_delay=off&static_members=2&shared_instances=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&commits=1",
    "eager?members=1&partitions=1&generations=2&initial_delay=off&static_members=1&failovers=1",
    "eager?members=1&partitions=1&generations=3&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=1",
    "eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&failovers=1",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&new_members",
    "eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&initial_delay=off&heartbeats_during_sync=2",
)
LARGE = (
    "eager?members=2&partitions=1&generations=6&initial_delay=off&upgrade=wrong-order&rolling_restarts=3",
    "eager?members=2&partitions=2&crashes=0&duplicates=1&initial_delay=off&member_id_required&upgrade=legal&rolling_restarts=2",
    "cooperative?members=2&partitions=2&generations=5&crashes=0&expiries=1&initial_delay=off&upgrade=downgrade&rolling_restarts=3",
    "eager?partitions=1&crashes=0&initial_delay=off&upgrade=reused-name&rolling_restarts=1",
    "eager?members=2&partitions=1&generations=2&leaves=1&expiries=1&deletions=1&member_id_required",
    "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&duplicates=1&initial_delay=off",
    "cooperative?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off&member_id_required",
    "cooperative?members=2&partitions=1&generations=2&leaves=1&expiries=1&duplicates=1&initial_delay=off",
    "cooperative?partitions=1&generations=2&crashes=0",
    "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&member_id_required&timeouts",
    "cooperative?members=2&partitions=1&generations=2&crashes=0&expiries=1&duplicates=1&initial_delay=off&timeouts",
    "cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off&member_id_required&losses=1",
    "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&member_id_required&losses=2",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1",
    "cooperative?members=2&partitions=1&generations=1&crashes=0&expiries=1&initial_delay=off&member_id_required&failovers=1",
    "cooperative?members=2&partitions=2&generations=3&crashes=0&expiries=1&initial_delay=off&commits=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&losses=1&failovers=1&commits=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&deletions=1&initial_delay=off&failovers=1&commits=2",
    "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&deletions=1&member_id_required&losses=2&failovers=2",
    "eager?members=2&partitions=1&generations=2&leaves=1&expiries=1&duplicates=1&initial_delay=off&member_id_required&timeouts&static_members=1",
    "cooperative?members=2&partitions=2&generations=2&leaves=1&expiries=1&duplicates=1&timeouts&static_members=2&shared_instances=1",
    "eager?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&timeouts&static_members=1&losses=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&static_members=2&shared_instances=1&failovers=1",
    "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=2",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=1&failovers=1",
    "cooperative?members=2&partitions=2&generations=3&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=2&static_members=2",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off&timeouts&static_members=2&shared_instances=1&failovers=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&leaves=1&expiries=1&initial_delay=off&member_id_required&new_members",
    "cooperative?members=2&partitions=1&generations=2&expiries=1&initial_delay=off&timeouts&new_members",
    "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1",
    "cooperative?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&member_id_required&timeouts&heartbeats_during_sync=1",
    "eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&duplicates=1&deletions=1&member_id_required&losses=2&new_members&heartbeats_during_sync=1",
)


@pytest.mark.parametrize("address", SMALL + UPGRADES)
def test_the_coordinator_does_what_the_model_says__on_every_transition(address: str) -> None:
    seen = conformance(address)
    assert seen.differences == []
    assert (seen.counts["states"], seen.counts["transitions"]) == size_of_the_model(address)


@pytest.mark.nightly
@pytest.mark.parametrize("address", LARGE)
def test_the_coordinator_does_what_the_model_says__on_every_transition_of_larger_bounds(address: str) -> None:
    assert conformance(address).differences == []


def test_together_the_small_bounds_meet_every_answer() -> None:
    met = {answer for address in SMALL[1:4] for answer in conformance(address).reached}
    assert met == {
        "JoinGroup NONE",
        "JoinGroup MEMBER_ID_REQUIRED",
        "JoinGroup UNKNOWN_MEMBER_ID",
        "SyncGroup NONE",
        "SyncGroup UNKNOWN_MEMBER_ID",
        "SyncGroup ILLEGAL_GENERATION",
        "SyncGroup REBALANCE_IN_PROGRESS",
        "Heartbeat NONE",
        "Heartbeat UNKNOWN_MEMBER_ID",
        "Heartbeat ILLEGAL_GENERATION",
        "Heartbeat REBALANCE_IN_PROGRESS",
        "LeaveGroup NONE",
        "LeaveGroup UNKNOWN_MEMBER_ID",
        "DeleteGroups NONE",
    }


PLANTED = {
    "sync-accepts-stale-generation": (
        "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required",
        "SyncGroup m0",
    ),
    "heartbeat-accepts-stale-generation": (
        "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required",
        "Heartbeat m0",
    ),
    "generation-reused": (
        "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
        "",
    ),
    "leave-does-not-complete-join": (
        "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&initial_delay=off",
        "LeaveGroup m0",
    ),
    "leave-without-rebalance": (
        "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
        "LeaveGroup m0",
    ),
    "expiry-without-rebalance": ("eager?members=2&partitions=1&generations=2", "ExpireSession m0"),
    "join-keeps-absent-members": (
        "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts",
        "ExpireRebalance m0",
    ),
    "no-sync-deadline": ("eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts", "ExpireSync m0"),
    "static-join-in-completing-gets-empty": (
        "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts&static_members=1",
        "JoinGroup m0",
    ),
    "static-rejoin-keeps-old-member-id": (
        "cooperative?members=2&partitions=2&generations=2&leaves=1&initial_delay=off&static_members=2&shared_instances=1",
        "SyncGroup m0",
    ),
}


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_bug_is_a_difference__at_the_step_that_it_breaks(defect: str) -> None:
    address, step = PLANTED[defect]
    (found,) = conformance(address, defect).differences
    assert step in {"", str(found.steps[-1])}
    assert found.start.schedule.actions == found.steps


OURS = Coordinator("ours", lambda _seed: ReferenceTransport())
TOURED = SMALL[1]


def test_a_tour_executes_the_same_transitions_as_copies_of_the_coordinator() -> None:
    toured, copied = tour_of_transitions(OURS, Bounds.from_address(TOURED)), conformance(TOURED)
    assert (is_complete(toured), toured.differences) == (True, [])
    assert [toured.counts[name] for name in ("states", "transitions", "executed")] == [
        copied.counts[name] for name in ("states", "transitions", "executed")
    ]
    assert toured.reached.keys() == copied.reached.keys()


def test_a_tour_makes_a_difference_small__or_takes_it_for_known() -> None:
    bounds = Bounds.from_address(TOURED)
    entry = KnownDifference("no rebalance", "planted", "ours", "", concerns=lambda _: True, recognises=lambda _: True)
    with planted("leave-without-rebalance"):
        unknown = tour_of_transitions(OURS, bounds, stop_after=1)
        listed = tour_of_transitions(replace(OURS, entries=(entry,)), bounds)
    (shortest,) = conformance(TOURED, "leave-without-rebalance").differences
    (found,) = unknown.differences
    assert len(found.steps) == len(shortest.steps)
    assert listed.differences == []
    assert listed.known["no rebalance"] > 0
    assert is_complete(listed)


def test_the_schedule_of_a_difference_leads_there_again() -> None:
    address = "eager?members=2&partitions=1&generations=2"
    (found,) = conformance(address, "expiry-without-rebalance").differences
    again = ConformanceRun(ReferenceTransport(), Bounds.from_address(address), name="ours")
    with planted("expiry-without-rebalance"):
        steps = [again.perform(action) for action in found.steps]
    assert [step.difference for step in steps if step is not None][-1] == found
    assert all(isinstance(action, Action) for action in found.steps)
