"""The recording proxy before the broker: every version with an address in it, and consumers of three libraries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, metadata
from rebalance_check.integration.wire.messages import KEY_OF, MESSAGES
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    ConnectionOpened,
    CoordinatorMoved,
    Event,
    ReplyObserved,
    RequestObserved,
)
from rebalance_check.model.vocabulary.schedule import Schedule
from tests.integration.hung_clients import recorded_run

pytestmark = pytest.mark.broker

START, STOP, HEAL = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, Action(ActionKind.HEAL)
PROCESS = "p0"


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def proxy(real: Broker, events: list[Event]) -> Iterator[RecordingProxy]:
    with RecordingProxy(real.bootstrap, listener=events.append, virtual_nodes=2) as opened:
        yield opened


def test_every_version_that_is_offered_names_the_ports_of_the_proxy(proxy: RecordingProxy) -> None:
    port = int(proxy.bootstrap_for(PROCESS).rpartition(":")[2])
    with Connection(proxy.bootstrap_for(PROCESS)) as connection:
        offered = {api.api_key: api for api in connection.call(metadata.ApiVersionsRequest(), 0).api_keys}
        assert all(key in MESSAGES or api.max_version < 3 for key, api in offered.items())
        for version in range(offered[KEY_OF["Metadata"]].max_version + 1):
            brokers = connection.call(metadata.MetadataRequest(topics=[]), version).brokers
            assert [broker.port for broker in brokers if broker.node_id == proxy.node_ids[0]] == [port]
        for version in range(offered[KEY_OF["FindCoordinator"]].max_version + 1):
            request = metadata.FindCoordinatorRequest(key="g", key_type=0, coordinator_keys=["g"])
            found = connection.call(request, version)
            assert (found.coordinators[0] if version >= 4 else found).port == port
        described = offered.get(KEY_OF["DescribeCluster"])
        for version in range(described.max_version + 1) if described else ():
            brokers = connection.call(admin.DescribeClusterRequest(endpoint_type=1), version).brokers
            assert port in {broker.port for broker in brokers}


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_consumers_behind_the_proxy_are_judged_sound__and_every_request_of_theirs_is_read(
    real: Broker, proxy: RecordingProxy, events: list[Event], tmp_path: Path, protocol: str
) -> None:
    clients = (ClientName.LIBRDKAFKA, ClientName.KAFKA_PYTHON, ClientName.AIOKAFKA)
    settings = LiveOptions(protocol=LiveProtocol(protocol), clients=clients if protocol == "eager" else clients[:2])
    bounds = Bounds(protocol=RebalanceProtocol(protocol), members=3, partitions=4)
    actions = (*(Action(START, slot) for slot in range(3)), HEAL, Action(STOP, 0), HEAL)
    where = Broker(proxy.bootstrap_for(PROCESS), real.name)
    history = recorded_run(where, settings, Schedule(bounds, actions), tmp_path)
    assert judge_clients(history).judgement.counterexamples == ()
    asked = {event.request: event for event in events if isinstance(event, RequestObserved)}
    replied = {event.request for event in events if isinstance(event, ReplyObserved)}
    last_replied = {asked[number].connection: number for number in sorted(replied)}
    unanswered = asked.keys() - replied
    assert all(number > last_replied.get(asked[number].connection, -1) for number in unanswered), (
        "a client may end without waiting for its last replies, and replies come in the order of their requests"
    )
    assert {event.subscription_version >= 0 for event in asked.values() if event.api == "JoinGroup"} == {True}
    assert {event.process for event in asked.values()} == {PROCESS}
    opened = {event.connection for event in events if isinstance(event, ConnectionOpened)}
    assert {event.connection for event in events if isinstance(event, ConnectionClosed)} <= opened
    assert not [event for event in events if isinstance(event, CoordinatorMoved)]
