"""The reports of a config store while it reads (``ConfigBackingStore.UpdateListener``), one class per callback.

A request to restart is reported as the `RestartRequest` that was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.impl.connect.config.values import RestartRequest, SessionKey


@dataclass(frozen=True, slots=True)
class ConnectorConfigUpdate:
    """A configuration of the connector was read, new or equal to the one before."""

    connector: str


@dataclass(frozen=True, slots=True)
class ConnectorConfigRemove:
    """A tombstone of the connector was read, known or not."""

    connector: str


@dataclass(frozen=True, slots=True)
class TaskConfigUpdate:
    """A commit was read; ``tasks`` got new configurations, none of them when the commit was incomplete."""

    connector: str
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TargetStateChange:
    """Another target state of a configured connector was read."""

    connector: str


@dataclass(frozen=True, slots=True)
class SessionKeyUpdate:
    """A session key was read."""

    key: SessionKey


@dataclass(frozen=True, slots=True)
class LoggingLevelUpdate:
    """A level for the loggers below a namespace was read."""

    namespace: str
    level: str


ConfigChange: TypeAlias = (
    ConnectorConfigUpdate
    | ConnectorConfigRemove
    | TaskConfigUpdate
    | TargetStateChange
    | SessionKeyUpdate
    | RestartRequest
    | LoggingLevelUpdate
)
