"""Rounds of a Connect group: the assignments that workers receive (KIP-415)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    GenerationStarted,
    IncarnationStarted,
)
from rebalance_check.properties.engines import Fact, agreement
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.holdings import EAGER, Rounds

VERSIONS: Final = {EAGER: 0, "compatible": 1, "sessioned": 2}
"""The version that each subprotocol writes into its headers."""

SHARED: Final = ("protocol", "error", "leader", "leader_url", "config_offset", "delay_ms")
"""The fields that all members of a generation receive alike."""

GENERATIONS_ARE_DISTINCT: Final = (
    "generations are distinguished by the coordinator's incarnation; without its events there was but one"
)

# ---------------------------------------------------------------------------------------------- one round


def _received(event: ConnectAssignmentReceived, rounds: Rounds) -> Fact:
    value = tuple((name, getattr(event, name)) for name in SHARED)
    says = f"{event.member} received the assignment of generation {event.generation} at {STEP}"
    return Fact(rounds.round_of(event), value, event.member, says, event)


def _differently(first: Fact, other: Fact) -> str:
    name, one, two = next((n, a, b) for (n, a), (_, b) in zip(first.value, other.value, strict=True) if a != b)
    return f"{name.replace('_', ' ')} of one generation is {one} for {first.observer} and {two} for {other.observer}"


ConnectAssignmentIsAgreed: Final = Invariant(
    name="connect_assignment_is_agreed",
    family="connect",
    claim="all workers of a generation receive the same protocol, error, leader, leader URL, config offset and delay",
    source="EagerAssignor, IncrementalCooperativeAssignor.fillAssignmentsAndSerialize",
    premises=(GENERATIONS_ARE_DISTINCT,),
    exempted_by=(GenerationStarted, IncarnationStarted),
    evidence=Evidence.CONCERNED,
    fold=agreement({ConnectAssignmentReceived: _received}, headline=_differently, views=(Rounds,)),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", config_offset=2)
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", config_offset=3)
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", config_offset=2)
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", config_offset=2)
    """,
)


PLACE: Final = f" at {STEP}"


def _granted(event: ConnectAssignmentReceived, rounds: Rounds) -> list[Fact]:
    number = rounds.round_of(event)
    says = f"{event.member} was assigned {{work}} in generation {event.generation} at {STEP}"
    return [
        Fact((number, work), event.member, event.member, says.replace("{work}", work), event) for work in event.assigned
    ]


WorkIsGrantedOnce: Final = Invariant(
    name="work_is_granted_once",
    family="connect",
    claim="a round assigns each connector and task to one worker at most",
    source="EagerAssignor.performTaskAssignment, IncrementalCooperativeAssignor.performTaskAssignment",
    premises=(GENERATIONS_ARE_DISTINCT,),
    exempted_by=(GenerationStarted, IncarnationStarted),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {ConnectAssignmentReceived: _granted},
        headline=lambda first, other: f"{first.says.removesuffix(PLACE)}, and {other.says.removesuffix(PLACE)}",
        checks_first=True,
        views=(Rounds,),
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", config_offset=2, assigned=("c",))
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", config_offset=2, assigned=("c",))
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", config_offset=2, assigned=("c",))
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", config_offset=2, assigned=("c-0",))
    """,
)


LAWS: Final = (ConnectAssignmentIsAgreed, WorkIsGrantedOnce)
"""In the order in which reports name them."""
