"""Schedules of the model on the broker: every answer is the predicted one, every history is sound."""

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.conformance.replay import ReplayResult, replay
from rebalance_check.integration.conformance.schedules import tour, walks
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import RequestAnswered
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

pytestmark = pytest.mark.broker

TOURS = {
    "eager/2m1p3g0c0l1x0d0z0i0r": 556,
    "cooperative/2m2p2g0c1l0x0d0z0i0r": 256,
    "eager/2m1p2g0c0l0x1d0z0i1r": 1101,
}
"""Bounds whose every transition is taken, and in how many schedules."""

FENCING = {
    "eager/2m1p2g0c0l0x1d0z0i1r": {
        ("JoinGroup", "MEMBER_ID_REQUIRED"),
        ("SyncGroup", "REBALANCE_IN_PROGRESS"),
        ("SyncGroup", "ILLEGAL_GENERATION"),
        ("Heartbeat", "ILLEGAL_GENERATION"),
    }
}
"""Answers that a tour must have met, so that it did not pass by meeting nobody."""

WALKED = "3m3p4g1c1l1x1d1z0i"


def told(result: ReplayResult) -> str:
    """The differences at full length, which pytest would shorten."""
    return "\n".join(str(difference) for _, difference in result.differences)


@pytest.mark.parametrize("address", TOURS)
def test_every_transition_of_a_bound_is_answered_as_predicted(real: Broker, tmp_path: Path, address: str) -> None:
    result = replay(real, list(tour(Bounds.from_address(address))), tmp_path)
    assert not result.differences, told(result)
    assert result.schedules == TOURS[address]
    met = {(e.api, e.error) for path in result.histories for e in read_history(path) if isinstance(e, RequestAnswered)}
    assert met >= FENCING.get(address, set())


@pytest.mark.parametrize("address", [f"{p}/{WALKED}{r}r" for p in ("eager", "cooperative") for r in (0, 1)])
def test_walks_of_three_members_are_answered_as_predicted__and_judged_sound(
    real: Broker, tmp_path: Path, address: str
) -> None:
    result = replay(real, list(walks(Bounds.from_address(address), 60)), tmp_path)
    assert not result.differences, told(result)
    for history in result.histories:
        judgement = judge(read_history(history))
        assert [v.counterexample for v in judgement.verdicts.values() if isinstance(v, Violated)] == []


def test_sessions_that_really_run_out_are_predicted_too(real: Broker, tmp_path: Path) -> None:
    bounds = Bounds.from_address("eager/2m2p3g1c0l1x0d0z0i0r")
    expiring = [s for s in walks(bounds, 40, steps=40) if any(a.kind is ActionKind.EXPIRE_SESSION for a in s.actions)]
    result = replay(real, expiring[:24], tmp_path, real_timers=True)
    assert result.schedules == 24
    assert not result.differences, told(result)
