"""Clients of three libraries behind the proxy, while the coordinator of their group moves, and its reply is lost."""

from __future__ import annotations

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import CoordinatorMoved, Event, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.schedule import Schedule, run
from tests.integration.hung_clients import repeated_when_hung
from tests.integration.seen import assert_seen

CLIENTS = (ClientName.LIBRDKAFKA, ClientName.KAFKA_PYTHON, ClientName.AIOKAFKA)
START, STOP, HEAL = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, Action(ActionKind.HEAL)
ACTIONS = (*(Action(START, slot) for slot in range(3)), HEAL, Action(STOP, 0), HEAL)


@pytest.mark.parametrize("nodes", [1, 2], ids=["a virtual node", "a node of the broker"])
def test_they_follow_the_coordinator__and_every_request_of_theirs_is_read(nodes: int) -> None:
    events: list[Event] = []
    plan = FaultPlan(
        Fault("Heartbeat", Effect.MOVE_COORDINATOR, nth=12, node=2),
        Fault("Heartbeat", Effect.MOVE_COORDINATOR, nth=24, node=1),
        Fault("SyncGroup", Effect.CLOSE_AFTER, nth=3),
    )
    settings = LiveOptions(protocol=LiveProtocol.EAGER, clients=CLIENTS)
    with (
        EmbeddedBroker(nodes=nodes) as broker,
        RecordingProxy(
            broker.bootstrap, listener=events.append, faults=plan, control=broker, virtual_nodes=2 if nodes == 1 else 0
        ) as proxy,
    ):
        where = Broker(proxy.bootstrap_for("p0"), "embedded")
        history = repeated_when_hung(
            lambda: list(run(LiveSubject(where, settings), Schedule(Bounds(members=3), ACTIONS)))
        )
    assert judge_clients(history).judgement.counterexamples == ()
    assert_seen("wire", events)
    assert plan.pending == ()
    assert [event.node for event in events if isinstance(event, CoordinatorMoved)] == [2, 1]
    replies = [event for event in events if isinstance(event, ReplyObserved)]
    assert {event.node for event in replies if event.api == "FindCoordinator"} >= {1, 2}
    assert "NOT_COORDINATOR" in {event.error for event in replies if event.api == "Heartbeat"}
    joins = [event for event in events if isinstance(event, RequestObserved) and event.api == "JoinGroup"]
    assert len({event.client_id for event in joins}) == 3
    assert all(event.topics and event.subscription_version >= 0 for event in joins)
