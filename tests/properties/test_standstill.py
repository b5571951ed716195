"""A run that comes to no rest is explained: loops, replies that are missing, groups that wait, what nobody owns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorFound,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    PartitionsAssigned,
    RequestAnswered,
    RequestParked,
    RequestSent,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.progress import RebalanceCompletes
from rebalance_check.properties.standstill.loops import Repetition, repetition
from rebalance_check.properties.verdict import Counterexample, Violated

History = Callable[..., list[Event]]
M0 = MemberStarted(member="m0", topics=("t",))
GROUP = IncarnationStarted(incarnation=0, generation=0)


def explained(events: list[Event]) -> Counterexample:
    verdict = judge(events, [RebalanceCompletes]).verdict("rebalance_completes")
    assert isinstance(verdict, Violated)
    return verdict.counterexample


def reasons(events: list[Event]) -> list[str]:
    return [reason.text for reason in explained(events).because]


def exchange(number: int, error: str | None, api: str = "JoinGroup", member: str = "m0") -> list[Event]:
    return [
        RequestSent(member=member, api=api, request=number),
        RequestAnswered(member=member, api=api, request=number, error=error),
    ]


def parked(api: str = "JoinGroup", member_id: str = "m0-1") -> RequestParked:
    return RequestParked(incarnation=0, generation=0, api=api, request=0, member_id=member_id)


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ("", None),
        ("abab", None),
        ("ababab", Repetition(2, 3)),
        ("xyababab", Repetition(2, 3)),
        ("aaaa", Repetition(1, 4)),
        ("abaabaaba", Repetition(3, 3)),
        ("ababababx", None),
        ("babab" * 3, Repetition(5, 3)),
    ],
)
def test_the_shortest_segment_that_repeats_to_the_end_is_found(tokens: str, found: Repetition | None) -> None:
    assert repetition(tokens) == found


def test_a_member_that_gets_the_same_reply_for_ever_is_shown_with_one_turn(history: History) -> None:
    turns = [event for number in range(5) for event in exchange(number, "UNKNOWN_MEMBER_ID")]
    found = explained(history(M0, *turns, pending=("m0 is PREPARING_REBALANCE",)))
    assert found.because[0].text == (
        "from {step} on m0 repeats this until the run ends, 5 times: JoinGroup is answered UNKNOWN_MEMBER_ID."
    )
    assert found.repeats == (found.because[0].event, found.events[1])
    assert [type(event) for event in found.repeats] == [RequestSent, RequestAnswered]


def test_a_loop_that_was_over_long_before_the_end_is_none(history: History) -> None:
    turns = [event for number in range(5) for event in exchange(number, "UNKNOWN_MEMBER_ID")]
    other = [event for number in range(20) for event in exchange(number, "NONE", "Heartbeat", "m1")]
    found = reasons(history(M0, *turns, *other, pending=("m0 is PREPARING_REBALANCE",)))
    assert found[0] == "the last request of m0, JoinGroup, is answered UNKNOWN_MEMBER_ID at {step}."


def test_heartbeats_that_are_answered_are_no_loop(history: History) -> None:
    beats = [event for number in range(9) for event in exchange(number, "NONE", "Heartbeat")]
    found = reasons(history(M0, *beats, pending=("t-0 has no owner",)))
    assert found[0] == "the last request of m0, Heartbeat, is answered NONE at {step}."


def test_a_group_that_begins_generations_for_ever_is_a_loop_where_no_member_records(history: History) -> None:
    turn = [
        MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired"),
        GenerationStarted(incarnation=0, generation=2, members=("b",), leader="b"),
    ]
    found = reasons(history(GROUP, *turn * 4, pending=("the group rebalances again and again",)))
    assert found[0] == (
        "from {step} on the group repeats this until the run ends, 4 times: "
        "a member id is removed (session expired), a generation of 1 members begins."
    )


@pytest.mark.parametrize(
    ("at_the_coordinator", "said"),
    [
        ((), []),
        ((GROUP,), ["no coordinator takes it: the request was lost, or waits where nothing answers."]),
        ((GROUP, parked()), ["the coordinator parks it at {step} and never replies."]),
        (
            (
                GROUP,
                parked(),
                JoinGroupReplied(incarnation=0, generation=1, request=0, error="NONE", assigned_member_id="m0-1"),
            ),
            ["the coordinator replies NONE at {step}, and m0 never gets it."],
        ),
    ],
)
def test_a_missing_reply_is_followed_to_the_coordinator(
    history: History, at_the_coordinator: tuple[Event, ...], said: list[str]
) -> None:
    joined = MemberJoined(member="m0", generation=0, member_id="m0-1")
    events = history(
        M0, joined, RequestSent(member="m0", api="JoinGroup", request=1), *at_the_coordinator, pending=("m0 is stuck",)
    )
    first, *others, _pending = reasons(events)
    assert first == "the last request of m0, JoinGroup, sent at {step}, gets no reply."
    assert others == said


def test_a_static_member_is_known_to_the_coordinator_by_its_instance_id(history: History) -> None:
    static = MemberStarted(member="m0", group_instance_id="i0")
    events = history(
        static,
        RequestSent(member="m0", api="JoinGroup", request=1),
        RequestParked(incarnation=0, generation=0, api="JoinGroup", request=0, member_id="x", instance_id="i0"),
        pending=("m0 is stuck",),
    )
    assert reasons(events)[1] == "the coordinator parks it at {step} and never replies."


@pytest.mark.parametrize(
    ("found", "how"),
    [
        ((), "and finds no coordinator"),
        ((CoordinatorFound(member="m0", node=0),), "although it has found its coordinator"),
    ],
)
def test_a_member_that_asks_for_nothing_is_named(history: History, found: tuple[Event, ...], how: str) -> None:
    events = history(M0, *found, pending=("m0 is UNJOINED",))
    assert reasons(events)[0] == f"m0 sends no request after it started at {{step}}, {how}."


def test_how_long_a_member_is_silent_is_said_where_all_have_one_clock(history: History) -> None:
    events = history(RunStarted(subject="s", punctual=True), M0, pending=("m0 is UNJOINED",))
    object.__setattr__(events[-1], "time_ms", 240_000)
    assert "for 240 s until the run ends" in reasons(events)[0]


def test_a_member_that_died_is_shown_with_the_last_reply_that_it_got(history: History) -> None:
    late = [
        RequestSent(member="m0", api="SyncGroup", request=1),
        RequestSent(member="m0", api="LeaveGroup", request=2),
        RequestAnswered(member="m0", api="SyncGroup", request=1, error="NONE"),
        MemberCrashed(member="m0"),
    ]
    found = reasons(history(M0, *late, pending=("m0 died: of a reply",)))
    assert found[1:3] == [
        "the last reply that m0 gets, to SyncGroup, is NONE at {step}.",
        "m0 dies at {step}, and does not start again.",
    ]


def test_a_group_in_a_join_phase_names_whom_it_waits_for(history: History) -> None:
    status = GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
    added = [MemberAdded(incarnation=0, generation=1, member_id=one) for one in ("m0-1", "m1-2", "gone")]
    joined = MemberJoined(member="m1", generation=1, member_id="m1-2")
    events = history(GROUP, *added, joined, status, parked(), pending=("the group is PreparingRebalance",))
    assert (
        "the group has been PreparingRebalance since {step} and waits for the JoinGroup of "
        "gone (which no running member uses), m1-2 (m1)."
    ) in reasons(events)


def assigned(partitions: tuple[str, ...], to: str = "m0-1") -> list[Event]:
    """m1 leads, and gives m0 the partitions."""
    return [
        MemberJoined(member="m0", generation=1, member_id="m0-1"),
        MemberJoined(member="m1", generation=1, member_id="m1-2", leader=True),
        AssignmentComputed(member="m1", generation=1, member_id="m1-2", assignments=((to, partitions), ("m1-2", ()))),
    ]


def owns(*partitions: str, member: str = "m0", member_id: str = "m0-1", generation: int = 1) -> list[Event]:
    return [
        PartitionsAssigned(member=member, generation=generation, member_id=member_id, partitions=partitions),
        AssignmentCompleted(member=member, generation=generation, member_id=member_id, owned=partitions),
    ]


def test_a_partition_that_nobody_has_names_who_had_it_and_why_it_got_no_other_owner(history: History) -> None:
    removed = MemberRemoved(incarnation=0, generation=1, member_id="m0-1", reason="left")
    events = history(
        GROUP, *assigned(("t-0", "t-1")), *owns("t-0", "t-1"), MemberLeft(member="m0"), removed,
        pending=("t-0 has no owner", "t-1 has no owner"),
    )  # fmt: skip
    assert reasons(events)[-4:-1] == [
        "m0, which has t-0, t-1, ends at {step}, and no member has had t-0, t-1 since.",
        "the last assignment, computed by m1 for generation 1 at {step}, gives t-0 to m0-1, t-1 to m0-1.",
        "the coordinator removes m0-1 at {step}: left.",
    ]


def test_a_partition_that_no_assignment_has_is_named(history: History) -> None:
    events = history(GROUP, *owns("t-0"), MemberLeft(member="m0"), *assigned(()), pending=("t-0 has no owner",))
    assert "the last assignment, computed by m1 for generation 1 at {step}, gives t-0 to nobody." in reasons(events)


def test_a_member_that_does_not_take_its_assignment_over_is_named(history: History) -> None:
    events = history(GROUP, *owns("t-0", generation=0), *assigned(("t-0",)), pending=("t-0 is lost",))
    assert "m0 (m0-1) takes no assignment over after {step}." in reasons(events)


def test_two_owners_are_both_named(history: History) -> None:
    events = history(*owns("t-0"), *owns("t-0", member="m1", member_id="m1-2"), pending=("t-0 has 2 owners",))
    assert reasons(events)[-3:-1] == [
        "m0 has had t-0 since {step}, in generation 1.",
        "m1 has had t-0 since {step}, in generation 1.",
    ]


def test_a_timer_that_nobody_armed_is_named(history: History) -> None:
    ended = RunEnded(pending=("m0 is UNJOINED",), untimed=("m0", "join"))
    found = reasons(history(GROUP, M0, *exchange(1, "NONE"), ended, ended=False))
    assert "no timer of m0 is armed at {step}: only something from outside can end this." in found
    assert any(reason.startswith("the coordinator has no timer that ends its wait for JoinGroups") for reason in found)
