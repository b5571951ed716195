"""Events of a Kafka Connect worker: what it claims, receives, stops and starts (part of `model.vocabulary.events`).

A piece of *work* is a connector or a task, by the name that statuses and logs give it: ``sink`` and ``sink-0``. No
connector may be called like a task of another one. ``member`` is the worker process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.event_base import GenerationEvent, MemberEvent


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerLookedUp(GenerationEvent):
    """A caller asked ``ownerUrl`` of a connector or task; ``url`` is "" where the worker answers null."""

    work: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderAsked(MemberEvent):
    """An operator asked the worker by its REST interface; ``request`` numbers the requests of a run.

    ``operation``: configure, delete, pause, resume, stop, restart (KIP-745), restart work (one connector or task), or
    reset topics. ``work`` is what it is about: a connector, or a task. ``given`` is what the request says besides:
    ``properties``, the new configuration, or ``onlyFailed`` and ``includeTasks`` of a restart.
    """

    request: int
    operation: str
    work: str
    given: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderAnswered(MemberEvent):
    """The worker answered a request of an operator; ``answer`` is the HTTP status, 204 for what it has done."""

    request: int
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderRequestQueued(MemberEvent):
    """The worker queued a request for its herder's thread, to be served in ``delay_ms`` at the earliest.

    ``number`` numbers the requests of a process. ``operation``: one of `HerderAsked`, reconfigure (look at the task
    configs of a connector), write task configs or fence (of another worker, or for a task of its own), or verify task.
    ``work`` is what it is about: a connector, or a task.
    """

    number: int
    operation: str
    work: str
    delay_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderRequestStarted(MemberEvent):
    """The worker's herder begins to serve the request that it queued under this number."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderRequestEnded(MemberEvent):
    """The worker's herder has served the request, or has ``refused`` it unserved, as it stops."""

    number: int
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAsked(MemberEvent):
    """The worker sends an internal request to the worker at ``url``, by which it reaches the leader of its group.

    ``request`` numbers those of a process. ``operation``: write task configs, or fence. ``connector`` is what it is
    about.
    """

    request: int
    operation: str
    connector: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAnswered(MemberEvent):
    """The worker takes the answer to its internal request: an HTTP status, 500 where none arrived in time."""

    request: int
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStateChanged(MemberEvent):
    """The worker applies the target state of a connector: STARTED, PAUSED or STOPPED."""

    connector: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequested(MemberEvent):
    """The worker read a restart request for a connector (KIP-745)."""

    connector: str
    only_failed: bool = False
    include_tasks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPlanned(GenerationEvent):
    """The worker restarts this work of the connector, because of a request.

    ``only_failed`` and ``include_tasks`` are those of a request that it read in the config topic (``is_read``,
    KIP-745); it may concern nothing that the worker has. Another request is one of an operator, for one
    connector or task.
    """

    connector: str
    work: tuple[str, ...]
    only_failed: bool = False
    include_tasks: bool = False
    is_read: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfigsApplied(GenerationEvent):
    """The worker learned that the task configs of ``connector`` were committed, and restarts its tasks of ``tasks``.

    ``tasks`` are those that the config store names in its callback.
    """

    connector: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfigsGenerated(GenerationEvent):
    """The worker that runs the connector generated task configs from ``connector_config``.

    ``tasks`` are (task, raw config); ``published`` says whether it has them written to the config topic. The texts
    are those of `ConfigSnapshotTaken`. ``config_offset`` is that of the snapshot that its herder compared them with,
    which may be older than the last one that its store took; -1 stands for the last one.
    """

    connector: str
    connector_config: str
    tasks: tuple[tuple[str, str], ...]
    published: bool
    config_offset: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKeyWritten(GenerationEvent):
    """The worker wrote a session key for internal requests to the config topic (KIP-507)."""

    created_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalRequestChecked(MemberEvent):
    """The worker looked at the signature of another worker's request (KIP-507).

    ``mode`` is its protocol then, ``algorithm`` the signature's ("" for a request without one). ``key`` and
    ``known_key`` are texts that are equal exactly where the key of the signature and the worker's are ("" for none).
    ``refusal`` is the HTTP status of its answer, 0 where the request goes on to the herder's thread. ``request``
    numbers those that a process received (-1: not known); ``operation`` and ``connector`` are those of `LeaderAsked`.
    """

    mode: str
    algorithm: str = ""
    key: str = ""
    known_key: str = ""
    refusal: int = 0
    request: int = -1
    operation: str = ""
    connector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalRequestAnswered(MemberEvent):
    """The worker answered another worker's request; ``answer`` is the HTTP status, 204 for what it has done."""

    request: int
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZombieFencingEnded(GenerationEvent):
    """The leading worker ended a round of fencing for the tasks of ``connector`` (KIP-618).

    ``transactional_ids`` were fenced. ``outcome``: ok, conflict (other task configs came meanwhile), or failed.
    """

    connector: str
    transactional_ids: tuple[str, ...] = ()
    outcome: str = "ok"


ConnectEvent: TypeAlias = (
    ConnectorStarted | ConnectorStopped | TaskStarted | TaskStopped
    | WorkerConfigured | WorkerStopRequested | WorkerClaimed | ConnectAssignmentComputed | ConnectAssignmentReceived
    | RejoinRequested | CoordinatorAwaited
    | WorkRevocationStarted | WorkRevocationEnded | WorkCancelled | CancelledWorkEnded | AssignmentAccepted
    | WorkStateChanged | PluginDrawn | PluginFailed | TopicUsed | TopicsReset
    | OwnerLookedUp | HerderAsked | HerderAnswered | HerderRequestQueued | HerderRequestStarted | HerderRequestEnded
    | LeaderAsked | LeaderAnswered | TargetStateChanged | RestartRequested | RestartPlanned
    | TaskConfigsApplied | TaskConfigsGenerated | SessionKeyWritten | InternalRequestChecked | InternalRequestAnswered
    | ZombieFencingEnded
)  # fmt: skip
"""The events of a worker."""
