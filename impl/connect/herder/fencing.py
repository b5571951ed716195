"""Fencing of zombie producers before the tasks of an exactly-once source start (KIP-618)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from rebalance_check.impl.connect.config.errors import PrivilegedWriteError
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.connect.herder.peers import Answer, FenceZombies, OnAnswer
from rebalance_check.impl.connect.herder.restarting import Restarting
from rebalance_check.impl.connect.herder.task_instance import Prepare
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.herder.work_events import work_name
from rebalance_check.impl.connect.status.codec import TaskKey
from rebalance_check.model.vocabulary.events import ZombieFencingEnded

Prepared: TypeAlias = Callable[[bool], None]
"""The call that says that a task may start, or (False) must fail."""


class Fencing(Restarting):
    """The leader fences the producers of a connector's earlier tasks once per commit of task configurations.

    A task asks for that before it starts, then fences its own predecessor, then has the herder check that its
    configuration is still the latest and the task still assigned here.

    In Kafka the admin client fences while the herder's thread goes on, and a second request joins the fencing that its
    connector has in ``activeZombieFencings``. Here the herder's thread waits until the producers are fenced: a second
    request is served when the first is answered, and finds that nothing is left to fence.
    """

    def __init__(self) -> None:
        super().__init__()
        self._fencing: tuple[str, OnAnswer] | None = None

    def _written(self, call: ConfigCall) -> Steps[bool]:
        """Wait for a leader's write; whether it succeeded. A failed transaction shows that another leads (fenced)."""
        error = yield from self._await(call)
        if isinstance(error, PrivilegedWriteError):
            self._fenced = True
        return error is None

    # ------------------------------------------------------------------------------------------------ a task

    def _preparation(self, key: TaskKey) -> Prepare | None:
        """The step before the start of a task with exactly-once support; without it there is none."""
        return partial(self._prepare_task, key) if self.settings.exactly_once is ExactlyOnce.ENABLED else None

    def _prepare_task(self, key: TaskKey, prepared: Prepared) -> None:
        """Have the leader fence, fence the predecessor of this task, and verify."""
        generation = self.config_state.of_connector(key.connector).generation

        def fenced(answer: Answer) -> None:
            if answer is not Answer.OK:
                prepared(False)
                return
            self.producers.initialise(self.member, key)
            self.add_request(
                0,
                lambda: self._verify_task(key, generation, prepared),
                lambda: prepared(False),
                operation="verify task",
                work=work_name(key),
            )

        if self.is_leader:
            self.add_request(
                0,
                lambda: self._fence_zombies(key.connector, fenced),
                lambda: prepared(False),
                operation=FenceZombies.operation,
                work=key.connector,
            )
        elif self.leader_url is not None:
            self.ask_leader(self.leader_url, FenceZombies(key.connector), fenced)
        else:
            prepared(False)

    def _verify_task(self, key: TaskKey, generation: int | None, prepared: Prepared) -> Steps[None]:
        """Read the config topic to its end: other task configurations, or another owner, keep it from starting."""
        error = yield from self._await(self.configs.refresh(self.config.worker_sync_timeout_ms))
        latest = self.configs.snapshot().of_connector(key.connector).generation
        assigned = self.assignment is not None and tuple(key) in self.assignment.tasks
        prepared(error is None and latest == generation and assigned)

    # ------------------------------------------------------------------------------------------------ the leader

    def _fence_zombies(self, connector: str, answer: OnAnswer) -> Steps[None]:
        """Fence the producers of the tasks before the last commit, and write that down."""
        if not self.is_leader:
            answer(Answer.CONFLICT)
            return
        self._fencing = (connector, answer)
        outcome = yield from self._fence(connector)
        if self._fencing is not None:
            self._fencing = None
            answer(outcome)

    def _fence(self, connector: str) -> Steps[Answer]:
        if (yield from self._await(self.configs.refresh(self.config.worker_sync_timeout_ms))) is not None:
            return Answer.FAILED
        before = self.configs.snapshot().of_connector(connector)
        if not before.pending_fencing:
            return Answer.OK
        recorded, count = before.task_count_record, before.task_count or 0
        names: tuple[str, ...] = ()
        if recorded is not None and not recorded == count == 1:
            names = self.producers.fence(connector, range(recorded))
            error = yield from self._await(self.configs.refresh(self.config.worker_sync_timeout_ms))
            after = self.configs.snapshot().of_connector(connector)
            if error is not None or after.generation != before.generation or self._fencing is None:
                self._emit_fenced(connector, names, "conflict" if error is None else "failed")
                return Answer.CONFLICT if error is None else Answer.FAILED
        written = yield from self._written(self.configs.put_task_count(connector, count))
        self._emit_fenced(connector, names, "ok" if written else "failed")
        return Answer.OK if written else Answer.FAILED

    def _emit_fenced(self, connector: str, names: tuple[str, ...], outcome: str) -> None:
        at = self.coordinator.generation()
        self.recorder.emit(
            ZombieFencingEnded(
                member=self.member,
                generation=self.generation,
                member_id=at.member_id,
                connector=connector,
                transactional_ids=names,
                outcome=outcome,
            )
        )

    def _abandon_fencing(self, connector: str) -> None:
        """New task configurations: a worker that waits for the fencing under way learns that it is outdated."""
        if self._fencing is not None and self._fencing[0] == connector:
            _, answer = self._fencing
            self._fencing = None
            answer(Answer.CONFLICT)
