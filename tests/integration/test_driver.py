"""Members of our own on sockets: they join, hand over, survive broken connections, and leave."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from random import Random

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.committing import CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.elector import LeaderElector
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.protocol.leader_election import Identity
from rebalance_check.impl.protocol.messages import JoinGroupRequest, LeaveGroupRequest
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.keeper import Open
from rebalance_check.integration.driver.link import patience_ms
from rebalance_check.integration.driver.member import DrivenMember
from rebalance_check.integration.driver.sockets import Member, NoBrokersAvailable
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import CoordinatorFound, Event, MembershipLost
from tests.impl.found_coordinator import with_coordinator

Start = Callable[..., Member[ConsumerCoordinator]]


class SlowListener(RebalanceListener):
    """Takes longer for its first assignment than a session lasts."""

    def __init__(self, slow_s: float) -> None:
        self._slow_s = slow_s

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:  # noqa: ARG002 - part of the contract
        time.sleep(self._slow_s)
        self._slow_s = 0


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def start(broker: EmbeddedBroker, events: list[Event]) -> Iterator[Start]:
    """Starts consumers of one group; what is still connected in the end is cut off."""
    with ExitStack() as stack:

        def make(
            name: str, bootstrap: str = "", listener: RebalanceListener | None = None, look_up_version: int = 4
        ) -> Member[ConsumerCoordinator]:
            config = ClientConfig(
                group_id="g", client_id=name, session_timeout_ms=1_000, heartbeat_interval_ms=100,
                rebalance_timeout_ms=5_000, find_coordinator_version=look_up_version,
            )  # fmt: skip
            coordinator = ConsumerCoordinator(
                config, Recorder("g", name, now_ms, events.append), member=name, topics=["t"],
                assignors=[RangeAssignor()], partitions_per_topic={}, listener=listener,
            )  # fmt: skip
            times = ConnectionConfig(request_timeout_ms=1_000)
            return stack.enter_context(Member(coordinator, bootstrap or broker.bootstrap, connections=times, seed=1))

        yield make


def together(*members: Member[ConsumerCoordinator]) -> None:
    """Poll all of them until each is stable in the same generation."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for member in members:
            member.poll(0.02)
        generations = {member.call(lambda one: one.generation_if_stable()) for member in members}
        ids = {None if generation is None else generation.generation_id for generation in generations}
        if len(ids) == 1 and None not in ids and sum(len(member.coordinator.owned) for member in members) == 4:
            return
    raise AssertionError(f"not settled: {[member.coordinator.state for member in members]}")


def test_members_share_a_topic__and_take_over_what_one_that_leaves_owned(start: Start) -> None:
    first = start("m0")
    first.await_stable(10)
    assert len(first.coordinator.owned) == 4
    second = start("m1")
    together(first, second)
    assert [len(member.coordinator.owned) for member in (first, second)] == [2, 2]
    assert first.close()
    together(second)
    assert len(second.coordinator.owned) == 4


def test_a_commit_between_two_polls_is_answered(start: Start) -> None:
    member = start("m0")
    member.await_stable(10)
    commit = member.call(lambda one: one.commit({TopicPartition("t", 0): 7}, now_ms()))
    deadline = time.monotonic() + 10
    while commit.outcome is CommitOutcome.PENDING and time.monotonic() < deadline:
        member.poll(0.02)
    assert commit.outcome is CommitOutcome.COMMITTED


def test_an_absent_broker_is_named(start: Start) -> None:
    with pytest.raises(NoBrokersAvailable, match=r"no broker answers at 127.0.0.1:1 .*Connection refused"):
        start("m0", bootstrap="127.0.0.1:1").await_stable(0.5)


def test_one_broker_of_the_list_is_enough(start: Start, broker: EmbeddedBroker) -> None:
    start("m0", bootstrap=f"127.0.0.1:1,{broker.bootstrap}").await_stable(10)


def test_a_version_that_the_broker_does_not_serve_is_named(start: Start) -> None:
    with pytest.raises(RebalanceCheckError, match=r"FindCoordinator v6 cannot be sent: the node .* serves v0 to v5"):
        start("m0", look_up_version=6).await_stable(10)


def test_a_coordinator_that_is_not_found_at_first_is_looked_up_again(start: Start, broker: EmbeddedBroker) -> None:
    broker.faults.add(Fault("FindCoordinator", Effect.ANSWER, error=Error.COORDINATOR_NOT_AVAILABLE, times=2))
    start("m0").await_stable(10)


def test_a_member_that_may_not_know_its_coordinator_learns_it(start: Start, broker: EmbeddedBroker) -> None:
    broker.faults.add(Fault("FindCoordinator", Effect.ANSWER, error=Error.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(GroupError, match="FindCoordinator failed with GROUP_AUTHORIZATION_FAILED"):
        start("m0").await_stable(10)


@pytest.mark.parametrize("api", ["FindCoordinator", "JoinGroup", "SyncGroup", "Metadata", "ApiVersions"])
def test_a_connection_that_breaks_while_a_member_joins_is_opened_again(
    start: Start, broker: EmbeddedBroker, api: str
) -> None:
    broker.faults.add(Fault(api, Effect.CLOSE_AFTER))
    start("m0").await_stable(15)


def test_a_heartbeat_that_is_not_answered_costs_the_connection__not_the_membership(
    start: Start, broker: EmbeddedBroker, events: list[Event]
) -> None:
    member = start("m0")
    member.await_stable(10)
    generation = member.coordinator.generation()
    broker.faults.add(Fault("Heartbeat", Effect.CLOSE_BEFORE))
    deadline = time.monotonic() + 10
    while sum(isinstance(event, CoordinatorFound) for event in events) < 2 and time.monotonic() < deadline:
        member.poll(0.05)
    member.await_stable(10)
    assert sum(isinstance(event, CoordinatorFound) for event in events) >= 2
    assert member.coordinator.generation() == generation


def test_heartbeats_go_on_while_a_callback_takes_its_time(start: Start, events: list[Event]) -> None:
    member = start("m0", listener=SlowListener(2.5))
    member.await_stable(20)
    member.poll(0.3)
    assert member.coordinator.generation_if_stable() is not None
    assert not [event for event in events if isinstance(event, MembershipLost)]


def test_a_member_at_rest_is_polled_where_something_is_due__and_not_in_circles(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = start("m0")
    member.await_stable(10)
    polls: list[int] = []
    poll = ConsumerCoordinator.poll

    def counted(one: ConsumerCoordinator, now_ms: int) -> None:
        polls.append(now_ms)
        poll(one, now_ms)

    monkeypatch.setattr(ConsumerCoordinator, "poll", counted)
    member.poll(1.0)
    assert 1 <= len(polls) < 100, "about ten heartbeats, with a poll for each request and each reply"


def test_a_poll_is_woken_up_from_another_thread(start: Start) -> None:
    member = start("m0")
    member.await_stable(10)
    threading.Timer(0.1, member.wake_up).start()
    started = time.monotonic()
    member.poll(60)
    assert time.monotonic() - started < 30


def test_close_gives_up_at_its_deadline(start: Start, broker: EmbeddedBroker) -> None:
    member = start("m0")
    member.await_stable(10)
    broker.faults.add(Fault("LeaveGroup", Effect.DROP_REPLY))
    assert not member.close(0.2)


def test_a_member_that_is_not_connected_says_so(start: Start, broker: EmbeddedBroker) -> None:
    member = start("m0")
    member.poll(0.01)
    member.kill()
    uses: list[Callable[[], object]] = [
        lambda: member.poll(0.01), lambda: member.await_stable(0.01), lambda: member.call(repr)
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(RebalanceCheckError, match="m0 is not connected: use it inside `with`"):
            use()
    with pytest.raises(RebalanceCheckError, match="m0 was connected before: make a new member"), member:
        pass
    assert member.close() is False
    assert broker.bootstrap == member.bootstrap


def test_a_join_is_waited_for_longer_than_its_rebalance_timeout() -> None:
    """5 s longer; other requests, and a join of a short one, as long as any request."""

    def join(rebalance_timeout_ms: int) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id="g", session_timeout_ms=10_000, rebalance_timeout_ms=rebalance_timeout_ms, member_id="",
            protocol_type="connect", protocols=(),
        )  # fmt: skip

    waits = [patience_ms(join(timeout_ms), 30_000) for timeout_ms in (60_000, 20_000)]
    assert [*waits, patience_ms(LeaveGroupRequest(group_id="g", members=()), 30_000)] == [65_000, 30_000, 30_000]


def test_candidates_elect_a_primary(broker: EmbeddedBroker, events: list[Event]) -> None:
    def candidate(name: str) -> Member[LeaderElector]:
        config = ClientConfig(group_id="sr", client_id=name, session_timeout_ms=1_000, heartbeat_interval_ms=100)
        recorder = Recorder("sr", name, now_ms, events.append)
        identity = Identity(name, 8081, scheme="http")
        return Member(LeaderElector(config, recorder, member=name, identity=identity), broker.bootstrap)

    with candidate("m0") as first, candidate("m1") as second:
        deadline = time.monotonic() + 20
        while second.coordinator.primary is None or first.coordinator.primary is None:
            first.poll(0.02)
            second.poll(0.02)
            assert time.monotonic() < deadline
        assert (first.coordinator.is_primary, second.coordinator.is_primary) == (True, False)
        assert first.close()
        while not second.coordinator.is_primary:
            second.poll(0.02)
            assert time.monotonic() < deadline


def test_a_member_that_is_dropped_without_close_ends_its_heartbeats(broker: EmbeddedBroker) -> None:
    config = ClientConfig(group_id="dropped", client_id="m0", session_timeout_ms=1_000, heartbeat_interval_ms=100)
    coordinator = ConsumerCoordinator(
        config, Recorder("dropped", "m0", now_ms, lambda _: None), member="m0", topics=["t"],
        assignors=[RangeAssignor()], partitions_per_topic={},
    )  # fmt: skip
    member = Member(coordinator, broker.bootstrap)
    member.__enter__()
    member.await_stable(10)
    thread = next(one for one in threading.enumerate() if one.name == "member m0")
    assert thread.daemon, "a program that ends without closing its member would hang"
    del member
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    assert coordinator.generation_if_stable() is not None  # it did not leave: the coordinator waits for its session


def test_a_fault_of_the_thread_is_raised_by_one_poll__and_the_member_goes_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = start("m0")
    member.await_stable(10)
    tick, faults = ConsumerCoordinator.tick, [ZeroDivisionError("in the thread")]

    def faulty(one: ConsumerCoordinator, now_ms: int) -> None:
        if faults:
            raise faults.pop()
        tick(one, now_ms)

    monkeypatch.setattr(ConsumerCoordinator, "tick", faulty)
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        member.poll(10)
    member.poll(0.5)
    assert member.coordinator.generation_if_stable() is not None


def test_a_member_that_is_killed_has_no_thread_any_more(start: Start) -> None:
    member = start("m0")
    member.await_stable(10)
    thread = next(one for one in threading.enumerate() if one.name == "member m0")
    member.kill()
    assert not thread.is_alive()


def test_a_thread_that_ends_itself_does_not_wait_for_itself(start: Start) -> None:
    member = start("m0")
    member.await_stable(10)
    thread = next(one for one in threading.enumerate() if one.name == "member m0")
    problems: list[Exception] = []

    def end() -> None:
        try:
            member.kill()
        except RuntimeError as problem:
            problems.append(problem)

    member._thread._loop.call_soon_threadsafe(end)
    thread.join(10)
    assert (problems, thread.is_alive()) == ([], False)


def test_a_member_that_waits_lets_others_use_it(start: Start) -> None:
    member = start("m0")
    member.await_stable(10)
    waiting = threading.Thread(target=member.poll, args=(3,))
    waiting.start()
    time.sleep(0.3)
    started = time.monotonic()
    member.call(lambda one: one.owned)
    took_s = time.monotonic() - started
    member.wake_up()
    waiting.join()
    assert took_s < 1.5


def test_a_poll_has_its_requests_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    member = Member(driven().coordinator, "127.0.0.1:9")
    woken: list[None] = []
    monkeypatch.setattr(member._thread, "advance_soon", lambda: woken.append(None))
    monkeypatch.setattr(member, "_require_connection", lambda: None)
    member._poll_once()
    assert len(woken) == 1


# --------------------------------------------------------------------------------------------------- without sockets


def driven(times: ConnectionConfig | None = None) -> DrivenMember:
    """A candidate, whose connections the test plays."""
    config, recorder = ClientConfig(group_id="sr", client_id="m0"), Recorder("sr", "m0", lambda: 0, lambda _: None)
    elector = LeaderElector(config, recorder, member="m0", identity=Identity("m0", 8081, scheme="http"))
    return DrivenMember(elector, [("bootstrap", 9092)], times or ConnectionConfig(), Random(0))


def test_a_member_connects_to_its_coordinator_as_soon_as_that_is_found() -> None:
    member = driven()
    with_coordinator(member.coordinator)
    member.opened(0, 0)
    assert [(order.host, order.port) for order in member.take_orders() if isinstance(order, Open)] == [("node1", 9092)]


def test_a_coordinator_is_forgotten_when_its_connection_breaks() -> None:
    member = driven()
    with_coordinator(member.coordinator)
    member.opened(0, 0)
    ((number, *_),) = [order for order in member.take_orders() if isinstance(order, Open)]
    member.lost(number, 0, "the network is down")
    assert member.coordinator.coordinator_unknown()


def test_a_look_up_that_reaches_no_node_is_made_again_later() -> None:
    member = driven(ConnectionConfig(reconnect_backoff_ms=5_000, reconnect_backoff_max_ms=5_000))
    member.poll(0)
    ((number, *_),) = [order for order in member.take_orders() if isinstance(order, Open)]
    member.lost(number, 0, "refused")
    assert member.next_poll() == 100
    member.poll(100)
    assert member.take_orders() == [], "no connection may be opened yet"
    assert member.next_poll() == 300
