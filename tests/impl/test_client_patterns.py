"""A consumer that subscribes by a pattern: which topics it finds, and when it joins again for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.subscriptions import INTERNAL_TOPICS, Subscribed
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    read_subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    JoinGroupReply,
    JoinGroupRequest,
    MemberRequest,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned, PartitionsRevoked, SubscriptionChanged
from tests.impl.found_coordinator import with_coordinator

T0, T1_0, U0 = TopicPartition("t", 0), TopicPartition("t1", 0), TopicPartition("u", 0)
CONFIG = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
PATTERN = re.compile("t.*")


@dataclass
class Bench:
    """A member that subscribes to ``t.*``; the test plays the coordinator and the cluster."""

    assignor: Assignor = field(default_factory=RangeAssignor)
    cluster: dict[str, int] = field(default_factory=lambda: {"t": 1, "u": 1})
    asks: bool = False
    events: list[Event] = field(default_factory=list)
    sent: list[tuple[int, MemberRequest]] = field(default_factory=list)
    generation: int = 0

    def __post_init__(self) -> None:
        self.member = ConsumerCoordinator(
            CONFIG,
            Recorder("g", "m0", lambda: 0, self.events.append),
            member="m0",
            topics=PATTERN,
            assignors=[self.assignor],
            partitions_per_topic=self.cluster,
            refresh_metadata=self.refresh if self.asks else None,
        )
        with_coordinator(self.member)
        self.events.clear()

    def refresh(self) -> Mapping[str, int]:
        return self.cluster

    def poll(self) -> None:
        self.member.poll(0)
        self.sent += self.member.take_requests()

    def _answer(self, reply: GroupReply) -> MemberRequest:
        ((token, request),) = self.sent
        self.sent.clear()
        self.member.receive(token, reply, 0)
        self.poll()
        return request

    def settle(self, *assigned: TopicPartition) -> bytes:
        """Complete a generation in which the member follows; returns the bytes of its subscription."""
        self.poll()
        self.generation += 1
        name = self.assignor.name
        join = self._answer(
            JoinGroupReply(generation_id=self.generation, protocol_name=name, leader="other", member_id="id")
        )
        self._answer(SyncGroupReply(assignment=write_assignment(Assignment(partitions=assigned))))
        assert isinstance(join, JoinGroupRequest)
        return join.protocols[0].metadata

    def joins(self) -> bool:
        """Whether the member is about to join again."""
        self.poll()
        return any(isinstance(request, JoinGroupRequest) for _, request in self.sent)


def test_a_pattern_must_match_the_whole_name() -> None:
    assert Subscribed(PATTERN, ["t", "t1", "at", "u"]).topics == ("t", "t1")
    assert Subscribed(re.compile("t"), ["t", "t1"]).topics == ("t",)


def test_a_pattern_leaves_internal_topics_out__unless_its_options_include_them() -> None:
    known = ["t", *INTERNAL_TOPICS]
    everything = re.compile(".*")
    assert Subscribed(everything, known).topics == ("t",)
    assert set(Subscribed(everything, known, exclude_internal_topics=False).topics) == set(known)
    assert Subscribed(sorted(INTERNAL_TOPICS), known).topics == tuple(sorted(INTERNAL_TOPICS))


def test_names_and_patterns_exclude_each_other__until_the_consumer_unsubscribes() -> None:
    bench = Bench()
    with pytest.raises(RebalanceCheckError, match=r"the pattern 't\.\*': names and patterns exclude each other"):
        bench.member.subscribe(["t"])
    bench.member.unsubscribe(0)
    bench.member.subscribe(["u"])
    assert bench.member.subscription == ("u",)
    with pytest.raises(RebalanceCheckError, match="subscribed to u"):
        bench.member.subscribe(PATTERN)


def test_the_bytes_are_those_of_a_subscription_by_name() -> None:
    named = Subscription(topics=("t",), generation=-1)
    assert Bench().settle(T0) == write_subscription(named)


def test_a_topic_that_appears_is_joined_for__and_one_that_does_not_match_is_not() -> None:
    bench = Bench()
    bench.settle(T0)
    bench.member.update_metadata({"t": 1, "u": 1, "v": 1})
    assert not bench.joins()
    bench.member.update_metadata({"t": 1, "t1": 1, "u": 1})
    assert bench.joins()
    assert [event.topics for event in bench.events if isinstance(event, SubscriptionChanged)] == [("t", "t1")]
    assert read_subscription(bench.settle(T0, T1_0)).topics == ("t", "t1")
    assert bench.member.owned == (T0, T1_0)


@pytest.mark.parametrize("make", [RangeAssignor, CooperativeStickyAssignor])
def test_a_topic_that_is_deleted_is_given_up_before_the_member_joins(make: type[Assignor]) -> None:
    bench = Bench(make(), {"t": 1, "t1": 1})
    bench.settle(T0, T1_0)
    bench.member.update_metadata({"t": 1})
    assert bench.joins()
    revoked = [event.partitions for event in bench.events if isinstance(event, PartitionsRevoked)]
    kept = ("t-0",) if isinstance(bench.assignor, CooperativeStickyAssignor) else ()
    assert set(revoked[-1]) == {"t-0", "t1-0"} - set(kept)
    assert tuple(tp.name for tp in bench.member.owned) == kept
    assert read_subscription(bench.settle(T0)).topics == ("t",)


def test_a_pattern_that_matches_nothing_is_a_subscription_all_the_same() -> None:
    bench = Bench(cluster={"u": 1})
    assert read_subscription(bench.settle()).topics == ()
    assert [event.partitions for event in bench.events if isinstance(event, PartitionsAssigned)] == [()]


def test_what_the_leader_knows_before_the_member_is_taken__and_no_reason_to_join_again() -> None:
    bench = Bench()
    bench.settle(T0, T1_0)
    assert bench.member.owned == (T0, T1_0)
    assert bench.member.subscription == ("t", "t1")
    assert not bench.joins()
    bench.member.update_metadata({"t": 1, "t1": 1, "u": 1})
    assert not bench.joins()


def test_what_does_not_match_changes_nothing__and_the_member_joins_again() -> None:
    bench = Bench()
    bench.settle(T0, U0)
    assert bench.member.owned == ()
    assert bench.joins()


@pytest.mark.parametrize("asks", [True, False])
def test_the_cluster_is_asked_before_the_member_joins(asks: bool) -> None:
    bench = Bench(asks=asks)
    bench.cluster["t1"] = 1
    assert read_subscription(bench.settle(T0)).topics == (("t", "t1") if asks else ("t",))


def test_who_unsubscribes_forgets_its_pattern() -> None:
    bench = Bench()
    bench.settle(T0)
    bench.member.unsubscribe(0)
    bench.sent += bench.member.take_requests()
    bench.sent.clear()
    bench.member.update_metadata({"t": 1, "t1": 1})
    assert bench.member.subscription == ()
    assert not bench.joins()
