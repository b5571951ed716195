"""Every transition of small bounds is performed on the reference coordinator; planted bugs are found by it."""

from functools import cache

import pytest

from rebalance_check.impl.conformance import ConformanceRun, ExhaustiveResult, every_transition
from rebalance_check.impl.conformance.in_process import ReferenceTransport
from rebalance_check.impl.mutants import planted
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds


@cache
def conformance(address: str, mutant: str = "") -> ExhaustiveResult:
    bounds = Bounds.from_address(address)
    with planted(mutant):
        return every_transition(ConformanceRun(ReferenceTransport(), bounds), bounds)


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
    assert seen.divergences == ()
    assert (seen.states, seen.transitions) == size_of_the_model(address)


@pytest.mark.nightly
@pytest.mark.parametrize("address", LARGE)
def test_the_coordinator_does_what_the_model_says__on_every_transition_of_larger_bounds(address: str) -> None:
    assert conformance(address).divergences == ()


def test_together_the_small_bounds_meet_every_answer() -> None:
    met = {answer for address in SMALL[1:4] for answer in conformance(address).answers}
    assert met == {
        ("JoinGroup", "NONE"),
        ("JoinGroup", "MEMBER_ID_REQUIRED"),
        ("JoinGroup", "UNKNOWN_MEMBER_ID"),
        ("SyncGroup", "NONE"),
        ("SyncGroup", "UNKNOWN_MEMBER_ID"),
        ("SyncGroup", "ILLEGAL_GENERATION"),
        ("SyncGroup", "REBALANCE_IN_PROGRESS"),
        ("Heartbeat", "NONE"),
        ("Heartbeat", "UNKNOWN_MEMBER_ID"),
        ("Heartbeat", "ILLEGAL_GENERATION"),
        ("Heartbeat", "REBALANCE_IN_PROGRESS"),
        ("LeaveGroup", "NONE"),
        ("LeaveGroup", "UNKNOWN_MEMBER_ID"),
        ("DeleteGroups", "NONE"),
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
    "heartbeat-accepts-unknown-member": (
        "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
        "Heartbeat m0",
    ),
    "generation-not-advanced": ("eager?members=2&partitions=1&generations=2", ""),
    "generation-reused": (
        "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
        "",
    ),
    "join-completes-before-all-joined": ("eager?members=2&partitions=1&generations=2", "JoinGroup m1"),
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
    "sync-answered-before-leader": ("eager?members=2&partitions=1&generations=2", "SyncGroup m1"),
}


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_bug_diverges__at_the_step_that_it_breaks(defect: str) -> None:
    address, step = PLANTED[defect]
    (divergence,) = conformance(address, defect).divergences
    assert step in {"", str(divergence.divergence.action)}
    assert divergence.schedule.actions[-1] == divergence.divergence.action


def test_the_schedule_of_a_divergence_leads_there_again() -> None:
    address = "eager?members=2&partitions=1&generations=2"
    (divergence,) = conformance(address, "expiry-without-rebalance").divergences
    again = ConformanceRun(ReferenceTransport(), Bounds.from_address(address))
    with planted("expiry-without-rebalance"):
        steps = [again.perform(action) for action in divergence.schedule.actions]
    assert [step.divergence for step in steps if step is not None][-1] == divergence.divergence
    assert all(isinstance(action, Action) for action in divergence.schedule.actions)
