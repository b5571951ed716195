"""Histories that a claim about the wire says something certain about, and how they are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.by_kip import WireClaims
from rebalance_check.properties.verdict import Outcome
from tests.properties.wire.on_the_wire import Wire

History = Callable[..., list[Event]]
Case = Callable[[Wire], None]

HELD, UNTESTED, VIOLATED = Outcome.HELD, Outcome.UNTESTED, Outcome.VIOLATED


class Cases:
    """The cases of one module, in the order in which they are written."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def __call__(self, claim: str, outcome: Outcome) -> Callable[[Case], Case]:
        """The history that a function writes has this outcome for the claim."""

        def take(write: Case) -> Case:
            name = next(each.name for each in WireClaims if each.name.endswith(claim))
            self.all.append(pytest.param(name, outcome, write, id=f"{claim}-{write.__name__}"))
            return write

        return take


def check(history: History, claim: str, outcome: Outcome, write: Case) -> None:
    """The claim has this outcome, and no other claim is violated."""
    wire = Wire()
    write(wire)
    judgement = judge(history(*wire.events), WireClaims)
    assert judgement.verdict(claim).outcome is outcome, judgement.verdict(claim)
    violated = {found.invariant for found in judgement.counterexamples}
    assert violated == ({claim} if outcome is VIOLATED else set())


def settled(wire: Wire, process: str = "p0", **fields: Any) -> None:
    """A client alone in generation 1, with its assignment."""
    wire.starts(process)
    wire.enters(process, "m", 1, ("t-0",), **fields)


def refused_a_join(wire: Wire) -> None:
    """A client that must join again under the id m."""
    wire.starts("p0")
    wire.replies("p0", wire.joins("p0"), "JoinGroup", error="MEMBER_ID_REQUIRED", assigned_member_id="m")


def replied(wire: Wire, **fields: Any) -> Event:
    """The last reply with these fields."""
    return replace(wire.events[-1], **fields)
