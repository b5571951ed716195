"""Defects of client libraries against their contract, made to happen every time.

This is the evidence behind TRACK_RECORD.md and `rebalance_check.integration.live.known_deviations`. A release that no
longer does it fails here, and its entry can go.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")
pytest.importorskip("aiokafka", reason="live clients need the extra 'brokers'")

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioKafkaRangeAssignor

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.live.clients import open_consumer
from rebalance_check.integration.live.clients.consumer import LiveConsumer
from rebalance_check.integration.live.kafka_python_api import (
    ConsumerRebalanceListener,
    CooperativeStickyAssignor,
    KafkaConsumer,
    MemberState,
    RangePartitionAssignor,
)
from rebalance_check.integration.live.settings import ClientName, LiveOptions, MemberOrder
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.recorders.aiokafka import RecordingAioKafkaConsumer
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    MemberRemoved,
    OffsetCommitted,
    PartitionsAssigned,
    RequestObserved,
)
from rebalance_check.properties.judge import judge

POLL_MS = 200
METADATA_AGE_MS = 200
DEADLINE_S = 20.0
SOME = 5


class SlowAssignor:
    """Put in front of an assignor class: takes its time once ``seconds`` is set."""

    seconds = 0.0
    computed = 0

    def assign(self, cluster: Any, members: Any) -> Any:
        time.sleep(self.seconds)
        self.computed += 1
        return super().assign(cluster, members)  # type: ignore[misc] # of the class behind


class SlowRange(SlowAssignor, RangePartitionAssignor):
    """EAGER."""


class SlowCooperativeSticky(SlowAssignor, CooperativeStickyAssignor):
    """COOPERATIVE."""


BOTH = pytest.mark.parametrize("assignor_class", [SlowRange, SlowCooperativeSticky])


@contextmanager
def recording_broker() -> Iterator[tuple[EmbeddedBroker, list[Event]]]:
    events: list[Event] = []
    with EmbeddedBroker({"t": 4}, listener=events.append) as broker:
        yield broker, events


@contextmanager
def kafka_python(broker: EmbeddedBroker, topic: str, assignor: Any, listener: Any = None) -> Iterator[Any]:
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap,
        group_id="g",
        partition_assignment_strategy=[assignor],
        session_timeout_ms=1_000,
        heartbeat_interval_ms=100,
        enable_auto_commit=False,
        metrics_enabled=False,
        metadata_max_age_ms=METADATA_AGE_MS,
    )
    consumer.subscribe([topic], listener=listener)
    consumer.topics()  # what it learns of its topic after it has joined makes it join again
    try:
        yield consumer
    finally:
        consumer.close()


def poll_until(consumer: Any, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not reached():
        assert time.monotonic() < deadline, consumer.group_metadata()
        consumer.poll(timeout_ms=POLL_MS)


def is_stable(consumer: Any) -> bool:
    return bool(consumer.group_metadata().state == MemberState.STABLE)


@BOTH
def test_a_leader_of_kafka_python_stays_in_its_join__when_a_poll_ends_before_its_sync(
    assignor_class: type[Any],
) -> None:
    """Metadata bring it to join again, and computing the assignment ends that for it: `need_rejoin` compares the
    metadata that it assigned with those that it has. When the poll ends there, no later one takes up the join."""
    assignor = assignor_class()
    with recording_broker() as (broker, events), kafka_python(broker, "late", assignor) as consumer:
        poll_until(consumer, lambda: is_stable(consumer))
        computed, assignor.seconds = assignor.computed, 2 * POLL_MS / 1000
        create_topic(broker.bootstrap, "late", 2)
        poll_until(consumer, lambda: assignor.computed > computed)
        poll_until(consumer, lambda: any(isinstance(event, MemberRemoved) for event in events))
        for _ in range(5):
            consumer.poll(timeout_ms=POLL_MS)
        assert not is_stable(consumer)
        assert consumer.assignment() == set()
        assert assignor.computed == computed + 1


@BOTH
def test_a_leader_of_kafka_python_completes_the_same_join__within_one_poll(assignor_class: type[Any]) -> None:
    with recording_broker() as (broker, _events), kafka_python(broker, "late", assignor_class()) as consumer:
        poll_until(consumer, lambda: is_stable(consumer))
        create_topic(broker.bootstrap, "late", 2)
        time.sleep(5 * METADATA_AGE_MS / 1000)  # so that the join begins with the poll
        consumer.poll(timeout_ms=10 * POLL_MS)
        assert is_stable(consumer)
        assert len(consumer.assignment()) == 2


def test_kafka_python_joins_again__when_a_join_completes_between_two_polls() -> None:
    """The result of a join that nobody waited for when it came is thrown away."""
    assignor = SlowRange()
    assignor.seconds = 2 * POLL_MS / 1000
    with recording_broker() as (broker, events), kafka_python(broker, "t", assignor) as consumer:
        for _ in range(3):
            consumer.poll(timeout_ms=POLL_MS)
            time.sleep(2 * assignor.seconds)  # the application works, and the join completes meanwhile
    assert len([event for event in events if isinstance(event, GenerationStarted)]) > 1


class Lost(ConsumerRebalanceListener):
    """Counts the partitions that the application was notified to be lost."""

    def __init__(self) -> None:
        self.partitions = 0

    def on_partitions_assigned(self, assigned: Any) -> None: ...

    def on_partitions_revoked(self, revoked: Any) -> None: ...

    def on_partitions_lost(self, lost: Any) -> None:
        self.partitions += len(lost)


def poll_both_until(one: Any, other: Any, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not reached():
        assert time.monotonic() < deadline, (one.group_metadata(), other.group_metadata())
        one.poll(timeout_ms=POLL_MS)
        other.poll(timeout_ms=POLL_MS)


def test_a_cooperative_member_of_kafka_python_keeps_what_it_lost__when_it_is_removed_during_its_join() -> None:
    """Its JoinGroup arrives after its session ended, and is answered UNKNOWN_MEMBER_ID. `reset_generation` leaves
    ``rejoining`` set, so `_on_join_prepare_async` does not run again: the application is not notified that its
    partitions are lost, and another member owns them meanwhile."""
    lost = Lost()
    with (
        recording_broker() as (broker, events),
        kafka_python(broker, "t", CooperativeStickyAssignor(), lost) as zombie,
        kafka_python(broker, "t", CooperativeStickyAssignor()) as other,
    ):
        poll_until(zombie, lambda: len(zombie.assignment()) == 4)
        late = zombie.group_metadata().member_id
        broker.faults.add(Fault("JoinGroup", Effect.DELAY, when=lambda request: request.member_id == late, delay_s=6.0))
        poll_both_until(zombie, other, lambda: len(other.assignment()) == 4)
        assert [event.member_id for event in events if isinstance(event, MemberRemoved)] == [late]
        assert zombie.assignment() == other.assignment()
        poll_both_until(zombie, other, lambda: is_stable(zombie) and zombie.group_metadata().member_id != late)
        assert lost.partitions == 0


@pytest.mark.parametrize(
    ("assignors", "generations"), [(("range",), [1]), (("range", "roundrobin"), [1, 2])], ids=["one", "two"]
)
def test_aiokafka_joins_once_for_each_assignor_that_it_offers(
    assignors: tuple[str, ...], generations: list[int]
) -> None:
    """Each JoinGroup but the last says less than the member offers, so the next one begins a generation more."""
    settings = LiveOptions(clients=(ClientName.AIOKAFKA,), assignors=assignors, session_timeout_ms=6_000)
    with recording_broker() as (broker, events):
        order = MemberOrder(
            bootstrap=broker.bootstrap, group="g", topic="t", member="m0", recording="",
            choice=settings.choice(0), settings=settings,
        )  # fmt: skip
        shown: list[Event] = []
        consumer = open_consumer(order, Observer("m0", Recorder("g", "m0", lambda: 0, shown.append)))
        poll_until_assigned(consumer, shown)
        assert [event.generation for event in events if isinstance(event, GenerationStarted)] == generations
        consumer.close()


def poll_until_assigned(consumer: LiveConsumer, shown: list[Event]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not any(isinstance(event, PartitionsAssigned) and len(event.partitions) == 4 for event in shown):
        assert time.monotonic() < deadline, shown
        consumer.poll(POLL_MS)


def test_aiokafka_shows_revoked_partitions_as_assigned_until_its_join_completes__and_commits_them() -> None:
    """The leader has just computed the assignment: it has revoked all, and names the new generation already."""
    shown: list[Event] = []
    with EmbeddedBroker({"t": 4}) as broker:
        asyncio.run(aiokafka_commits_its_assignment_while_it_joins(broker, shown))
    committed = {event.partition for event in shown if isinstance(event, OffsetCommitted) and event.error == "NONE"}
    assert len(committed) == 4
    assert [one.invariant for one in judge(shown).counterexamples] == ["revoked_is_not_committed"]


async def aiokafka_commits_its_assignment_while_it_joins(broker: EmbeddedBroker, shown: list[Event]) -> None:
    commits: list[Any] = []

    class Committing(AioKafkaRangeAssignor):  # type: ignore[misc] # the package ships no types
        @classmethod
        def assign(cls, cluster: Any, members: Any) -> Any:
            if len(members) == 2:
                commits.append(asyncio.ensure_future(leader.commit(dict.fromkeys(leader.assignment(), 1))))
            return super().assign(cluster, members)

    async def started(name: str) -> Any:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap, group_id="g", client_id=name, enable_auto_commit=False,
            partition_assignment_strategy=[Committing], heartbeat_interval_ms=100,
        )  # fmt: skip
        recorded = RecordingAioKafkaConsumer(consumer, Observer(name, Recorder("g", name, lambda: 0, shown.append)))
        await recorded.start()
        recorded.subscribe(["t"])
        return recorded

    async with asyncio.timeout(DEADLINE_S):
        leader = await started("m0")
        while len(leader.assignment()) < 4:
            await leader.getmany(timeout_ms=POLL_MS)
        follower = await started("m1")
        while not follower.assignment():
            await asyncio.gather(*(one.getmany(timeout_ms=POLL_MS) for one in (leader, follower)), *commits)
        await asyncio.gather(leader.stop(), follower.stop())


def test_kafka_python_syncs_after_it_has_left__when_it_leaves_while_its_join_is_under_way() -> None:
    """Until LeaveGroup is answered it counts as rebalancing, and so it takes up the reply to its JoinGroup.

    On a busy machine the reply may come too late for it: some groups are tried.
    """
    assert any(sent_after_it_has_left() == [Api.SYNC_GROUP] for _ in range(SOME))


def sent_after_it_has_left() -> list[str]:
    events: list[Event] = []
    with (
        EmbeddedBroker({"t": 4}, wire_listener=events.append) as broker,
        kafka_python(broker, "t", RangePartitionAssignor) as stays,
        kafka_python(broker, "t", RangePartitionAssignor) as leaves,
    ):
        poll_until(stays, lambda: is_stable(stays))
        poll_until(leaves, lambda: bool(leaves.group_metadata().member_id))
        leaves.poll(timeout_ms=POLL_MS)
        closing = Thread(target=leaves.close)
        closing.start()
        poll_until(stays, lambda: not closing.is_alive())
    requests = [event for event in events if isinstance(event, RequestObserved)]
    left = next(request for request in requests if request.api == Api.LEAVE_GROUP)
    return [request.api for request in requests[requests.index(left) + 1 :] if request.connection == left.connection]
