"""Events of a Kafka Connect worker: what it claims, receives, stops and starts (part of `model.vocabulary.events`).

A piece of *work* is a connector or a task, by the name that statuses and logs give it: ``sink`` and ``sink-0``. No
connector may be called like a task of another one. ``member`` is the worker process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.event_base import GenerationEvent, MemberEvent
from rebalance_check.model.vocabulary.herder_events import HerderEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStarted(GenerationEvent):
    """The worker started the connector."""

    connector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStopped(GenerationEvent):
    """The worker stopped the connector."""

    connector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted(GenerationEvent):
    """The worker started the task (``connector-0``).

    ``config`` is the task's configuration and ``connector_config`` the connector's from which it was generated, each as
    a text that is equal exactly where the configurations are equal; empty where the subject cannot see them.
    """

    task: str
    config: str = ""
    connector_config: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStopped(GenerationEvent):
    """The worker stopped the task."""

    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfigured(MemberEvent):
    """A worker process began with these settings; it runs nothing and claims nothing.

    ``mode`` is its ``connect.protocol`` (eager, compatible or sessioned), ``url`` the address that it advertises, and
    ``store`` the name of its status store in the events of statuses (``worker`` there). ``session_key_ttl_ms`` is its
    ``inter.worker.key.ttl.ms`` (0: session keys do not expire).
    """

    mode: str
    url: str = ""
    store: str = ""
    scheduled_rebalance_max_delay_ms: int = 300_000
    heartbeat_interval_ms: int = 3_000
    exactly_once: bool = False
    session_key_ttl_ms: int = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStopRequested(MemberEvent):
    """The worker process was asked to end in an orderly way (a shutdown hook, ``Herder.stop``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerClaimed(GenerationEvent):
    """The worker built the metadata of its JoinGroup (``WorkerCoordinator.metadata``).

    ``generation`` is the last one that it completed. ``claim`` is the work of its assignment snapshot, None where it
    has none; ``protocols`` are the subprotocols that it offers, most preferred first.
    """

    url: str
    config_offset: int
    claim: tuple[str, ...] | None
    protocols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAssignmentComputed(GenerationEvent):
    """The leading worker computed the assignment of this generation.

    By member id: ``claims`` and ``offsets`` as it read them, ``assigned`` and ``revoked`` as it answers. ``configured``
    is the work of its config snapshot, ``owners`` (work, member id) its owner map afterwards. ``error`` is NONE or
    CONFIG_MISMATCH. ``completed`` is the last generation that the leader completed before.
    """

    protocol: str
    leader: str
    leader_url: str
    config_offset: int
    error: str = "NONE"
    delay_ms: int = 0
    completed: int = -1
    configured: tuple[str, ...] = ()
    offsets: tuple[tuple[str, int], ...] = ()
    claims: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assigned: tuple[tuple[str, tuple[str, ...]], ...] = ()
    revoked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    owners: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAssignmentReceived(GenerationEvent):
    """The worker processed its assignment of this generation (the end of ``onJoinComplete``, at ``onAssigned``).

    ``version`` is that in the header of its bytes, -1 where the subject cannot see it.
    """

    protocol: str
    leader: str
    leader_url: str
    config_offset: int
    version: int = -1
    error: str = "NONE"
    delay_ms: int = 0
    assigned: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejoinRequested(MemberEvent):
    """The worker wants to join again at its next poll (``WorkerCoordinator.requestRejoin``)."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorAwaited(MemberEvent):
    """The worker's herder polls, finds no coordinator, and waits for one.

    Recorded when it begins to wait, and again for each heartbeat interval that it goes on waiting.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRevocationStarted(GenerationEvent):
    """The herder began to stop this work (``onRevoked``); ``generation`` is the last one that it was assigned.

    ``reason``: revoked (in the assignment), eager join, coordinator unknown, back-off, or stop.
    """

    work: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRevocationEnded(GenerationEvent):
    """``onRevoked`` returned: of this work all has stopped or was cancelled."""

    work: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCancelled(GenerationEvent):
    """The worker gave up waiting for a connector or task to stop: it may still run, until `CancelledWorkEnded`."""

    work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledWorkEnded(GenerationEvent):
    """A connector or task that was cancelled before ended at last."""

    work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentAccepted(GenerationEvent):
    """The herder had read the config topic to ``config_offset`` and begins to start ``work`` (``startWork``).

    ``work`` is what the assignment adds to what runs already; events of what really starts follow.
    """

    config_offset: int
    work: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStateChanged(GenerationEvent):
    """Work that the worker runs changed its state: RUNNING, PAUSED, STOPPED or FAILED.

    FAILED may also be work that did not start at all.
    """

    work: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginDrawn(MemberEvent):
    """A simulation drew how the plug-in of the connector or task behaves that the worker starts now.

    ``begin_ms`` passes until its thread runs, ``start_ms`` inside ``start``, ``stop_ms`` until it has stopped when it
    is asked to. ``fails_at_start`` and ``fails_at_stop`` raise from those calls; ``fails_after_ms`` is how long it runs
    until it raises by itself (-1: never).
    """

    work: str
    begin_ms: int = 0
    start_ms: int = 0
    stop_ms: int = 0
    fails_at_start: bool = False
    fails_at_stop: bool = False
    fails_after_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFailed(MemberEvent):
    """A simulation has the plug-in of a connector or task raise now; it notices where it runs and is not stopping."""

    work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUsed(GenerationEvent):
    """A record of ``topic`` passed through the task (KIP-558), in a worker that tracks topics."""

    task: str
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsReset(MemberEvent):
    """The worker was asked to forget which topics ``connector`` used, and begins to remove their statuses."""

    connector: str


ConnectEvent: TypeAlias = (
    ConnectorStarted | ConnectorStopped | TaskStarted | TaskStopped
    | WorkerConfigured | WorkerStopRequested | WorkerClaimed | ConnectAssignmentComputed | ConnectAssignmentReceived
    | RejoinRequested | CoordinatorAwaited
    | WorkRevocationStarted | WorkRevocationEnded | WorkCancelled | CancelledWorkEnded | AssignmentAccepted
    | WorkStateChanged | PluginDrawn | PluginFailed | TopicUsed | TopicsReset | HerderEvent
)  # fmt: skip
"""The events of a worker."""
