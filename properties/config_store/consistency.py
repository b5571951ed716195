"""C3, C4, C9, C10: a snapshot is consistent in itself, whatever was read."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from rebalance_check.model.vocabulary.events import ConfigSnapshotTaken
from rebalance_check.properties.config_store.readers import SOURCE, ConfigFold, ConfigStoreViolated, task_of
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class TasksListedWholeViolated(ConfigStoreViolated):
    """C3: the listed tasks are neither none nor exactly those that the last commit counts."""


class ListedTasksHaveConfigsViolated(ConfigStoreViolated):
    """C4: a task is listed that has no configuration."""


class TargetStateMissingViolated(ConfigStoreViolated):
    """C9: a configured connector has no target state."""


class RemovedConnectorKeepsTasksViolated(ConfigStoreViolated):
    """C10: a connector that is not configured has tasks, a count of them, or an applied configuration."""


class _OfEachSnapshot(ConfigFold):
    """A fold that looks at each snapshot, and at nothing before it."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigSnapshotTaken: self.taken})

    @abstractmethod
    def taken(self, event: ConfigSnapshotTaken) -> None:
        """Report what is wrong with a snapshot."""


class _Whole(_OfEachSnapshot):
    def taken(self, event: ConfigSnapshotTaken) -> None:
        """By connector: what is listed, and what may run."""
        listed: dict[str, set[int]] = {}
        for work in event.tasks:
            connector, number = task_of(work)
            listed.setdefault(connector, set()).add(number)
        for connector in sorted(listed.keys() | {name for name, _ in event.task_counts}):
            count = 0 if connector in event.inconsistent else dict(event.task_counts).get(connector, 0)
            numbers = listed.get(connector, set())
            if len(numbers) != max(count, 0) or not all(number in range(count) for number in numbers):
                self.broken(
                    f"{event.member} lists tasks {sorted(numbers)} of {connector}",
                    f"by the snapshot at {STEP} it has {count} tasks that may run: contradiction.",
                    event,
                )


class _HaveConfigs(_OfEachSnapshot):
    def taken(self, event: ConfigSnapshotTaken) -> None:
        """By task."""
        for work in sorted(set(event.tasks) - dict(event.task_configs).keys()):
            self.broken(
                f"{event.member} lists the task {work}, which has no configuration",
                f"the snapshot at {STEP} lists it and holds no configuration of it: contradiction.",
                event,
            )


class _HasTarget(_OfEachSnapshot):
    def taken(self, event: ConfigSnapshotTaken) -> None:
        """By connector."""
        for name in sorted(dict(event.connectors).keys() - dict(event.target_states).keys()):
            self.broken(
                f"{event.member} knows no target state of {name}",
                f"the snapshot at {STEP} holds its configuration and no target state: contradiction.",
                event,
            )


class _Removed(_OfEachSnapshot):
    def taken(self, event: ConfigSnapshotTaken) -> None:
        """Target state, count record, generation and flags may remain."""
        configured = dict(event.connectors)
        left = {name: "a count of tasks" for name, _ in event.task_counts}
        left |= {name: "an applied configuration" for name, _ in event.applied}
        left |= {task_of(work)[0]: f"the task {work}" for work in (*dict(event.task_configs), *event.tasks)}
        for name in sorted(left.keys() - configured.keys()):
            self.broken(
                f"{event.member} keeps {left[name]} of {name}, which is not configured",
                f"the snapshot at {STEP} holds {left[name]} of {name}, and no configuration: contradiction.",
                event,
            )


TasksListedWhole: Final = Invariant(
    name="tasks_are_listed_whole",
    family="config_store",
    claim="of a connector either no task is listed, or all that its last commit counts; none while it is inconsistent",
    source=SOURCE,
    violation=TasksListedWholeViolated,
    fold=_Whole,
)
"""C3. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=4, connectors=(("c", "{}"),), task_counts=(("c", 2),), tasks=("c-0",))
"""
ListedTasksHaveConfigs: Final = Invariant(
    name="listed_tasks_have_configs",
    family="config_store",
    claim="every listed task has a configuration",
    source=SOURCE,
    violation=ListedTasksHaveConfigsViolated,
    fold=_HaveConfigs,
)
"""C4. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=4, connectors=(("c", "{}"),), task_counts=(("c", 1),), tasks=("c-0",))
"""
TargetStateKnown: Final = Invariant(
    name="configured_connector_has_target_state",
    family="config_store",
    claim="every configured connector has a target state",
    source=SOURCE,
    violation=TargetStateMissingViolated,
    fold=_HasTarget,
)
"""C9. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=1, connectors=(("c", "{}"),))
"""
RemovedConnectorKeepsNoTasks: Final = Invariant(
    name="unknown_connector_has_no_tasks",
    family="config_store",
    claim="a connector that is not configured has no tasks, no count of them and no applied configuration",
    source=SOURCE,
    violation=RemovedConnectorKeepsTasksViolated,
    fold=_Removed,
)
"""C10. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=1, task_counts=(("c", 0),))
"""
