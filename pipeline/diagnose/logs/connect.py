"""The log of a Connect worker: its rounds, the connectors and tasks that it starts and stops, and their failures.

One file holds one worker, perhaps over several starts. Sink tasks write the lines of their own consumers into it, under
``[Consumer clientId=``: those are for the reader of the Java consumer. The sentences are in `connect_work` and
`connect_membership`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    ConfigSeen,
    Fact,
    Joined,
    MembershipReset,
    NotUnderstood,
    ProcessStarted,
    WorkerFact,
    WorkerJoined,
    WorkStopsFinished,
)
from rebalance_check.pipeline.diagnose.logs.connect_membership import ROWS as MEMBERSHIP_ROWS
from rebalance_check.pipeline.diagnose.logs.connect_work import ROWS as WORK_ROWS
from rebalance_check.pipeline.diagnose.logs.connect_work import worker_name
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sentences import Known
from rebalance_check.pipeline.diagnose.logs.templates import Templates

PREFIX: Final = re.compile(r"\[Worker clientId=(?P<client>.*?), groupId=(?P<group>[^\]]*)\]")
"""The prefix of herder and coordinator; the herder of Kafka 2.2 and before writes none."""
_GROUP_PART: Final = re.compile(r"\b(?:DistributedHerder|WorkerCoordinator|WorkerGroupMember|\w+Assignor)\b")
_RUNTIME: Final = re.compile(
    r"\[Worker clientId=|\[[^\]|]+\|(?:worker|task-\d+)|\b(?:DistributedHerder|Worker|\w*Worker\w*Task|WorkerConnector"
    r"|RestServer|DistributedConfig|AppInfoParser)\b|\bKafka Connect\b"
)
"""Names that the runtime's lines have in any layout; a connector's own lines have them not."""
_NETWORK: Final = re.compile(
    r"\b(?:Node -?\d+ disconnected|Cluster ID|Connection to node|Bootstrap broker|Error while fetching metadata|"
    r"Disconnecting from node|Cancelled in-flight|Rebootstrapping|Resetting the last seen epoch)"
)
_WORKER_IN_CLIENT: Final = re.compile(r"connect-(?P<worker>.+:\d+)$")
"""The client id that a worker of recent releases gives itself."""
_RELEASE: Final = re.compile(r"Kafka version ?: (?P<release>[\w.-]+)")
_ADVERTISED: Final = re.compile(r"advertising URL (?P<url>\S+)")
_MOST_WAITING: Final = 8
_CONTEXT: Final = re.compile(r"\[[^\n|]+\|(?:worker|task-\d+)(?:\|[\w-]+)?\] ")
"""The connector's name in front of a line may hold any words: it is left out where sentences are sought."""


def is_connect_worker(record: LogRecord) -> bool:
    """Whether the record is of a Connect worker's log, by its content."""
    return record.logger.startswith("org.apache.kafka.connect.runtime.") or PREFIX.search(record.message) is not None


class ConnectLog:
    """The facts of one worker's log. Client id, group and address go from the lines that have them to those without.

    The settings stand before the first line with the client id: they wait for it.
    """

    def __init__(self) -> None:
        self._templates = Templates((*WORK_ROWS, *MEMBERSHIP_ROWS))
        self._known = Known()
        self._waiting: list[Fact] = []
        self._worker = self._release = ""
        self._generation = -1
        self._stops_tasks = False

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        prefix = PREFIX.search(record.message)
        if prefix is not None:
            yield from self._begun(prefix["client"], prefix["group"])
        if not _of_the_runtime(record):
            return
        facts = self._templates.facts(replace(record, message=_CONTEXT.sub("", record.message, count=1)))
        if facts is None:
            if _of_the_group(record):
                yield NotUnderstood(record.place, "a line of a Connect worker's group membership")
            return
        for fact in (*self._of_the_process(record), *facts):
            if isinstance(fact, ConfigSeen) and not self._known.client:
                self._waiting = [*self._waiting[-_MOST_WAITING:], fact]
            else:
                yield self._known_of(fact, record.message)

    def _begun(self, client: str, group: str) -> Iterator[Fact]:
        self._known.client, self._known.group = client, group
        if name := _WORKER_IN_CLIENT.match(client):
            self._worker = self._worker or name["worker"]
        waiting, self._waiting = self._waiting, []
        for fact in waiting:
            yield self._known_of(fact, "")

    def _of_the_process(self, record: LogRecord) -> Iterator[Fact]:
        """The release, address and start of the process, and the end of tasks that it stops by itself."""
        message = record.message
        at: dict[str, Any] = {"place": record.place, "time_ms": record.time_ms}
        if (found := _RELEASE.search(message)) is not None and not _CONTEXT.search(message):
            self._release = found["release"]
        elif (found := _ADVERTISED.search(message)) is not None:
            self._worker = worker_name(found["url"])
            host, _, port = self._worker.rpartition(":")
            values = (("rest.advertised.host.name", host), ("rest.advertised.port", port))
            yield ConfigSeen(client="", values=values, **at)
        elif "Herder starting" in message:
            self._known.member, self._generation, self._stops_tasks = "", -1, False
            yield ProcessStarted(client="", release=self._release, **at)
        elif "Handling task config update by stopping tasks" in message:
            self._stops_tasks = True
        elif self._stops_tasks and "Rebalance started" in message:
            self._stops_tasks = False
            yield WorkStopsFinished(client="", **at)

    def _known_of(self, fact: Fact, message: str) -> Fact:
        self._known.learn(fact)
        if isinstance(fact, Joined):
            self._generation = self._generation if fact.generation is None else fact.generation
        elif isinstance(fact, WorkerJoined):
            fact = replace(fact, generation=self._generation) if fact.generation < 0 else fact
            if fact.leader and fact.leader == self._known.member:
                self._worker = worker_name(fact.leader_url)
        fact = self._known.into(fact)
        if isinstance(fact, MembershipReset) and ("member id" in message or "UNKNOWN_MEMBER_ID" in message):
            self._known.member = ""
        return replace(fact, worker=self._worker) if isinstance(fact, WorkerFact) else fact


def _of_the_runtime(record: LogRecord) -> bool:
    """A connector may write the very words of the runtime, with a logger of its own or with no name of the runtime."""
    if record.logger:
        return record.logger.startswith(("org.apache.kafka.", "o.a.k.")) and "[Consumer clientId" not in record.message
    head = record.message[:400]
    return _RUNTIME.search(head) is not None and "[Consumer clientId" not in head


def _of_the_group(record: LogRecord) -> bool:
    if record.logger:
        return _GROUP_PART.search(record.logger) is not None
    return PREFIX.search(record.message) is not None and not _NETWORK.search(record.message)
