"""Three nodes: the coordinator is killed, paused and moved in the middle of a rebalance, and what survives is told."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rebalance_check.impl.messages import JoinGroupReply
from rebalance_check.integration.cluster import Broker, open_cluster
from rebalance_check.integration.cluster.nodes import Cluster
from rebalance_check.integration.live.known import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveProtocol, LiveSettings
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.raw_members import PARTITIONS, TOPIC, RawMembers, error_of
from rebalance_check.model.actions import Action, ActionKind
from rebalance_check.model.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.errors import Error
from rebalance_check.model.events import (
    AssignmentCompleted,
    CoordinatorElected,
    CoordinatorFound,
    NodeChanged,
    RunEnded,
)
from rebalance_check.model.subject import Schedule, run
from rebalance_check.properties.history import read_history, recorded
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome, Violated

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

START, HEAL = ActionKind.START_MEMBER, Action(ActionKind.HEAL)
KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA = ClientName


@pytest.fixture(scope="module")
def three_nodes(spec: str) -> Iterator[Broker]:
    with open_cluster(spec, 3) as broker:
        create_topic(broker.bootstrap.split(",")[0], TOPIC, PARTITIONS, replicas=3)
        yield broker


@pytest.fixture
def cluster(three_nodes: Broker) -> Iterator[Cluster]:
    """The nodes, all of them running, before and after."""
    assert three_nodes.cluster is not None
    yield three_nodes.cluster
    three_nodes.cluster.heal()


@pytest.fixture
def raw(cluster: Cluster) -> Iterator[Callable[[int], RawMembers]]:
    """Makes raw members of a group of their own; their history must be sound."""
    made: list[RawMembers] = []
    with ExitStack() as stack:

        def members(count: int) -> RawMembers:
            made.append(RawMembers(cluster, f"raw-{uuid.uuid4().hex[:8]}", count))
            stack.callback(made[-1].close)
            return made[-1]

        yield members
    for each in made:
        verdicts = judge(each.events).verdicts
        assert [v for v in verdicts.values() if v.outcome is not Outcome.HELD] == []


def test_what_was_completed_survives_a_killed_coordinator(cluster: Cluster, raw: Callable[[int], RawMembers]) -> None:
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


def told_to_rejoin(group: RawMembers) -> set[int]:
    """Both members join again, the leader first, since that begins a rebalance: the generation that they are told."""
    leader, follower = group.leader_first
    group.send(leader, group.join(leader))
    group.await_status("PreparingRebalance")
    group.send(follower, group.join(follower))
    return {reply.generation_id for reply in group.answers(2) if isinstance(reply, JoinGroupReply)}


def test_a_generation_that_was_not_persisted_is_forgotten__and_its_number_given_again(
    cluster: Cluster, raw: Callable[[int], RawMembers]
) -> None:
    group = raw(2)
    generation = group.converge()
    assert told_to_rejoin(group) == {generation + 1}
    # Nobody has synced, so no record tells of that generation.
    cluster.kill(group.coordinator.node)
    group.find_coordinator()
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.NONE, Error.NONE]
    for member in group.members:
        member.generation += 1
    assert [group.heartbeat(number) for number in (0, 1)] == [Error.ILLEGAL_GENERATION, Error.ILLEGAL_GENERATION]
    assert told_to_rejoin(group) == {generation + 1}
    assert group.converge() > generation


def test_a_paused_coordinator_that_returns_accepts_nothing(cluster: Cluster, raw: Callable[[int], RawMembers]) -> None:
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
    cluster: Cluster, raw: Callable[[int], RawMembers]
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
    settings = LiveSettings(protocol=LiveProtocol(protocol), clients=clients).for_cluster()
    # The third member has just begun to join when the fault strikes: the others have not heard of it yet.
    actions = (Action(START, 0), Action(START, 1), HEAL, Action(START, 2), *FAULTS[fault], HEAL)
    schedule = Schedule(Bounds(protocol=RebalanceProtocol(protocol), members=3, partitions=6), actions)
    subject = LiveSubject(three_nodes, settings, tmp_path / "raw")
    for _event in recorded(tmp_path / "history.jsonl", run(subject, schedule)):
        pass
    history = list(read_history(tmp_path / "history.jsonl"))
    verdicts = judge_clients(history).values()
    assert [v.counterexample for v in verdicts if isinstance(v, Violated)] == []
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    assert [e.change for e in history if isinstance(e, NodeChanged)][:1] == ([fault] if fault != "moved" else [])
    elected = [event.incarnation for event in history if isinstance(event, CoordinatorElected)]
    assert elected == sorted(set(elected))
    assert len(elected) > 1
    assert len({event.node for event in history if isinstance(event, CoordinatorFound) and event.member == "m0"}) > 1
    told = [e for e in history if isinstance(e, AssignmentCompleted) and e.member == "m0"]
    assert {event.incarnation for event in told} <= set(elected)
    assert told[-1].incarnation > elected[0]
