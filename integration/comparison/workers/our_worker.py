"""Our WorkerCoordinator, driven by the same steps as Kafka's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.comparison.workers.our_fields import (
    described_assignment,
    described_request,
    java_name,
    reply_in,
    work_named,
)
from rebalance_check.integration.comparison.workers.steps import GROUP, START_MS, STEP_MS, Seen, Step
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event

_APIS: Final[Mapping[type[GroupRequest], str]] = {
    JoinGroupRequest: "JOIN_GROUP",
    SyncGroupRequest: "SYNC_GROUP",
    HeartbeatRequest: "HEARTBEAT",
    LeaveGroupRequest: "LEAVE_GROUP",
}
_TICKS: Final = 2
"""Turns of the heartbeat side at one instant: one may find the session over, the next looks the coordinator up."""


def _ignore(_event: Event) -> None:
    """Events are not compared."""


class _WantedError(Exception):
    """The driver wants the listener to raise."""


@dataclass(frozen=True)
class _Configs:
    offset: int
    task_counts: Mapping[str, int]


class OurWorker:
    """One worker after the other; a step ``reset`` begins the first."""

    name = "ours"

    def __init__(self, note: Callable[[Event], None] = _ignore) -> None:
        self._note = note
        self._begin({"mode": "sessioned", "offset": 0, "counts": {}, "maxDelay": 0, "owners": []})

    def _begin(self, step: Step) -> None:
        name = step.get("worker", "w")
        self._now_ms: int = step.get("now", START_MS)
        self._reachable = True
        self._inside = self._raises = False
        self._raised = ""
        self._calls: list[Seen] = []
        self._requests: list[Seen] = []
        self._in_flight: list[tuple[int, GroupRequest]] = []
        self._frames: list[tuple[int, str]] = []
        self._owners: list[str] = step["owners"]
        self._configs = _Configs(step["offset"], step["counts"])
        self._worker = WorkerCoordinator(
            WorkerConfig(
                group_id=GROUP,
                connect_protocol=ConnectMode.parse(step["mode"]),
                scheduled_rebalance_max_delay_ms=step["maxDelay"],
                client_id=name,
            ),
            Recorder(GROUP, name, lambda: self._now_ms, self._note),
            member=name,
            url=f"http://{name}:8083/",
            configs=self,
            listener=self,
        )

    # ------------------------------------------------------------------------------------------- the worker's herder

    def snapshot(self) -> _Configs:
        """The present content of the config topic."""
        return self._configs

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:
        """Note the call."""
        self._calls.append(
            {"call": "assigned", "generation": generation, "assignment": described_assignment(assignment)}
        )
        self._raise()

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:
        """Note the call."""
        call: Seen = {"call": "revoked", "leader": leader, "connectors": list(connectors)}
        if tasks:
            call["tasks"] = [task.name for task in tasks]
        self._calls.append(call)
        self._raise()
        return True

    def _raise(self) -> None:
        raises, self._raises = self._raises, False
        if raises:
            raise _WantedError

    # ------------------------------------------------------------------------------------------- the driver

    def perform(self, step: Step) -> Seen:
        """Do a step; the observations since the one before."""
        do: dict[str, Callable[[Step], None]] = {
            "reset": self._begin,
            "poll": lambda _: self._poll(),
            "step": self._pass_time,
            "answer": self._answer,
            "reply": self._read_reply,
            "disconnect": lambda _: self._disconnect(),
            "reachable": self._reach,
            "configs": self._read,
            "rejoin": lambda _: self._worker.request_rejoin("the driver wants it"),
            "raise": self._let_raise,
            "wake": lambda _: self._wake(),
            "leave": lambda _: self._worker.maybe_leave_group("a driver wants it", self._now_ms),
        }
        do[step["do"]](step)
        self._collect()
        return self._seen()

    def _poll(self) -> None:
        """One poll, and again for as long as an answer comes at once."""
        while True:
            try:
                self._worker.poll(self._now_ms)
            except (GroupError, MalformedBytes, _WantedError) as problem:
                self._raised = java_name(problem)
                self._inside = False
                self._collect()
                return
            self._inside = self._worker.rejoin_needed_or_pending() or self._worker.coordinator_unknown()
            if not self._collect():
                return

    def _pass_time(self, step: Step) -> None:
        for _ in range(step["times"]):
            self._now_ms += STEP_MS
            self._heartbeat()
            self._go_on()

    def _heartbeat(self) -> None:
        """The heartbeat thread waits while the herder, which holds the monitor, looks the coordinator up."""
        if not (self._inside and self._worker.coordinator_unknown()):
            for _ in range(_TICKS):
                self._worker.tick(self._now_ms)
                self._collect()

    def _go_on(self) -> None:
        if self._inside:
            self._poll()

    def _answer(self, step: Step) -> None:
        number = next(number for number, request in self._in_flight if _APIS[type(request)] == step["api"])
        self._receive(number, reply_in(step))

    def _read_reply(self, step: Step) -> None:
        """The bytes of a response came; those to a request that is given up are not read."""
        for number, request in self._in_flight:
            if number == step["correlation"]:
                self._receive(number, decoded(request, bytes.fromhex(step["frame"])))
                return

    def _receive(self, number: int, reply: GroupReply) -> None:
        self._in_flight = [entry for entry in self._in_flight if entry[0] != number]
        self._worker.receive(number, reply, self._now_ms)
        self._collect()
        self._go_on()

    def _wake(self) -> None:
        """Java's poll ends with a WakeupException."""
        self._worker.wake_up()
        self._raised = "WakeupException"
        self._inside = False

    def _disconnect(self) -> None:
        if self._in_flight:
            self._worker.receive(self._in_flight[0][0], None, self._now_ms)
            self._in_flight.clear()
        self._collect()
        self._go_on()

    def _reach(self, step: Step) -> None:
        self._reachable = step["value"]

    def _read(self, step: Step) -> None:
        self._configs = _Configs(step["offset"], step["counts"])

    def _let_raise(self, _step: Step) -> None:
        self._raises = True

    def _collect(self) -> bool:
        """Take the requests; whether a look-up of the coordinator was among them, which is answered at once."""
        taken = self._worker.take_requests()
        lookups = [number for number, request in taken if isinstance(request, FindCoordinatorRequest)]
        sent = [(number, request) for number, request in taken if not isinstance(request, FindCoordinatorRequest)]
        if self._worker.coordinator_unknown():
            self._in_flight.clear()
        self._in_flight += sent
        self._requests += [described_request(request) for _, request in sent]
        self._frames += [(number, encoded(request).hex()) for number, request in sent]
        error = Error.NONE if self._reachable else Error.COORDINATOR_NOT_AVAILABLE
        for number in lookups:
            self._worker.receive(number, FindCoordinatorReply(error=error, host="broker", port=9092), self._now_ms)
        return bool(lookups)

    def _next_heartbeat_ms(self) -> int:
        """When the next heartbeat is due, from the start; -1 while there is none to send."""
        wait_ms = self._worker.time_to_next_heartbeat(self._now_ms)
        return -1 if wait_ms is None else self._now_ms + wait_ms - START_MS

    def _seen(self) -> Seen:
        worker = self._worker
        requests, self._requests = self._requests, []
        calls, self._calls = self._calls, []
        raised, self._raised = self._raised, ""
        frames, self._frames = self._frames, []
        return {
            "requests": requests,
            "frames": frames,
            "calls": calls,
            "raised": raised,
            "inside": self._inside,
            "state": worker.state.value,
            "member": worker.member_id(),
            "generation": worker.generation_id(),
            "heartbeat": self._next_heartbeat_ms(),
            "completed": worker.last_completed_generation(),
            "version": worker.mode.version,
            "claim": None if worker.assignment is None else described_assignment(worker.assignment),
            "owners": [worker.owner_url(work_named(name)) for name in self._owners],
        }
