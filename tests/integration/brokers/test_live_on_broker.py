"""Real consumers of three libraries on the broker, alone and mixed, churned with real signals: their recorded histories
are judged sound."""

from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import COMMON_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberCrashed,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsLost,
    RunEnded,
)
from rebalance_check.model.vocabulary.schedule import Schedule
from tests.integration.hung_clients import recorded_run

pytestmark = pytest.mark.broker

KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA, OURS = ClientName
GROUPS = {
    "eager": [(KAFKA_PYTHON,), (LIBRDKAFKA,), (AIOKAFKA,), (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA)],
    "cooperative": [(KAFKA_PYTHON,), (LIBRDKAFKA,), (LIBRDKAFKA, KAFKA_PYTHON)],
}
ALL = [pytest.param(protocol, clients, id=f"{protocol}-{'+'.join(clients)}")
       for protocol, groups in GROUPS.items() for clients in groups]  # fmt: skip
MIXED = [pytest.param(protocol, groups[-1], id=protocol) for protocol, groups in GROUPS.items()]
START, STOP = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER
CRASH, PAUSE, RESUME = ActionKind.CRASH_MEMBER, ActionKind.PAUSE_MEMBER, ActionKind.RESUME_MEMBER


def wait(ms: int) -> Action:
    """Real milliseconds: the settings shorten pauses to a tenth."""
    return Action(ActionKind.ADVANCE_CLOCK, 0, ms * 10)


SESSION_MS = 2_500
"""With one second librdkafka is expelled again and again from a group whose other members poll for half a second."""

SETTLE = Action(ActionKind.HEAL)
ZOMBIES = (
    Action(START, 0), Action(START, 1), Action(START, 2), SETTLE,
    Action(PAUSE, 0), wait(4_000), Action(RESUME, 0), SETTLE,  # longer than the session
    Action(CRASH, 1), SETTLE, Action(START, 1), SETTLE, Action(STOP, 0), SETTLE,
)  # fmt: skip
"""Joins, a zombie, a death without a word, a return, a departure: three members at the start, two at the end."""


def live_run(
    real: Broker, protocol: str, clients: tuple[ClientName, ...], schedule: Schedule, folder: Path
) -> list[Event]:
    """Run and record; what is judged is what was on disk."""
    settings = LiveOptions(
        protocol=LiveProtocol(protocol), clients=clients, session_timeout_ms=SESSION_MS, heartbeat_interval_ms=300
    )
    return recorded_run(real, settings, schedule, folder)


def assert_sound(history: list[Event]) -> None:
    found = judge_clients(history).judgement.counterexamples
    assert not found, "\n".join([*map(str, found), "the history:", *map(repr, history)])
    assert [type(event) for event in history].count(RunEnded) == 1


@pytest.mark.parametrize(("protocol", "clients"), ALL)
def test_consumers_with_a_zombie_a_crash_and_a_leave_own_everything_once(
    real: Broker, tmp_path: Path, protocol: str, clients: tuple[ClientName, ...]
) -> None:
    schedule = Schedule(Bounds(protocol=RebalanceProtocol(protocol), members=3, partitions=6), ZOMBIES)
    history = live_run(real, protocol, clients, schedule, tmp_path)
    assert_sound(history)
    assert {event.client for event in history if isinstance(event, MemberStarted)} == set(clients)
    assert {event.member for event in history if isinstance(event, AssignmentCompleted)} == {"m0", "m1", "m2"}
    assert "m0" in {event.member for event in history if isinstance(event, MembershipLost)}
    # aiokafka has no callback for what is lost: it revokes, also as a zombie.
    lost = [event.member for event in history if isinstance(event, PartitionsLost)]
    assert lost[:1] == ([] if clients[0] is AIOKAFKA else ["m0"])
    assert [event.member for event in history if isinstance(event, MemberCrashed)] == ["m1"]
    assert {event.member for event in history if isinstance(event, MemberLeft)} == {"m0", "m1", "m2"}


def test_members_of_ours_share_a_group_with_three_libraries(real: Broker, tmp_path: Path) -> None:
    """Ours, which are first, lead; m0 becomes a zombie, comes back, and leaves."""
    clients = (OURS, LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA)
    actions = (*(Action(START, slot) for slot in range(4)), SETTLE, Action(PAUSE, 0), wait(4_000), Action(RESUME, 0),
               SETTLE, Action(STOP, 0), SETTLE)  # fmt: skip
    bounds = Bounds(protocol=RebalanceProtocol.EAGER, members=4, partitions=6)
    history = live_run(real, "eager", clients, Schedule(bounds, actions), tmp_path)
    assert_sound(history)
    assert {event.member for event in history if isinstance(event, AssignmentCompleted)} == {"m0", "m1", "m2", "m3"}
    assert "m0" in {event.member for event in history if isinstance(event, AssignmentComputed)}
    assert "m0" in {event.member for event in history if isinstance(event, MembershipLost)}


@pytest.mark.parametrize(("protocol", "clients"), MIXED)
def test_consumers_under_drawn_churn_own_everything_once(
    real: Broker, tmp_path: Path, protocol: str, clients: tuple[ClientName, ...]
) -> None:
    options = SimulationOptions(
        protocol=SimulatedProtocol(protocol), members=4, partitions=6, steps=10, faults=COMMON_FAULTS
    )
    assert_sound(live_run(real, protocol, clients, churn_schedule(1, options), tmp_path))
