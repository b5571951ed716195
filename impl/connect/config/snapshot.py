"""A worker's view of the connectors after reading the config topic so far (``ClusterConfigState``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Self

from rebalance_check.impl.connect.config.errors import TaskCountError
from rebalance_check.impl.connect.config.values import Properties, SessionKey, TargetState

NOTHING_READ: Final = -1
"""The offset of a snapshot before any record was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorState:
    """The knowledge of one connector, configured or not.

    ``task_count`` is that of the last commit, ``task_configs`` those of complete commits (also of tasks that are
    no longer listed), ``applied`` the connector's configuration at the last complete commit, ``generation`` counts
    complete commits that this process read. ``inconsistent``: the last commit lacked tasks. ``pending_fencing``: task
    configurations are newer than the last ``task_count_record``.
    """

    config: Properties | None = None
    target_state: TargetState | None = None
    task_count: int | None = None
    task_configs: Mapping[int, Properties] = field(default_factory=dict)
    applied: Properties | None = None
    generation: int | None = None
    task_count_record: int | None = None
    pending_fencing: bool = False
    inconsistent: bool = False


UNKNOWN: Final = ConnectorState()
"""The knowledge of a connector that no record named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSnapshot:
    """A copy of the configs read up to, not including, ``offset``; task configurations without a commit are not in it.

    ``known`` holds every connector that some record named, by name: ask `connectors` which are configured.
    """

    offset: int = NOTHING_READ
    session_key: SessionKey | None = None
    known: Mapping[str, ConnectorState] = field(default_factory=dict)

    @classmethod
    def of(cls, task_counts: Mapping[str, int], offset: int = 0) -> Self:
        """A snapshot of started connectors with so many tasks each, whose configurations hold the name alone."""
        return cls(
            offset=offset,
            known={
                name: ConnectorState(
                    config={"name": name},
                    target_state=TargetState.STARTED,
                    task_count=count,
                    task_configs=dict.fromkeys(range(count), MappingProxyType[str, str]({})),
                    applied={"name": name},
                    generation=0,
                )
                for name, count in task_counts.items()
            },
        )

    def connectors(self) -> tuple[str, ...]:
        """The names of the configured connectors, sorted."""
        return tuple(sorted(name for name, state in self.known.items() if state.config is not None))

    def __contains__(self, connector: object) -> bool:
        """Whether the connector is configured."""
        return isinstance(connector, str) and self.of_connector(connector).config is not None

    def of_connector(self, connector: str) -> ConnectorState:
        """Everything that is known of a connector."""
        return self.known.get(connector, UNKNOWN)

    def config(self, connector: str) -> Properties | None:
        """The configuration of a connector, or None."""
        return self.of_connector(connector).config

    def target_state(self, connector: str) -> TargetState | None:
        """The target state; not None also for a deleted connector whose target state has no tombstone."""
        return self.of_connector(connector).target_state

    def task_count(self, connector: str) -> int:
        """The number that the last commit said, also an incomplete one; 0 when there was none."""
        return self.of_connector(connector).task_count or 0

    def tasks(self, connector: str) -> range:
        """The numbers of the tasks to run: none while the connector is inconsistent. Configurations may be missing.

        Raises: TaskCountError when a commit said that there are less than none.
        """
        count = 0 if self.of_connector(connector).inconsistent else self.task_count(connector)
        if count < 0:
            raise TaskCountError(
                f"the last commit of the connector {connector!r} says that it has {count} tasks: commit its tasks anew"
            )
        return range(count)

    @property
    def task_counts(self) -> Mapping[str, int]:
        """The configured connectors, sorted, with how many tasks `tasks` lists: the work of an assignor.

        Raises: TaskCountError as `tasks` does.
        """
        return {name: len(self.tasks(name)) for name in self.connectors()}

    def task_config(self, connector: str, task: int) -> Properties | None:
        """The configuration of a task, or None; also that of a task which `tasks` no longer lists."""
        return self.of_connector(connector).task_configs.get(task)


EMPTY: Final = ConfigSnapshot()
"""The view of a worker before it has read anything."""
