"""Identities are compared whole: workers of one host, instance ids, URLs; a failed round reaches every worker."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rebalance_check.impl.assignors.assignor import Assignments, GroupSubscription, Racks
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.connect.assignors.round import config_mismatch
from rebalance_check.impl.connect.status.codec import Status, StatusValue, TaskKey
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.protocol.connect_protocol import CONFIG_MISMATCH, WorkerState
from rebalance_check.impl.protocol.consumer_protocol import Subscription, write_subscription
from rebalance_check.impl.protocol.messages import HeartbeatReply, JoinedMember
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import Error

SILENT = Recorder("g", "w0", lambda: 0, lambda _: None)
TASK = TaskKey("c", 0)


@pytest.mark.parametrize(
    ("cached", "is_written"),
    [
        ("host:8083", True),
        ("host:8084", False),
        ("hos:8083", False),
        ("host:80831", False),
        ("HOST:8083", False),
        ("host", False),
    ],
)
def test_a_safe_write_takes_only_the_very_same_worker_for_itself(cached: str, is_written: bool) -> None:
    channel = Channel(SharedLog(1, SILENT), "w0")
    store = channel.store = StatusStore("w0", channel, SILENT)
    newer = f'{{"state":"RUNNING","trace":null,"worker_id":"{cached}","generation":5}}'
    store.read(0, 0, str(TASK), newer.encode())
    store.put_safe(TASK, StatusValue(Status.UNASSIGNED, "host:8083", 4))
    assert bool(channel.waiting) is is_written


@pytest.mark.parametrize("url", ["http://m:8083/", ""])
def test_a_round_whose_leader_is_behind_fails_for_every_worker__with_the_leaders_url(url: str) -> None:
    states = {"m": (url, 3), "n": ("http://n:8083/", 9), "o": ("http://o:8083/", 1)}
    members = {name: WorkerState(url=where, config_offset=offset) for name, (where, offset) in states.items()}
    failed = config_mismatch("m", members, version=2)
    assert failed.keys() == members.keys()
    assert {(one.error, one.leader, one.leader_url, one.config_offset, one.names) for one in failed.values()} == {
        (CONFIG_MISMATCH, "m", url, 9, ())
    }


class Listening(RangeAssignor):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.subscriptions: GroupSubscription = {}

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: GroupSubscription, racks: Racks | None = None
    ) -> Assignments:
        self.subscriptions = subscriptions
        return super().assign(partitions_per_topic, subscriptions, racks)


def member(assignor: RangeAssignor, environment: Loopback) -> ConsumerCoordinator:
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)
    return environment.add(
        lambda recorder: ConsumerCoordinator(
            config, recorder, member="m0", topics=("t",), assignors=[assignor], partitions_per_topic={"t": 2}
        ),
        group="g",
        member="m0",
    )


def test_the_leader_hands_each_members_own_instance_id_to_the_assignor() -> None:
    assignor = Listening()
    leader, metadata = member(assignor, Loopback()), write_subscription(Subscription(topics=("t",)))
    joined = [
        JoinedMember("m-2", metadata, "i2"),
        JoinedMember("m-1", metadata, None),
        JoinedMember("m-3", metadata, "i"),
    ]
    leader.perform_assignment("m-1", "range", joined)
    instances = {name: one.group_instance_id for name, one in assignor.subscriptions.items()}
    assert instances == {"m-1": None, "m-2": "i2", "m-3": "i"}


@pytest.mark.parametrize("error", [Error.NONE, Error.REBALANCE_IN_PROGRESS, Error.UNKNOWN_SERVER_ERROR])
def test_a_heartbeat_is_measured_whatever_its_answer_says(error: Error) -> None:
    environment = Loopback()
    client = member(RangeAssignor(), environment)
    environment.run(1_000)
    before = client.metric_values(0)["heartbeat-total"]
    client.tick(4_000)
    [(number, _)] = client.take_requests()
    client.receive(number, HeartbeatReply(error=error), 4_250)
    values = client.metric_values(4_250)
    assert (before, values["heartbeat-total"], values["heartbeat-response-time-max"]) == (0, 1, 250)
