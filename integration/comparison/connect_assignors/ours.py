"""Our own Connect assignors, asked as Kafka's are: with bytes, and answering with bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from rebalance_check.impl.connect.assignors.eager import EagerAssignor
from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.impl.connect.assignors.memory import Memory
from rebalance_check.impl.connect.assignors.round import Item, Round, config_mismatch, in_order, leader_configs
from rebalance_check.impl.protocol.connect_protocol import (
    VERSION_OF,
    ConnectAssignment,
    read_worker_state,
    write_connect_assignment,
)
from rebalance_check.integration.comparison.connect_assignors.request import EAGER_PROTOCOL, RoundAnswer, RoundRequest
from rebalance_check.properties.assignment.connect_rounds import MemoryView
from rebalance_check.properties.assignment.connect_steps import DEFAULT_MAX_DELAY_MS, item_name


class OurConnectAssignors:
    """The assignors of `rebalance_check.impl.connect.assignors`, one incremental assignor for each worker."""

    name = "our own"

    def __init__(self, make: Callable[[int], IncrementalAssignor] = IncrementalAssignor) -> None:
        self._make = make
        self._max_delay_ms = DEFAULT_MAX_DELAY_MS
        self._incremental: dict[str, IncrementalAssignor] = {}
        self._read_state = lru_cache(maxsize=4096)(read_worker_state)

    def begin(self, max_delay_ms: int) -> None:
        """Forget all workers."""
        self._max_delay_ms = max_delay_ms
        self._incremental.clear()

    def restart(self, worker: str) -> None:
        """Forget one worker."""
        self._incremental.pop(worker, None)

    def ask(self, request: RoundRequest) -> RoundAnswer:
        """Compute a round; an assignor's exception is a failure, as it is for Kafka's."""
        try:
            return self._answer(request)
        except Exception as error:
            return RoundAnswer(failure=repr(error))

    def _answer(self, request: RoundRequest) -> RoundAnswer:
        eager, version = request.protocol == EAGER_PROTOCOL, VERSION_OF[request.protocol]
        members = {member: self._read_state(metadata) for member, metadata in request.members}
        found = leader_configs(request.known, lambda: request.latest, members)
        if found is None:
            return RoundAnswer(
                assignments=_written(config_mismatch(request.leader, members, version), version),
                memory=MemoryView() if eager else self._memory(request.worker),
            )
        configs, offset = found
        current = Round(
            leader=request.leader,
            members=members,
            task_counts=configs.task_counts,
            config_offset=offset,
            generation=request.generation,
            last_completed_generation=request.last_completed_generation,
            now_ms=request.now_ms,
            version=version,
        )
        assigned = (EagerAssignor() if eager else self._assignor(request.worker)).assign(current)
        return RoundAnswer(
            assignments=_written(assigned.assignments, version),
            connector_owners=dict(assigned.connector_owners),
            task_owners={item_name(task): member for task, member in assigned.task_owners.items()},
            memory=MemoryView() if eager else self._memory(request.worker),
        )

    def _assignor(self, worker: str) -> IncrementalAssignor:
        if worker not in self._incremental:
            self._incremental[worker] = self._make(self._max_delay_ms)
        return self._incremental[worker]

    def _memory(self, worker: str) -> MemoryView:
        return view_of(self._assignor(worker).memory)


def _written(assignments: Mapping[str, ConnectAssignment], version: int) -> dict[str, bytes]:
    return {member: write_connect_assignment(one, version) or b"" for member, one in assignments.items()}


def view_of(memory: Memory) -> MemoryView:
    """Our memory in the form in which Kafka's is read."""
    return MemoryView(
        previous_assignment=_names(memory.previous_assignment),
        previous_revocation=_names(memory.previous_revocation),
        revoked_in_previous=memory.revoked_in_previous,
        candidates=memory.candidates,
        scheduled_rebalance_ms=memory.scheduled_rebalance_ms,
        delay_ms=memory.delay_ms,
        previous_generation=memory.previous_generation,
        previous_members=tuple(sorted(memory.previous_members)),
        successive_revocations=memory.successive_revocations,
    )


def _names(items: frozenset[Item]) -> tuple[str, ...]:
    """Connectors, then tasks, each in Java's order."""
    ordered = in_order(items)
    return tuple(item_name(item) for kind in (True, False) for item in ordered if (item.task < 0) is kind)
