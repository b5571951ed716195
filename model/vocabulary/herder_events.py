"""Events of a Kafka Connect herder: what it is asked, and what it asks of others (part of `model.vocabulary.events`).

The terms are those of `connect_events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.event_base import GenerationEvent, MemberEvent


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


HerderEvent: TypeAlias = (
    OwnerLookedUp | HerderAsked | HerderAnswered | HerderRequestQueued | HerderRequestStarted | HerderRequestEnded
    | LeaderAsked | LeaderAnswered | TargetStateChanged | RestartRequested | RestartPlanned
    | TaskConfigsApplied | TaskConfigsGenerated | SessionKeyWritten | InternalRequestChecked | InternalRequestAnswered
    | ZombieFencingEnded
)  # fmt: skip
"""The events of a herder, beyond its work."""
