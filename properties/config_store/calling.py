"""What a call of a config store writes: what its arguments say, and all of it before it returns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    MemberEvent,
)
from rebalance_check.properties.config_store.forms import SESSION_KEY
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.reading import OK
from rebalance_check.properties.config_store.topic import ABORTED, Producer
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

NOT_READ_BACK: Final = frozenset({"putTargetState", "putLoggerLevel"})
"""The methods that return when their record is appended."""

Record = tuple[str, dict[str, Any] | None]
"""A key, and the fields of the value that follow from the arguments; None is a tombstone."""


class ConfigCallsWriteTheirArgumentsViolated(ConfigStoreViolated):
    """A call of a config store wrote something else than it was given, or returned before it had."""


def _records(call: ConfigCallStarted) -> list[Record]:
    """What a call is to append, in this order."""
    name, given = call.connector, dict(call.given)
    match call.method:
        case "putConnectorConfig":
            state = [_target(name, given["targetState"])] if "targetState" in given else []
            return [*state, (f"connector-{name}", {"properties": json.loads(given.get("properties", "{}"))})]
        case "putTaskConfigs":
            configs = [json.loads(text) for _, text in call.given]
            tasks: list[Record] = [(f"task-{name}-{n}", {"properties": config}) for n, config in enumerate(configs)]
            return [*tasks, (f"commit-{name}", {"tasks": len(configs)})]
        case "removeConnectorConfig":
            return [(f"connector-{name}", None), (f"target-state-{name}", None)]
        case "putTargetState":
            return [_target(name, given.get("targetState", ""))]
        case "putTaskCountRecord":
            return [(f"tasks-fencing-{name}", {"task-count": int(given.get("taskCount", "-1"))})]
        case "putSessionKey":
            created = int(given.get("creationTimestamp", "-1"))
            return [(SESSION_KEY, {"algorithm": given.get("algorithm"), "creation-timestamp": created})]
        case "putRestartRequest":
            flags = {"only-failed": given.get("onlyFailed"), "include-tasks": given.get("includeTasks")}
            return [(f"restart-connector-{name}", {flag: text == "true" for flag, text in flags.items()})]
        case "putLoggerLevel":
            return [(f"logger-cluster-{name}", {"level": given.get("level")})]
    return []


def _target(connector: str, state: str) -> Record:
    return f"target-state-{connector}", {"state.v2": state}


def _is(record: Record, event: ConfigAppended) -> bool:
    """Whether a record was appended as it was to be."""
    key, fields = record
    if event.key != key or fields is None or event.value is None:
        return event.key == key and fields is None and event.value is None
    try:
        value = json.loads(event.value)
    except ValueError:
        return False
    return isinstance(value, dict) and all(value.get(name) == wanted for name, wanted in fields.items())


@dataclass(slots=True, eq=False)
class _Call:
    """A call that began: what it is to append yet, its open transactions, and whether it has read to the end since."""

    started: ConfigCallStarted
    left: list[Record]
    uncommitted: dict[Producer, ConfigAppended] = field(default_factory=dict)
    is_reading: bool = False
    is_read: bool = False
    has_thrown: bool = False


class _Writes(SimulatedFold):
    """Per process: its calls that have not returned; what one that threw had sent may be appended later."""

    bookkeeping = frozenset({ConfigCallStarted, ConfigReadStarted, ConfigReadEnded, ConfigTransactionEnded, *PROCESS})
    needs = ((ConfigCallStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            ConfigCallStarted: self.on_started,
            ConfigAppended: self.on_appended,
            ConfigTransactionEnded: self.on_transaction,
            ConfigReadStarted: self.on_read_started,
            ConfigReadEnded: self.on_read_ended,
            ConfigCallEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._calls: dict[str, dict[int, _Call]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """What a process sent is appended or lost when it ends."""
        self._calls.pop(event.member, None)

    def on_started(self, event: ConfigCallStarted) -> None:
        """It may write from here on."""
        self._calls.setdefault(event.member, {})[event.call] = _Call(event, _records(event))

    def on_appended(self, event: ConfigAppended) -> None:
        """It is what a call of its writer has to write next."""
        calls = self._calls.get(event.writer)
        if calls is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        in_order = sorted(calls.values(), key=lambda call: call.has_thrown)
        call = next((call for call in in_order if call.left and _is(call.left[0], event)), None)
        if call is None:
            self._report_written(event, list(calls.values()))
            return
        call.left.pop(0)
        call.is_reading = call.is_read = False
        if event.transactional_id:
            call.uncommitted[event.transactional_id, event.epoch] = event

    def on_transaction(self, event: ConfigTransactionEnded) -> None:
        """What is committed is written."""
        if event.outcome == ABORTED:
            return
        for calls in self._calls.values():
            for call in calls.values():
                call.uncommitted.pop((event.transactional_id, event.epoch), None)

    def on_read_started(self, event: ConfigReadStarted) -> None:
        """A read that begins behind all records of a call passes them."""
        for call in self._calls.get(event.member, {}).values():
            call.is_reading = not call.left and not call.uncommitted

    def on_read_ended(self, event: ConfigReadEnded) -> None:
        """It has."""
        for call in self._calls.get(event.member, {}).values():
            call.is_read = call.is_read or (call.is_reading and event.outcome == OK)

    def on_ended(self, event: ConfigCallEnded) -> None:
        """A call that returns has done all; one that threw writes no more if it has nothing left to write."""
        calls = self._calls.get(event.member, {})
        call = calls.get(event.call)
        if call is None:
            return
        if not event.error and self.run.is_recorded:
            self._judge(event, call)
        call.has_thrown = bool(event.error)
        if not event.error or not call.left:
            del calls[event.call]

    def _judge(self, event: ConfigCallEnded, call: _Call) -> None:
        writes = bool(_records(call.started))
        self.compared = (self.compared or 0) + writes
        if call.left:
            self._report_returned(event, call, f"{call.left[0][0]} was not appended")
        elif call.uncommitted:
            self._report_returned(event, call, "its transaction was not committed")
        elif writes and event.method not in NOT_READ_BACK and not call.is_read:
            self._report_returned(event, call, "the topic was not read to its end since")

    def _report_returned(self, event: ConfigCallEnded, call: _Call, why: str) -> None:
        self.contradiction(
            f"{event.method} of {event.member}'s config store returns, and {why}",
            (f"{event.member} called {event.method} at {STEP};", call.started),
            (f"it returned at {STEP}, and {why}: contradiction.", event),
        )

    def _report_written(self, event: ConfigAppended, calls: list[_Call]) -> None:
        same = next((call for call in calls if event.key in {key for key, _ in call.left}), None)
        self.contradiction(
            f"{event.writer} appends {event.key} with the value {event.value}, which no call of its store is to write",
            *([(f"{_text(same.started)} was called at {STEP};", same.started)] if same else []),
            (f"{event.key} was appended at {STEP} with the value {event.value}, and no call of {event.writer}'s config "
             "store was to write that next: contradiction.", event),
        )  # fmt: skip


def _text(call: ConfigCallStarted) -> str:
    arguments = (call.connector, *(f"{name}={text}" for name, text in call.given))
    return f"{call.method}({', '.join(argument for argument in arguments if argument)})"


ConfigCallsWriteTheirArguments: Final = Invariant(
    name="config_calls_write_their_arguments",
    family="config_store",
    claim="what a config store appends is what the arguments of one of its calls say, in the order of Kafka's store; a "
    "call returns only when all of that is appended and committed and, but for target states and levels of loggers, "
    "the topic was read to its end since",
    source="KafkaConfigBackingStore.putConnectorConfig, putTaskConfigs, removeConnectorConfig, putTargetState, "
    "putTaskCountRecord, putSessionKey, putRestartRequest, putLoggerLevel, sendPrivileged",
    premises=(RECORDED,),
    exempted_by=(
        ConfigAppended,
        ConfigCallStarted,
        ConfigReadEnded,
        ConfigReadStarted,
        ConfigTransactionEnded,
        *PROCESS,
    ),
    violation=ConfigCallsWriteTheirArgumentsViolated,
    fold=_Writes,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigCallStarted(member="w0", call=0, method="putTargetState", connector="c", given=(("targetState", "PAUSED"),))
    ConfigCallEnded(member="w0", call=0, method="putTargetState")
"""

CLAIMS: Final = (ConfigCallsWriteTheirArguments,)
"""In the order in which reports name them."""
