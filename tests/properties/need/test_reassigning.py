"""What asks a leader to move partitions, and a round of Connect to take work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    ConnectAssignmentComputed,
    Event,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
Given = tuple[tuple[str, tuple[str, ...]], ...]
MOVE, TAKE = "reassignment_has_a_cause", "work_is_taken_for_a_cause"
FIRST: Final = (("a", ("t-0",)), ("b", ("t-1",)))
SECOND: Final = (("a", ("t-1",)), ("b", ("t-0",)))


def computed(given: Given, *, protocol: str = "range", owned: Given = (), generation: int = 1) -> AssignmentComputed:
    return AssignmentComputed(
        member="m0", generation=1, protocol=protocol, assignments=given, owned_partitions=owned,
        owned_generations=tuple((member, generation) for member, _ in owned),
    )  # fmt: skip


def sticky(given: Given, owned: Given) -> AssignmentComputed:
    return computed(given, protocol="cooperative-sticky", owned=owned)


def eager_sticky(given: Given, said: Given, *generations: int) -> AssignmentComputed:
    of = generations or (1,) * len(said)
    return replace(
        computed(given, protocol="sticky"),
        remembered_partitions=said,
        remembered_generations=tuple((member, number) for (member, _), number in zip(said, of, strict=True)),
    )


def connect(
    claims: Given, revoked: Given, assigned: Given = (), protocol: str = "compatible", configured: str = "c d e"
) -> ConnectAssignmentComputed:
    return ConnectAssignmentComputed(
        member="w0", generation=2, protocol=protocol, leader="a", leader_url="u", config_offset=3,
        configured=tuple(configured.split()), claims=claims, revoked=revoked, assigned=assigned,
    )  # fmt: skip


RUN: Final = RunStarted(subject="simulator", punctual=True)
WANTS: Final = SubscriptionChanged(member="m0", topics=("t", "u"))
JOINS: Final = RequestSent(member="m0", api="JoinGroup", request=1)
CLAIMS: Final = (("a", ("c", "d", "e")), ("b", ()))

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "nothing moves": (MOVE, (RUN, computed(FIRST), computed(FIRST))),
    "nothing that is sticky moves": (MOVE, (RUN, sticky(FIRST, ()), sticky(FIRST, FIRST))),
    "nothing that an eager sticky member remembers moves": (
        MOVE, (RUN, eager_sticky(FIRST, ()), eager_sticky(FIRST, FIRST))
    ),
    "more than the share": (TAKE, (connect(CLAIMS, (("a", ("c",)),)),)),
    "what two workers claim": (TAKE, (connect((("a", ("c",)), ("b", ("c",))), (("a", ("c",)), ("b", ("c",)))),)),
    "what it is given something else for": (
        TAKE, (connect((("a", ("c",)),), (("a", ("c",)),), (("a", ("d", "e", "f")),)),)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "range moves": (MOVE, (RUN, computed(FIRST), computed(SECOND))),
    "roundrobin moves": (
        MOVE, (RUN, computed(FIRST, protocol="roundrobin"), computed(SECOND, protocol="roundrobin"))
    ),
    "what is sticky moves": (MOVE, (RUN, sticky(FIRST, ()), sticky(SECOND, FIRST))),
    "what an eager sticky member remembers moves": (
        MOVE, (RUN, eager_sticky(FIRST, ()), eager_sticky(SECOND, FIRST))
    ),
    "it moves long after a change": (
        MOVE, (RUN, WANTS, JOINS, computed(FIRST), computed(FIRST), computed(FIRST), computed(SECOND))
    ),
    "less than the share is left": (TAKE, (connect((("a", ("c",)), ("b", ("d", "e"))), (("a", ("c",)),)),)),
    "fewer tasks than the share are left": (
        TAKE, (connect((("a", ("c", "c-0")), ("b", ("c-1",))), (("a", ("c-0",)),), configured="c c-0 c-1"),)
    ),
}  # fmt: skip

UNTESTED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "other members": (MOVE, (RUN, computed(FIRST), computed((("a", ("t-1",)), ("c", ("t-0",)))))),
    "other partitions": (MOVE, (RUN, computed(FIRST), computed((("a", ("t-0", "t-2")), ("b", ("t-1",)))))),
    "another assignor": (MOVE, (RUN, computed(FIRST), computed(SECOND, protocol="roundrobin"))),
    "an assignor of its own": (MOVE, (RUN, computed(FIRST, protocol="mine"), computed(SECOND, protocol="mine"))),
    "a member without what it was assigned": (
        MOVE,
        (RUN, sticky(FIRST, ()), sticky(SECOND, (("a", ()), ("b", ("t-1",))))),
    ),
    "a member that remembers something else": (
        MOVE,
        (RUN, eager_sticky(FIRST, ()), eager_sticky(SECOND, (("a", ()), ("b", ("t-1",))))),
    ),
    "members that remember different generations": (
        MOVE,
        (RUN, eager_sticky(FIRST, ()), eager_sticky(SECOND, FIRST, 1, 0)),
    ),
    "members that remember nothing that is recorded": (MOVE, (RUN, eager_sticky(FIRST, ()), eager_sticky(SECOND, ()))),
    "a member that wants other topics": (MOVE, (RUN, computed(FIRST), WANTS, computed(SECOND))),
    "a member that joins for other topics": (MOVE, (RUN, computed(FIRST), WANTS, JOINS, computed(SECOND))),
    "a live run": (MOVE, (RunStarted(subject="live"), computed(FIRST), computed(SECOND))),
    "an eager round": (TAKE, (connect((("a", ("c",)),), (("a", ("c",)),), protocol="default"),)),
    "work that is not configured": (TAKE, (connect((("a", ("f",)),), (("a", ("f",)),)),)),
}


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_has_a_cause_is_excused(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_has_no_cause_is_not(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), UNTESTED.values(), ids=UNTESTED)
def test_where_something_changed_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.UNTESTED
