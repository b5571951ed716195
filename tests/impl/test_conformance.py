"""Every transition of small bounds is performed on the reference coordinator; planted bugs are found by it."""

from functools import cache

import pytest

from rebalance_check.impl.conformance import Conformance, ConformanceRun, every_transition
from rebalance_check.impl.conformance.in_process import ReferenceTransport
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds


@cache
def conformance(address: str, *defects: str) -> Conformance:
    bounds = Bounds.from_address(address)
    return every_transition(ConformanceRun(ReferenceTransport(frozenset(defects)), bounds), bounds)


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


UPGRADES = ("eager/2m1p3g0c0l0x0d0z0i0r1u2b", "eager/2m1p3g0c0l0x0d0z0i1r2u1b")
"""Lists of assignors: the vote, and who is refused for what it offers."""

SMALL = (
    "eager/2m1p2g1c0l0x0d0z1i0r",
    "eager/1m1p3g1c1l1x1d1z0i0r",
    "eager/2m1p2g0c0l0x1d0z0i1r",
    "cooperative/2m1p2g0c0l1x0d0z0i0r",
    "cooperative/2m2p2g0c1l0x0d0z0i0r",
    "eager/2m1p2g1c0l0x0d0z0i0r1t",
    "eager/2m1p2g0c0l0x0d0z0i0r1n",
    "eager/2m1p1g0c0l0x0d0z0i0r1o",
    "eager/2m1p2g0c0l0x0d0z0i0r1k",
    "eager/2m1p2g1c0l0x0d0z0i0r1t1s",
    "cooperative/2m2p2g1c1l0x0d0z0i0r2s1y",
    "eager/1m1p2g0c0l0x0d0z0i0r1o1q",
    "eager/2m1p2g0c0l0x0d0z0i0r2s1y1k",
    "eager/1m1p2g1c0l0x0d0z0i0r1s1o",
    "eager/1m1p3g1c0l0x0d0z0i0r1u2b1s",
    "eager/1m1p3g0c0l0x0d0z0i0r1u2b1o",
    "eager/1m1p2g1c1l1x0d0z1i0r1e",
    "eager/2m1p1g0c1l0x0d0z0i1r1e",
    "eager/1m1p2g1c1l1x0d0z0i0r2h",
)
LARGE = (
    "eager/2m1p6g1c0l0x0d0z0i0r4u3b",
    "eager/2m2p4g0c0l0x1d0z0i1r1u2b",
    "cooperative/2m2p5g0c0l1x0d0z0i0r6u3b",
    "eager/3m1p4g0c0l0x0d0z0i0r3u1b",
    "eager/2m1p2g1c1l1x0d1z1i1r",
    "eager/2m1p3g0c0l1x1d0z0i0r",
    "cooperative/1m1p3g1c1l1x1d1z0i1r",
    "cooperative/2m1p2g1c1l1x1d0z0i0r",
    "cooperative/3m1p2g0c0l0x0d0z1i0r",
    "eager/2m1p3g0c0l1x0d0z1i1r1t",
    "cooperative/2m1p2g0c0l1x1d0z0i0r1t",
    "cooperative/2m2p3g0c0l0x0d0z0i1r1n",
    "eager/1m1p3g1c1l1x1d1z1i1r2n",
    "eager/2m1p2g0c0l0x0d0z0i0r1o",
    "cooperative/2m1p1g0c0l1x0d0z0i1r1o",
    "cooperative/2m2p3g0c0l1x0d0z0i0r1k",
    "eager/1m1p2g0c0l0x0d0z0i0r1n1o1k",
    "eager/1m1p2g0c0l0x0d1z0i0r1o2k",
    "eager/2m1p1g0c0l0x0d0z0i0r1o1q",
    "eager/1m1p2g1c1l1x0d1z1i1r2n2o",
    "eager/2m1p2g1c1l1x1d0z0i1r1t1s",
    "cooperative/2m2p2g1c1l1x1d0z1i0r1t2s1y",
    "eager/2m1p2g1c0l1x0d0z0i0r1t1n1s",
    "eager/2m1p2g0c0l0x0d0z0i0r2s1y1o",
    "eager/2m1p3g0c0l0x0d0z0i0r1u2b2s",
    "eager/2m1p2g0c0l0x0d0z0i0r1u1b1o",
    "cooperative/2m2p3g0c0l0x0d0z0i0r6u2b2s",
    "cooperative/2m2p2g0c0l0x0d0z0i0r2s1y1o1t",
    "eager/2m1p2g0c1l1x0d0z0i1r1e",
    "cooperative/2m1p2g1c0l1x0d0z0i0r1t1e",
    "eager/2m1p2g0c0l1x0d0z0i0r1h",
    "cooperative/2m1p2g0c0l1x0d0z0i1r1t1h",
    "eager/1m1p2g1c1l1x1d1z1i1r2n1e1h",
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
    "sync-accepts-stale-generation": ("eager/2m1p2g0c0l0x1d0z0i1r", "SyncGroup m0"),
    "heartbeat-accepts-stale-generation": ("eager/2m1p2g0c0l0x1d0z0i1r", "Heartbeat m0"),
    "heartbeat-accepts-unknown-member": ("eager/1m1p3g1c1l1x1d1z0i0r", "Heartbeat m0"),
    "generation-not-advanced": ("eager/2m1p2g1c0l0x0d0z1i0r", ""),
    "generation-reused": ("eager/1m1p3g1c1l1x1d1z0i0r", ""),
    "join-completes-before-all-joined": ("eager/2m1p2g1c0l0x0d0z1i0r", "JoinGroup m1"),
    "leave-does-not-complete-join": ("cooperative/2m2p2g0c1l0x0d0z0i0r", "LeaveGroup m0"),
    "leave-without-rebalance": ("eager/1m1p3g1c1l1x1d1z0i0r", "LeaveGroup m0"),
    "expiry-without-rebalance": ("eager/2m1p2g1c0l0x0d0z1i0r", "ExpireSession m0"),
    "join-keeps-absent-members": ("eager/2m1p2g1c0l0x0d0z0i0r1t", "ExpireRebalance m0"),
    "no-sync-deadline": ("eager/2m1p2g1c0l0x0d0z0i0r1t", "ExpireSync m0"),
    "static-join-in-completing-gets-empty": ("eager/2m1p2g1c0l0x0d0z0i0r1t1s", "JoinGroup m0"),
    "static-rejoin-keeps-old-member-id": ("cooperative/2m2p2g1c1l0x0d0z0i0r2s1y", "SyncGroup m0"),
    "sync-answered-before-leader": ("eager/2m1p2g1c0l0x0d0z1i0r", "SyncGroup m1"),
}


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_bug_diverges__at_the_step_that_it_breaks(defect: str) -> None:
    address, step = PLANTED[defect]
    (divergence,) = conformance(address, defect).divergences
    assert step in {"", str(divergence.divergence.action)}
    assert divergence.actions[-1] == divergence.divergence.action


def test_the_schedule_of_a_divergence_leads_there_again() -> None:
    address = "eager/2m1p2g1c0l0x0d0z1i0r"
    (divergence,) = conformance(address, "expiry-without-rebalance").divergences
    again = ConformanceRun(ReferenceTransport(frozenset({"expiry-without-rebalance"})), Bounds.from_address(address))
    steps = [again.perform(action) for action in divergence.actions]
    assert [step.difference for step in steps if step is not None][-1] == divergence.divergence
    assert all(isinstance(action, Action) for action in divergence.actions)
