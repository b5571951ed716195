"""Random sequences of steps: a group coordinator that answers as it likes, a config topic that grows, a slow herder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from rebalance_check.impl.protocol.connect_protocol import (
    CONFIG_MISMATCH,
    ConnectAssignment,
    ConnectMode,
    ConnectorTask,
    WorkerState,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.integration.comparison.workers.steps import Seen, Step
from rebalance_check.model.vocabulary.errors import Error

CONNECTORS: Final = ("c0", "c1", "c-2")
MOST_TASKS: Final = 3
OWNERS: Final = [*CONNECTORS, "c9", *(f"{name}-{number}" for name in CONNECTORS for number in range(2)), "c9-0"]
MODES: Final = tuple(ConnectMode)

_JOIN_ERRORS: Final = (
    Error.MEMBER_ID_REQUIRED,
    Error.UNKNOWN_MEMBER_ID,
    Error.REBALANCE_IN_PROGRESS,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NOT_COORDINATOR,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.INCONSISTENT_GROUP_PROTOCOL,
)
_SYNC_ERRORS: Final = (
    Error.REBALANCE_IN_PROGRESS,
    Error.UNKNOWN_MEMBER_ID,
    Error.ILLEGAL_GENERATION,
    Error.NOT_COORDINATOR,
    Error.COORDINATOR_NOT_AVAILABLE,
)
_MOVED: Final = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE)
"""After these the coordinator is looked up. In Java time decides which of the two threads does that first."""

_HEARTBEAT_ERRORS: Final = (
    Error.REBALANCE_IN_PROGRESS,
    Error.UNKNOWN_MEMBER_ID,
    Error.ILLEGAL_GENERATION,
    *_MOVED,
)


class RandomSequence:
    """The steps of one seed. Each depends on the observations after the one before: hand them to `observe`."""

    def __init__(self, seed: int, steps: int) -> None:
        self._random = Random(seed)
        self._steps = steps
        self._offset = 1
        self._counts = self._draw_counts()
        self._mode = self._random.choice(MODES)
        self._generation = 0
        self._members = 0
        self._waiting: list[Seen] = []
        self._led: str | None = None
        self._seen: Seen = {}
        self._reachable = True

    def observe(self, seen: Seen) -> None:
        """Learn from the last step."""
        self._seen = seen
        self._waiting += seen["requests"]

    def __iter__(self) -> Iterator[Step]:
        yield {
            "do": "reset",
            "mode": self._mode.value,
            "offset": self._offset,
            "counts": self._counts,
            "maxDelay": self._random.choice((0, 30_000, 300_000)),
            "owners": OWNERS,
        }
        for _ in range(self._steps):
            yield from self._next()

    def _next(self) -> Iterator[Step]:
        waiting = [request["api"] for request in self._waiting]
        if "HEARTBEAT" in waiting:
            yield from self._answer_heartbeat()
        elif "LEAVE_GROUP" in waiting:
            yield self._answer("LEAVE_GROUP", Error.NONE)
        elif waiting and self._random.random() < 0.6:
            yield self._answer_join() if waiting[0] == "JOIN_GROUP" else self._answer_sync()
        else:
            yield from self._happen()

    def _answer_heartbeat(self) -> Iterator[Step]:
        joins = any(request["api"] != "HEARTBEAT" for request in self._waiting)
        error = self._error(_HEARTBEAT_ERRORS[: -len(_MOVED)] if joins else _HEARTBEAT_ERRORS, 0.15)
        yield self._answer("HEARTBEAT", error)
        if error in _MOVED:
            yield {"do": "step", "times": 12}

    def _happen(self) -> Iterator[Step]:
        """Something that is no answer."""
        chances: Mapping[Callable[[], Iterator[Step]], int] = {
            self._poll: 8,
            self._pass_time: 4,
            self._configure: 2,
            self._rejoin: 2,
            self._let_raise: 1,
            self._leave: 1,
            self._disconnect: 1,
            self._lose_coordinator: 1,
            self._stall: 1,
            self._wake: 1,
        }
        yield from self._random.choices(list(chances), list(chances.values()))[0]()

    def _poll(self) -> Iterator[Step]:
        yield {"do": "poll"}

    def _pass_time(self) -> Iterator[Step]:
        yield {"do": "step", "times": self._random.choice((1, 5, 10, 31))}

    def _configure(self) -> Iterator[Step]:
        self._offset += self._random.randrange(3)
        self._counts = self._draw_counts()
        yield {"do": "configs", "offset": self._offset, "counts": self._counts}

    def _rejoin(self) -> Iterator[Step]:
        yield {"do": "rejoin"}

    def _let_raise(self) -> Iterator[Step]:
        yield {"do": "raise"}

    def _wake(self) -> Iterator[Step]:
        """A wake-up while the herder waits for JoinGroup or SyncGroup; the same herder polls next."""
        joins = any(request["api"] in ("JOIN_GROUP", "SYNC_GROUP") for request in self._waiting)
        if joins and self._seen.get("inside"):
            yield {"do": "wake"}
            yield {"do": "poll"}

    def _leave(self) -> Iterator[Step]:
        if not self._seen.get("inside"):
            yield {"do": "leave"}

    def _disconnect(self) -> Iterator[Step]:
        if self._waiting:
            self._waiting.clear()
            yield {"do": "disconnect"}
            yield {"do": "step", "times": 12}

    def _lose_coordinator(self) -> Iterator[Step]:
        """The connection breaks, and the coordinator is found again some seconds later."""
        if not self._waiting:
            return
        self._waiting.clear()
        yield {"do": "reachable", "value": False}
        yield {"do": "disconnect"}
        if self._random.random() < 0.7:
            yield {"do": "poll"}
        yield {"do": "step", "times": self._random.choice((5, 20, 40))}
        yield {"do": "reachable", "value": True}
        yield {"do": "step", "times": 12}

    def _stall(self) -> Iterator[Step]:
        """The herder does not poll for longer than the rebalance timeout, while heartbeats go on."""
        if self._seen.get("inside") or self._random.random() < 0.7:
            return
        for _ in range(21):
            yield {"do": "step", "times": 31}
            if any(request["api"] == "HEARTBEAT" for request in self._waiting):
                yield self._answer("HEARTBEAT", Error.NONE)

    # ------------------------------------------------------------------------------------------- answers

    def _error(self, errors: tuple[Error, ...], chance: float) -> Error:
        return self._random.choice(errors) if self._random.random() < chance else Error.NONE

    def _answer(self, api: str, error: Error, **fields: Any) -> Step:
        self._waiting.remove(next(request for request in self._waiting if request["api"] == api))
        if error in _MOVED:
            self._waiting.clear()
        return {"do": "answer", "api": api, "error": int(error), **fields}

    def _answer_join(self) -> Step:
        joined = next(request for request in self._waiting if request["api"] == "JOIN_GROUP")
        error = self._error(_JOIN_ERRORS, 0.3)
        if error is Error.MEMBER_ID_REQUIRED:
            self._members += 1
            return self._answer("JOIN_GROUP", error, member=f"m{self._members}")
        if error is not Error.NONE:
            return self._answer("JOIN_GROUP", error)
        self._members += not joined["member"]
        member = joined["member"] or f"m{self._members}"
        self._generation += 1
        protocol, metadata = self._random.choice(joined["protocols"])
        leads = self._random.random() < 0.5
        self._led = member if leads else None
        members = [{"id": member, "metadata": metadata}]
        members += [self._other(number, protocol) for number in range(self._random.randrange(3))]
        self._random.shuffle(members)
        return self._answer(
            "JOIN_GROUP",
            error,
            generation=self._generation,
            protocol=protocol,
            member=member,
            leader=member if leads else "o0",
            members=members if leads else [],
        )

    def _other(self, number: int, protocol: str) -> Step:
        mode = ConnectMode.of_protocol(protocol)
        offset = self._offset + (self._random.randrange(3) if self._random.random() < 0.2 else 0)
        state = WorkerState(url=f"http://o{number}:8083/", config_offset=offset)
        if self._random.random() < 0.7:
            state = WorkerState(url=state.url, config_offset=offset, allocation=self._draw_assignment(revokes=False))
        return {"id": f"o{number}", "metadata": write_worker_state(state, mode.version).hex()}

    def _answer_sync(self) -> Step:
        synced = next(request for request in self._waiting if request["api"] == "SYNC_GROUP")
        error = self._error(_SYNC_ERRORS, 0.2)
        if error is not Error.NONE:
            return self._answer("SYNC_GROUP", error)
        mode = ConnectMode.of_protocol(synced["protocol"])
        if self._led is not None:
            data = synced["assignments"].get(self._led, "")
        elif self._random.random() < 0.03:
            data = ""
        else:
            revokes = mode is not ConnectMode.EAGER
            data = (write_connect_assignment(self._draw_assignment(revokes=revokes), mode.version) or b"").hex()
        return self._answer("SYNC_GROUP", error, assignment=data)

    # ------------------------------------------------------------------------------------------- work

    def _draw_counts(self) -> dict[str, int]:
        chosen = [name for name in CONNECTORS if self._random.random() < 0.7]
        return {name: self._random.randrange(MOST_TASKS + 1) for name in chosen}

    def _draw_assignment(self, *, revokes: bool) -> ConnectAssignment:
        failed = self._random.random() < 0.1
        leader = f"o{self._random.randrange(2)}"
        connectors, tasks = ((), ()) if failed else self._draw_work()
        gone_connectors, gone_tasks = self._draw_work() if revokes and self._random.random() < 0.4 else ((), ())
        return ConnectAssignment(
            error=CONFIG_MISMATCH if failed else 0,
            leader=leader,
            leader_url=f"http://{leader}:8083/",
            config_offset=self._offset,
            connectors=connectors,
            tasks=tasks,
            revoked_connectors=gone_connectors,
            revoked_tasks=gone_tasks,
            delay_ms=self._random.choice((0, 0, 30_000)) if revokes else 0,
        )

    def _draw_work(self) -> tuple[tuple[str, ...], tuple[ConnectorTask, ...]]:
        connectors = tuple(name for name in CONNECTORS if self._random.random() < 0.4)
        tasks = [ConnectorTask(name, number) for name in CONNECTORS for number in range(MOST_TASKS)]
        return connectors, tuple(task for task in tasks if self._random.random() < 0.3)
