"""The duties of a herder: session keys, task configs and restarts."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    SessionKeyWritten,
    TaskConfigsApplied,
    TaskConfigsGenerated,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.worker import is_task_of

LAST_TAKEN: Final = -1
"""The offset that stands for the last snapshot that a worker took."""


class OnlyTheLeaderRotatesKeysViolated(Violation):
    """A worker that does not lead wrote a session key."""


class ChangedTaskConfigsArePublishedViolated(Violation):
    """Generated task configs were published though nothing had changed, or were not though something had."""


class CommitRestartsItsOwnTasksViolated(Violation):
    """A commit of the task configs of one connector restarts tasks of another."""


class _Keys(WorkerFold):
    needs = ((ConnectAssignmentReceived,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {SessionKeyWritten: self.on_written})

    def on_written(self, event: SessionKeyWritten) -> None:
        """Leadership is that of the last assignment."""
        worker = self.memory.of(event.member)
        if worker.received is None or self.memory.with_id(worker.received.leader) is worker:
            return
        self.contradiction(
            f"{event.member} wrote a session key and does not lead",
            (f"{worker.received.leader} leads since {STEP}.", worker.received),
            (f"{event.member} wrote a session key at {STEP}: contradiction.", event),
        )


class _Published(WorkerFold):
    """Compares with the snapshot that the herder knows: its store may have taken a newer one for a round."""

    needs = ((ConfigSnapshotTaken,),)
    bookkeeping = frozenset({ConfigSnapshotTaken, MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        ends = (MemberStarted, MemberCrashed, MemberLeft)
        super().__init__(
            invariant,
            {
                ConfigSnapshotTaken: self.on_snapshot,
                TaskConfigsGenerated: self.on_generated,
                **dict.fromkeys(ends, self.on_gone),
            },
        )
        self._taken: dict[str, Recent[int, ConfigSnapshotTaken]] = {}

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The herder may know the configs of this offset from here on."""
        self._taken.setdefault(event.member, Recent(GENERATIONS))[event.offset] = event

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """The process starts anew or ended."""
        self._taken.pop(event.member, None)

    def _known(self, event: TaskConfigsGenerated) -> ConfigSnapshotTaken | None:
        """The snapshot that the task configs were compared with, if the history shows it."""
        if event.config_offset == LAST_TAKEN:
            return self.memory.of(event.member).snapshot
        taken = self._taken.get(event.member)
        return None if taken is None else taken.get(event.config_offset)

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """Compared with what the herder's snapshot holds, in the raw form."""
        snapshot = self._known(event)
        if snapshot is None:
            return
        changed = self._change(event, snapshot)
        if bool(changed) == event.published:
            return
        did = "published" if event.published else "did not publish"
        self.contradiction(
            f"{event.member} {did} the task configs of {event.connector}, and {changed or 'nothing changed'}",
            (f"{event.member} knows the configs of offset {snapshot.offset} since {STEP}.", snapshot),
            (f"it generated task configs at {STEP}, {changed or 'nothing changed'}, and it {did} them: contradiction.",
             event),
        )  # fmt: skip

    @staticmethod
    def _change(event: TaskConfigsGenerated, snapshot: ConfigSnapshotTaken) -> str:
        known = {task: config for task, config in snapshot.task_configs if task in snapshot.tasks}
        mine = {task: config for task, config in known.items() if is_task_of(task, event.connector)}
        if dict(snapshot.task_counts).get(event.connector, 0) != len(event.tasks):
            return "the number of tasks changed"
        if mine != dict(event.tasks):
            return "a task config changed"
        if dict(snapshot.applied).get(event.connector) != event.connector_config:
            return "the connector's configuration changed"
        return ""


class _OwnTasks(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {TaskConfigsApplied: self.on_applied})

    def on_applied(self, event: TaskConfigsApplied) -> None:
        """Each task is one of the connector's."""
        others = sorted(task for task in event.tasks if not is_task_of(task, event.connector))
        if others:
            self.contradiction(
                f"{event.member} restarts {others[0]} for a commit of {event.connector}",
                (f"the commit of {event.connector} came with {others[0]} at {STEP}: contradiction.", event),
            )


OnlyTheLeaderRotatesKeys: Final = Invariant(
    name="only_the_leader_rotates_keys",
    family="connect_duties",
    claim="only the worker that its last assignment names as the leader writes session keys",
    source="KIP-507; DistributedHerder.checkForKeyRotation; KAFKA-12252",
    violation=OnlyTheLeaderRotatesKeysViolated,
    fold=_Keys,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=2, member_id="b", protocol="sessioned", leader="a",
                              leader_url="u", config_offset=3)
    SessionKeyWritten(member="w0", generation=2)
"""

ChangedTaskConfigsArePublished: Final = Invariant(
    name="changed_task_configs_are_published",
    family="connect_duties",
    claim="generated task configs are published exactly when their number, one of them in its raw form, or the "
    "connector's configuration differs from what was committed last",
    source="AbstractHerder.taskConfigsChanged; KAFKA-3459, KAFKA-9228, KAFKA-16837",
    violation=ChangedTaskConfigsArePublishedViolated,
    fold=_Published,
)
"""The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), task_counts=(("c", 1),), tasks=("c-0",),
                        task_configs=(("c-0", "y"),), applied=(("c", "x"),))
    TaskConfigsGenerated(member="w0", generation=1, connector="c", connector_config="x", tasks=(("c-0", "y"),),
                         published=True)
"""

CommitRestartsItsOwnTasks: Final = Invariant(
    name="commit_restarts_its_own_tasks",
    family="connect_duties",
    claim="a commit of task configs restarts only tasks of its connector",
    source="KafkaConfigBackingStore.processTasksCommitRecord; KAFKA-8931",
    violation=CommitRestartsItsOwnTasksViolated,
    fold=_OwnTasks,
)
"""The smallest history that breaks it::

    TaskConfigsApplied(member="w0", generation=1, connector="c", tasks=("d-0",))
"""


CLAIMS: Final = (OnlyTheLeaderRotatesKeys, ChangedTaskConfigsArePublished, CommitRestartsItsOwnTasks)
"""In the order in which reports name them."""
