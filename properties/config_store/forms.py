"""What the records of the config topic look like that a worker writes: their fields, as Kafka's schemas have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from rebalance_check.model.vocabulary.events import ConfigAppended, ConfigStoreStarted, Event, WorkerConfigured
from rebalance_check.properties.config_store.readers import ConfigStoreViolated, kind_and_name, task_key
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP

SESSION_KEY: Final = "session-key"
STATES: Final = {"STARTED": "STARTED", "PAUSED": "PAUSED", "STOPPED": "PAUSED"}
"""Each target state, and what releases before KIP-875 read for it."""


class ConfigRecordsHaveKafkasFormViolated(ConfigStoreViolated):
    """A worker wrote a record of which other releases read something else, or nothing."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _properties(value: dict[str, Any]) -> bool:
    properties = value.get("properties")
    return (
        list(value) == ["properties"]
        and isinstance(properties, dict)
        and all(text is None or isinstance(text, str) for text in properties.values())
    )


def _count_of(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda value: list(value) == [name] and _is_number(value[name]) and value[name] >= 0


def _target(value: dict[str, Any]) -> bool:
    newer = value.get("state.v2")
    return list(value) == ["state", "state.v2"] and newer in STATES and value["state"] == STATES[newer]


def _restart(value: dict[str, Any]) -> bool:
    return list(value) == ["include-tasks", "only-failed"] and all(isinstance(flag, bool) for flag in value.values())


def _session_key(value: dict[str, Any]) -> bool:
    has_all = list(value) == ["key", "algorithm", "creation-timestamp"]
    return has_all and isinstance(value["key"], str) and bool(value["key"]) and _is_number(value["creation-timestamp"])


def _level(value: dict[str, Any]) -> bool:
    return list(value) == ["level"] and isinstance(value["level"], str)


FORMS: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "connector-": _properties,
    "task-": _properties,
    "commit-": _count_of("tasks"),
    "tasks-fencing-": _count_of("task-count"),
    "target-state-": _target,
    "restart-connector-": _restart,
    "logger-cluster-": _level,
    SESSION_KEY: _session_key,
}
"""By the beginning of a record's key, whether its value is as Kafka's schema says, its fields in that order."""

REMOVABLE: Final = ("connector-", "target-state-")
"""Of what a worker writes tombstones."""


PLAIN: Final = ("target-state-", "logger-cluster-")
"""What any worker writes, and no transaction holds."""


class _Forms(Fold):
    needs = ((ConfigStoreStarted, WorkerConfigured),)
    bookkeeping = frozenset({ConfigStoreStarted, WorkerConfigured})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ConfigStoreStarted: self.on_store,
            WorkerConfigured: self.on_store,
            ConfigAppended: self.on_appended,
        }
        super().__init__(invariant, handlers)
        self._stores: set[str] = set()
        self._workers: set[str] = set()

    def on_store(self, event: ConfigStoreStarted | WorkerConfigured) -> None:
        """What this process writes its store makes."""
        self._stores.add(event.member)
        if isinstance(event, WorkerConfigured):
            self._workers.add(event.member)

    def on_appended(self, event: ConfigAppended) -> None:
        """Every release reads it as it was meant."""
        is_plain = event.writer not in self._workers or not event.transactional_id or not event.key.startswith(PLAIN)
        if event.writer in self._stores and not (_is_right(event) and (is_plain or event.value is None)):
            self.contradiction(
                f"{event.writer} writes {event.key} as {event.value}",
                (f"{event.writer} appended {event.key} at {STEP}, and {event.value} is not how Kafka writes it: "
                 "contradiction.", event),
            )  # fmt: skip


def _is_right(event: ConfigAppended) -> bool:
    kind, name = (SESSION_KEY, "") if event.key == SESSION_KEY else kind_and_name(event.key)
    if kind == "task-" and task_key(name) is None:
        return False
    if event.value is None:
        return kind in REMOVABLE
    try:
        value = json.loads(event.value)
    except ValueError:
        return False
    return kind in FORMS and isinstance(value, dict) and FORMS[kind](value)


ConfigRecordsHaveKafkasForm: Final = Invariant(
    name="config_records_have_kafkas_form",
    family="config_store",
    claim="each record that a worker appends to the config topic has the fields of Kafka's schema, in their order: a "
    "target state stands in it twice, STOPPED as PAUSED for releases that do not know it, and in no transaction",
    source="KafkaConfigBackingStore: CONNECTOR_CONFIGURATION_V0, TASK_CONFIGURATION_V0, TARGET_STATE_V1, "
    "SESSION_KEY_V0, RESTART_REQUEST_V0; KIP-875",
    premises=(
        "the record was written by the store of a worker that the history shows",
        "no worker creates a connector with a target state of its own (KIP-980)",
    ),
    violation=ConfigRecordsHaveKafkasFormViolated,
    fold=_Forms,
)
"""Workers of several releases read one topic. The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="eager")
    ConfigAppended(writer="w0", offset=0, key="target-state-c", value='{"state":"STOPPED","state.v2":"STOPPED"}')
"""

CLAIMS: Final = (ConfigRecordsHaveKafkasForm,)
"""In the order in which reports name them."""
