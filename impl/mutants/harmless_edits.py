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
_RECORD: Final = (
    "the event alone is missing or says less: what the group does is the same, and who records it is the observer."
)
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
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.task_instance:TaskInstance.fail",
            "if not self.stopping and self.state is InstanceState.RUNNING:",
            "if (not self.stopping) or (self.state is InstanceState.RUNNING):",
        ),
        "equivalent",
        "a plug-in that fails while its task is paused or starts is the simulated plug-in's affair, and "
        "the worker does with both what it must.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.core:HerderCore.__init__",
            "self._can_read_configs = True",
            "self._can_read_configs = False",
        ),
        "equivalent",
        "the herder reads the config topic to its end once more before it joins: it knows as much as before.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.emit:EventEmitter.incarnation_ended",
            "recorder.emit(\n            events.IncarnationEnded(incarnation=group.incarnation, "
            "generation=group.generation, deposed=deposed)\n        )",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.writing:StatusWriting.admit",
            "self._attempts += 1",
            "self._attempts += 2",
        ),
        "equivalent",
        "attempts are numbered with gaps, and their order is all that counts.",
    ),
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
        Edit(
            "rebalance_check.impl.protocol.connect_protocol:write_connect_assignment",
            "if version > 0:",
            "if version > (-1):",
        ),
        "out of reach",
        "an assignment of the oldest protocol has a delay behind its end, which readers of ours skip; "
        "only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:Reconfiguring.request_reconfiguration",
            "delay_ms = 0 if attempt == 0 else min(MOST_RETRY_MS, RETRY_MS << min(attempt - 1, 16))",
            "delay_ms = 0 if attempt == 0 else min(MOST_RETRY_MS, RETRY_MS << min(attempt - 0, 16))",
        ),
        "out of reach",
        "a retry waits twice as long, and no longer than the longest pause; only a comparison with "
        "Kafka's times tells.",
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
            "rebalance_check.impl.coordinator.emit:EventEmitter.generation_started",
            'protocol=group.protocol_name or "",',
            'protocol="",',
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.backoff:ExponentialBackoff.next_ms",
            "self._attempts += 1",
            "self._attempts += 2",
        ),
        "out of reach",
        "pauses between retries grow faster, and no longer than the longest one; only a comparison with "
        "Kafka's times tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:Reconfiguring._reconfigure",
            "self.request_reconfiguration(connector, attempt + 1)",
            "self.request_reconfiguration(connector, attempt + 2)",
        ),
        "out of reach",
        "pauses between retries grow faster, and no longer than the longest one; only a comparison with "
        "Kafka's times tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.shared_log:SharedConfigLog.compact",
            "limit = min(self.stable_end, self.end if below is None else below)",
            "limit = min(self.stable_end, self._epoch if below is None else below)",
        ),
        "equivalent",
        "the simulated broker compacts less than it might, which brokers may.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.client.consumer:ConsumerCoordinator._let_go", "self._forget_positions()", "pass"),
        "equivalent",
        "what stays is forgotten when the next assignment is applied, and nothing is committed before.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:task_configs",
            'return tuple({"task.id": str(number), VERSION: str(config.get(VERSION))} for number in range(count))',
            'return tuple({"task.id": str(number), VERSION: str(config.get(TASKS_MAX))} for number in range(count))',
        ),
        "equivalent",
        "the simulated plug-in gives its tasks another setting, and one setting is as good as the other.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.coordinator:GroupCoordinator.rested",
            "return None if group is None else rested(self._shard, group)",
            "return None if group is not None else rested(self._shard, group)",
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
            "rebalance_check.impl.client.lookup:CoordinatorLookup.next_ms",
            "return self.due_ms if self.in_flight is None else None",
            "return self.due_ms if self.in_flight is not None else None",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.core:CoordinatorCore._enqueue",
            "self._next_correlation_id += 1",
            "self._next_correlation_id += 2",
        ),
        "equivalent",
        "requests are numbered with gaps, and no two have one number.",
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
        Edit("rebalance_check.impl.coordinator.timers:Timers.arm", "self._order += 1", "pass"),
        "equivalent",
        "timers that are due at one millisecond fire in another order, which Kafka's timer leaves open.",
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
        Edit("rebalance_check.impl.connect.herder.restarting:Restarting._restart", "return", "pass"),
        "equivalent",
        "a restart of nothing is planned and recorded, and does nothing.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.protocol.java_order:string_hash", "value = 0", "value = (-1)"),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.next_poll",
            "return self._lookup.next_ms if self._lookup.next_ms is None else max(self._retry_ms, "
            "self._lookup.next_ms)",
            "pass",
        ),
        "equivalent",
        _HINT,
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.task_instance:TaskInstance._started", "self._use_topics()", "pass"),
        "equivalent",
        "the simulated plug-in handles its first records a second later.",
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
            "rebalance_check.impl.client.core:CoordinatorCore.__init__",
            "self._next_correlation_id = 0",
            "self._next_correlation_id = (-1)",
        ),
        "equivalent",
        "requests are numbered from another number on, and no two have one number.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.connector_instance:ConnectorInstance.fail", "self._fail()", "pass"),
        "equivalent",
        "the simulated plug-in of a connector does not fail when it should, and one that runs on is right.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.leading:Leading._emit_assignment",
            "self.recorder.emit(\n        AssignmentComputed(\n            member=self.member,\n            "
            "generation=generation.generation_id,\n            member_id=generation.member_id,\n            "
            "protocol=protocol,\n            owned_partitions=tuple((member, _sorted_names(one.owned)) for "
            "member, one in subscriptions.items()),\n            owned_generations=tuple(\n                "
            "(member, NO_GENERATION if one.generation is None else one.generation)\n                for "
            "member, one in subscriptions.items()\n            ),\n            assignments=tuple((member, "
            "_sorted_names(given)) for member, given in assigned.items()),\n        )\n    )",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.close",
            'self._leave("the member is being closed", emits_loss=False)',
            'self._leave("the member is being closed", emits_loss=True)',
        ),
        "equivalent",
        "a member that was closed records that it lost its membership, which it left; nothing acts on it.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.assignors.roundrobin:RoundRobinAssignor.assign",
            "circle, last = member_order(subscriptions), -1",
            "circle, last = member_order(subscriptions), -0",
        ),
        "out of reach",
        "partitions are dealt from the second member on: shares are as even, and only Kafka's assignor tells.",
    ),
)


def harmless(edit: Edit) -> HarmlessEdit | None:
    """The entry of an edit, None where it has none."""
    return next((one for one in HARMLESS_EDITS if one.edit == edit), None)
