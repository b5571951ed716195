"""Rounds of a Connect group: the assignments that workers receive (KIP-415)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    GenerationStarted,
    IncarnationStarted,
)
from rebalance_check.properties.engines import CHECKED, Fact, Finding, Findings, agreement, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.holdings import EAGER, Rounds
from rebalance_check.properties.views.worker import NO_ERROR, listed
from rebalance_check.properties.views.workers import Workers

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
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2)
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=3)
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2)
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2)
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
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2, assigned=("c",))
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2, assigned=("c",))
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2, assigned=("c",))
        ConnectAssignmentReceived(member="w1", generation=1, protocol="default", leader="a", leader_url="u",
                                  config_offset=2, assigned=("c-0",))
    """,
)


def _fits(event: ConnectAssignmentReceived, workers: Workers) -> Findings:
    """The fields of one assignment fit each other, and the setting of its leader."""
    given = {*event.assigned, *event.revoked}
    version = VERSIONS.get(event.protocol)
    if event.version >= 0 and version is not None and event.version != version:
        return _misfit(event, f"is of version {event.version} under {event.protocol}, which writes {version}")
    if event.error != NO_ERROR and (given or event.delay_ms):
        given_up = listed(given) if given else f"a delay of {event.delay_ms} ms"
        return _misfit(event, f"failed with {event.error} and gives {given_up}")
    leader = workers.with_id(event.leader)
    if leader is None or leader.configured is None:
        return CHECKED if event.delay_ms >= 0 else _misfit(event, f"has a delay of {event.delay_ms} ms")
    longest = leader.configured.scheduled_rebalance_max_delay_ms
    if 0 <= event.delay_ms <= longest:
        return CHECKED
    return _misfit(event, f"has a delay of {event.delay_ms} ms, where {leader.name} allows {longest} ms at most")


def _misfit(event: ConnectAssignmentReceived, fault: str) -> Finding:
    headline = f"the assignment of {event.member} in generation {event.generation} {fault}"
    return broken(headline, (f"{event.member} received it at {STEP}, and it {fault}: contradiction.", event))


ConnectAssignmentIsWellFormed: Final = Invariant(
    name="connect_assignment_is_well_formed",
    family="connect",
    claim="an assignment is of version 0 under default, 1 under compatible and 2 under sessioned, gives nothing where "
    "it carries an error, and has a delay between 0 and its leader's scheduled.rebalance.max.delay.ms",
    source="KIP-415, KIP-507; ConnectProtocolCompatibility; EagerAssignor.ensureLeaderConfig, "
    "IncrementalCooperativeAssignor",
    premises=("the setting of the leader counts where WorkerConfigured tells it",),
    evidence=Evidence.PRESENCE,
    fold=form({ConnectAssignmentReceived: _fits}, views=(Workers,)),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", version=1, leader="a",
                                  leader_url="u", config_offset=2)
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", version=2, leader="a",
                                  leader_url="u", config_offset=2)
    """,
)

LAWS: Final = (ConnectAssignmentIsAgreed, WorkIsGrantedOnce, ConnectAssignmentIsWellFormed)
"""In the order in which reports name them."""
