"""Edits that were drawn, change a history and break nothing: each with the reason, so that nobody looks twice.

An entry is known by its function and its texts, and so stays known when lines move. ``docs/random-mutants.md`` lists
them.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.group_edits import GROUP_EDITS
from rebalance_check.impl.mutants.harmless_edit import HarmlessEdit
from rebalance_check.impl.mutants.unseen_edits import UNSEEN_EDITS

_CONNECT: Final = "rebalance_check.impl.connect"

HARMLESS_EDITS: Final[tuple[HarmlessEdit, ...]] = (
    *UNSEEN_EDITS,
    *GROUP_EDITS,
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
        Edit("rebalance_check.impl.protocol.digest:metadata_digest", "digest = 0", "digest = (-1)"),
        "equivalent",
        "a digest that begins with another number tells metadata apart as well.",
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
        "the status of a topic has no generation; the number stands in the event alone, and no claim reads it.",
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
            f"{_CONNECT}.status.codec:write_status",
            "if layout is ValueFormat.KAFKA_4_3:",
            "if layout is not ValueFormat.KAFKA_4_3:",
        ),
        "out of reach",
        "a status without its plug-in's version is read as well; only a comparison with Kafka's bytes tells.",
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
        Edit("rebalance_check.impl.coordinator.timers:Timers.arm", "self._order += 1", "pass"),
        "equivalent",
        "timers that are due at one millisecond fire in another order, which Kafka's timer leaves open.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.coordinator.timers:Timers.arm", "self._order += 1", "self._order += 0"),
        "equivalent",
        "timers that are due at one millisecond fire in another order, which Kafka's timer leaves open.",
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
            "rebalance_check.impl.protocol.java_order:_bucket",
            "return _spread(hash_code) & (table - 1)",
            "return _spread(hash_code) & (table - 0)",
        ),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.task_instance:TaskInstance._started", "self._use_topics()", "pass"),
        "equivalent",
        "the simulated plug-in handles its first records a second later.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.connector_instance:ConnectorInstance.fail", "self._fail()", "pass"),
        "equivalent",
        "the simulated plug-in of a connector does not fail when it should, and one that runs on is right.",
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
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.joining:Joining._join_answered",
            "self._fail_join(Retry.AFTER_BACKOFF)",
            "self._fail_join(Retry.AT_ONCE)",
        ),
        "equivalent",
        "an answer that is lost loses the coordinator, too, whose look-up waits for the same back-off.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.heartbeating:Heartbeating.tick",
            "elif now_ms >= self._timers.heartbeat_ms:",
            "elif now_ms > self._timers.heartbeat_ms:",
        ),
        "equivalent",
        "a heartbeat that is due goes out one millisecond later.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.java_order:string_hash",
            "value = (31 * value + (high << 8 | low)) & _INT_MASK",
            "value = ((31 * value) - (high << 8 | low)) & _INT_MASK",
        ),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.java_order:_spread",
            "return value ^ (value >> 16)",
            "return value ^ (value >> 15)",
        ),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.consumer_protocol:write_subscription",
            "if version >= _RACK_SINCE:",
            "if version >= NO_GENERATION:",
        ),
        "out of reach",
        "a subscription of an old version has a rack behind its end, which every reader skips; "
        "only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.membership:WorkerMembership.__init__",
            "self._is_giving_up = False",
            "self._is_giving_up = True",
        ),
        "equivalent",
        "a new worker has nothing to give up: it looks its coordinator up within its first join instead of before it.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.leading:Leading._rotate_session_key",
            "return False\n    return True",
            "return False\n    return False",
        ),
        "equivalent",
        "a herder that has written a session key begins its round anew at once, and does then what it would have done.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.shared_log:SharedConfigLog.compact",
            "limit = min(self.stable_end, self.end if below is None else below)",
            "limit = min(self.stable_end, self.partitions if below is None else below)",
        ),
        "equivalent",
        "the simulated broker compacts less than it might, which brokers may.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.lookup:CoordinatorLookup.is_due",
            "return self.node is None and self.in_flight is None and now_ms >= self.due_ms",
            "return self.node is None and self.in_flight is None and now_ms > self.due_ms",
        ),
        "equivalent",
        "a look-up that is due goes out one millisecond later.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.hash_order:Choices.leader",
            "return candidates[0]",
            "return candidates[(-1)]",
        ),
        "equivalent",
        "another member leads, which Kafka leaves to the order of a map; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.hash_order:Choices.protocol",
            "return candidates[0]",
            "return candidates[1]",
        ),
        "equivalent",
        "another protocol wins a tied vote, which Kafka leaves to the order of a map; only a comparison with "
        "Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:task_configs",
            'return tuple({"task.id": str(number), VERSION: str(config.get(VERSION))} for number in range(count))',
            'return tuple({"task.id": str(number), TASKS_MAX: str(config.get(VERSION))} for number in range(count))',
        ),
        "equivalent",
        "the simulated plug-in gives its tasks another setting, and one setting is as good as the other.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.assignors.sticky_constrained:_Deal._fill",
            "self._turn = place % len(self._below) if self._below else 0",
            "pass",
        ),
        "equivalent",
        "members get their partitions in another order: shares are as even, and only Kafka's assignor tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.channel:ConfigChannel.serve_end",
            "if reached and self.prompt:",
            "if reached and self.committed:",
        ),
        "equivalent",
        "the simulated thread of a config store takes its next step at once, which it may.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator.wake_up",
            "self._is_inside_join = False",
            "pass",
        ),
        "out of reach",
        "a worker that is woken while it looks for its coordinator goes on with its pause, where Kafka's "
        "begins anew: it asks up to 100 ms later.",
    ),
)


def harmless(edit: Edit) -> HarmlessEdit | None:
    """The entry of an edit, None where it has none."""
    return next((one for one in HARMLESS_EDITS if one.edit == edit), None)
