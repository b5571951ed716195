"""Claims about time hold at their bound to the millisecond, break one behind it, and say nothing about real clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.options import ALL_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    RequestParked,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held, Outcome
from rebalance_check.properties.views.sessions import NEW_MEMBER_JOIN_TIMEOUT_MS

History = Callable[..., list[Event]]
TIMING = select([
    "silent_members_are_removed_in_time", "laggards_are_removed_in_time", "new_members_are_given_up_in_time",
    "nobody_is_removed_early",
])  # fmt: skip
SESSION, REBALANCE = 10_000, 30_000


def punctual() -> tuple[Event, ...]:
    return RunStarted(subject="s", punctual=True), IncarnationStarted(incarnation=0, generation=0, status="Empty")


def joined(member: str = "a", at: int = 0) -> tuple[Event, ...]:
    """It is admitted, waits, and is answered in the generation that starts at once."""
    parked = RequestParked(
        incarnation=0, generation=0, api="JoinGroup", request=0, member_id=member,
        session_timeout_ms=SESSION, rebalance_timeout_ms=REBALANCE, time_ms=at,
    )  # fmt: skip
    return (
        MemberAdded(incarnation=0, generation=0, member_id=member, time_ms=at),
        parked,
        GenerationStarted(incarnation=0, generation=1, members=(member,), leader=member, time_ms=at),
        JoinGroupReplied(
            incarnation=0,
            generation=1,
            request=0,
            error="NONE",
            assigned_member_id=member,
            reply_generation=1,
            leader=member,
            time_ms=at,
        ),
    )


def heartbeat(at: int) -> Event:
    return HeartbeatReplied(
        incarnation=0, generation=1, request=9, error="NONE", member_id="a", request_generation=1, time_ms=at
    )


def commit(at: int) -> Event:
    return OffsetCommitReplied(
        incarnation=0, generation=1, request=9, error="NONE", member_id="a", request_generation=1, time_ms=at
    )


def loaded(at: int) -> Event:
    return IncarnationStarted(
        incarnation=1, generation=1, status="Stable", members=("a",), session_timeout_ms=SESSION, time_ms=at
    )


def removed(reason: str, at: int, incarnation: int = 0) -> Event:
    return MemberRemoved(incarnation=incarnation, generation=1, member_id="a", reason=reason, time_ms=at)


def moved(from_: str, to: str, at: int) -> Event:
    return GroupStatusChanged(incarnation=0, generation=1, from_status=from_, to_status=to, time_ms=at)


def configured(new_member_join_timeout_ms: int) -> Event:
    return CoordinatorConfigured(
        max_size=10, offsets_retention_ms=60_000, new_member_join_timeout_ms=new_member_join_timeout_ms
    )


def added() -> Event:
    return MemberAdded(incarnation=0, generation=0, member_id="a")


def answered(at: int) -> Event:
    return JoinGroupReplied(
        incarnation=0, generation=1, request=0, error="NONE", assigned_member_id="a", reply_generation=1, time_ms=at
    )


BOUNDS = {
    "silent_members_are_removed_in_time": [
        lambda late: (*joined(), heartbeat(4_000), removed("session expired", 14_000 + late)),
        lambda late: (*joined(), heartbeat(SESSION + late)),
        lambda late: (loaded(4_000), removed("rebalance timeout", 14_000 + late, 1)),
    ],
    "laggards_are_removed_in_time": [
        lambda late: (*joined(), removed("sync timeout", REBALANCE + late)),
        lambda late: (*joined(), moved("Stable", "PreparingRebalance", REBALANCE + late)),
    ],
    "new_members_are_given_up_in_time": [
        lambda late: (added(), answered(NEW_MEMBER_JOIN_TIMEOUT_MS + late)),
        lambda late: (added(), removed("session expired", NEW_MEMBER_JOIN_TIMEOUT_MS + late)),
        lambda late: (configured(new_member_join_timeout_ms=9_000), added(), answered(9_000 + late)),
    ],
    "nobody_is_removed_early": [
        lambda late: (*joined(), heartbeat(4_000), removed("session expired", 14_000 - late)),
        lambda late: (*joined(), moved("Stable", "PreparingRebalance", 5), commit(4_000),
                      removed("session expired", 14_000 - late)),
        lambda late: (*joined(), removed("sync timeout", REBALANCE - late)),
        lambda late: (*joined(), moved("Stable", "PreparingRebalance", 5),
                      removed("rebalance timeout", 5 + REBALANCE - late)),
    ],
}  # fmt: skip
CASES = [
    pytest.param(name, events_at, id=f"{name}-{n}")
    for name, cases in BOUNDS.items()
    for n, events_at in enumerate(cases)
]


def test_every_claim_about_time_is_tried_at_its_bound() -> None:
    assert set(BOUNDS) == {invariant.name for invariant in TIMING}


@pytest.mark.parametrize(("name", "events_at"), CASES)
def test_a_bound_in_time__to_the_millisecond(
    history: History, name: str, events_at: Callable[[int], tuple[Event, ...]]
) -> None:
    at_it, behind_it = (judge(history(*punctual(), *events_at(late)), select([name])).verdict(name) for late in (0, 1))

    assert isinstance(at_it, Held)
    assert at_it.checked_events > 0
    assert behind_it.outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("name", "events_at"), CASES)
def test_a_bound_in_time__of_a_run_that_does_not_have_punctual_timers__is_not_judged(
    history: History, name: str, events_at: Callable[[int], tuple[Event, ...]]
) -> None:
    started, *others = punctual()
    events = history(replace(started, punctual=False), *others, *events_at(1))  # type: ignore[call-arg]  # of RunStarted

    assert judge(events, select([name])).verdict(name).outcome is Outcome.UNTESTED


@pytest.mark.parametrize(("name", "events_at"), CASES)
def test_a_bound_in_time__after_a_node_was_paused__is_not_judged(
    history: History, name: str, events_at: Callable[[int], tuple[Event, ...]]
) -> None:
    events = history(*punctual(), NodeChanged(node=0, change="paused"), *events_at(1))

    assert judge(events, select([name])).verdict(name).outcome is Outcome.UNTESTED


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "connect", "election"])
def test_the_simulator_keeps_every_bound_in_time__holds(protocol: str) -> None:
    options = SimulationOptions(protocol=SimulatedProtocol(protocol), faults=ALL_FAULTS)
    judgements = [judge(simulate(seed, options), TIMING) for seed in range(8)]

    outcomes = {verdict.outcome for judgement in judgements for verdict in judgement.verdicts.values()}
    assert outcomes <= {Outcome.HELD, Outcome.UNTESTED}
    assert (
        sum(
            verdict.checked_events
            for one in judgements
            for verdict in one.verdicts.values()
            if isinstance(verdict, Held)
        )
        > 150
    )
