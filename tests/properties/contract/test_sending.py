"""What a member sends at all: histories that hold, and some that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RequestSent,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
OFFERS, LEAVES = "offers_its_assignors", "who_leaves_says_so"


def sent(api: str, *protocols: str) -> RequestSent:
    return RequestSent(member="m0", api=api, request=0, protocols=protocols)


def started(instance: str = "", *, silently: bool = False) -> MemberStarted:
    return MemberStarted(member="m0", group_instance_id=instance, leaves_silently=silently, assignors=("b", "a"))


def over(reason: str) -> MembershipLost:
    return MembershipLost(member="m0", generation=1, member_id="x", reason=reason)


FOUND: Final = CoordinatorFound(member="m0", node=1)
LOST: Final = CoordinatorLost(member="m0")
IN_GROUP: Final = (FOUND, sent("JoinGroup"), MemberJoined(member="m0", generation=1, member_id="x"))
CLOSING, LEFT = MemberClosing(member="m0"), MemberLeft(member="m0")
LEAVE: Final = sent("LeaveGroup")
UNSUBSCRIBED: Final = over("the consumer unsubscribed")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "its own list": (OFFERS, (started(), sent("JoinGroup", "b", "a"))),
    "it closes": (LEAVES, (started(), *IN_GROUP, CLOSING, LEAVE, LEFT)),
    "it unsubscribes": (LEAVES, (started(), *IN_GROUP, LEAVE, UNSUBSCRIBED, CLOSING, LEFT)),
    "it was refused": (LEAVES, (started(), *IN_GROUP, over("UNKNOWN_MEMBER_ID"), CLOSING, LEFT)),
    "it knows no coordinator": (LEAVES, (started(), *IN_GROUP, LOST, UNSUBSCRIBED, FOUND, CLOSING, LEFT)),
    "it is static": (LEAVES, (started(), *IN_GROUP, LEAVE, CLOSING, LEFT, started("i"), *IN_GROUP, CLOSING, LEFT)),
    "it is to keep quiet": (
        LEAVES, (started(silently=True), *IN_GROUP, LEAVE, UNSUBSCRIBED, *IN_GROUP, CLOSING, LEFT)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "another order": (OFFERS, (started(), sent("JoinGroup", "a", "b"))),
    "one less": (OFFERS, (started(), sent("JoinGroup", "b"))),
    "it closes and says nothing": (LEAVES, (started(), *IN_GROUP, CLOSING, LEFT)),
    "it unsubscribes and says nothing": (LEAVES, (started(), *IN_GROUP, UNSUBSCRIBED)),
    "it is static and leaves": (LEAVES, (started("i"), *IN_GROUP, LEAVE)),
    "it is to keep quiet and closes": (LEAVES, (started(silently=True), *IN_GROUP, CLOSING, LEAVE)),
}  # fmt: skip


@pytest.mark.parametrize("case", HELD)
def test_what_a_member_may_send__is_none_to_complain_of(history: History, case: str) -> None:
    name, events = HELD[case]
    assert judge(history(*events), select([name])).outcome is Outcome.HELD


@pytest.mark.parametrize("case", VIOLATED)
def test_what_a_member_may_not_send__is_seen(history: History, case: str) -> None:
    name, events = VIOLATED[case]
    assert judge(history(*events), select([name])).outcome is Outcome.VIOLATED
