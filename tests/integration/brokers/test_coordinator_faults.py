"""Three nodes: the coordinator is killed, paused and moved in the middle of a rebalance; what survives is checked."""

import subprocess
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import IO

import pytest

from rebalance_check.impl.protocol.messages import JoinGroupReply
from rebalance_check.integration.brokers import Broker, open_cluster
from rebalance_check.integration.brokers.local import java_command
from rebalance_check.integration.brokers.nodes import Cluster, partition_of
from rebalance_check.integration.brokers.settings import JVM_OPTIONS
from rebalance_check.integration.comparison.assignors.release import CLIENT_JARS
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorElected,
    CoordinatorFound,
    NodeChanged,
    RunEnded,
)
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.integration.brokers.raw_members import PARTITIONS, TOPIC, RawMembers, error_of
from tests.integration.hung_clients import recorded_run

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

START, STOP, HEAL = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, Action(ActionKind.HEAL)
KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA, OURS = ClientName


@pytest.fixture(scope="module")
def three_nodes(spec: str) -> Iterator[Broker]:
    with open_cluster(spec, 3) as broker:
        create_topic(broker.bootstrap, TOPIC, PARTITIONS, replicas=3)
        yield broker


@pytest.fixture
def cluster(three_nodes: Broker) -> Iterator[Cluster]:
    """The nodes, all of them running, before and after."""
    assert three_nodes.cluster is not None
    yield three_nodes.cluster
    three_nodes.cluster.heal()


@pytest.fixture
def raw(cluster: Cluster) -> Iterator[Callable[..., RawMembers]]:
    """Makes raw members of a group, by default one of their own; their history must be sound."""
    made: list[RawMembers] = []
    with ExitStack() as stack:

        def members(number: int, group: str = "") -> RawMembers:
            made.append(RawMembers(cluster, group or f"raw-{uuid.uuid4().hex[:8]}", number))
            stack.callback(made[-1].close)
            return made[-1]

        yield members
    for each in made:
        verdicts = judge(each.events).verdicts
        assert [v for v in verdicts.values() if v.outcome not in {Outcome.HELD, Outcome.UNTESTED}] == []


def test_what_was_completed_survives_a_killed_coordinator(cluster: Cluster, raw: Callable[..., RawMembers]) -> None:
    group = raw(2)
    generation = group.converge()
    assert group.commit(0, 7) is Error.NONE
    before = group.coordinator
    cluster.kill(before.node)
    after = group.find_coordinator()
    assert after.node != before.node
    assert after.epoch > before.epoch
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.NONE, Error.NONE]
    assert group.commit(0, 8) is Error.NONE
    assert group.converge() == generation


def rejoined(group: RawMembers) -> set[int]:
    """Both members join again, the leader first, since that begins a rebalance: the generations of the replies."""
    leader, follower = group.leader_first
    group.send(leader, group.join(leader))
    group.await_status("PreparingRebalance")
    group.send(follower, group.join(follower))
    return {reply.generation_id for reply in group.answers(2) if isinstance(reply, JoinGroupReply)}


def test_a_generation_that_was_not_persisted_is_forgotten__and_its_number_given_again(
    cluster: Cluster, raw: Callable[..., RawMembers]
) -> None:
    group = raw(2)
    generation = group.converge()
    assert rejoined(group) == {generation + 1}
    # Nobody has synced, so no record tells of that generation.
    cluster.kill(group.coordinator.node)
    group.find_coordinator()
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.NONE, Error.NONE]
    for member in group.members:
        member.generation += 1
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.ILLEGAL_GENERATION, Error.ILLEGAL_GENERATION]
    assert rejoined(group) == {generation + 1}
    assert group.converge() > generation


def test_a_paused_coordinator_that_returns_accepts_nothing(cluster: Cluster, raw: Callable[..., RawMembers]) -> None:
    group = raw(2)
    generation = group.converge()
    zombie = group.coordinator.node
    cluster.pause(zombie)
    # It will read these before it learns that another took over.
    leader, follower = group.leader_first
    stale = group.commit_request(follower, 99)
    group.send(follower, stale, zombie)
    group.send(leader, group.join(leader), zombie)
    assert group.find_coordinator().node != zombie
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.NONE, Error.NONE]
    cluster.resume(zombie)
    answered = [error_of(reply) for reply in group.answers(2, zombie)]
    assert len(answered) == 2
    assert Error.NONE not in answered
    cluster.await_whole()
    assert group.heartbeat(0, zombie) is Error.NOT_COORDINATOR
    assert error_of(group.ask(follower, stale, zombie)) is Error.NOT_COORDINATOR
    assert group.converge() == generation


def test_a_join_that_is_parked_at_a_coordinator_that_moves_is_sent_away(
    cluster: Cluster, raw: Callable[..., RawMembers]
) -> None:
    group = raw(2)
    generation = group.converge()
    before, leader = group.coordinator.node, group.leader_first[0]
    group.send(leader, group.join(leader), before)
    assert group.answers(1, before, timeout_s=0.5) == []  # it waits for the other member
    cluster.move(group.group)
    assert [reply.error for reply in group.answers(1, before)] == [Error.NOT_COORDINATOR]
    assert group.heartbeat(leader, before) is Error.NOT_COORDINATOR
    group.find_coordinator()
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.NONE, Error.NONE]
    assert group.converge() == generation


def wait(ms: int) -> Action:
    """Real milliseconds: the settings shorten pauses to a tenth."""
    return Action(ActionKind.ADVANCE_CLOCK, 0, ms * 10)


FAULTS = {
    "killed": (Action(ActionKind.KILL_COORDINATOR), wait(5_000)),
    "paused": (Action(ActionKind.PAUSE_COORDINATOR), wait(6_000), Action(ActionKind.RESUME_COORDINATOR)),
    "moved": (Action(ActionKind.MOVE_COORDINATOR), wait(500)),
}


@pytest.mark.parametrize(
    ("protocol", "clients", "fault"),
    [
        pytest.param("cooperative", (KAFKA_PYTHON, LIBRDKAFKA), "killed", id="killed"),
        pytest.param("eager", (KAFKA_PYTHON,), "paused", id="paused"),
        pytest.param("eager", (KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA), "moved", id="moved"),
    ],
)
def test_live_members_converge__when_the_coordinator_fails_in_the_middle_of_their_rebalance(
    three_nodes: Broker, cluster: Cluster, tmp_path: Path, protocol: str, clients: tuple[ClientName, ...], fault: str
) -> None:
    settings = LiveOptions(protocol=LiveProtocol(protocol), clients=clients).for_cluster()
    # The third member has just begun to join when the fault strikes, and the others do not know of it yet; should
    # they have been quicker than the fault, its departure begins a generation that the next coordinator completes.
    actions = (Action(START, 0), Action(START, 1), HEAL, Action(START, 2), *FAULTS[fault], HEAL, Action(STOP, 2), HEAL)
    schedule = Schedule(Bounds(protocol=RebalanceProtocol(protocol), members=3, partitions=6), actions)
    history = recorded_run(three_nodes, settings, schedule, tmp_path)
    assert judge_clients(history).judgement.counterexamples == ()
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    assert [e.change for e in history if isinstance(e, NodeChanged)][:1] == ([fault] if fault != "moved" else [])
    elected = [event.incarnation for event in history if isinstance(event, CoordinatorElected)]
    assert elected == sorted(set(elected))
    assert len(elected) > 1
    assert len({event.node for event in history if isinstance(event, CoordinatorFound) and event.member == "m0"}) > 1
    completed = [e for e in history if isinstance(e, AssignmentCompleted) and e.member == "m0"]
    assert {event.incarnation for event in completed} <= set(elected)
    assert completed[-1].incarnation > elected[0]


# ---------------------------------------------------------------------------------------- a log that is long to read

SLOW_LEADER = Path(__file__).parent / "java" / "SlowLeader.java"
COMMITS, OFFSETS_IN_EACH, COMMIT_VERSION = 50, 5_000, 6
OFFSETS_PARTITIONS = 3

LOOKS = 5
READ_ALREADY = {Error.ILLEGAL_GENERATION, Error.UNKNOWN_MEMBER_ID}
"""How a coordinator that has read its log answers the SyncGroup of a generation that it never wrote, or of nobody."""


def slow_group() -> str:
    """A group whose log is that of ``slow``."""
    names = (f"slow-{uuid.uuid4().hex[:8]}" for _ in count())
    return next(name for name in names if partition_of(name, OFFSETS_PARTITIONS) == 0)


@pytest.fixture(scope="module")
def slow(three_nodes: Broker) -> None:
    """The first partition of the offsets topic has 250,000 commits: a coordinator reads them for about a second."""
    assert three_nodes.cluster is not None
    cluster, group = three_nodes.cluster, slow_group()
    topic_of = consumer.OffsetCommitRequest.OffsetCommitRequestTopic
    offset = topic_of.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_leader_epoch=-1, committed_metadata=""
    )
    request = consumer.OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=-1, member_id="",
        topics=[topic_of(name=TOPIC, partitions=[offset] * OFFSETS_IN_EACH)],
    )  # fmt: skip
    node = cluster.coordinator(group).node
    cluster.await_coordinates(group, node)
    with Connection(cluster.nodes[node].bootstrap, timeout_s=30.0) as broker:
        for _ in range(COMMITS):
            (answered,) = broker.call(request, COMMIT_VERSION).topics
            assert {each.error_code for each in answered.partitions} == {0}


@contextmanager
def coordinator_that_loads(cluster: Cluster, group: RawMembers) -> Iterator[Error]:
    """The coordinator hands the group over and takes it back. Inside, it reads the log: how it answered a SyncGroup.

    On a busy machine nobody may look while it reads, and the first answer is one that it gives out of what it has read:
    then it is done again.
    """
    node = group.coordinator.node
    for tries_left in reversed(range(LOOKS)):
        cluster.move(group.group)
        assert next(error for _ in count() if (error := group.heartbeat(0, node)) is Error.NOT_COORDINATOR)
        with ThreadPoolExecutor(1) as pool:
            back = pool.submit(cluster.move, group.group, node)
            answers = (group.ask(0, group.sync(0), node).error for _ in count())
            answered = next(error for error in answers if error is not Error.NOT_COORDINATOR)
            if answered in READ_ALREADY and tries_left:
                assert back.result().node == node
                continue
            yield answered
            assert back.result().node == node
            return


def release_of(broker: Broker) -> str:
    """``4.3.1``."""
    return broker.name.split()[1]


def refusal_of(broker: Broker) -> Error:
    """How a coordinator that loads answers a SyncGroup: in Scala (3.9) with what a client can do something about."""
    is_scala = release_of(broker).startswith("3.")
    return Error.REBALANCE_IN_PROGRESS if is_scala else Error.COORDINATOR_LOAD_IN_PROGRESS


@pytest.mark.usefixtures("slow")
def test_a_sync_at_a_coordinator_that_loads_is_refused__by_each_kind_in_its_way(
    three_nodes: Broker, cluster: Cluster, raw: Callable[..., RawMembers]
) -> None:
    group = raw(1, slow_group())
    group.converge()
    (member,) = group.members
    joined = group.ask(0, group.join(0))
    assert isinstance(joined, JoinGroupReply)
    member.joined, member.generation = joined, joined.generation_id
    with coordinator_that_loads(cluster, group) as refused:
        assert refused is refusal_of(three_nodes)
    assert group.find_coordinator().epoch > 0
    group.converge()


@contextmanager
def slow_leader(broker: Broker, group: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """Kafka's own consumer, alone in a group: its input and its output (see ``SlowLeader.java``)."""
    command = [java_command(), *JVM_OPTIONS, "-cp", f"{CLIENT_JARS.folder_of(release_of(broker))}/*", str(SLOW_LEADER)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        [*command, broker.bootstrap, group, TOPIC], stdin=pipe, stdout=pipe, stderr=nothing, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin, process.stdout
        finally:
            process.kill()


def said_of_a_sync_that_meets_loading(cluster: Cluster, observer: RawMembers, orders: IO[str], said: IO[str]) -> str:
    """The leader's report when its SyncGroup meets a coordinator that loads.

    On a busy machine its SyncGroup may come when the log is read; then the leader has to join, and assigns again.
    """
    line = ""
    for _ in range(LOOKS):
        with coordinator_that_loads(cluster, observer):
            orders.write("\n")
        line = said.readline()
        if line != "assigning\n":
            break
    return line


@pytest.mark.usefixtures("slow")
def test_kafkas_own_consumer_throws_a_sync_that_meets_a_coordinator_that_loads__and_joins_again_if_polled_on(
    three_nodes: Broker, cluster: Cluster, raw: Callable[..., RawMembers]
) -> None:
    group = slow_group()
    observer = raw(1, group)
    with slow_leader(three_nodes, group) as (orders, said):
        assert said.readline() == "assigning\n"
        if refusal_of(three_nodes) is Error.COORDINATOR_LOAD_IN_PROGRESS:
            thrown = said_of_a_sync_that_meets_loading(cluster, observer, orders, said)
            assert thrown.startswith("thrown org.apache.kafka.common.KafkaException: Unexpected error from SyncGroup")
            assert "coordinator is loading" in thrown
        else:
            with coordinator_that_loads(cluster, observer):
                orders.write("\n")
        assert said.readline() == "assigning\n"
        orders.write("\n")
        assert said.readline() == "assigned\n"
