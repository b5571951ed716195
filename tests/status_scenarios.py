"""Scenarios of status stores: each line is one step of a worker, of the broker or of a reader, with its effect.

Connectors have their statuses in partition 0 of the topic, tasks and topics in partition 1. A store is made when it is
named first: ``w`` is the process whose worker id is ``w``, ``w/2`` a second one with the same worker id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.connect.status.attempts import Attempt, StatusStoreError
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    TaskKey,
    TopicKey,
    TopicValue,
    status_value,
    write_status,
)
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog, StatusRecord
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.scenarios import Language, Options
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    RunEnded,
    RunStarted,
    StatusAppended,
    StatusGivenUp,
    StatusIgnored,
    StatusRead,
    StatusSuppressed,
)
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge

Key = ConnectorKey | TaskKey

PARTITIONS: Final = {"connectors": 0, "tasks": 1}


class TwoPartitions(SharedLog):
    """A topic that keeps the statuses of connectors apart from those of tasks."""

    def partition_of(self, key: str) -> int:
        """0 for the status of a connector, 1 for any other."""
        return 0 if key.startswith("status-connector-") else 1

    def append_unseen(self, key: str, value: bytes | None) -> StatusRecord:
        """Append what a process writes that no observer sees."""
        partition = self.partition_of(key)
        record = StatusRecord(self._ends[partition], key, value)
        self._ends[partition] += 1
        self.partitions[partition].append(record)
        return record


class StatusScenario:
    """Stores over one topic; nothing is appended, answered or read but by a line that says so."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.harness = self.recorder("harness")
        self.harness.emit(RunStarted(subject="status stores", seed=0, bounds=""))
        self.log = TwoPartitions(2, self.recorder("log"))
        self.channels: dict[str, Channel] = {}
        self.held: dict[str, tuple[StatusStore, Attempt | None]] = {}
        self.ended = False

    def recorder(self, source: str) -> Recorder:
        """A recorder of the only group."""
        return Recorder("connect", source, lambda: 0, self.events.append)

    def channel(self, name: str) -> Channel:
        """The channel of a store, which is opened when it is named first."""
        if name not in self.channels:
            channel = self.channels[name] = Channel(self.log, name)
            channel.store = StatusStore(name, channel, self.recorder(name))
        return self.channels[name]

    def store(self, name: str) -> StatusStore:
        """The store of that name."""
        store = self.channel(name).store
        assert isinstance(store, StatusStore)
        return store

    def since(self, place: int) -> Iterator[str]:
        """The events behind a place, in words."""
        for event in self.events[place:]:
            match event:
                case StatusSuppressed():
                    yield "suppressed"
                case StatusGivenUp():
                    yield f"given up: {event.reason}"
                case StatusAppended():
                    yield f"{event.partition}/{event.offset}"
                case StatusRead():
                    yield " ".join(filter(None, (event.status, described(event))))
                case StatusIgnored():
                    yield " ".join(filter(None, ("ignores", event.status, described(event), f"({event.reason})")))

    def history(self) -> list[Event]:
        """The history, ended."""
        if not self.ended:
            self.ended = True
            busy = [name for name in self.channels if self.store(name).in_flight or self.store(name).retries]
            self.harness.emit(RunEnded(pending=tuple(busy)))
        return self.events


def described(event: StatusRead | StatusIgnored) -> str:
    """``w 3``: the worker and the generation, as far as there are any."""
    return f"{event.status_worker} {event.generation}" if event.status_worker else ""


def key_of(word: str) -> Key:
    """``c`` is a connector, ``c-0`` its first task."""
    name, _, number = word.rpartition("-")
    return TaskKey(name, int(number)) if name else ConnectorKey(word)


def value_of(worker: str, status: str, generation: str) -> StatusValue:
    """A status of the worker whose process that is.

    Raises: RebalanceCheckError for a status that Kafka does not know.
    """
    if status not in Status.__members__:
        raise RebalanceCheckError(f"{status} is no status: use one of {', '.join(Status)}")
    return status_value(Status(status), worker.partition("/")[0], int(generation))


LANGUAGE: Final[Language[StatusScenario]] = Language("status scenarios")


@LANGUAGE.verb("put", "WORKER KEY STATUS GENERATION")
def put(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker calls ``put``; ``c`` is a connector, ``c-0`` a task. The record waits in the producer."""
    return write(scenario, words, safe=False)


@LANGUAGE.verb("put-safe", "WORKER KEY STATUS GENERATION")
def put_safe(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker calls ``putSafe``."""
    return write(scenario, words, safe=True)


def write(scenario: StatusScenario, words: list[str], *, safe: bool) -> str:
    worker, key, status, generation = words
    place, store, thrown = len(scenario.events), scenario.store(worker), list[str]()
    try:
        store.hand_over(store.admit(key_of(key), value_of(worker, status, generation), safe=safe))
    except StatusStoreError as error:
        thrown.append(f"throws: {error}")
    return "; ".join([*scenario.since(place), *thrown])


@LANGUAGE.verb("admit", "NAME WORKER put|put-safe KEY STATUS GENERATION")
def admit(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """A thread of the worker passes the check of a call and stops before the producer; ``hand-over`` lets it go on."""
    name, worker, call, key, status, generation = words
    place, store = len(scenario.events), scenario.store(worker)
    admitted = store.admit(key_of(key), value_of(worker, status, generation), safe=call == "put-safe")
    scenario.held[name] = store, admitted
    return "; ".join(scenario.since(place))


@LANGUAGE.verb("hand-over", "NAME")
def hand_over(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The thread of that name hands its record to the producer."""
    store, attempt = scenario.held.pop(words[0])
    store.hand_over(attempt)
    return ""


@LANGUAGE.verb("knows", "WORKER KEY STATUS OTHER GENERATION")
def knows(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """Another worker's status is appended by a process that is no store of this scenario, and the worker reads it;
    ``null`` as the other worker leaves its name out.
    """
    worker, key, status, other, generation = words
    value = write_status(StatusValue(Status(status), other, int(generation)))
    scenario.log.append_unseen(str(key_of(key)), value.replace(b'"null"', b"null") if value else None)
    return read(scenario, [worker], {})


@LANGUAGE.verb("topic", "WORKER uses|forgets TOPIC CONNECTOR")
def topic(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker writes that a connector uses a topic, or that it uses it no more."""
    worker, verb, name, connector = words
    if verb == "uses":
        scenario.store(worker).put_topic(TopicValue(name, connector, 0, 1))
    else:
        scenario.store(worker).delete_topic(TopicKey(name, connector))
    return ""


@LANGUAGE.verb("flush", "WORKER")
def flush(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker waits for what it has sent."""
    scenario.store(words[0]).flush()
    return ""


@LANGUAGE.verb("stop", "WORKER")
def stop(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The store stops."""
    place = len(scenario.events)
    scenario.store(words[0]).stop()
    return "; ".join(scenario.since(place))


@LANGUAGE.verb("state", "WORKER")
def state(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The generation of the store, its entries with the sequence numbers that they drew, records in flight
    (attempt.send), how many wait to be retried, and whether it flushes.
    """
    store, channel = scenario.store(words[0]), scenario.channel(words[0])
    drawn = " ".join(f"{short(key)}:{entry.sequence}" for key, entry in store.cache.entries())
    flight = " ".join(f"{short(s.key)}#{s.attempt}.{s.send}{'' if s.value else ' tombstone'}" for s in channel.waiting)
    retries = f"; {store.retries} to retry" if store.retries else ""
    flushes = "; flushes" if store.flushing else ""
    return f"generation {store.generation}; drew {drawn or 'none'}; in flight {flight or 'nothing'}{retries}{flushes}"


def short(key: object) -> str:
    """``c-0`` of ``status-task-c-0``."""
    return str(key).removeprefix("status-").removeprefix("task-").removeprefix("connector-")


@LANGUAGE.verb("list", "WORKER CONNECTOR")
def list_(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """List the cache: connectors, and tasks and topics of one."""
    cache = scenario.store(words[0]).cache
    topics = " ".join(value.topic for value in cache.topics(words[1]))
    tasks = " ".join(f"{task}:{value.status}" for task, value in cache.tasks(words[1]).items())
    return f"connectors {' '.join(cache.connectors()) or 'none'}; tasks {tasks or 'none'}; topics {topics or 'none'}"


@LANGUAGE.verb("append", "WORKER")
def append(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The broker appends the first record that waits: partition and offset."""
    place = len(scenario.events)
    scenario.channel(words[0]).append()
    return "; ".join(scenario.since(place))


@LANGUAGE.verb("answer", "WORKER ok|retriable|fatal")
def answer(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The producer reports on that record; a record that is not retried is given up for a reason."""
    place = len(scenario.events)
    scenario.channel(words[0]).answer(SendOutcome(words[1]))
    return "; ".join(scenario.since(place))


@LANGUAGE.verb("deliver", "WORKER")
def deliver(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """All that waits is appended, and answered with ok."""
    place, channel = len(scenario.events), scenario.channel(words[0])
    while channel.head is not None:
        channel.append()
        channel.answer(SendOutcome.OK)
    return "; ".join(scenario.since(place))


@LANGUAGE.verb("retry", "WORKER")
def retry(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The thread that retries hands over the record that waits longest."""
    store = scenario.store(words[0])
    if not store.retries:
        return "nothing"
    store.run_retry()
    return ""


@LANGUAGE.verb("read", "WORKER [connectors|tasks]")
def read(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker reads to the end of the topic, or of one partition."""
    place, channel = len(scenario.events), scenario.channel(words[0])
    for partition in [PARTITIONS[words[1]]] if words[1:] else PARTITIONS.values():
        while channel.read(partition):
            pass
    return "; ".join(scenario.since(place)) or "nothing"


@LANGUAGE.verb("foreign", "KEY TEXT")
def foreign(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """A process that is no store of this scenario appends a record with that text as its value."""
    key = str(key_of(words[0]))
    record = scenario.log.append_unseen(key, words[1].encode())
    return f"{scenario.log.partition_of(key)}/{record.offset}"


@LANGUAGE.verb("compact")
def compact(scenario: StatusScenario, _words: list[str], _: Options) -> str:
    """The topic is compacted."""
    scenario.log.compact()
    return ""


@LANGUAGE.verb("group-deleted")
def group_deleted(scenario: StatusScenario, _words: list[str], _: Options) -> str:
    """The group is deleted; its generations begin anew."""
    scenario.recorder("coordinator").emit(GroupDeleted(incarnation=0, generation=0, status="Empty"))
    return ""


@LANGUAGE.verb("show", "WORKER KEY")
def show(scenario: StatusScenario, words: list[str], _: Options) -> str:
    """The worker answers a question for the status."""
    value = scenario.store(words[0]).get(key_of(words[1]))
    return "nothing" if value is None else f"{value.status} {value.worker_id} {value.generation}"


@LANGUAGE.verb("verdict")
def verdict(scenario: StatusScenario, _words: list[str], _: Options) -> str:
    """End the run and judge it by all invariants: which are violated, or that none is."""
    history = scenario.history()
    judgement = judge(history, CATALOGUE)
    found = [counterexample.invariant for counterexample in judgement.counterexamples]
    return f"violated: {', '.join(found)}" if found else judgement.outcome.value
