"""Edits of coordinators, consumers and assignors that were drawn, change a history and break nothing, and why."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.harmless_edit import HarmlessEdit

GROUP_EDITS: Final[tuple[HarmlessEdit, ...]] = (
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.next_poll",
            "failed = self._failure is not None or self._lookup.failure is not None",
            "failed = self._failure is not None or self._lookup.failure is None",
        ),
        "equivalent",
        "a poll that ended is begun again each millisecond, and sends the same as without that.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.coordinator.join:on_creation",
            "if shard.groups.pop(group.group_id, None) is not None:",
            "if shard.groups.pop(group.group_id, None) is None:",
        ),
        "equivalent",
        "the event alone is missing or says less: what the group does is the same, and who records it is the observer.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.consumer:ConsumerCoordinator.next_poll",
            "if due is None and self._auto_commit_ms is not None and self._state is MemberState.STABLE "
            "and not self.closed:",
            "if (due is None) and (self._state is MemberState.STABLE) and (not self.closed):",
        ),
        "equivalent",
        "a member is polled each millisecond while it waits, and sends the same as without that.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.consumer:ConsumerCoordinator.on_poll",
            "due = self._auto_commit_ms is not None and self._now_ms >= self._next_auto_commit_ms",
            "due = self._auto_commit_ms is not None and self._now_ms > self._next_auto_commit_ms",
        ),
        "equivalent",
        "an automatic commit that is due goes out one millisecond later.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.java_order:_grown_table",
            "table = _TABLE_MIN",
            "table = _INT_MASK",
        ),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.assignors.sticky_constrained:_Deal.out",
            "self._turn = 0",
            "self._turn = (-1)",
        ),
        "equivalent",
        "another member is the first to get one partition less: shares are as even, and only Kafka's assignor tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.sticky_user_data:write_sticky",
            "write_grouped_partitions(writer, [(topic, indexes[topic]) for topic in hash_map_order(indexes)])",
            "pass",
        ),
        "out of reach",
        "the metadata of an assignor that the group does not select; only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.java_order:_bucket",
            "return _spread(hash_code) & (table - 1)",
            "return _spread(hash_code) & (table + 1)",
        ),
        "equivalent",
        "members come in another order out of a map whose order Kafka leaves open; only a comparison with Java tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.backoff:ExponentialBackoff.next_ms",
            "factor = 1.0 if self._random is None else self._random.uniform(1 - JITTER, 1 + JITTER)",
            "factor = 1.0 if self._random is not None else self._random.uniform(1 - JITTER, 1 + JITTER)",
        ),
        "out of reach",
        "back-offs have no jitter, and each of them is within the bounds of one that has.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.consumer:ConsumerCoordinator.next_poll",
            "return self._prepare_until_ms",
            "pass",
        ),
        "equivalent",
        "a member is polled each millisecond while it waits, and sends the same as without that.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.committing:Committing.commit",
            "self._now_ms = now_ms",
            "pass",
        ),
        "equivalent",
        "the latency of a commit is measured from the poll before it; what is sent and answered is the same.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.protocol.sticky_user_data:write_sticky",
            "writer.int32(generation)",
            "pass",
        ),
        "out of reach",
        "the metadata of an assignor that the group does not select; only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.subscribing:Subscribing.ask_for_topics",
            "if self._subscribed.by_pattern and self._refresh_metadata is not None:",
            "if self._subscribed.by_pattern or (self._refresh_metadata is not None):",
        ),
        "equivalent",
        "a member looks at the topics before each join, and learns what it would learn after it.",
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.next_poll",
            "failed = self._failure is not None or self._lookup.failure is not None",
            "failed = self._failure is None or self._lookup.failure is not None",
        ),
        "equivalent",
        "a poll that ended is begun again each millisecond, and sends the same as without that.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.protocol.wire:Writer.nullable_bytes", "self.int32(-1)", "self.int32(-2)"),
        "out of reach",
        "readers of ours take another negative length for null, too; only a comparison with Kafka's bytes tells.",
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.coordinator.timers:Timers.arm", "self._order += 1", "self._order -= 1"),
        "equivalent",
        "timers that are due at one millisecond fire in another order, which Kafka's timer leaves open.",
    ),
)
"""Each with its reason."""
