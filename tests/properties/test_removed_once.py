"""The coordinator removes a member once, and when it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    IncarnationStarted,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

BEGAN: Final = GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
GONE: Final = MemberRemoved(incarnation=0, generation=1, member_id="a", reason="left")
EXPIRED: Final = MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired")
COMES: Final = MemberAdded(incarnation=0, generation=1, member_id="a")
EMPTY: Final = IncarnationStarted(incarnation=0, generation=0, status="Empty")

OUTCOMES: Final[dict[str, tuple[Outcome, tuple[Event, ...]]]] = {
    "a member leaves": (Outcome.HELD, (BEGAN, GONE)),
    "a member leaves, comes, and leaves": (Outcome.HELD, (BEGAN, GONE, COMES, EXPIRED)),
    "who is in the group is not known yet": (Outcome.HELD, (BEGAN, replace(GONE, incarnation=1))),
    "a member that left goes once more": (Outcome.VIOLATED, (BEGAN, GONE, EXPIRED)),
    "a member goes that never came": (Outcome.VIOLATED, (EMPTY, EXPIRED)),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_members_are_removed_once(history: Callable[..., list[Event]], case: str) -> None:
    outcome, events = OUTCOMES[case]
    assert judge(history(*events), select(["only_members_are_removed"])).outcome is outcome


LEFT: Final = LeaveGroupReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a")

OF_LEAVES: Final[dict[str, tuple[Outcome, tuple[Event, ...]]]] = {
    "a member leaves": (Outcome.HELD, (BEGAN, GONE, LEFT)),
    "its LeaveGroup is refused": (Outcome.HELD, (BEGAN, replace(LEFT, error="NOT_COORDINATOR"))),
    "it names an instance id that it has not": (Outcome.HELD, (BEGAN, replace(LEFT, instance_id="i"))),
    "it is unknown": (Outcome.HELD, (BEGAN, replace(LEFT, member_id="z"))),
    "it stays": (Outcome.VIOLATED, (BEGAN, LEFT)),
    "a static one stays": (
        Outcome.VIOLATED,
        (EMPTY, replace(COMES, instance_id="i"), replace(LEFT, instance_id="i")),
    ),
}


@pytest.mark.parametrize("case", OF_LEAVES)
def test_members_that_leave_are_removed(history: Callable[..., list[Event]], case: str) -> None:
    outcome, events = OF_LEAVES[case]
    assert judge(history(*events), select(["leaving_members_are_removed"])).outcome is outcome
