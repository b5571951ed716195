"""Members that start at once, connections that break under a look-up, slow logs, and elections that are sticky."""

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, simulate
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    Event,
    IncarnationStarted,
    MemberStarted,
    NodeChanged,
    RequestAnswered,
    RunEnded,
    TaskStarted,
    TaskStopped,
)

SEEDS = range(60)
GROUPS = ("eager", "cooperative", "connect", "election")


def struck_by(kind: FaultKind, history: list[Event]) -> bool:
    return any(kind in dict(event.struck) for event in history if isinstance(event, RunEnded))


def first_struck(kind: FaultKind, protocol: str, *others: FaultKind) -> list[Event]:
    """The run of the first seed in which that fault strikes, where only it and ``others`` may."""
    options = SimulationOptions(protocol=SimulatedProtocol(protocol), faults=(kind, *others))
    return next(history for seed in SEEDS if struck_by(kind, history := simulate(seed, options)))


@pytest.mark.parametrize("protocol", GROUPS)
def test_members_of_a_new_group_start_at_once(protocol: str) -> None:
    history = first_struck(FaultKind.JOINT_START, protocol)
    first = [event.time_ms for event in history if isinstance(event, MemberStarted)][:3]
    assert first == [0, 0, 0]


def test_a_group_whose_members_start_at_once__has_the_same_churn_afterwards() -> None:
    apart = SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=())
    joint = SimulationOptions(protocol=SimulatedProtocol.EAGER, faults=(FaultKind.JOINT_START,))
    seed = next(seed for seed in SEEDS if struck_by(FaultKind.JOINT_START, simulate(seed, joint)))
    actions = churn_schedule(seed, apart).actions
    kept = (*(each for each in actions[:6] if each.kind is ActionKind.START_MEMBER), *actions[6:])
    assert churn_schedule(seed, joint).actions == kept


@pytest.mark.parametrize("protocol", GROUPS)
def test_a_look_up_whose_connection_breaks__is_done_again(protocol: str) -> None:
    history = first_struck(FaultKind.LOOK_UP_BREAK, protocol)
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]


def test_a_coordinator_may_take_long_to_read_its_log() -> None:
    history = first_struck(FaultKind.SLOW_LOG, "eager", FaultKind.COORDINATOR_KILL)
    elected = [event.time_ms for event in history if isinstance(event, CoordinatorElected)]
    loaded = [event.time_ms for event in history if isinstance(event, IncarnationStarted)]
    waits = [min((time for time in loaded if time >= begun), default=begun) - begun for begun in elected]
    assert max(waits) > 2_000, "longer than the log takes otherwise"
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]


def test_a_coordinator_that_cannot_read_its_log__is_replaced_by_one_that_can() -> None:
    history = first_struck(FaultKind.FAILED_LOAD, "eager", FaultKind.COORDINATOR_KILL)
    failed = next(event for event in history if isinstance(event, NodeChanged) and event.change == "load-failed")
    after = history[history.index(failed) :]
    elected = next(event for event in after if isinstance(event, CoordinatorElected))
    before = after[: after.index(elected)]
    assert elected.node != failed.node
    assert not [event for event in before if isinstance(event, IncarnationStarted)], "it serves no group"
    refused = {event.error for event in before if isinstance(event, RequestAnswered) and event.error}
    assert refused == {"NOT_COORDINATOR"}
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]


def test_a_coordinator_that_takes_its_log_for_empty__counts_generations_anew() -> None:
    history = first_struck(FaultKind.FORGOTTEN_LOG, "eager", FaultKind.COORDINATOR_KILL)
    at = next(i for i, event in enumerate(history) if isinstance(event, NodeChanged) and event.change == "load-failed")
    begun = next(event for event in history[at:] if isinstance(event, IncarnationStarted))
    assert (begun.generation, begun.members, begun.committed) == (0, (), ())
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]


def test_a_read_that_fails__is_tried_again() -> None:
    history = first_struck(FaultKind.FAILED_READ, "connect")
    assert [event for event in history if isinstance(event, TaskStarted)]
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]


def test_a_sticky_primary_keeps_its_role_while_it_joins_again() -> None:
    """Without it, a primary resigns before each join: it never starts twice without a stop of its own between."""
    options = SimulationOptions(protocol=SimulatedProtocol.ELECTION, faults=(FaultKind.STICKY_ELECTION,))
    usual = SimulationOptions(protocol=SimulatedProtocol.ELECTION, faults=())
    seed = next(seed for seed in SEEDS if struck_by(FaultKind.STICKY_ELECTION, simulate(seed, options)))
    sticky, plain = simulate(seed, options), simulate(seed, usual)
    stops = [[event for event in history if isinstance(event, TaskStopped)] for history in (sticky, plain)]
    assert len(stops[0]) < len(stops[1])
    assert [event for event in sticky if isinstance(event, TaskStarted)]


def ended(
    protocol: SimulatedProtocol, partitions: int, faults: tuple[FaultKind, ...], *actions: str
) -> tuple[str, ...]:
    """The pending parts at the end of a quiet run of these actions, in a group of static members."""
    options = SimulationOptions(protocol=protocol, partitions=partitions, faults=faults, actions=actions, choices=())
    return next(event.pending or () for event in simulate(3, options) if isinstance(event, RunEnded))


@pytest.mark.parametrize("is_old", [True, False])
def test_nobody_watches_the_topics_once_an_old_static_leader_has_come_back(is_old: bool) -> None:
    """KAFKA-13435; since KIP-814 it leads again, and an operator may make it compute what it skipped."""
    faults = (FaultKind.CRASH, FaultKind.METADATA, *((FaultKind.OLD_STATIC_MEMBERS,) if is_old else ()))
    pending = ended(
        SimulatedProtocol.EAGER, 1, faults, "StartMember m0", "AdvanceClock m0 [15000]", "CrashMember m0",
        "AdvanceClock m0 [500]", "ChangeConfig m0 [6]", "AdvanceClock m0 [500]", "StartMember m0",
    )  # fmt: skip
    assert bool(pending) == is_old


@pytest.mark.parametrize("nobody_mends_it", [True, False])
def test_what_a_static_leader_gave_up_before_it_crashed_has_no_owner(nobody_mends_it: bool) -> None:
    faults = (FaultKind.CRASH, *((FaultKind.UNNOTICED_GROWTH,) if nobody_mends_it else ()))
    pending = ended(
        SimulatedProtocol.COOPERATIVE, 4, faults, "StartMember m0", "AdvanceClock m0 [5000]", "StartMember m1",
        "AdvanceClock m0 [1009]", "CrashMember m0", "AdvanceClock m0 [500]", "StartMember m0",
    )  # fmt: skip
    assert pending == (("t-2 has no owner", "t-3 has no owner") if nobody_mends_it else ())
