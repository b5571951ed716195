"""Our config store, step by step, in the words of the Java side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rebalance_check.impl.connect.config.changes import (
    ConfigChange,
    ConnectorConfigRemove,
    ConnectorConfigUpdate,
    LoggingLevelUpdate,
    SessionKeyUpdate,
    TargetStateChange,
    TaskConfigUpdate,
)
from rebalance_check.impl.connect.config.errors import ConfigStoreError, TaskCountError
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot, ConnectorState
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import RestartRequest, SessionKey, TargetState
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.protocol.java_order import hash_map_order
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.comparison.stores.config_log import StubConfigLog
from rebalance_check.integration.comparison.stores.sequence import Observation, OurStores, Step, value_of

_KEY_ALGORITHM: Final = "HmacSHA256"
_KEY_LENGTH: Final = 32
_REFRESH_MS: Final = 100
_MOST_TASKS: Final = 10_000


class OurConfigStores(OurStores):
    """Config stores of `rebalance_check.impl`."""

    def __init__(self) -> None:
        super().__init__(_Run)


class _Run:
    """One store with its log."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.trace: list[str] = []
        self.now_ms = 0
        self.log = StubConfigLog(self.trace, options.get("partitions", 1))
        self.store = ConfigStore(
            "ours",
            self.log,
            Recorder("lockstep", "ours", self._now, None),
            now=self._now,
            listener=self._called,
            exactly_once=ExactlyOnce(options.get("exactly_once", "disabled")),
        )
        self.log.store = self.store
        self._calls: dict[str, Callable[[Step], ConfigCall]] = {
            "putConnector": lambda s: self.store.put_connector(
                s["c"], s["cfg"], TargetState(s["target"]) if s.get("target") else None
            ),
            "remove": lambda s: self.store.remove_connector(s["c"]),
            "removeTasks": lambda s: self.store.remove_tasks(s["c"]),
            "putTasks": lambda s: self.store.put_tasks(s["c"], s["cfgs"]),
            "putTarget": lambda s: self.store.put_target_state(s["c"], TargetState(s["target"])),
            "putCount": lambda s: self.store.put_task_count(s["c"], s["n"]),
            "putRestart": lambda s: self.store.put_restart(RestartRequest(s["c"], s["onlyFailed"], s["includeTasks"])),
            "putKey": lambda s: self.store.put_session_key(SessionKey(bytes(_KEY_LENGTH), _KEY_ALGORITHM, s["ts"])),
            "putLogger": lambda s: self.store.put_logger_level(s["c"], s["level"]),
            "refresh": lambda s: self.store.refresh(s.get("ms", _REFRESH_MS)),
            "claim": self._claim,
        }

    def _now(self) -> int:
        return self.now_ms

    def _called(self, change: ConfigChange) -> None:
        self.trace.append(f"CALLBACK {_shown(change)}")

    def perform(self, step: Step) -> Observation:
        """One step."""
        self.trace.clear()
        try:
            self._perform(step)
        except ConfigStoreError as error:
            self.trace.append(f"THROWS {error.java}")
        return Observation(tuple(self.trace), state_of(self.store))

    def _perform(self, step: Step) -> None:
        match step["op"]:
            case "read":
                self._append(step)
                self.log.deliver()
            case "append":
                self._append(step)
            case "err":
                pass
            case "fail":
                self.log.failing = step["w"]
            case "start":
                self._start()
            case "stop":
                self.store.stop()
            case "transactions":
                self.log.transactions = step["mode"]
            case "isClaimed":
                self.trace.append(f"fencableProducer {'set' if self.store.privileged else 'null'}")
            case "q":
                self.trace.append(_answers(self.store.snapshot(), step["c"]))
            case "contains":
                self.trace.append(f"contains={str(step['c'] in self.store.snapshot()).lower()}")
            case op:
                self._call(self._calls[op](step))

    def _append(self, step: Step) -> None:
        self.log.next_offset = step.get("offset", self.log.next_offset)
        self.log.append(step["key"], value_of(step))

    def _claim(self, step: Step) -> ConfigCall:
        self.log.transactions = step.get("mode", self.log.transactions)
        return self.store.claim_privileges()

    def _start(self) -> None:
        self.log.starting = True
        call = self.store.start()
        self.log.starting = False
        call.result()

    def _call(self, call: ConfigCall) -> None:
        """Where Java waits for a log that hangs, the time passes."""
        if not call.done and call.deadline_ms is not None:
            self.now_ms = call.deadline_ms
            self.store.expire()
        call.result()


def _shown(change: ConfigChange) -> str:
    """The call of Kafka's listener."""
    match change:
        case ConnectorConfigUpdate(connector):
            return f"onConnectorConfigUpdate({connector})"
        case ConnectorConfigRemove(connector):
            return f"onConnectorConfigRemove({connector})"
        case TaskConfigUpdate(connector, tasks):
            return f"onTaskConfigUpdate([{', '.join(sorted(f'{connector}-{task}' for task in tasks))}])"
        case TargetStateChange(connector):
            return f"onConnectorTargetStateChange({connector})"
        case SessionKeyUpdate(key):
            return f"onSessionKeyUpdate({key.algorithm},len={len(key.key)},ts={key.created_ms})"
        case RestartRequest(connector, only_failed, include_tasks):
            flags = f"onlyFailed={str(only_failed).lower()},includeTasks={str(include_tasks).lower()}"
            return f"onRestartRequest({connector},{flags})"
        case LoggingLevelUpdate(namespace, level):
            return f"onLoggingLevelUpdate({namespace},{level})"


def state_of(store: ConfigStore) -> dict[str, Any]:
    """Everything that the store holds, in the shape of the Java side."""
    taken = store.snapshot()
    known = taken.known
    key = taken.session_key
    return {
        "offset": taken.offset,
        "sessionKey": None if key is None else f"{key.algorithm}/{len(key.key)}B/{key.created_ms}",
        "connectorTaskCounts": _each(known, lambda s: s.task_count),
        "connectorConfigs": _each(known, lambda s: s.config),
        "targetStates": _each(known, lambda s: None if s.target_state is None else s.target_state.value),
        "taskConfigs": {
            f"{name}-{task}": config for name, s in known.items() for task, config in s.task_configs.items()
        },
        "taskCountRecords": _each(known, lambda s: s.task_count_record),
        "generations": _each(known, lambda s: s.generation),
        "applied": _each(known, lambda s: s.applied),
        "pendingFencing": sorted(name for name, s in known.items() if s.pending_fencing),
        "inconsistent": sorted(name for name, s in known.items() if s.inconsistent),
        "deferred": {
            name: {f"{name}-{task}": config for task, config in tasks.items()} for name, tasks in store.deferred.items()
        },
        "tasks()": {name: _tasks(taken, name) for name, s in known.items() if _is_asked(s)},
    }


def _each(known: Mapping[str, ConnectorState], value: Callable[[ConnectorState], Any]) -> dict[str, Any]:
    return {name: value(state) for name, state in known.items() if value(state) is not None}


def _is_asked(state: ConnectorState) -> bool:
    return state.config is not None or state.task_count is not None


def _tasks(taken: ConfigSnapshot, connector: str) -> list[str]:
    try:
        return _task_names(taken, connector)
    except TaskCountError as error:
        return [f"THROWS {error.java}: Illegal Capacity: {taken.task_count(connector)}"]


def _task_names(taken: ConfigSnapshot, connector: str) -> list[str]:
    """The tasks to run: a commit may count 10^9, whose names take gigabytes, so of too many the number is named."""
    tasks = taken.tasks(connector)
    if len(tasks) > _MOST_TASKS:
        return [f"{len(tasks)} tasks"]
    return [f"{connector}-{task}" for task in tasks]


def _answers(taken: ConfigSnapshot, connector: str) -> str:
    """The answers to every query of a snapshot about one connector, as Java prints them."""
    state = taken.of_connector(connector)
    answers = {
        "contains": connector in taken,
        "connectorConfig": taken.config(connector),
        "raw": taken.config(connector),
        "applied": state.applied,
        "target": taken.target_state(connector),
        "taskCount": taken.task_count(connector),
        "tasks": _task_names(taken, connector),
        "pendingFencing": state.pending_fencing,
        "taskCountRecord": state.task_count_record,
        "gen": state.generation,
        "rawTask0": taken.task_config(connector, 0),
    }
    return " ".join(f"{name}={_printed(value)}" for name, value in answers.items())


def _printed(value: object) -> str:
    """``toString`` of a converter's object for JSON."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}={_printed(value[name])}" for name in hash_map_order(value)) + "}"
    return f"[{', '.join(map(_printed, value))}]" if isinstance(value, list) else str(value)
