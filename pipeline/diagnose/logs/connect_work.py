"""The sentences of a Connect worker about its rounds, connectors and tasks; `connect` reads with them.

Sources: ``org.apache.kafka.connect.runtime.distributed.DistributedHerder``, ``IncrementalCooperativeAssignor`` and
``EagerAssignor``; ``org.apache.kafka.connect.runtime.Worker``, ``WorkerTask``, ``WorkerConnector`` and
``rest.RestServer``, of Kafka 1.0 to 4.3. Only read in the sources: the mismatch of config offsets, the revocation after
retries, the configuration of a task that is invalid, a connector that does not stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    ConfigBehind,
    ConfigSeen,
    Fact,
    RejoinDecided,
    WorkerJoined,
    WorkFailed,
    WorkStarted,
    WorkStopFailed,
    WorkStopRequested,
    WorkStopsFinished,
)
from rebalance_check.pipeline.diagnose.logs.sentences import number, quiet, says
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Template, nothing, template

_URL: Final = re.compile(r"^[a-z]+://(?P<host>\[[^\]]*\]|[^:/]+)(?::(?P<port>\d+))?", re.IGNORECASE)
CONFIGS: Final = frozenset(
    {
        "group.id",
        "client.id",
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "rebalance.timeout.ms",
        "scheduled.rebalance.max.delay.ms",
        "worker.sync.timeout.ms",
        "worker.unsync.backoff.ms",
        "task.shutdown.graceful.timeout.ms",
        "connect.protocol",
        "exactly.once.source.support",
        "config.storage.topic",
        "offset.storage.topic",
        "status.storage.topic",
        "rest.advertised.host.name",
        "rest.advertised.port",
        "listeners",
        "metadata.max.age.ms",
        "request.timeout.ms",
        "retry.backoff.ms",
    }
)
"""The config values that a diagnosis may use. No others are kept: they may hold passwords."""
_VALUE: Final = re.compile(r"^\s+(?P<name>[\w.-]+) = (?P<value>.*)$", re.MULTILINE)


def worker_name(url: str) -> str:
    """Host and port of an address, as the status topic names the worker."""
    found = _URL.match(url)
    return f"{found['host']}:{found['port']}" if found is not None and found["port"] else url.rstrip("/")


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _number(text: str | None) -> int:
    found = number(text)
    return -1 if found is None else found


def _error(code: str) -> str:
    """Source: ``ConnectProtocol.Assignment``, which has two codes."""
    return {"0": "", "1": "CONFIG_MISMATCH"}.get(code, code)


def _joined(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    return (
        WorkerJoined(
            client="", generation=_number(fields.get("generation")), error=_error(fields["error"]),
            leader=fields["leader"], leader_url=fields["url"], config_offset=_number(fields["offset"]),
            assigned=_names(fields["connectors"]) + _names(fields["tasks"]),
            revoked=_names(fields.get("revoked_connectors")) + _names(fields.get("revoked_tasks")),
            delay_ms=number(fields.get("delay")) or 0, **at,
        ),
    )  # fmt: skip


def _behind_and_rejoins(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    yield ConfigBehind(client="", **at)
    yield RejoinDecided(client="", reason=fields["reason"], **at)


def _config(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    found = ((value["name"], value["value"].strip()) for value in _VALUE.finditer(fields["values"]))
    values = tuple(pair for pair in found if pair[0] in CONFIGS and pair[1] not in {"", "null"})
    return (ConfigSeen(client="", group=dict(values).get("group.id", ""), values=values, **at),) if values else ()


def _failed(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
    """The exception is the first line of the stack trace."""
    return (WorkFailed(client="", work=fields["work"], reason=fields.get("reason", "").strip(), **at),)


_TRACE: Final = r"(?:[^\n]*\n(?P<reason>[^\n]*))?"
_WORK: Final = r"(?P<work>[^\n]+)$"
_TASK: Final = r"(?P<work>[^\n]+-\d+)$"
_QUIET: Final = """
    Herder starting
    Herder started
    Herder stopping
    Herder stopped
    advertising URL
    Advertised URI
    Kafka version
    Handling task config update by stopping
    Worker starting
    Worker started
    Worker stopping
    Starting connectors and tasks
    Finished starting connectors and tasks
    Stopping connectors and tasks that are still
    Finished flushing status backing store
    Finished reading to end of log
    Reading to end of config log;
    Creating connector
    Finished creating connector
    Instantiated connector
    Creating task
    Instantiated task
    Graceful stop of
    Scheduled shutdown for
    Completed shutdown for
    Ignoring stop request for unowned
    Ignoring await stop request for non-present
    Setting connector
    Validating connector
    config updated
    config removed
    configs updated
    target state change
    Session key updated
    new session key
    no session key has been distributed
    Handling connector-only config update
    Handling config updates with
    Skipping config update
    Polling for group activity
    Woken up while
    Ensuring group membership is still active
    Scheduled rebalance at:
    Scheduled next key rotation at:
    Processing connector config updates
    Processing target state updates
    Processing task config updates
    Received assignment:
    Currently running assignment:
    Tasks to restart from currently running assignment:
    Submitting connector
    Submitting get task
    Submitting put task
    Submitting tasks config
    Submitting request to transition
    Submitting zombie fencing
    Submitting offset
    Handling connector config request
    Removing connector config
    Returning early because rebalance
    Handling completed but unresolved rebalance
    Cleaning status information for connector
    Recording new tick thread
    Completing current tick thread
    Forwarding task configurations
    write privileges for config topic
    zombie fencing
    zombie check
    Executing RestartRequest
    Executing restart plan
    Received and enqueuing
    Change in connector task count
    Change in task configurations
    Skipping reconfiguration of
    Distributing new
    Distributed new
    Internal request verification
    Internal request signing
    restart successful
    Failed to reconfigure connector's tasks
    Handling task config update by restarting
    during connector task reconfiguration
    Task reconfiguration for
    Request to leader to reconfigure
    Performing task assignment
    Finished assignment
    Max config offset root
    After being scheduled for shutdown
    Source task finished initialization and start
    Sink task finished initialization
    Failed to shut down connector
    Uncaught exception in herder work thread
"""

ROWS: Final[tuple[Template, ...]] = (
    template(
        "got assignment: ",
        r"Joined group(?: at generation (?P<generation>\d+))?(?: with protocol version -?\d+)? and got assignment: "
        r"\w+\{(?:version=\d+, )?error=(?P<error>-?\w+), leader='(?P<leader>[^']*)', leaderUrl='(?P<url>[^']*)', "
        r"offset=(?P<offset>-?\d+), connectorIds=\[(?P<connectors>[^\]]*)\], taskIds=\[(?P<tasks>[^\]]*)\]"
        r"(?:, revokedConnectorIds=\[(?P<revoked_connectors>[^\]]*)\], revokedTaskIds=\[(?P<revoked_tasks>[^\]]*)\], "
        r"delay=(?P<delay>\d+))?\}",
        _joined,
    ),
    template("Starting task ", r"\bStarting task " + _TASK, says(WorkStarted, "work")),
    template("Starting connector ", r"\bStarting connector " + _WORK, says(WorkStarted, "work")),
    template("Stopping task ", r"\bStopping task " + _TASK, says(WorkStopRequested, "work")),
    template("Stopping connector ", r"\bStopping connector " + _WORK, says(WorkStopRequested, "work")),
    template(
        "Finished stopping tasks in preparation", r"Finished stopping tasks in preparation", says(WorkStopsFinished)
    ),
    template("Worker stopped", r"\bWorker stopped(?:\n|$)", says(WorkStopsFinished)),
    template("Graceful stop of task ", r"Graceful stop of task (?P<work>[^\n]+) failed", says(WorkStopFailed, "work")),
    template(
        "failed to properly shut down",
        r"Connector .(?P<work>[^\n]+). failed to properly shut down",
        says(WorkStopFailed, "work"),
    ),
    template(
        "Task threw an uncaught and unrecoverable exception",
        r"\w+Task\{id=(?P<work>[^\n]+?)\} Task threw an uncaught and unrecoverable exception"
        r"(?:\. Task is being killed and will not recover until manually restarted(?!\. Error)| during shutdown)"
        + _TRACE,
        _failed,
    ),
    template("Task threw an uncaught", r"until manually restarted\. Error: ", nothing),
    template(
        "WorkerConnector{id=",
        r"WorkerConnector\{id=(?P<work>[^\n]+?)\} "
        r"(?:Error (?:while|initializing)|Connector raised an error|Connector has failed)" + _TRACE,
        _failed,
    ),
    template("Failed to start task ", r"Failed to start task (?P<work>[^\n]+?-\d+)(?:\n(?P<reason>[^\n]*)|$)", _failed),
    template("Failed to start connector '", r"Failed to start connector '", nothing),
    template(
        "Failed to start connector ", r"Failed to start connector (?P<work>[^\n]+?)(?:\n(?P<reason>[^\n]*)|$)", _failed
    ),
    template(
        "Couldn't instantiate task ",
        r"Couldn't instantiate task (?P<work>[^\n]+?) (?P<reason>because it has an invalid task configuration)",
        _failed,
    ),
    template(
        "Unexpected error while trying to start connector ",
        r"Unexpected error while trying to start connector (?P<work>[^\n]+)(?:\n(?P<reason>[^\n]*))?",
        _failed,
    ),
    template("Catching up to assignment's config offset", r"Catching up to", says(ConfigBehind)),
    template("Current config state offset", r"Current config state offset \S+ is behind group assignment", nothing),
    template(
        "Current config state offset",
        r"(?P<reason>Current config state offset \S+ does not match group assignment \S+)\. Forcing rebalance",
        says(RejoinDecided, "reason"),
    ),
    template(
        "Didn't reach end of config log",
        r"(?P<reason>Didn't reach end of config log quickly enough)",
        _behind_and_rejoins,
    ),
    template(
        "Join group completed, but assignment failed",
        r"(?P<reason>assignment failed) and we (?:are )?(?:the leader|lagging)",
        _behind_and_rejoins,
    ),
    template(
        "Join group completed, but assignment failed",
        r"(?P<reason>assignment failed)\. We were up to date",
        says(RejoinDecided, "reason"),
    ),
    template("Was selected to perform assignments, but", r"do not have latest config found", says(ConfigBehind)),
    template("Revoking current running assignment", r"because after \d+ retries", says(ConfigBehind)),
    template(
        "Requesting rebalance",
        r"(?P<reason>Requesting rebalance (?:due to reconfiguration of tasks|because scheduled rebalance timeout))",
        says(RejoinDecided, "reason"),
    ),
    template("Restart", r"Restart(?:ed|ing) \d+ of \d+ tasks for", nothing),
    template("DistributedConfig values:", r"DistributedConfig values:(?P<values>.*)", _config),
    *quiet(_QUIET),
)
