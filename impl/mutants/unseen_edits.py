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
            f"{_CONNECT}.status.store:_described",
            'return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -1',
            'return (TOPIC_STATUS if isinstance(fold.value, TopicValue) else ""), "", -2',
        ),
        "equivalent",
        "the status of a topic has no generation; the number stands in the event alone, and no claim reads it.",
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
            "rebalance_check.impl.connect.status.codec:status_value",
            "return StatusValue(status, worker_id, generation, BOOM if status is Status.FAILED else None)",
            "return StatusValue(status, worker_id, generation, TOPIC_PREFIX if status is Status.FAILED else None)",
        ),
        "equivalent",
        "the trace of what failed is another text, and one text is as good as the other.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.shared_log:Channel.__post_init__",
            "self.positions = [0] * len(self.log.partitions)",
            "self.positions = [(-1)] * len(self.log.partitions)",
        ),
        "equivalent",
        "a reader asks for a record before the first one, and gets the first one.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.channel:ConfigChannel._abort",
            "if sending.transaction is not None and sending.transaction.state is TransactionState.OPEN:",
            "if sending.transaction is not None and sending.transaction.state is TransactionState.ABORTED:",
        ),
        "equivalent",
        "what a store does not abort, the next producer of its id aborts, as a broker does.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.leading:Leading._rotate_session_key",
            "self._keys_made += 1",
            "self._keys_made += 2",
        ),
        "equivalent",
        "session keys are numbered with gaps, and no two are equal.",
    ),
)
"""Each with its reason."""
