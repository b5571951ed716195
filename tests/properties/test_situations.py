"""The situations of a run say what happened, in which status and after what, and nothing that a run made up."""

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import (
    Event,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    MemberPaused,
    RequestAnswered,
    RunEnded,
)
from rebalance_check.model.vocabulary.status_course import NO_GROUP, status_after
from rebalance_check.properties.situations import Situations, situations_of

MOVED = GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")


def heartbeat(member: str) -> Event:
    return HeartbeatReplied(
        source="coordinator", incarnation=0, generation=1, member_id=member, request=1, error="ILLEGAL_GENERATION"
    )


def test_what_happens__counts_with_the_status_of_the_group() -> None:
    found = situations_of([heartbeat("m0-1"), MOVED, heartbeat("m0-1")])
    assert "HeartbeatReplied ILLEGAL_GENERATION in no group" in found
    assert "HeartbeatReplied ILLEGAL_GENERATION in PreparingRebalance" in found
    assert "HeartbeatReplied ILLEGAL_GENERATION in Stable" not in found


def test_what_follows__counts_for_one_source() -> None:
    pause, answer = (
        MemberPaused(source="m0", member="m0"),
        RequestAnswered(source="m1", member="m1", api="Heartbeat", request=1, error=None),
    )
    assert "MemberPaused, then RequestAnswered Heartbeat unanswered" not in situations_of([pause, answer])
    mine = RequestAnswered(source="m0", member="m0", api="Heartbeat", request=1, error=None)
    assert "MemberPaused, then RequestAnswered Heartbeat unanswered" in situations_of([pause, mine])


def test_a_claim__counts_in_each_status_in_which_it_may_have_broken() -> None:
    situations = Situations()
    for event in (heartbeat("m0-1"), MOVED, heartbeat("m0-1")):
        situations.observe(event)
    found = situations.judged([("fenced", frozenset({"HeartbeatReplied"})), ("led", frozenset({"MemberJoined"}))])
    assert found == {
        "fenced judged something in no group",
        "fenced judged something in PreparingRebalance",
    }


def test_names_of_members__are_no_part_of_it() -> None:
    assert situations_of([heartbeat("m0-1")]) == situations_of([heartbeat("m3-77")])


def test_faults_that_struck__are_named_at_the_end() -> None:
    assert "drop struck in Stable" in situations_of([RunEnded(struck=(("drop", "Stable"),))])


def test_the_status__is_that_of_the_last_coordinator() -> None:
    loaded = IncarnationStarted(incarnation=1, generation=3, status="Stable")
    assert status_after(MOVED, NO_GROUP) == "PreparingRebalance"
    assert status_after(loaded, NO_GROUP) == "Stable"
    assert status_after(IncarnationEnded(incarnation=1, generation=3), "Stable") == NO_GROUP
    assert status_after(IncarnationEnded(incarnation=1, generation=3, deposed=True), "Stable") == "Stable"


def test_simulated_runs__say_which_faults_struck__and_none_that_was_off() -> None:
    for seed in range(12):
        history = simulate(seed, SimulationOptions())
        (struck,) = [event.struck for event in history if isinstance(event, RunEnded)]
        drawn = next(event.bounds for event in history if hasattr(event, "bounds")).rpartition("drawn: ")[2]
        if drawn.startswith("--") or not drawn:
            continue
        assert {kind for kind, _ in struck} <= set(drawn.split(", ")), f"seed {seed}"


def test_a_run_without_faults__was_struck_by_none() -> None:
    history = simulate(3, SimulationOptions(faults=()))
    assert [event.struck for event in history if isinstance(event, RunEnded)] == [()]
