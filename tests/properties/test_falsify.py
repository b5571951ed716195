"""A green that no change of its history can break is no green, and a change leaves excuses in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary.events import AssignmentCompleted, Event, MemberJoined, RunEnded
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.falsify import NOT_FALSIFIABLE, falsified, falsify
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws import members, ownership
from rebalance_check.properties.laws.requests import joining
from rebalance_check.properties.verdict import Untested
from tests.properties.test_laws import named, whole

History = Callable[..., list[Event]]


@pytest.mark.parametrize("invariant", [*ownership.LAWS, *members.LAWS, joining.SyncFollowsJoin], ids=named)
def test_the_smallest_history_in_which_it_holds__is_one_change_from_one_that_breaks_it(
    history: History, invariant: Invariant
) -> None:
    assert falsify(whole(history, invariant, invariant.holds), invariant) is not None


def joined(member: str, generation: int) -> Any:
    return MemberJoined(member=member, generation=generation, member_id=member)


def completed(member: str, *owned: str) -> Any:
    return AssignmentCompleted(member=member, generation=1, owned=owned)


def test_a_change_takes_its_values_from_the_history(history: History) -> None:
    (invariant,) = select(["no_double_ownership"])
    alone = history(joined("m0", 1), completed("m0", "t-0"))
    assert falsify(alone, invariant) is None
    two = history(joined("m0", 1), joined("m1", 1), completed("m0", "t-0"), completed("m1", "t-1"))
    change = falsify(two, invariant)
    assert change is not None
    assert "owned by m0 and m1 in generation 1" in change.headline
    assert change == falsify(two, invariant)


def test_a_green_that_no_change_can_break__is_untested(history: History) -> None:
    events = history(joined("m0", 1), completed("m0", "t-0"))
    judgement, changes = falsified(judge(events, "no_double_ownership"), events)
    assert judgement.verdict("no_double_ownership") == Untested(NOT_FALSIFIABLE)
    assert changes == {}


def test_the_changed_history_attests_its_end(history: History) -> None:
    (invariant,) = select(["callbacks_alternate"])
    events = whole(history, invariant, invariant.holds)
    last = tuple(sorted({(each.group, each.source): each.seq for each in events[:-1]}.items()))
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    end = replace(ended, last=tuple((*who, number) for who, number in last))
    assert falsify([*events[:-1], end], invariant) is not None
