"""A Connect worker that leads: what it assigns at, who owns what, and what it measures."""

from __future__ import annotations

import math

import pytest

from rebalance_check.impl.connect.workers.metrics import WorkerRebalanceMetrics
from rebalance_check.impl.protocol.connect_protocol import (
    CONFIG_MISMATCH,
    ConnectAssignment,
    ConnectMode,
    ConnectorTask,
    read_connect_assignment,
)
from rebalance_check.impl.protocol.messages import JoinedMember, JoinGroupReply, JoinGroupRequest, SyncGroupRequest
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.runtime.metrics import Metrics
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import ConnectAssignmentComputed, OwnerLookedUp, WorkerClaimed
from tests.impl.scripted_worker import URL, Configs, ScriptedWorker, member, work

EAGER, COMPATIBLE, SESSIONED = ConnectMode


COORDINATOR_METRICS = (
    "assigned-connectors", "assigned-tasks", "heartbeat-response-time-max", "heartbeat-rate", "heartbeat-total",
    "join-time-avg", "join-time-max", "join-rate", "join-total", "sync-time-avg", "sync-time-max", "sync-rate",
    "sync-total", "rebalance-latency-avg", "rebalance-latency-max", "rebalance-latency-total", "rebalance-total",
    "rebalance-rate-per-hour", "failed-rebalance-total", "failed-rebalance-rate-per-hour", "last-rebalance-seconds-ago",
    "last-heartbeat-seconds-ago",
)  # fmt: skip
"""``connect-coordinator-metrics``."""


def lead(
    worker: ScriptedWorker, mode: ConnectMode, generation: int = 1, *others: JoinedMember
) -> dict[str, ConnectAssignment]:
    """The worker leads a round; what it assigns, which it takes over itself."""
    if worker.is_silent():
        worker.poll()
    own = worker.request(JoinGroupRequest)
    offer = next(offer for offer in own.protocols if offer.name == mode.protocol)
    worker.joined(generation, mode, leader="m", members=[JoinedMember("m", offer.metadata), *others])
    sent = {one.member_id: one.assignment for one in worker.request(SyncGroupRequest).assignments}
    worker.synced(sent["m"], mode)
    return {each: read_connect_assignment(data) for each, data in sent.items()}


@pytest.mark.parametrize("mode", ConnectMode)
def test_every_member_gets_an_assignment_in_the_version_of_the_protocol(mode: ConnectMode) -> None:
    worker = ScriptedWorker(mode, Configs(3, {"c0": 2}))
    assigned = lead(worker, mode, 1, member("n", 3, version=mode.version))
    assert {one.version for one in assigned.values()} == {mode.version}
    assert {(one.leader, one.leader_url, one.config_offset, one.error) for one in assigned.values()} == {
        ("m", URL, 3, 0)
    }
    assert sorted(name for one in assigned.values() for name in one.names) == ["c0", "c0-0", "c0-1"]


def test_a_leader_that_is_behind_reads_on_once_and_assigns_at_its_own_offset() -> None:
    worker = ScriptedWorker(configs=Configs(1, {}, later=[Configs(1, {}), Configs(9, {"c0": 0})]))
    worker.poll()
    assigned = lead(worker, SESSIONED, 1, member("n", 5))
    assert {one.config_offset for one in assigned.values()} == {9}
    assert worker.coordinator.config_state.offset == 9


@pytest.mark.parametrize("mode", ConnectMode)
def test_a_leader_that_stays_behind_fails_the_round_for_all(mode: ConnectMode) -> None:
    worker = ScriptedWorker(mode, Configs(1, {"c0": 2}))
    assigned = lead(worker, mode, 1, member("n", 5, version=mode.version))
    assert {(one.error, one.config_offset, one.names, one.delay_ms) for one in assigned.values()} == {
        (CONFIG_MISMATCH, 5, (), 0)
    }
    assert worker.coordinator.owner_url("c0") is None
    assert worker.coordinator._leader_state is None


@pytest.mark.parametrize(("mode", "given", "delay_ms"), [(EAGER, {"c0", "c1"}, 0), (COMPATIBLE, set(), 300_000)])
def test_the_protocol_of_the_round_decides_the_assignor(mode: ConnectMode, given: set[str], delay_ms: int) -> None:
    """The eager one deals everything anew; the incremental one waits for the worker that left."""
    worker = ScriptedWorker(SESSIONED, Configs(3, {"c0": 0, "c1": 0}))
    lead(worker, mode, 1, member("n", 3, version=mode.version))
    worker.coordinator.request_rejoin("another worker left")
    worker.poll()
    assigned = lead(worker, mode, 2)["m"]
    assert (set(assigned.names), assigned.delay_ms) == (given, delay_ms)


@pytest.mark.parametrize(("mode", "given", "delay_ms"), [(EAGER, ("c1",), 0), (SESSIONED, (), 300_000)])
def test_an_eager_round_makes_the_incremental_assignor_forget(
    mode: ConnectMode, given: tuple[str, ...], delay_ms: int
) -> None:
    """The work of a worker that leaves is then new: it does not wait for that worker."""
    worker = ScriptedWorker(SESSIONED, Configs(3, {"c0": 0, "c1": 0}))
    n_holds = work("c1", leader="m")
    lead(worker, SESSIONED, 1, member("n", 3))
    for generation, others in ((2, [member("n", 3, n_holds, version=mode.version)]), (3, [])):
        worker.coordinator.request_rejoin("again")
        worker.poll()
        assigned = lead(worker, mode if others else SESSIONED, generation, *others)["m"]
    assert (assigned.names, assigned.delay_ms) == (given, delay_ms)


def test_the_leader_knows_the_owners_until_it_joins_again() -> None:
    worker = ScriptedWorker(configs=Configs(3, {"c0": 1, "c1": 0}))
    lead(worker, SESSIONED, 1, member("n", 3))
    coordinator = worker.coordinator
    assert coordinator.is_leader()
    assert {coordinator.owner_url("c0"), coordinator.owner_url("c1")} == {URL, "http://n:8083/"}
    assert coordinator.owner_url(ConnectorTask("c0", 0)) in {URL, "http://n:8083/"}
    assert coordinator.owner_url("c9") is None
    assert coordinator.owner_url(ConnectorTask("c0", 7)) is None
    coordinator.request_rejoin("again")
    assert coordinator.owner_url("c0") is None, "a rejoin is needed"
    worker.poll()
    assert not coordinator.is_leader()
    assert coordinator._leader_state is None
    asked = [event.work for event in worker.events if isinstance(event, OwnerLookedUp)]
    assert asked == ["c0", "c1", "c0-0", "c9", "c0-7", "c0"]


def test_a_follower_knows_no_owner() -> None:
    worker = ScriptedWorker(configs=Configs(3, {"c0": 1}))
    worker.round(1, work("c0"))
    assert worker.coordinator.owner_url("c0") is None


def test_what_a_round_takes_away_has_no_owner() -> None:
    worker = ScriptedWorker(configs=Configs(3, {"c0": 1, "c1": 1}))
    lead(worker, SESSIONED)
    worker.coordinator.request_rejoin("another worker came")
    worker.poll()
    assigned = lead(worker, SESSIONED, 2, member("n", 3))
    (connector,) = assigned["m"].revoked_connectors
    (task,) = assigned["m"].revoked_tasks
    kept = next(name for name in ("c0", "c1") if name != connector)
    coordinator = worker.coordinator
    assert [coordinator.owner_url(each) for each in (connector, task, kept)] == [None, None, URL]


def test_a_round_with_metadata_that_cannot_be_read_kills_the_leader() -> None:
    worker = ScriptedWorker()
    worker.poll()
    own = worker.request(JoinGroupRequest).protocols[0].metadata
    with pytest.raises(MalformedBytes):
        worker.joined(1, SESSIONED, leader="m", members=[JoinedMember("m", own), JoinedMember("n", b"\0")])
    assert worker.is_silent()


def test_a_leader_never_skips_the_assignment() -> None:
    worker = ScriptedWorker()
    worker.poll()
    own = worker.request(JoinGroupRequest).protocols[0].metadata
    reply = JoinGroupReply(
        generation_id=1,
        protocol_name="sessioned",
        leader="m",
        member_id="m",
        members=(JoinedMember("m", own),),
        skip_assignment=True,
    )
    worker.answer(JoinGroupRequest, reply)
    with pytest.raises(RebalanceCheckError, match="none of which is static"):
        worker.poll()


def test_a_leader_whose_sync_failed_assigns_with_the_generation_that_it_completed() -> None:
    """The incremental assignor notices generations that no worker completed: it does not rely on its memory then."""
    worker = ScriptedWorker(configs=Configs(3, {"c0": 1}))
    lead(worker, SESSIONED)
    worker.heartbeat(Error.UNKNOWN_MEMBER_ID)
    worker.poll()
    lead(worker, SESSIONED, 4)
    computed = [event for event in worker.events if isinstance(event, ConnectAssignmentComputed)]
    assert [(event.generation, event.completed) for event in computed] == [(1, -1), (4, 1)]


def test_events_say_what_was_claimed_and_computed() -> None:
    worker = ScriptedWorker(configs=Configs(3, {"c0": 1}))
    lead(worker, SESSIONED, 1, member("n", 2, work("c5")))
    (claimed,) = [event for event in worker.events if isinstance(event, WorkerClaimed)]
    assert (claimed.claim, claimed.config_offset, claimed.url) == (None, 3, URL)
    assert claimed.protocols == ("sessioned", "compatible", "default")
    (computed,) = [event for event in worker.events if isinstance(event, ConnectAssignmentComputed)]
    assert (computed.leader, computed.leader_url, computed.config_offset) == ("m", URL, 3)
    assert computed.offsets == (("m", 3), ("n", 2))
    assert computed.claims == (("m", ()), ("n", ("c5",)))
    assert computed.configured == ("c0", "c0-0")


# ---------------------------------------------------------------------------------------------------- metrics


def test_metrics_of_the_coordinator_count_the_claim() -> None:
    worker = ScriptedWorker()
    counts = [worker.coordinator.metric_values(0)[name] for name in ("assigned-connectors", "assigned-tasks")]
    assert counts == [0, 0]
    worker.round(1, work("c0 c1 c0-0"))
    values = worker.coordinator.metric_values(worker.now_ms)
    assert (values["assigned-connectors"], values["assigned-tasks"]) == (2, 1)
    assert set(COORDINATOR_METRICS) == values.keys()


def test_metrics_of_the_worker_have_the_names_of_kafka() -> None:
    worker = ScriptedWorker()
    metrics, registry, generation = WorkerRebalanceMetrics(), Metrics(), [-1]
    metrics.register(registry, worker.coordinator, lambda: generation[0])
    before = registry.by_name(0)
    assert before["connect-protocol"] == "SESSIONED"
    assert (before["leader-name"], before["rebalancing"], before["time-since-last-rebalance-ms"]) == ("", 0, math.inf)
    worker.round(4, work("c0"), COMPATIBLE)
    generation[0] = 4
    metrics.started(1_000)
    assert registry.by_name(1_500)["rebalancing"] == 1
    metrics.succeeded(3_000)
    metrics.succeeded(3_100)
    assert registry.by_name(4_000) == {
        "connect-protocol": "COMPATIBLE",
        "leader-name": "http://other:8083/",
        "epoch": 4,
        "rebalancing": 0,
        "completed-rebalances-total": 2,
        "rebalance-max-time-ms": 2_000,
        "rebalance-avg-time-ms": 1_000,
        "time-since-last-rebalance-ms": 900,
    }
