"""Our status store, step by step, in the words of the Java side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rebalance_check.impl.connect.status.attempts import RETRY_THREAD_TIMEOUT_MS, StatusStoreError
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusValue,
    StatusWriteError,
    TaskKey,
    TopicKey,
    TopicValue,
    ValueFormat,
)
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.comparison.stores.sequence import Observation, OurStores, Step, value_of
from rebalance_check.model.vocabulary.events import Event, StatusGivenUp

_SWALLOWED: Final = {"stopped": "RejectedExecutionException", "exception": "NullPointerException"}
"""The exceptions that the producer swallows when its callback gives a write up for such a reason."""

_OUTCOMES: Final = {"ok": SendOutcome.OK, "retriable": SendOutcome.RETRIABLE, "fatal": SendOutcome.FATAL}


class OurStatusStores(OurStores):
    """Status stores of `rebalance_check.impl`, which write as a release does."""

    def __init__(self, layout: ValueFormat) -> None:
        super().__init__(lambda _options: _Run(layout))


class _Run:
    """One store; it is its own log, which keeps sends until a step reports on it."""

    def __init__(self, layout: ValueFormat) -> None:
        self.trace: list[str] = []
        self.given_up: list[str] = []
        self.sent: list[tuple[int, int] | None] = []
        self.offset = 0
        self.store = StatusStore("ours", self, Recorder("lockstep", "ours", lambda: 0, self._take), layout=layout)

    def _take(self, event: Event) -> None:
        if isinstance(event, StatusGivenUp):
            self.given_up.append(event.reason)

    def send(self, key: str, value: bytes | None, attempt: int, send: int) -> None:
        """The port of the store."""
        self.trace.append(f"send {key} = {'<null>' if value is None else value.decode()}")
        self.sent.append((attempt, send))

    def perform(self, step: Step) -> Observation:
        """One step."""
        self.trace.clear()
        self.given_up.clear()
        try:
            self._perform(step)
        except (StatusStoreError, StatusWriteError) as error:
            self.trace.append(f"THROWS {error.java}")
        return Observation(tuple(self.trace), self._state())

    def _perform(self, step: Step) -> None:
        match step["op"]:
            case "read":
                self._read(step)
            case "put":
                self._put(step)
            case "putTopic":
                self.store.put_topic(TopicValue(step["topic"], step["c"], step["task"], step["ts"]))
            case "deleteTopic":
                self.store.delete_topic(TopicKey(step["topic"], step["c"]))
            case "complete":
                self._complete(step)
            case "retry":
                self.store.run_retry()
            case "start":
                self._start(step)
            case "flush":
                self._flush(step)
            case "stop":
                self.store.stop()
                self.trace += ["log.stop", f"retries.await {RETRY_THREAD_TIMEOUT_MS} ms"]
            case _:
                self.trace.append(self._query(step))

    def _start(self, step: Step) -> None:
        self.trace.append("log.start")
        self.store.start((len(step["records"]),))
        for record in step["records"]:
            self._read(record)

    def _flush(self, step: Step) -> None:
        self.trace.append("log.flush")
        if not self.store.flushing:
            self.store.flush()
        for answer in step.get("outcomes", ()):
            self.trace.append("answer")
            self._complete(answer)

    def _read(self, step: Step) -> None:
        try:
            self.store.read(0, self.offset, step["key"], value_of(step))
        except StatusStoreError as error:
            self.trace.append(f"ESCAPES callback: {error.java}")
        self.offset += 1
        if "ask" in step:
            self.trace.append(self._query(step["ask"]))

    def _put(self, step: Step) -> None:
        value = StatusValue(
            Status(step["state"]), step["worker"], step["generation"], step.get("trace"), step.get("version")
        )
        (self.store.put_safe if step["safe"] else self.store.put)(_key(step), value)

    def _complete(self, step: Step) -> None:
        number = step["n"]
        if number >= len(self.sent) or (sent := self.sent[number]) is None:
            return
        self.sent[number] = None
        self.store.completed(*sent, _OUTCOMES[step["outcome"]])
        self.trace += [f"SWALLOWED {_SWALLOWED[reason]}" for reason in self.given_up if reason in _SWALLOWED]

    def _query(self, step: Step) -> str:
        cache = self.store.cache
        match step["op"]:
            case "get":
                return _shown(self.store.get(_key(step)))
            case "getAll":
                tasks = cache.tasks(step["c"]).items()
                return _listed(f"{step['c']}-{number}:{_shown(value)}" for number, value in tasks)
            case "connectors":
                return _listed(cache.connectors())
            case "getTopic":
                return _shown_topic(cache.topic(TopicKey(step["topic"], step["c"])))
            case op:
                assert op == "getAllTopics", op
                return _listed(_shown_topic(topic) for topic in cache.topics(step["c"]))

    def _state(self) -> Mapping[str, Any]:
        entries = {
            f"{key.connector}-{key.task} (task)" if isinstance(key, TaskKey) else key.connector: (
                f"{_shown(entry.value)} #{entry.sequence}" + (" deleted" if entry.deleted else "")
            )
            for key, entry in self.store.cache.entries()
        }
        topics = {f"{key.connector}:{key.topic}": _shown_topic(topic) for key, topic in self.store.cache.all_topics()}
        return {
            "generation": self.store.generation,
            "retries": self.store.retries,
            "entries": entries,
            "topics": topics,
        }


def _key(step: Step) -> ConnectorKey | TaskKey:
    return ConnectorKey(step["c"]) if step.get("task") is None else TaskKey(step["c"], step["task"])


def _listed(texts: Any) -> str:
    return f"[{', '.join(sorted(texts))}]"


def _shown(value: StatusValue | None) -> str:
    if value is None:
        return "null"
    fields = (value.status.value, value.worker_id, value.generation, value.trace, value.version)
    return "/".join("null" if field is None else str(field) for field in fields)


def _shown_topic(topic: TopicValue | None) -> str:
    return "null" if topic is None else f"{topic.topic}/{topic.connector}/{topic.task}/{topic.discovered_ms}"
