"""The leader of a consumer group: what it assigns, and what makes it join again, as the cluster is not so any more."""

from collections.abc import Mapping

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.custom import OldCustomAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import JoinedMember
from rebalance_check.impl.protocol.sticky_user_data import write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol


def leader_in(environment: Loopback, rack: str | None) -> ConsumerCoordinator:
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)

    def build(recorder: Recorder) -> ConsumerCoordinator:
        made = ConsumerCoordinator(
            config,
            recorder,
            member="m0",
            topics=("t",),
            assignors=[RangeAssignor()],
            partitions_per_topic={},
            rack=rack,
        )
        made.update_metadata({"t": 1}, {"t": [{"a", "b"}]})
        return made

    environment.add(build, group="g", member="m0")
    leader = environment.clients["m0"]
    assert isinstance(leader, ConsumerCoordinator)
    environment.run(1_000)
    return leader


def joins(leader: ConsumerCoordinator) -> float:
    return float(leader.metric_values(0)["join-total"])


@pytest.mark.parametrize(("rack", "joined"), [("a", 2), (None, 1)])
def test_a_leader_with_a_rack_joins_again_when_replicas_moved(rack: str | None, joined: int) -> None:
    environment = Loopback()
    leader = leader_in(environment, rack)
    leader.update_metadata({"t": 1}, {"t": [{"b", "a"}]})
    environment.run(1_000)
    assert joins(leader) == 1
    leader.update_metadata({"t": 1}, {"t": [{"b", "c"}]})
    environment.run(1_000)
    assert joins(leader) == joined


T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OWNER = Subscription(topics=("t",), owned=(T0, T1), generation=1)
OTHER = Subscription(topics=("u",))


def about_to_lead(*assignors: Assignor, topics: str = "t") -> ConsumerCoordinator:
    """A consumer that is about to learn that it leads; t and u have two partitions each."""
    recorder = Recorder("g", "m0", lambda: 0, lambda _: None)
    return ConsumerCoordinator(
        ClientConfig(group_id="g"), recorder, member="m0", topics=topics.split(), assignors=assignors,
        partitions_per_topic={"t": 2, "u": 2},
    )  # fmt: skip


def joined(member_id: str, said: Subscription, version: int = 3, instance: str | None = None) -> JoinedMember:
    return JoinedMember(member_id, write_subscription(said, version), group_instance_id=instance)


def shares(assigned: Mapping[str, bytes]) -> dict[str, tuple[TopicPartition, ...]]:
    return {member: read_assignment(data).partitions for member, data in assigned.items()}


def test_a_leader_runs_the_assignor_that_the_group_selected() -> None:
    members = [joined("a", Subscription(topics=("t", "u"))), joined("b", Subscription(topics=("t", "u")))]
    leader = about_to_lead(RoundRobinAssignor(), StickyAssignor(), RangeAssignor())
    assert shares(leader.perform_assignment("a", "range", members))["a"] == (T0, TopicPartition("u", 0))
    user_data = write_sticky((T1, TopicPartition("u", 0)), 1)
    members[0] = joined("a", Subscription(topics=("t", "u"), user_data=user_data))
    assert shares(leader.perform_assignment("a", "sticky", members))["a"] == (T1, TopicPartition("u", 0))


def test_a_leader_takes_instance_ids_from_the_reply__as_no_subscription_has_them() -> None:
    members = [joined("a", Subscription(topics=("t",))), joined("b", Subscription(topics=("t",)), instance="i")]
    given = shares(about_to_lead(RangeAssignor()).perform_assignment("a", "range", members))
    assert given == {"a": (T1,), "b": (T0,)}  # static members come first
    said = Subscription(topics=("t",), group_instance_id="i")
    assert read_subscription(write_subscription(said)).group_instance_id is None


@pytest.mark.parametrize("version", range(4))
def test_a_leader_writes_its_own_version__whatever_members_wrote(version: int) -> None:
    members = [joined("a", Subscription(topics=("t",)), version)]
    given = about_to_lead(RangeAssignor()).perform_assignment("a", "range", members)
    assert given == {"a": write_assignment(Assignment(partitions=(T0, T1)), 3)}


def test_a_leader_watches_the_topics_of_all_members() -> None:
    leader = about_to_lead(RangeAssignor())
    assert leader.wanted_topics() == ("t",)
    leader.perform_assignment("a", "range", [joined("a", Subscription(topics=("t",))), joined("b", OTHER)])
    assert leader.wanted_topics() == ("t", "u")


def test_an_eager_leader_withholds_what_a_cooperative_member_claims() -> None:
    members = [joined("a", Subscription(topics=("t",))), joined("b", OWNER)]
    leader = about_to_lead(CooperativeStickyAssignor(), RangeAssignor())
    assert leader.protocol is RebalanceProtocol.EAGER
    assert shares(leader.perform_assignment("a", "cooperative-sticky", members)) == {"a": (), "b": (T0,)}


def test_a_leader_of_old_code_gives_away_what_a_cooperative_member_claims__under_a_reused_name() -> None:
    members = [joined("a", Subscription(topics=("t",))), joined("b", OWNER)]
    given = shares(about_to_lead(OldCustomAssignor()).perform_assignment("a", "custom", members))
    assert given == {"a": (T0,), "b": (T1,)}
