"""The parts of a cluster that need no cluster: where a group is kept, how nodes are set up, whose incarnation it is."""

from functools import partial

import pytest

pytest.importorskip("kafka", reason="clusters need the extra 'brokers'")

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.brokers import Broker, open_cluster
from rebalance_check.integration.brokers.nodes import Cluster, partition_of
from rebalance_check.integration.brokers.settings import NodeAddress, cluster_properties
from rebalance_check.integration.live.nodes import with_coordinator_faults
from rebalance_check.integration.live.settings import LiveOptions
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.integration.recorders.membership import Membership
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.vocabulary.actions import COORDINATOR_FAULTS, Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorElected,
    CoordinatorFound,
    Event,
    GenerationEvent,
    MemberJoined,
    MembershipLost,
)
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.properties.incarnations import with_incarnations


@pytest.mark.parametrize(
    ("group", "partitions", "partition"),
    [
        ("", 3, 0),
        ("grp", 50, 102_629 % 50),
        ("polygenelubricants", 3, 0),  # its hash is the least integer, which has no absolute value
        ("group", 3, 98_629_247 % 3),
        ("live-group", 1, 0),
    ],
)
def test_a_group_is_kept_in_the_partition_that_kafka_computes(group: str, partitions: int, partition: int) -> None:
    assert partition_of(group, partitions) == partition


def test_a_hash_below_zero_loses_its_sign_and_nothing_else() -> None:
    # "rebalance".hashCode() is -300379831 in Java; to drop the sign bit instead would give partition 17.
    assert partition_of("rebalance", 50) == 300_379_831 % 50 == 31


def test_nodes_of_a_cluster_know_each_other__and_clients_learn_loopback() -> None:
    nodes = [
        NodeAddress(n, "0.0.0.0:9092", f"127.0.0.1:{5000 + n}", "0.0.0.0:9093", f"k{n}:9093", "0.0.0.0:9094",
                    f"k{n}:9094")
        for n in (1, 2, 3)
    ]  # fmt: skip
    settings = dict(line.split("=", 1) for line in cluster_properties(nodes[1], nodes, "/data").splitlines())
    assert settings["node.id"] == "2"
    assert settings["controller.quorum.voters"] == "1@k1:9094,2@k2:9094,3@k3:9094"
    assert settings["advertised.listeners"] == "PLAINTEXT://127.0.0.1:5002,INTERNAL://k2:9093"
    assert (settings["offsets.topic.replication.factor"], settings["min.insync.replicas"]) == ("3", "2")
    assert settings["unclean.leader.election.enable"] == "false"


@pytest.mark.parametrize("spec", ["embedded", "127.0.0.1:9092"])
def test_a_cluster_that_cannot_be_started_is_refused(spec: str) -> None:
    with pytest.raises(RebalanceCheckError, match="is no cluster that can be started"), open_cluster(spec):
        pytest.fail("it opened")


def test_a_coordinator_is_killed_only_where_there_are_several() -> None:
    one = LiveSubject(Broker("127.0.0.1:1", "one"), LiveOptions())
    several = LiveSubject(Broker("127.0.0.1:1,127.0.0.1:2", "several", cluster=Cluster({})), LiveOptions())
    assert several.actions - one.actions == COORDINATOR_FAULTS
    schedule = Schedule(Bounds(members=1, partitions=1), (Action(ActionKind.KILL_COORDINATOR),))
    with pytest.raises(RebalanceCheckError, match="does not understand the action KillCoordinator"):
        list(run(one, schedule))


def test_coordinator_faults_are_drawn_from_the_seed__and_leave_a_quorum() -> None:
    starts = tuple(Action(ActionKind.START_MEMBER, slot) for slot in range(3))
    drawn = []
    for seed in range(40):
        fault_free = Schedule(Bounds(members=3, partitions=1), (*starts, Action(ActionKind.HEAL)), seed)
        disturbed = with_coordinator_faults(fault_free)
        assert disturbed == with_coordinator_faults(fault_free)
        kinds = [action.kind for action in disturbed.actions]
        assert (kinds[0], kinds[-1]) == (ActionKind.START_MEMBER, ActionKind.HEAL)
        assert tuple(a for a in disturbed.actions if a.kind is ActionKind.START_MEMBER) == starts
        assert kinds.count(ActionKind.KILL_COORDINATOR) + kinds.count(ActionKind.PAUSE_COORDINATOR) <= 1
        assert kinds.count(ActionKind.PAUSE_COORDINATOR) == kinds.count(ActionKind.RESUME_COORDINATOR)
        assert set(kinds) & COORDINATOR_FAULTS
        drawn += kinds
    assert set(drawn) >= COORDINATOR_FAULTS


def completed(time_ms: int, generation: int, member: str = "m0") -> AssignmentCompleted:
    return AssignmentCompleted(member=member, generation=generation, member_id=member, owned=(), time_ms=time_ms)


def incarnations(history: list[Event]) -> list[int]:
    return [event.incarnation for event in with_incarnations(history) if isinstance(event, GenerationEvent)]


def test_a_generation_belongs_to_the_node_that_its_member_talked_to() -> None:
    zombie = CoordinatorFound(member="m1", node=1)
    history = [
        CoordinatorElected(node=1, incarnation=4, time_ms=0),
        CoordinatorFound(member="m0", node=1),
        zombie,
        completed(100, 1),
        CoordinatorElected(node=2, incarnation=5, time_ms=5_000),
        CoordinatorFound(member="m0", node=2),
        completed(5_100, 2),
        completed(5_200, 2, member="m1"),
    ]
    assert incarnations(history) == [4, 5, 4]


def test_an_election_may_be_noticed_a_little_late__also_of_a_node_that_led_before() -> None:
    history = [
        CoordinatorElected(node=1, incarnation=4, time_ms=0),
        CoordinatorElected(node=2, incarnation=5, time_ms=1_000),
        CoordinatorFound(member="m0", node=1),
        completed(9_900, 3),
        CoordinatorElected(node=1, incarnation=6, time_ms=10_000),
        CoordinatorFound(member="m1", node=3),
        completed(10_100, 4, member="m1"),
        CoordinatorElected(node=3, incarnation=7, time_ms=12_000),
    ]
    assert incarnations(history) == [6, 7]


def test_a_leader_says_whom_it_talks_to_before_it_says_what_it_computed() -> None:
    seen: list[Event] = []
    observer = Observer("m0", Recorder("g", "m0", lambda: 0, seen.append))
    for node in (2, 2, 1):
        observer.membership = partial(Membership, 4, "a", coordinator=node)
        observer.computed("range", {"a": ()}, {"a": [("t", 0)]}, {"a": -1})
    assert [type(event) for event in seen] == [
        CoordinatorFound, MemberJoined, AssignmentComputed, AssignmentComputed, CoordinatorFound, AssignmentComputed,
    ]  # fmt: skip
    elected: list[Event] = [
        CoordinatorElected(node=2, incarnation=1), CoordinatorElected(node=1, incarnation=2),
    ]  # fmt: skip
    assert incarnations([*elected, *seen]) == [1, 1, 1, 2]


def test_what_no_client_shows_stays_unknown() -> None:
    lost = MembershipLost(member="m0", generation=-1, reason="not notified")
    history = [CoordinatorElected(node=1, incarnation=4), completed(100, 1), lost]
    assert incarnations(history) == [-1, -1]
