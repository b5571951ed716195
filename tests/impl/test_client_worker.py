"""Connect workers: who runs what, when it stops, and what a config offset that does not match leads to."""

from __future__ import annotations

import pytest

from rebalance_check.impl.connect.config_topic import ConfigLog, ConfigReader
from rebalance_check.impl.connect.eager_worker import EagerWorker
from rebalance_check.impl.connect.worker.config import WorkerConfig
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.protocol.messages import JoinGroupReply, SyncGroupReply
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    MembershipLost,
    RunEnded,
    RunStarted,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated
from tests.impl.found_coordinator import with_coordinator


class Environment(Loopback):
    """Workers w0, w1, ... that share one config topic, each reading it at its own pace."""

    def __init__(self, connectors: dict[str, int]) -> None:
        super().__init__()
        self.log = ConfigLog(connectors)
        self.readers: dict[str, ConfigReader] = {}

    def start(self, member: str, *, behind: bool = False) -> None:
        self.readers[member] = ConfigReader(self.log)
        if not behind:
            self.readers[member].advance()
        config = WorkerConfig(
            group_id="g", client_id=member, connect_protocol=ConnectMode.EAGER, worker_unsync_backoff_ms=20_000
        )

        def build(recorder: Recorder) -> EagerWorker:
            return EagerWorker(
                config,
                recorder,
                member=member,
                url=f"http://{member}:8083/",
                configs=self.readers[member],
            )

        self.add(build, group="g", member=member)

    def worker(self, member: str) -> EagerWorker:
        client = self.clients[member]
        assert isinstance(client, EagerWorker)
        return client

    def running(self) -> dict[str, list[str]]:
        """Connectors and tasks by worker."""
        work = {name: self.worker(name).running for name in sorted(self.clients)}
        return {name: sorted([*one.connectors, *(f"{c}-{n}" for c, n in one.tasks)]) for name, one in work.items()}

    def violated(self) -> list[str]:
        verdicts = judge([RunStarted(subject="loopback"), *self.events, RunEnded()]).verdicts
        return sorted(invariant.name for invariant, verdict in verdicts.items() if isinstance(verdict, Violated))

    def mismatches(self) -> int:
        """Rounds in which nothing was assigned although there is something to run."""
        computed = [e for e in self.events if isinstance(e, AssignmentComputed)]
        return sum(not any(work for _, work in e.assignments) for e in computed)


def everything(environment: Environment) -> list[str]:
    return sorted(work for running in environment.running().values() for work in running)


@pytest.fixture
def environment() -> Environment:
    return Environment({"c1": 2, "c2": 3})


ALL = ["c1", "c1-0", "c1-1", "c2", "c2-0", "c2-1", "c2-2"]


def test_workers_share_all_work_and_take_over_what_a_leaver_ran(environment: Environment) -> None:
    for member in ("w0", "w1"):
        environment.start(member)
        environment.run(8_000)
        assert everything(environment) == ALL
    environment.close("w0")
    environment.run(8_000)
    assert environment.running() == {"w1": ALL}
    assert environment.violated() == []


def test_everything_stops_before_a_worker_joins_again(environment: Environment) -> None:
    environment.start("w0")
    environment.run(5_000)
    environment.start("w1")
    environment.run(8_000)
    stopped = [e.task for e in environment.events if isinstance(e, TaskStopped)]
    restarted = [e.task for e in environment.events if isinstance(e, TaskStarted) and e.generation == 2]
    assert sorted(stopped) == sorted(restarted) == [name for name in ALL if "-" in name]


def test_a_leader_that_is_behind_reads_on_and_the_next_round_assigns(environment: Environment) -> None:
    environment.start("w0", behind=True)
    environment.start("w1")
    environment.run(10_000)
    assert everything(environment) == ALL
    assert environment.violated() == []


def test_a_config_mismatch_is_followed_by_another_round(environment: Environment) -> None:
    for member in ("w0", "w1"):
        environment.start(member)
        environment.run(8_000)
    environment.log.append({"c3": 1})
    follower = next(name for name in environment.clients if not environment.worker(name).is_leader())
    environment.readers[follower].advance()
    environment.run(10_000)
    assert environment.mismatches() == 1
    assert everything(environment) == ["c3", "c3-0"]
    assert environment.violated() == []


def test_a_follower_that_is_behind_reads_up_to_the_assignment_before_it_starts(environment: Environment) -> None:
    for member in ("w0", "w1"):
        environment.start(member)
        environment.run(8_000)
    environment.log.append({"c3": 4})
    leader = next(name for name in environment.clients if environment.worker(name).is_leader())
    environment.readers[leader].advance()
    environment.run(10_000)
    assert (everything(environment), environment.mismatches()) == (["c3", "c3-0", "c3-1", "c3-2", "c3-3"], 0)
    assert environment.violated() == []


def test_a_worker_that_read_past_the_assignment_starts_nothing_and_joins_again(environment: Environment) -> None:
    environment.start("w0")
    worker = environment.worker("w0")
    environment.run(1)
    environment.log.append({"c3": 1})
    environment.readers["w0"].advance()
    environment.run(5_000)
    assert environment.running() == {"w0": ["c3", "c3-0"]}
    assert worker.assignment is not None
    assert worker.assignment.config_offset == 2


def test_a_worker_that_cannot_read_the_configs_leaves_and_returns_later(environment: Environment) -> None:
    for member in ("w0", "w1"):
        environment.start(member)
        environment.run(8_000)
    environment.log.append({"c3": 1})
    follower = next(name for name in environment.clients if not environment.worker(name).is_leader())
    leader = next(name for name in environment.clients if name != follower)
    environment.readers[follower].readable = False
    environment.readers[leader].advance()
    environment.run(10_000)
    assert environment.running() == {follower: [], leader: ["c3", "c3-0"]}
    assert [e.reason for e in environment.events if isinstance(e, MembershipLost)] == [
        "taking too long to read the config log"
    ]
    environment.readers[follower].readable = True
    environment.run(30_000)
    assert everything(environment) == ["c3", "c3-0"]
    assert sorted(map(len, environment.running().values())) == [1, 1]
    assert environment.violated() == []


def test_a_worker_without_a_coordinator_stops_its_work_after_a_heartbeat_interval(environment: Environment) -> None:
    environment.start("w0")
    environment.run(5_000)
    worker = environment.worker("w0")
    environment.has_coordinator = False
    worker.tick(environment.now_ms)
    for number, _ in worker.take_requests():
        worker.receive(number, None, environment.now_ms)
    cut_off_ms = environment.now_ms
    while not worker.coordinator_unknown():
        cut_off_ms += 500
        worker.tick(cut_off_ms)
        for number, _ in worker.take_requests():
            worker.receive(number, None, cut_off_ms)
    worker.poll(cut_off_ms)
    worker.poll(cut_off_ms + 2_999)
    assert len(worker.running.tasks) == 5
    worker.poll(cut_off_ms + 3_000)
    assert (worker.running.tasks, worker.running.connectors, worker.assignment) == (set(), set(), None)


def test_a_worker_left_out_of_the_assignment_learns_it(environment: Environment) -> None:
    """A leader must emit an assignment for everybody; zero bytes end a worker in Kafka, too."""
    environment.start("w0")
    worker = with_coordinator(environment.worker("w0"))
    worker.poll(0)
    ((number, _),) = worker.take_requests()
    reply = JoinGroupReply(generation_id=1, protocol_name="default", leader="other", member_id="id")
    worker.receive(number, reply, 0)
    worker.poll(0)
    ((number, _),) = worker.take_requests()
    worker.receive(number, SyncGroupReply(), 0)
    with pytest.raises(RebalanceCheckError, match="a worker's assignment"):
        worker.poll(0)


def test_a_static_worker_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="never static"):
        WorkerConfig(group_id="g", group_instance_id="i")


def test_workers_that_keep_their_tasks_run_them_twice__and_the_judge_says_so(environment: Environment) -> None:
    with planted("worker-keeps-tasks-while-joining"):
        for member in ("w0", "w1"):
            environment.start(member)
            environment.run(8_000)
    assert "no_double_ownership" in environment.violated()
