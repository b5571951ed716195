"""Rolling restarts of real consumers on the broker: the two of KIP-429 hold, the illegal ones break as known."""

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import LiveOptions
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import AssignmentComputed, Event, RunEnded
from rebalance_check.model.vocabulary.schedule import Schedule, run

pytestmark = pytest.mark.broker

START, STOP = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER
AWAIT, HEAL = Action(ActionKind.AWAIT_GROUP), Action(ActionKind.HEAL)


def upgraded(real: Broker, path: str, *restarts: tuple[int, int], settle_ms: int = 20_000) -> list[Event]:
    """Three members start; each restart (member, place of the path) is settled before the next."""
    actions = [Action(START, member) for member in range(3)] + [AWAIT]
    for member, step in restarts:
        actions += [Action(STOP, member), Action(START, member, step), AWAIT]
    settings = LiveOptions(upgrade=path, settle_timeout_ms=settle_ms)
    return list(run(LiveSubject(real, settings), Schedule(Bounds(members=3, partitions=6), (*actions, HEAL))))


def broken(history: list[Event]) -> dict[str, str]:
    """The words of each broken claim."""
    return {
        found.invariant: " ".join(reason.text for reason in found.because)
        for found in judge_clients(history).judgement.counterexamples
    }


def test_two_rolling_restarts_hold(real: Broker) -> None:
    history = upgraded(real, "legal", (0, 1), (1, 1), (2, 1), (2, 2), (0, 2), (1, 2))
    assert broken(history) == {}
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    voted = [event.protocol for event in history if isinstance(event, AssignmentComputed)]
    assert list(dict.fromkeys(voted)) == ["range", "cooperative-sticky"]


def test_a_single_rolling_restart_is_refused_by_the_group(real: Broker) -> None:
    history = upgraded(real, "single-upgrade", (1, 1), settle_ms=4_000)
    assert "INCONSISTENT_GROUP_PROTOCOL" in broken(history)["rebalance_completes"]


def test_the_second_rolling_restart_before_the_first_is_over_is_refused_by_the_group(real: Broker) -> None:
    history = upgraded(real, "wrong-order", (0, 1), (0, 2), settle_ms=4_000)
    assert "INCONSISTENT_GROUP_PROTOCOL" in broken(history)["rebalance_completes"]


def test_a_reused_name_takes_a_partition_from_a_consumer_that_still_owns_it(real: Broker) -> None:
    history = upgraded(real, "reused-name", (1, 1), (2, 1))
    assert "before m1 could revoke it" in broken(history)["revoked_before_reassigned"]
