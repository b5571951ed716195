"""Rounds of a Connect group: what all workers receive alike, why one begins, and why work starts again (KIP-415)."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConnectAssignmentReceived,
    ConnectorStarted,
    GenerationStarted,
    HerderAsked,
    IncarnationStarted,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RequestParked,
    RequestSent,
    TaskStarted,
)
from rebalance_check.properties.engines import CHECKED, Effect, Excused, Fact, Findings, agreement, broken, cause, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.holdings import Rounds
from rebalance_check.properties.views.restarts import NOTED_MS, Restarts
from rebalance_check.properties.views.round_causes import OF_MEMBERS, RoundCauses
from rebalance_check.properties.views.worker import Started, work_of

UPDATES: Final = 4
"""A herder may start a task again for as many causes, which it noted while it was busy: an assignment, and updates."""


SHARED: Final = ("protocol", "error", "leader", "leader_url", "config_offset", "delay_ms")
"""The fields that all members of a generation receive alike."""


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
    premises=("generations are distinguished by the coordinator's incarnation; without its events there was but one",),
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


def _round(event: ConnectAssignmentReceived, causes: RoundCauses) -> Findings:
    """The first worker that receives the assignment of a generation shows the round."""
    if not causes.is_new_round or causes.last is None:
        return None
    if causes.has_cause:
        return CHECKED
    last = causes.last
    if event.config_offset == last.config_offset:
        return Excused(
            "the coordinator may have received one JoinGroup twice: no record of the config topic asks for this round"
        )
    if event.config_offset > causes.end:
        return Excused("the records of the config topic are not all in the history")
    return broken(
        f"generation {event.generation} began without a cause",
        (f"{last.member} received the assignment of generation {last.generation} at {STEP};", last),
        (f"{event.member} received that of generation {event.generation} at {STEP}, by further records of the "
         "config topic; neither members, connectors nor committed task configs had changed since: contradiction.",
         event),
    )  # fmt: skip


ConnectRoundHasACause: Final = Invariant(
    name="connect_round_has_a_cause",
    family="connect",
    claim="a round of a Connect group has a cause: its members or its coordinator changed, the round before revoked, "
    "delayed or failed, connectors were created or removed, or task configs were committed; no other record of the "
    "config topic begins one",
    source="KIP-415; DistributedHerder.ConfigUpdateListener, handleRebalanceCompleted; WorkerCoordinator",
    premises=(
        "the config topic is recorded, and so are the starts and ends of members",
        "a worker that has read further than its assignment when it accepts it joins again",
        "a round for which no worker read more is excused: the network may deliver a JoinGroup twice",
        "a record explains two rounds, a change of the members three: workers that act on it later ask for more",
        "an id that its coordinator forgets rejoins: MembershipLost, CoordinatorLost or MemberPaused tells it",
    ),
    exempted_by=(*OF_MEMBERS, AssignmentAccepted, ConfigAppended, RequestAnswered, RequestParked, RequestSent),
    fold=form(
        {ConnectAssignmentReceived: _round}, views=(RoundCauses,), needs=((ConfigAppended,), (AssignmentAccepted,))
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1)
        AssignmentAccepted(member="w0", generation=1, work=())
        ConfigAppended(offset=0, key="target-state-c", value='{"state":"PAUSED"}')
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=1)
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1)
        AssignmentAccepted(member="w0", generation=1, work=())
        ConfigAppended(offset=0, key="connector-c", value='{"properties":{}}')
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=1)
    """,
    excuses="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1)
        AssignmentAccepted(member="w0", generation=1, config_offset=1, work=())
        ConfigAppended(offset=0, key="target-state-c", value='{"state":"PAUSED"}')
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=1)
    """,
)  # fmt: skip


def _starts_again(event: Started, restarts: Restarts) -> Effect:
    work, worker = work_of(event), restarts.workers.of(event.member)
    says = f"{event.member} started {work} at {STEP}"
    headline = f"{event.member} starts {work} again without a cause"
    unknown = "" if restarts.is_topic_recorded else "the history holds no record of the config topic"
    return Effect((worker.number, work), headline, says, event, excused=unknown, is_first_free=True)


def _anew(event: ConnectAssignmentReceived, restarts: Restarts) -> list[Any]:
    """Work that the worker got, or had stopped to join, starts for the first time in its new assignment."""
    return [(restarts.workers.of(event.member).number, work) for work in restarts.new]


def _noted(event: ConnectAssignmentReceived, restarts: Restarts) -> list[Any]:
    """The assignment explains one start, and a herder may act after the round on records that it read shortly
    before."""
    return [(restarts.workers.of(event.member).number, work) for work in (*restarts.new, *restarts.noted)]


def _asks(_event: ConfigAppended | HerderAsked, restarts: Restarts) -> list[Any]:
    return [
        (worker.number, work)
        for worker in restarts.workers.each()
        for work in restarts.asked
        if work in worker.known_work
    ]


WorkStartsAgainForACause: Final = Invariant(
    name="work_starts_again_for_a_cause",
    family="connect",
    claim="a worker starts a connector or task again only where it was assigned again, a newer record of the config "
    "topic concerns it (a connector's configuration, a commit of its task configs, a restart), or an operator asked "
    "for a restart of it",
    source="DistributedHerder.startWork, processConnectorConfigUpdates, processTaskConfigUpdatesWithIncrementalCoop"
    "erative, processRestartRequest; KAFKA-8931",
    premises=(
        "the config topic is recorded, and so are the restarts that operators ask for",
        "each record and each request explains one more start",
        f"a herder acts on a record or request within {NOTED_MS // 1000} s, or within two rounds",
    ),
    exempted_by=(ConfigAppended, ConnectAssignmentReceived, HerderAsked, MemberCrashed, MemberLeft, MemberStarted),
    fold=cause(
        {ConnectorStarted: _starts_again, TaskStarted: _starts_again},
        {ConnectAssignmentReceived: _noted, ConfigAppended: _asks, HerderAsked: _asks},
        ends={ConnectAssignmentReceived: _anew},
        lacks="it was not assigned again, and no newer record and no request concern it",
        adds_up=UPDATES,
        views=(Restarts,),
        needs=((ConfigAppended,), (ConnectAssignmentReceived,)),
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(offset=1, key="target-state-c", value='{"state":"PAUSED"}')
        ConnectorStarted(member="w0", generation=1, connector="c")
    """,
    holds="""
        ConfigAppended(offset=0, key="connector-c", value='{"properties":{}}')
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(offset=1, key="connector-c", value='{"properties":{}}')
        ConnectorStarted(member="w0", generation=1, connector="c")
    """,
)

LAWS: Final = (ConnectAssignmentIsAgreed, ConnectRoundHasACause, WorkStartsAgainForACause)
"""In the order in which reports name them."""
