"""Optional concerns of the classic model: what bounds and states say of them, and what an observer sees.

Their state spaces stand in the table of `test_state_spaces`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import width
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.search import Search
from rebalance_check.model.checker.safety.witness import witness
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.observer.member_ids import id_prefix_of
from rebalance_check.model.classic.state import GroupStatus, MemberStatus, MessageKind, Phase
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.upgrade_paths import PATHS
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from tests.model.conftest import of, play
from tests.model.model_run import ModelRun
from tests.model.pinned_paths import FORGOTTEN, WINDOWS

# ------------------------------------------------------------------------------------------------ commits, failovers


def test_two_owners_of_what_is_committed_are_a_violation() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1")
    )
    before, after = machine.initial(), machine.initial()
    for state in (before, after):
        state.status, state.generation, state.members, state.leader = GroupStatus.PREPARING, 3, 0b11, 0
        for me in state.member:
            me.status, me.has_id, me.generation, me.owned = MemberStatus.STABLE, 1, 3, 1
    before.member[0].net.kind, after.member[0].net.kind = MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY
    before.member[0].net.generation = 3
    before.member[0].net.partitions = 1
    assert machine.violated_step(before, after) == "commit_is_by_the_owner"
    before.member[0].net.generation = after.generation = 2
    assert machine.violated_step(before, after) != ""


def test_a_commit_of_the_generation_before_is_a_violation__once_the_next_has_begun() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1")
    )
    before, after = machine.initial(), machine.initial()
    for state in (before, after):
        state.status, state.generation, state.members, state.leader = GroupStatus.STABLE, 2, 0b1, 0
    before.member[0].net.kind, after.member[0].net.kind = MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY
    before.member[0].net.generation = 2
    assert machine.violated_step(before, after) == ""
    before.member[0].net.generation = 1
    assert machine.violated_step(before, after) == "commit_is_fenced"


def test_a_second_assignment_of_a_generation_in_the_log_is_a_violation() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1")
    )
    before, after = machine.initial(), machine.initial()
    for state, owner in ((before, 0), (after, 1)):
        log = state.log
        log.kind, log.generation, log.members, log.leader = 1, 1, 0b11, 0
        log.assignment[owner] = 1
        state.phase = Phase.LOADING
    assert machine.violated_step(before, after) == "one_assignment_per_generation"
    after.log.generation = 2
    assert machine.violated_step(before, after) == ""


# ------------------------------------------------------------------------------------------------ zombie coordinators

DEPOSED_AND_EXPIRED = "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1"
"""The smallest bounds with every window: one session ends while two coordinators answer."""


@pytest.mark.parametrize("name", WINDOWS | FORGOTTEN)
def test_a_pinned_path_leads_into_its_window__and_what_is_observed_on_it_breaks_no_claim(name: str) -> None:
    path = path_at((WINDOWS | FORGOTTEN)[name])
    run = ModelRun(path.bounds)
    machine, before, events = run.machine, run.state, list(run.begin())
    for action in path.actions:
        before = machine.copy(run.state)
        events += run.step(action)
    assert name in machine.met(run.state) | machine.happened(before, run.state)
    assert judge(events, CATALOGUE).counterexamples == ()
    if name.endswith(("_stale_owner", "_second_owner")):
        assert (run.owned(0), run.owned(1)) == (("t-0",), ("t-0",))


def test_a_witness_is_a_shortest_path__and_none_where_there_is_none() -> None:
    bounds, goal = Bounds.from_address(DEPOSED_AND_EXPIRED), "zombie_coordinator_accepts_a_stale_heartbeat"
    found = witness(MODEL, bounds, goal)
    assert found is not None
    assert found.address() == WINDOWS[goal]
    assert witness(MODEL, replace(bounds, members=1, generations=1, expiries=0), goal) is None
    with pytest.raises(
        RebalanceCheckError, match="'a_dream' is no reachable state or step of the model: choose one of all_members"
    ):
        witness(MODEL, bounds, "a_dream")


# ------------------------------------------------------------------------------------------------ static members


def test_members_that_share_an_instance_id_are_interchangeable__and_every_state_has_its_representative() -> None:
    machine = Machine(
        MODEL,
        Bounds.from_address(
            "eager?partitions=1&generations=1&crashes=0&initial_delay=off&static_members=2&shared_instances=1"
        ),
    )
    reduced, full = (Search(machine, symmetry=symmetry, limits=Limits()) for symmetry in (True, False))
    reduced.run()
    full.run()
    assert {machine.canonical(machine.unpack(state)) for state in full.seen} == set(reduced.seen)
    assert len(reduced.seen) < len(full.seen)


def test_bounds_and_model_hand_out_the_same_instance_ids() -> None:
    for statics, pairs in ((0, 0), (1, 0), (3, 0), (2, 1), (5, 2), (6, 3)):
        bounds = Bounds(members=6, static_members=statics, shared_instances=pairs)
        state = Machine(MODEL, bounds).initial()
        assert [id_prefix_of(state, m) for m in range(6)] == [bounds.instance(m) or f"m{m}" for m in range(6)]


def errors(events: list[Event], api: str) -> list[str | None]:
    """The answers to the requests of this kind."""
    return [each.error for each in events if isinstance(each, RequestAnswered) and each.api == api]


def test_a_restarted_static_member_is_fenced_by_its_own_past__if_only_its_old_id_is_in_the_log() -> None:
    path = path_at(FORGOTTEN["static_member_is_fenced_by_its_former_id"])
    assert witness(MODEL, path.bounds, "static_member_is_fenced_by_its_former_id") == path
    run = ModelRun(path.bounds)
    events = run.begin() + [event for action in path.actions for event in run.step(action)]
    assert errors(events, "SyncGroup")[-1] == "FENCED_INSTANCE_ID"
    events += play(run, *of(0, ActionKind.RECEIVE_ERROR))
    assert run.choices(ActionKind.RESTART, 0) == []
    assert judge(events, CATALOGUE).counterexamples == ()


# ------------------------------------------------------------------------------------------------ heartbeats

JOINED = (ActionKind.SEND_JOIN_GROUP, ActionKind.JOIN_GROUP, ActionKind.RECEIVE_JOIN_GROUP)
BEAT = (ActionKind.HEARTBEAT_DURING_SYNC, ActionKind.RECEIVE_HEARTBEAT_DURING_SYNC)


def test_a_heartbeat_has_a_number_of_its_own__during_the_sync_that_is_answered_later() -> None:
    run = ModelRun(
        Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&heartbeats_during_sync=1"
        )
    )
    events = play(run, *of(0, *JOINED, *BEAT, ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP))
    sent = [(event.api, event.request) for event in events if isinstance(event, RequestSent)]
    answered = [(event.api, event.request, event.error) for event in events if isinstance(event, RequestAnswered)]
    assert sent == [("JoinGroup", 0), ("SyncGroup", 1), ("Heartbeat", 2)]
    assert answered == [("JoinGroup", 0, "NONE"), ("Heartbeat", 2, "NONE"), ("SyncGroup", 1, "NONE")]
    assert any(isinstance(event, AssignmentCompleted) for event in events)


# ------------------------------------------------------------------------------------------------ upgrades


@pytest.mark.parametrize(
    "address",
    [
        "eager?members=2&partitions=2&generations=5&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2",
        "eager?members=2&partitions=1&generations=6&crashes=0&initial_delay=off&upgrade=wrong-order&rolling_restarts=4",
        "cooperative?members=2&partitions=2&generations=5&crashes=0&initial_delay=off&upgrade=single-downgrade&rolling_restarts=2",
    ],
)
def test_a_member_that_is_refused_harms_nobody__but_itself(address: str) -> None:
    others = tuple(claim for claim in MODEL.invariants if claim.__name__ != "no_member_is_refused_for_its_protocols")
    machine = Machine(replace(MODEL, invariants=others), Bounds.from_address(address))
    found = Search(machine, symmetry=True, limits=Limits()).run()
    assert found.complete
    assert not found.violated
    assert "join_meets_inconsistent_protocol" in found.met


def test_members_without_lists_cost_nothing() -> None:
    off, on = (Bounds.from_address(f"eager?partitions=2{more}") for more in ("", "&upgrade=legal&rolling_restarts=2"))
    assert width(MODEL.state, MODEL.sizes(off)) == 80
    assert width(MODEL.state, MODEL.sizes(on)) > 80


def test_the_observer_tells_what_members_run_and_what_they_voted_for() -> None:
    address = "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=single-upgrade&rolling_restarts=2"
    found = explore(MODEL, Bounds.from_address(address), compiled=False)
    assert found.counterexample is not None
    run = ModelRun(found.counterexample.bounds)
    events = run.begin()
    for action in found.counterexample.actions:
        events += run.step(action)
    assert [e.protocol for e in events if isinstance(e, MemberStarted)] == ["eager", "eager", "cooperative"]
    assert {e.protocol for e in events if isinstance(e, MemberJoined)} == {"range"}
    assert run.replies[0].error == "INCONSISTENT_GROUP_PROTOCOL"
    refused = next(a for a in run.enabled() if a.kind == "ReceiveError")
    assert [type(e) for e in run.step(refused)] == [MemberCrashed]


def test_the_page_about_upgrades_tells_every_path() -> None:
    page = (Path(__file__).parents[2] / "docs" / "upgrade-path.md").read_text(encoding="utf-8")
    assert [path.name for path in PATHS if f"`{path.name}`" not in page] == []
