"""Runs a history of a Connect group: workers claim their assignments, and any assignors compute the rounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rebalance_check.impl.protocol.connect_protocol import (
    EMPTY,
    VERSION_OF,
    ConnectAssignment,
    ConnectorTask,
    WorkerState,
    read_connect_assignment,
    read_worker_state,
    write_worker_state,
)
from rebalance_check.integration.comparison.connect_assignors.request import (
    EAGER_PROTOCOL,
    ConnectAssignors,
    LeaderConfigs,
    RoundAnswer,
    RoundRequest,
)
from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound, MemberAnswer, MemoryView
from rebalance_check.properties.assignment.connect_steps import (
    ITSELF,
    Configure,
    CutOff,
    Delete,
    History,
    Item,
    Join,
    Lead,
    Leave,
    Rebalance,
    Return,
    Step,
    Wait,
    read_item,
)

MOST_SETTLING_ROUNDS: Final = 16
"""After so many rounds the quiet time after a history ends, even if the group still asks for more."""

START_MS: Final = 1_000_000
PROTOCOL: Final = "compatible"


@dataclass(slots=True)
class Worker:
    """One process: its member id, its claims in order, and the last generation that it completed."""

    name: str
    member: str
    claim: tuple[Item, ...] = ()
    last_completed: int = -1
    in_group: bool = True
    memory: MemoryView = field(default_factory=MemoryView)
    led: int = -1


class AssignedGroup:
    """The group of one history, whose rounds the given assignors compute.

    Steps that mean nothing at present (a leader that is gone, ...) change nothing.
    """

    def __init__(self, assignors: ConnectAssignors, max_delay_ms: int, protocol: str = PROTOCOL) -> None:
        self.rounds: list[CourseRound] = []
        self.unsettled = True
        self.now_ms = START_MS
        self.task_counts: dict[str, int] = {}
        self.workers: dict[str, Worker] = {}
        self._assignors = assignors
        self._max_delay_ms = max_delay_ms
        self._protocol = protocol
        self._offset = 0
        self._generation = 0
        self._leader = ""
        self._member_ids = 0
        assignors.begin(max_delay_ms)

    def step(self, step: Step) -> None:
        """Take one step."""
        self.unsettled = self.unsettled or not isinstance(step, Wait | Rebalance)
        match step:
            case Join(name, claims) if name not in self.workers:
                self._assignors.restart(name)
                self.workers[name] = Worker(name, self._member_id(name), as_sent(claims))
            case Leave(name):
                self.workers.pop(name, None)
            case CutOff(name) if name in self.workers:
                self.workers[name].in_group = False
            case Return(name) if name in self.workers and not self.workers[name].in_group:
                worker = self.workers.pop(name)  # it comes last in the coordinator's list, too
                worker.in_group, worker.member = True, self._member_id(name)
                self.workers[name] = worker
            case Lead(name):
                self._leader = name
            case Configure(connector, tasks):
                self._configure({**self.task_counts, connector: tasks})
            case Delete(connector):
                self._configure({name: count for name, count in self.task_counts.items() if name != connector})
            case Wait(milliseconds):
                self.now_ms += milliseconds
            case Rebalance():
                self._rebalance(step)

    def settle(self) -> bool:
        """Run the rounds that the group asks for itself; whether it comes to rest.

        It asks for one where something happened since the last round, or not all completed that.
        """
        for _ in range(MOST_SETTLING_ROUNDS):
            if not any(worker.in_group for worker in self.workers.values()):
                return True
            if self.unsettled:
                self._rebalance(Rebalance())
            last = self.rounds[-1]
            if last.failure or not (last.revoked or last.delay_ms or last.mismatch):
                return True
            if not last.revoked:
                self.now_ms += last.delay_ms
            self.unsettled = True
        return False

    def _member_id(self, name: str) -> str:
        self._member_ids += 1
        return f"{name}.{self._member_ids}"

    def _configure(self, task_counts: dict[str, int]) -> None:
        if task_counts != self.task_counts:
            self.task_counts = task_counts
            self._offset += 1

    def _rebalance(self, step: Rebalance) -> None:
        """One round: the group's workers join, the leader assigns, and the workers that complete it have new claims."""
        present = [worker for worker in self.workers.values() if worker.in_group]
        if not present:
            return
        leader = next((worker for worker in present if worker.name == self._leader), present[0])
        self._leader = leader.name
        self._generation += 1
        request = self._request(step, present, leader)
        answer = self._assignors.ask(request)
        done = self._course_round(request, present, leader, answer, step)
        self.rounds.append(done)
        self.unsettled = len(done.completed) < len(present)
        if not (done.eager or done.mismatch):
            leader.memory, leader.led = done.after, self._generation
        for worker in present:
            if worker.member in done.completed:
                worker.last_completed = self._generation
                worker.claim = next_claim(worker.claim, answer.assignments[worker.member], step.eager or self._eager)

    @property
    def _eager(self) -> bool:
        return self._protocol == EAGER_PROTOCOL

    def _request(self, step: Rebalance, present: list[Worker], leader: Worker) -> RoundRequest:
        protocol = EAGER_PROTOCOL if step.eager else self._protocol
        version = VERSION_OF[protocol]
        known = LeaderConfigs(offset=self._offset, task_counts=self.task_counts)
        members = tuple(
            (worker.member, metadata(version, worker.member, self._reported(step, worker, leader), worker.claim))
            for worker in present
        )
        return RoundRequest(
            worker=leader.name,
            protocol=protocol,
            leader=leader.member,
            now_ms=self.now_ms,
            generation=self._generation,
            last_completed_generation=leader.last_completed,
            known=known,
            latest=known,
            members=members,
        )

    def _reported(self, step: Rebalance, worker: Worker, leader: Worker) -> int:
        return self._offset + (1 if step.behind and worker is not leader else 0)

    def _course_round(
        self, request: RoundRequest, present: list[Worker], leader: Worker, answer: RoundAnswer, step: Rebalance
    ) -> CourseRound:
        missed = {worker.name for worker in present} if step.failed else set(step.missed)
        completed = {worker.member for worker in present if worker.name not in missed}
        eager = request.protocol == EAGER_PROTOCOL
        owners = {**answer.connector_owners, **answer.task_owners}
        return CourseRound(
            generation=self._generation,
            now_ms=self.now_ms,
            max_delay_ms=self._max_delay_ms,
            eager=eager,
            leader=leader.member,
            workers={worker.member: worker.name for worker in present},
            claims={worker.member: worker.claim for worker in present},
            offsets={worker.member: self._reported(step, worker, leader) for worker in present},
            leader_offset=self._offset,
            task_counts=self.task_counts,
            before=leader.memory,
            after=leader.memory if eager else answer.memory,
            failure=answer.failure,
            answers={member: answer_of(given) for member, given in answer.assignments.items()},
            owners={read_item(name): member for name, member in owners.items()},
            completed=frozenset(() if answer.failure else completed & answer.assignments.keys()),
            completed_before=leader.led == leader.last_completed,
        )


def run_history(
    assignors: ConnectAssignors, history: History, protocol: str = PROTOCOL, *, settle: bool = True
) -> Course:
    """Run a history, and, where ``settle`` says so, the rounds after it that the group asks for itself."""
    group = AssignedGroup(assignors, history.max_delay_ms, protocol)
    for step in history.steps:
        group.step(step)
        if group.rounds and group.rounds[-1].failure:
            return Course(rounds=tuple(group.rounds), settling=len(group.rounds), quiet=True)
    settling = len(group.rounds) - (0 if group.unsettled else 1)
    quiet = group.settle() if settle else False
    return Course(rounds=tuple(group.rounds), settling=settling, quiet=quiet)


@lru_cache(maxsize=4096)
def metadata(version: int, member: str, offset: int, claim: tuple[Item, ...]) -> bytes:
    """The metadata with which a worker joins."""
    allocation = EMPTY
    if claim:
        allocation = ConnectAssignment(
            leader=member,
            leader_url=url_of(member),
            connectors=tuple(name for name, number in claim if number == ITSELF),
            tasks=tuple(ConnectorTask(name, number) for name, number in claim if number != ITSELF),
        )
    return write_worker_state(WorkerState(url=url_of(member), config_offset=offset, allocation=allocation), version)


def url_of(member: str) -> str:
    """The REST URL of a member."""
    return f"http://{member}:8083/"


def as_sent(claim: Iterable[Item]) -> tuple[Item, ...]:
    """A claim in the order in which the leader reads it."""
    claim = tuple(claim)
    return items_of(read_worker_state(metadata(1, "any", 0, claim)).allocation) if claim else ()


def items_of(assignment: ConnectAssignment) -> tuple[Item, ...]:
    """The items of an assignment: connectors, then tasks."""
    return (*((name, ITSELF) for name in assignment.connectors), *assignment.tasks)


@lru_cache(maxsize=4096)
def answer_of(given: bytes) -> MemberAnswer:
    """The answer for a member, read from its bytes."""
    read = read_connect_assignment(given)
    revoked = (*((name, ITSELF) for name in read.revoked_connectors), *read.revoked_tasks)
    return MemberAnswer(
        error=read.error,
        leader=read.leader,
        leader_url=read.leader_url,
        config_offset=read.config_offset,
        assigned=items_of(read),
        revoked=revoked,
        delay_ms=read.delay_ms,
    )


@lru_cache(maxsize=4096)
def next_claim(claim: tuple[Item, ...], given: bytes, eager: bool) -> tuple[Item, ...]:
    """A worker's claim after a round: its new work, then the rest of its claim; as the leader reads it."""
    answer = answer_of(given)
    kept = () if eager else tuple(item for item in claim if item not in set(answer.revoked))
    return as_sent((*answer.assigned, *kept))
