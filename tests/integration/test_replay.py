"""Replay on the embedded broker: the model's walks agree with it, and a planted defect is found."""

from itertools import islice
from pathlib import Path

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.integration.brokers import Broker, open_broker
from rebalance_check.integration.comparison.to_model.replay import replay
from rebalance_check.integration.comparison.to_model.schedules import DEFAULT_STEPS, expires_a_pending_id, walks
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.classic.state import MessageKind
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

BOUNDS = "leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off"
KIP_394 = "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required"


@pytest.mark.parametrize(
    "address", [f"eager?{BOUNDS}", f"cooperative?{BOUNDS}", f"eager?partitions=2&{BOUNDS}&member_id_required"]
)
def test_walks_of_the_model_find_no_difference__on_the_embedded_broker(tmp_path: Path, address: str) -> None:
    schedules = list(walks(Bounds.from_address(address), 12))
    with open_broker("embedded") as broker:
        result = replay(broker, schedules, tmp_path)
    assert result.differences == ()
    assert (result.schedules, len(result.histories)) == (12, 12)
    assert result.requests > 100
    for history in result.histories:
        violated = [v for v in judge(read_history(history)).verdicts.values() if isinstance(v, Violated)]
        assert violated == []


def test_walks_are_the_same_for_the_same_seed__and_meet_every_kind_of_step() -> None:
    bounds = Bounds.from_address(f"eager?{BOUNDS}")
    once = list(walks(bounds, 30, seed=7))
    assert once == list(walks(bounds, 30, seed=7))
    assert once != list(walks(bounds, 30, seed=8))
    kinds = {action.kind for schedule in once for action in schedule.actions}
    assert set(ActionKind) - kinds >= {ActionKind.EXPIRE_INITIAL_DELAY}
    assert kinds >= {
        ActionKind.JOIN_GROUP, ActionKind.SYNC_GROUP, ActionKind.HEARTBEAT, ActionKind.LEAVE_GROUP, ActionKind.CRASH,
        ActionKind.EXPIRE_SESSION, ActionKind.DELIVER_DUPLICATE, ActionKind.DELETE_GROUP,
    }  # fmt: skip


def meets(schedule: Schedule, kind: MessageKind, error: Error) -> bool:
    """Whether the model answers so somewhere on the way."""
    machine = machine_for(schedule.bounds)
    state = machine.initial()
    for action in schedule.actions:
        assert machine.step(state, action)
        if any((member.net.kind, member.net.error) == (kind, error) for member in state.member):
            return True
    return False


def test_a_tour_takes_every_transition_of_its_bounds() -> None:
    bounds = Bounds.from_address("eager?members=2&partitions=1&generations=1&initial_delay=off")
    machine = machine_for(bounds)
    taken = set()
    for schedule in tour(Graph(machine_for(bounds), leaves_out=expires_a_pending_id), steps=DEFAULT_STEPS):
        state = machine.initial()
        for action in schedule.actions:
            taken.add((machine.pack(state), action))
            assert machine.step(state, action)
    frontier, every = [machine.initial()], set()
    reached = {machine.pack(frontier[0])}
    while frontier:
        here = frontier.pop()
        for action, after in machine.successors(here):
            every.add((machine.pack(here), action))
            if machine.pack(after) not in reached:
                reached.add(machine.pack(after))
                frontier.append(machine.copy(after))
    assert taken == every
    assert len(every) > 100


@pytest.mark.parametrize(
    ("defect", "kind"),
    [
        ("sync-accepts-stale-generation", MessageKind.SYNC_REPLY),
        ("heartbeat-accepts-stale-generation", MessageKind.HEARTBEAT_REPLY),
    ],
)
def test_a_planted_defect_is_a_difference__not_an_exception(tmp_path: Path, defect: str, kind: MessageKind) -> None:
    fenced = (
        s
        for s in tour(
            Graph(machine_for(Bounds.from_address(KIP_394)), leaves_out=expires_a_pending_id), steps=DEFAULT_STEPS
        )
        if meets(s, kind, Error.ILLEGAL_GENERATION)
    )
    schedules = list(islice(fenced, 3))
    with EmbeddedBroker() as sound:
        assert replay(Broker(sound.bootstrap, "sound"), schedules, tmp_path).differences == ()
    with planted(defect), EmbeddedBroker() as broken:
        result = replay(Broker(broken.bootstrap, "broken"), schedules, tmp_path)
    assert len(result.differences) == 3
    predicted, observed = map(str, result.differences[0].values("answers"))
    assert "ILLEGAL_GENERATION" in predicted
    assert "ILLEGAL_GENERATION" not in observed


def test_sessions_may_really_run_out(tmp_path: Path) -> None:
    bounds = Bounds.from_address("eager?members=2&partitions=2&generations=3&expiries=1&initial_delay=off")
    expiring = (s for s in walks(bounds, 40, steps=30) if any(a.kind is ActionKind.EXPIRE_SESSION for a in s.actions))
    schedules = list(islice(expiring, 4))
    assert len(schedules) == 4
    with open_broker("embedded") as broker:
        result = replay(broker, schedules, tmp_path, real_timers=True)
    assert result.differences == ()


def test_a_schedule_with_an_initial_delay_is_refused(tmp_path: Path) -> None:
    schedules = list(walks(Bounds(members=2, partitions=1), 1))
    with open_broker("embedded") as broker, pytest.raises(RebalanceCheckError, match="initial_delay=False"):
        replay(broker, schedules, tmp_path)
