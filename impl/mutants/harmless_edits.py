"""Edits that were drawn, change a history and break nothing: each with the reason, so that nobody looks twice.

An entry is known by its function and its texts, and so stays known when lines move. ``docs/random-mutants.md`` lists
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rebalance_check.impl.mutants.edit import Edit

Why: TypeAlias = Literal["equivalent", "out of reach"]


@dataclass(frozen=True, slots=True)
class HarmlessEdit:
    """An edit that no claim should or can catch.

    *Equivalent*: what it does is as right as what stood there. *Out of reach*: it is wrong where no seed of ours gets.
    ``reason`` is one sentence.
    """

    edit: Edit
    why: Why
    reason: str


_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"
_HINT: Final = (
    "when to poll next is a hint to what runs the member, which polls it anyway: a step comes later, and the same."
)

HARMLESS_EDITS: Final[tuple[HarmlessEdit, ...]] = (
    HarmlessEdit(Edit(f"{_CLIENT}.coordinator:Coordinator.next_poll", "return 0", "pass"), "equivalent", _HINT),
    HarmlessEdit(
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator.next_poll",
            "if due is None and self._auto_commit_ms is not None and self._state is MemberState.STABLE "
            "and not self.closed:",
            "if due is None and self._auto_commit_ms is not None and self._state is MemberState.PREPARING_REBALANCE "
            "and not self.closed:",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator.next_poll",
            "due = None if self._awaits_answer() and not self._unread else super().next_poll()",
            "due = None if self._awaits_answer() else super().next_poll()",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.herder:Herder.next_poll",
            "due.append(self.coordinator.next_poll() if self._stop_job is None else self._next_revocation_ms())",
            "due.append(self.coordinator.next_poll() if self._stop_job is not None else self._next_revocation_ms())",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.connector_instance:ConnectorInstance._started",
            "self._threads.after(self._behaviour.fails_after_ms, self.fail)",
            "pass",
        ),
        "equivalent",
        "a connector that should fail by itself does not: that is the simulated plugin, and one that runs on is right.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.assignors.range:_match_racks", "if len(group) > 1:", "if len(group) >= 1:"),
        "equivalent",
        "a topic alone is matched partition by partition instead of member by member: KIP-881 leaves open which comes "
        "first, and only a comparison with Kafka's assignor tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.shard:Shard.cancel_sync",
            "self.timers.cancel(TimerKey(TimerKind.SYNC, group.group_id))",
            "self.timers.cancel(TimerKey(TimerKind.SESSION, group.group_id))",
        ),
        "equivalent",
        "a sync timer that stays looks at status and generation when it ends, and does nothing for another generation.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.protocol.digest:metadata_digest", "digest = 0", "digest = (-1)"),
        "equivalent",
        "a digest that begins with another number tells metadata apart as well.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator.next_poll",
            "due = None if self._awaits_answer() and not self._unread else super().next_poll()",
            "due = None if self._awaits_answer() or (not self._unread) else super().next_poll()",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator.next_poll",
            "due = None if self._awaits_answer() and not self._unread else super().next_poll()",
            "due = None if not (self._awaits_answer() and not self._unread) else super().next_poll()",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.task_instance:TaskInstance._started",
            "if self._behaviour.fails_at_start:",
            "if not (self._behaviour.fails_at_start):",
        ),
        "equivalent",
        "the simulated plugin of a task fails where it should run, and the worker does with both what it must.",
    ),
    HarmlessEdit(
        Edit(f"{_CONNECT}.status.writing:StatusWriting._admit_topic", "generation=-1,", "generation=-2,"),
        "equivalent",
        "the status of a topic has no generation; the number stands in the event alone, and nobody reads it there.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.herder.producers:SharedProducers.fence",
            "epoch = self.epochs.get(name, -1)",
            "epoch = self.epochs.get(name, -0)",
        ),
        "equivalent",
        "fencing uses up epoch 0 of a transactional id that no producer has had, and epochs may skip.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CLIENT}.subscribing:Subscribing.joined_subscription",
            "return self._joined_subscription or ()",
            "return self._joined_subscription and ()",
        ),
        "equivalent",
        "it is what an observer of a member at rest reads, and nothing acts on it.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.coordinator:GroupCoordinator.remembered",
            "return [] if group is None else remembered(self._shard, group)",
            "return [] if group is not None else remembered(self._shard, group)",
        ),
        "equivalent",
        "it is what an observer of a coordinator at rest reads, and nothing acts on it.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CONNECT}.status.codec:write_status",
            "if layout is ValueFormat.KAFKA_4_3:",
            "if layout is not ValueFormat.KAFKA_4_3:",
        ),
        "out of reach",
        "a status without its plug-in's version is read as well; only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit(
            f"{_CLIENT}.coordinator:Coordinator.next_poll",
            "waiting = self._join is not None and not self._needs_join_prepare",
            "waiting = self._join is None and not self._needs_join_prepare",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(f"{_CONNECT}.config.store:ConfigStore.expire", 'self._read_ended("timeout")', "pass"),
        "equivalent",
        "the event alone is missing that says that a read ended; the read ends as before.",
    ),
)


def harmless(edit: Edit) -> HarmlessEdit | None:
    """The entry of an edit, None where it has none."""
    return next((one for one in HARMLESS_EDITS if one.edit == edit), None)
