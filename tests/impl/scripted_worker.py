"""A worker's coordinator whose herder, config topic and group coordinator a test plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rebalance_check.impl.connect.assignors.round import ConnectAssignor
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import (
    ConnectAssignment,
    ConnectMode,
    ConnectorTask,
    WorkerState,
    read_worker_state,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event
from tests.impl.found_coordinator import found_in, with_coordinator

R = TypeVar("R", JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, LeaveGroupRequest)

URL = "http://w:8083/"


@dataclass
class Configs:
    """A config topic that was read to ``offset``; ``behind`` are snapshots that come first."""

    offset: int = 1
    task_counts: dict[str, int] = field(default_factory=dict)
    later: list[Configs] = field(default_factory=list)

    def snapshot(self) -> Configs:
        """The configs read so far; each of ``later`` replaces it after one more call."""
        now = Configs(self.offset, dict(self.task_counts))
        if self.later:
            read = self.later.pop(0)
            self.offset, self.task_counts = read.offset, read.task_counts
        return now


class ScriptedWorker:
    """The worker ``m`` under test. ``calls`` are those of its listener, ``stops_at_once`` what `on_revoked` returns."""

    def __init__(
        self,
        mode: ConnectMode = ConnectMode.SESSIONED,
        configs: Configs | None = None,
        *,
        incremental: ConnectAssignor | None = None,
        revoke_on_downgrade: bool = False,
    ) -> None:
        self.now_ms = 0
        self.reachable = True
        self.stops_at_once = True
        self.raises: Exception | None = None
        self.configs = configs or Configs()
        self.calls: list[tuple[object, ...]] = []
        self.events: list[Event] = []
        self._requests: list[tuple[int, MemberRequest]] = []
        self.coordinator = WorkerCoordinator(
            WorkerConfig(group_id="g", connect_protocol=mode, revoke_on_downgrade=revoke_on_downgrade),
            Recorder("g", "w", lambda: self.now_ms, self.events.append),
            member="w",
            url=URL,
            configs=self.configs,
            listener=self,
            incremental=incremental,
        )
        with_coordinator(self.coordinator)
        self.events.clear()

    # ------------------------------------------------------------------------------------------------ the herder

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:
        """Note the call."""
        self.calls.append(("assigned", assignment.names, generation))
        self._raise()

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:
        """Note the call."""
        self.calls.append(("revoked", leader, (*connectors, *(task.name for task in tasks))))
        self._raise()
        return self.stops_at_once

    def _raise(self) -> None:
        problem, self.raises = self.raises, None
        if problem is not None:
            raise problem

    def took(self) -> list[tuple[object, ...]]:
        """The calls since the last time."""
        taken, self.calls = self.calls, []
        return taken

    # ------------------------------------------------------------------------------------------------ the script

    def poll(self, after_ms: int = 0) -> None:
        """The herder polls ``after_ms`` later."""
        self.now_ms += after_ms
        try:
            self.coordinator.poll(self.now_ms)
        finally:
            self._requests += self.coordinator.take_requests()
        if self._answered_look_up():
            self.poll()

    def _answered_look_up(self) -> bool:
        """Answer a look-up; whether the coordinator was found."""
        answered = found_in(self._requests, self.coordinator, self.now_ms, is_found=self.reachable)
        return answered and self.reachable

    def tick(self, after_ms: int = 0) -> None:
        """The heartbeat thread wakes up ``after_ms`` later."""
        self.now_ms += after_ms
        self.coordinator.tick(self.now_ms)
        self._requests += self.coordinator.take_requests()
        self._answered_look_up()

    def request(self, kind: type[R]) -> R:
        """The oldest unanswered request, which must be of this kind; it stays unanswered."""
        request = self._requests[0][1]
        assert isinstance(request, kind), request
        return request

    def waiting(self) -> list[tuple[int, MemberRequest]]:
        """The requests without an answer, oldest first."""
        return list(self._requests)

    def is_silent(self) -> bool:
        """Whether no request waits for an answer."""
        return not self._requests

    def answer(self, kind: type[R] | None, reply: GroupReply | None) -> None:
        """Answer the oldest request of this kind (None: of any), or lose the connection (None)."""
        index = next(i for i, (_, request) in enumerate(self._requests) if kind is None or isinstance(request, kind))
        number, _ = self._requests.pop(index)
        self.coordinator.receive(number, reply, self.now_ms)
        self._requests += self.coordinator.take_requests()

    def joined(
        self, generation: int, mode: ConnectMode, *, leader: str = "other", members: Sequence[JoinedMember] = ()
    ) -> None:
        """Poll, answer JoinGroup, and poll again so that the answer is read."""
        if self.is_silent():
            self.poll()
        reply = JoinGroupReply(
            generation_id=generation,
            protocol_name=mode.protocol,
            leader=leader,
            member_id="m",
            members=tuple(members),
        )
        self.answer(JoinGroupRequest, reply)
        self.poll()

    def synced(self, assignment: ConnectAssignment | bytes, mode: ConnectMode) -> None:
        """Answer SyncGroup and poll once more, which completes the join."""
        data = assignment if isinstance(assignment, bytes) else write_connect_assignment(assignment, mode.version)
        self.answer(SyncGroupRequest, SyncGroupReply(assignment=data or b""))
        self.poll()

    def round(self, generation: int, assignment: ConnectAssignment, mode: ConnectMode = ConnectMode.SESSIONED) -> None:
        """A whole round that another member leads."""
        self.joined(generation, mode)
        self.synced(assignment, mode)

    def heartbeat(self, error: Error = Error.NONE) -> None:
        """A heartbeat is due, and is answered."""
        self.tick(3_000)
        self.answer(HeartbeatRequest, HeartbeatReply(error=error))

    def rejoins(self) -> JoinGroupRequest:
        """Poll until JoinGroup is sent."""
        self.poll()
        return self.request(JoinGroupRequest)

    def claim(self) -> ConnectAssignment:
        """The claim of the JoinGroup that waits for an answer, in its most preferred entry."""
        return read_worker_state(self.request(JoinGroupRequest).protocols[0].metadata).allocation

    def lose_coordinator(self) -> None:
        """The coordinator cannot be reached any more, and a heartbeat notices it."""
        self.reachable = False
        self.tick(3_000)
        while self._requests:
            self.answer(None, None)


def member(member_id: str, offset: int = 1, claim: ConnectAssignment | None = None, version: int = 2) -> JoinedMember:
    """Another worker of the group, as the leader reads it."""
    state = WorkerState(url=f"http://{member_id}:8083/", config_offset=offset)
    if claim is not None:
        state = WorkerState(url=state.url, config_offset=offset, allocation=claim)
    return JoinedMember(member_id, write_worker_state(state, version))


def work(
    names: str = "", revoked: str = "", *, leader: str = "other", offset: int = 1, error: int = 0, delay_ms: int = 0
) -> ConnectAssignment:
    """An assignment of connectors and tasks by name: ``c0 c0-1``."""
    return ConnectAssignment(
        error=error,
        leader=leader,
        leader_url=f"http://{leader}:8083/",
        config_offset=offset,
        connectors=tuple(name for name in names.split() if "-" not in name),
        tasks=tuple(task(name) for name in names.split() if "-" in name),
        revoked_connectors=tuple(name for name in revoked.split() if "-" not in name),
        revoked_tasks=tuple(task(name) for name in revoked.split() if "-" in name),
        delay_ms=delay_ms,
    )


def task(name: str) -> ConnectorTask:
    """The task of this name."""
    connector, _, number = name.rpartition("-")
    return ConnectorTask(connector, int(number))
