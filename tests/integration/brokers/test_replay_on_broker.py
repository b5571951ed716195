"""Schedules of the model on the broker: every answer is the predicted one, every history is sound."""

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.comparison.to_model.replay import ReplayResult, replay
from rebalance_check.integration.comparison.to_model.schedules import DEFAULT_STEPS, expires_a_pending_id, walks
from rebalance_check.model.checker.walks import Graph, tour
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import RequestAnswered
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

pytestmark = pytest.mark.broker

TOURS = {
    "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off": 556,
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&initial_delay=off": 256,
    "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required": 1101,
}
"""Bounds whose every transition is taken, and in how many schedules."""

FENCING = {
    "eager?members=2&partitions=1&generations=2&crashes=0&duplicates=1&initial_delay=off&member_id_required": {
        ("JoinGroup", "MEMBER_ID_REQUIRED"),
        ("SyncGroup", "REBALANCE_IN_PROGRESS"),
        ("SyncGroup", "ILLEGAL_GENERATION"),
        ("Heartbeat", "ILLEGAL_GENERATION"),
    }
}
"""Answers that a tour must have met, so that it did not pass by meeting nobody."""

WALKED = "leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off"


def report_of(result: ReplayResult) -> str:
    """The differences at full length, which pytest would shorten."""
    return "\n".join(map(str, result.differences))


@pytest.mark.parametrize("address", TOURS)
def test_every_transition_of_a_bound_is_answered_as_predicted(real: Broker, tmp_path: Path, address: str) -> None:
    result = replay(
        real,
        list(
            tour(Graph(machine_for(Bounds.from_address(address)), leaves_out=expires_a_pending_id), steps=DEFAULT_STEPS)
        ),
        tmp_path,
    )
    assert not result.differences, report_of(result)
    assert result.schedules == TOURS[address]
    met = {(e.api, e.error) for path in result.histories for e in read_history(path) if isinstance(e, RequestAnswered)}
    assert met >= FENCING.get(address, set())


@pytest.mark.parametrize(
    "address", [f"{p}?{WALKED}&member_id_required={r}" for p in ("eager", "cooperative") for r in ("off", "on")]
)
def test_walks_of_three_members_are_answered_as_predicted__and_judged_sound(
    real: Broker, tmp_path: Path, address: str
) -> None:
    result = replay(real, list(walks(Bounds.from_address(address), 60)), tmp_path)
    assert not result.differences, report_of(result)
    for history in result.histories:
        judgement = judge(read_history(history))
        assert [v.counterexample for v in judgement.verdicts.values() if isinstance(v, Violated)] == []


def test_sessions_that_really_run_out_are_predicted_too(real: Broker, tmp_path: Path) -> None:
    bounds = Bounds.from_address("eager?members=2&partitions=2&generations=3&expiries=1&initial_delay=off")
    expiring = [s for s in walks(bounds, 40, steps=40) if any(a.kind is ActionKind.EXPIRE_SESSION for a in s.actions)]
    result = replay(real, expiring[:24], tmp_path, real_timers=True)
    assert result.schedules == 24
    assert not result.differences, report_of(result)
