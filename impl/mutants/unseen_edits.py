"""Edits that change only what an observer sees, or when a member is polled."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.harmless_edit import HarmlessEdit

_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"
_RECORD: Final = (
    "the event alone is missing or says less: what the group does is the same, and who records it is the observer."
)
_BUSY: Final = (
    "the member is polled each millisecond until its look-up is answered, and sends the same as without that."
)

UNSEEN_EDITS: Final[tuple[HarmlessEdit, ...]] = (
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.store:ConfigStore.snapshot",
            "if self._recorder.listens:",
            "if not (self._recorder.listens):",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.instance:Instance.forget", "self._events.stopped(self.key)", "pass"),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator._has_coordinator_or_gave_up",
            "self._note_the_wait(self._unknown_since_ms)",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.membership:WorkerMembership.owner_url",
            "self._report.owner_looked_up(work if isinstance(work, str) else work.name, url, self._generation)",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:Reconfiguring._emit_generated",
            "self.recorder.emit(\n        TaskConfigsGenerated(\n            member=self.member,\n          "
            "  generation=self.generation,\n            member_id=at.member_id,\n            "
            "connector=connector,\n            connector_config=config_text(config),\n            "
            'tasks=tuple((f"{connector}-{number}", config_text(one)) for number, one in '
            "enumerate(configs)),\n            published=published,\n            "
            "config_offset=self.config_state.offset,\n        )\n    )",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator._note_the_wait",
            "self._report.coordinator_awaited()",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.updating:Updating._apply_target_state",
            "self.recorder.emit(TargetStateChanged(member=self.member, connector=connector, state=state.value))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.queries:StatusQueries._listed",
            "self._recorder.emit(StatusesListed(worker=self.worker, kind=kind, connector=connector, "
            "names=tuple(names)))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.next_poll",
            "return self._lookup.next_ms if self._lookup.next_ms is None else max(self._retry_ms, "
            "self._lookup.next_ms)",
            "pass",
        ),
        "equivalent",
        _BUSY,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.queries:StatusQueries.connectors",
            'self._listed("connectors", "", names)',
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator._note_the_wait",
            "self._awaited_ms = self._now_ms",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator._note_the_wait",
            "if self._awaited_ms < since_ms or self._now_ms >= self._awaited_ms + self.config.heartbeat_interval_ms:",
            "if self._awaited_ms < since_ms or self._now_ms < (self._awaited_ms + self.config.heartbeat_interval_ms):",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.herder:Herder.poll",
            "polled = self._wait.polls and not self._wait.is_over(self.now_ms)",
            "polled = self._wait.polls or (not self._wait.is_over(self.now_ms))",
        ),
        "equivalent",
        "the thread of a herder goes back to its owner a step earlier, and is polled again.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.leading:Leading.__init__",
            "self._keys_made = 0",
            "self._keys_made = 1",
        ),
        "equivalent",
        "session keys are numbered from another number on, and no two are equal.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.config.store:ConfigStore.snapshot",
            "self._recorder.emit(snapshot_event(self.member, taken))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.status.store:_described",
            'return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -1',
            'return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -2',
        ),
        "equivalent",
        "the status of a topic has no generation; the number stands in the event alone, and no claim reads it.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.status.store:StatusStore.stop",
            "self._recorder.emit(StatusStoreStopped(worker=self.worker))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.config.shared_log:SharedConfigLog.append",
            "epoch=-1 if transaction is None else transaction.epoch,",
            "epoch=-0 if transaction is None else transaction.epoch,",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.reporting:WorkerReporter.coordinator_awaited",
            "self._recorder.emit(CoordinatorAwaited(member=self._member))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.membership:WorkerMembership.__init__",
            "self._awaited_ms = -1",
            "self._awaited_ms = -0",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.instance:Instance._end",
            "if self.cancelled and self.recorded:",
            "if self.cancelled:",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.instance:Instance.cancel",
            "if self.recorded:",
            "if not (self.recorded):",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.config.compaction:compacted",
            "kept = [record for record in cleaned if record.key is not None and last[record.key] == record.offset]",
            "kept = [record for record in cleaned if (record.key is not None) or (last[record.key] == record.offset)]",
        ),
        "equivalent",
        "the simulated broker compacts less than it might, which brokers may.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.connector_instance:ConnectorInstance._go_on",
            "self._inside(self._behaviour.stop_ms if self.state is InstanceState.RUNNING else 0, self._shut_down)",
            "self._inside(self._behaviour.stop_ms if self.state is InstanceState.NEW else 0, self._shut_down)",
        ),
        "equivalent",
        "the simulated plug-in of a connector stops at once.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.task_instance:TaskInstance._started",
            "if self._topic_tracking and self._behaviour.topics and not self.stopping:",
            "if not (self._topic_tracking and self._behaviour.topics and (not self.stopping)):",
        ),
        "equivalent",
        "the simulated plug-in of a task handles no records.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.config.store:ConfigStore.put_connector",
            "if self.rewrite_tasks and tasks:",
            "if not (self.rewrite_tasks and tasks):",
        ),
        "equivalent",
        "a connector is configured with its tasks as they are, which mends KAFKA-17719, as no worker of Kafka does.",
    ),
)
"""Each with its reason."""
