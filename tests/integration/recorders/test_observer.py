"""A recorder's conclusions from the view that a library gives, and the facts that it leaves unknown."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

pytest.importorskip("kafka", reason="the recorders of kafka-python need the extra 'brokers'")

from rebalance_check import Outcome, RebalanceCheckError, judge, recording
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.recorders.membership import Committed, Membership
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    SubscriptionChanged,
)

T0, T1 = ("t", 0), ("t", 1)


class Shown:
    """A consumer that shows what a test says, and its recorded events."""

    def __init__(self) -> None:
        self.history: list[Event] = []
        self.now = Membership()
        self.observer = Observer("m0", Recorder("g", "m0", lambda: 0, self.history.append))
        self.observer.membership = lambda: self.now
        self.observer.started(MemberStarted(member="m0", protocol="eager"))

    def in_generation(self, generation: int, member_id: str = "a", *, settled: bool = False) -> Observer:
        self.now = Membership(generation, member_id, settled)
        return self.observer

    @property
    def kinds(self) -> list[type[Event]]:
        return [type(event) for event in self.history[1:]]


@pytest.fixture
def shown() -> Shown:
    return Shown()


def test_a_generation_is_joined_once__where_it_is_shown_first(shown: Shown) -> None:
    shown.in_generation(1).assigned([T0])
    shown.in_generation(1, settled=True).after_poll(lambda: ("t-0",))
    shown.observer.after_poll(lambda: ("t-0",))
    shown.observer.revoked([T0])
    shown.in_generation(2, settled=True).assigned([T1])
    shown.observer.after_poll(lambda: ("t-1",))
    assert shown.kinds == [
        MemberJoined, PartitionsAssigned, AssignmentCompleted, PartitionsRevoked,
        MemberJoined, PartitionsAssigned, AssignmentCompleted,
    ]  # fmt: skip
    assert judge(shown.history).outcome is Outcome.HELD


def test_a_generation_that_is_taken_up_once_more__is_joined_once_more(shown: Shown) -> None:
    shown.in_generation(1).joined()
    shown.observer.joined()
    shown.observer.after_poll(lambda: ())
    assert shown.kinds == [MemberJoined, MemberJoined]
    shown.in_generation(2).joined()
    assert shown.kinds == [MemberJoined, MemberJoined, MemberJoined]


def test_a_membership_is_lost_for_the_error_that_ended_it__if_the_recorder_sees_that(shown: Shown) -> None:
    for generation, error in enumerate(("ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"), 1):
        shown.in_generation(generation).assigned([T0])
        shown.observer.refused(error)
        shown.in_generation(-1, "").after_poll(lambda: ())
    lost = [event.reason for event in shown.history if isinstance(event, MembershipLost)]
    assert lost == ["ILLEGAL_GENERATION", "not notified"]


def test_a_membership_that_ended_unseen__is_lost_when_another_member_id_is_shown(shown: Shown) -> None:
    shown.in_generation(1).assigned([T0])
    shown.in_generation(4, "b").lost([T0])
    shown.observer.after_poll(lambda: ())
    assert shown.kinds == [MemberJoined, PartitionsAssigned, MembershipLost, PartitionsLost, MemberJoined]
    assert judge(shown.history).outcome is Outcome.HELD


def test_a_library_that_goes_on_showing_what_it_lost__has_not_joined_again(shown: Shown) -> None:
    shown.in_generation(1).assigned([T0])
    shown.observer.lost([T0])
    for _ in range(3):
        shown.observer.after_poll(lambda: ())
    assert shown.kinds == [MemberJoined, PartitionsAssigned, MembershipLost, PartitionsLost]
    shown.in_generation(2).assigned([T0])
    assert shown.kinds[4:] == [MemberJoined, PartitionsAssigned]


def test_a_join_that_completes_while_the_consumer_closes__was_under_way_before(shown: Shown) -> None:
    """It claimed what the consumer gave up since, so that no claim about claims may hold it against the consumer."""
    shown.in_generation(1).assigned([T0])
    shown.in_generation(1, settled=True).after_poll(lambda: ("t-0",))
    shown.observer.leaving()
    shown.observer.revoked([T0])
    shown.in_generation(2).computed("cooperative-sticky", {"a": [T0]}, {"a": [T0]}, {"a": 1})
    shown.observer.left()
    assert shown.kinds[2:] == [AssignmentCompleted, PartitionsRevoked, AssignmentComputed, MemberLeft]


def test_a_membership_that_is_not_shown_while_the_consumer_closes__is_not_lost(shown: Shown) -> None:
    """librdkafka shows none any more when it calls back for what it gives up."""
    shown.in_generation(1).assigned([T0])
    shown.observer.leaving()
    shown.in_generation(-1, "").revoked([T0])
    shown.observer.left()
    assert shown.kinds == [MemberJoined, PartitionsAssigned, PartitionsRevoked, MemberLeft]
    assert judge(shown.history).outcome is Outcome.HELD


def test_what_is_owned_when_the_application_unsubscribes__is_given_up(shown: Shown) -> None:
    shown.in_generation(1).assigned([T1, T0])
    shown.observer.unsubscribing()
    shown.observer.unsubscribing()
    (given_up,) = [event for event in shown.history if isinstance(event, PartitionsRevoked)]
    assert given_up.partitions == ("t-0", "t-1")


def test_other_topics_are_an_event__unknown_ones_are_none(shown: Shown) -> None:
    topics: list[tuple[str, ...] | None] = [None, ("t",), ("t",), ("t", "u"), ()]
    for now in topics:
        shown.observer.topics = MagicMock(return_value=now)
        shown.observer.after_poll(lambda: ())
    changes = [event.topics for event in shown.history if isinstance(event, SubscriptionChanged)]
    assert changes == [("t",), ("t", "u"), ()]


def test_a_commit_is_of_the_membership_in_which_it_was_sent(shown: Shown) -> None:
    shown.in_generation(5, "b").committed([Committed("t-0", 7, None)], Membership(4, "a"))
    (commit,) = [event for event in shown.history if isinstance(event, OffsetCommitted)]
    assert (commit.generation, commit.member_id, commit.offset, commit.error) == (4, "a", 7, None)


def test_what_is_no_consumer_is_refused(tmp_path: object) -> None:
    with (
        pytest.raises(RebalanceCheckError, match=r"builtins.dict is no consumer of kafka-python, confluent"),
        recording({}, f"{tmp_path}/m0.jsonl", member="m0"),
    ):
        pass
