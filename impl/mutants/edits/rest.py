"""Edits of mutants that leave something behind in a member or in the coordinator."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CLIENT: Final = "rebalance_check.impl.client"
_COORDINATOR: Final = "rebalance_check.impl.coordinator"

REST_EDITS: Final = {
    "partitions-stay-marked-for-revocation": (
        Edit(f"{_CLIENT}.consumer:ConsumerCoordinator._let_go", "    self._pending_revocation = frozenset()\n", ""),
    ),
    "first-partition-count-kept": (
        Edit(
            f"{_CLIENT}.subscribing:Subscribing._know",
            "dict(partitions_per_topic)",
            "{**partitions_per_topic, **self.partitions_per_topic}",
        ),
    ),
    "session-timeout-taken-for-both": (
        Edit(
            f"{_COORDINATOR}.group:Group.set_terms",
            "member.rebalance_timeout_ms = rebalance_timeout",
            "member.rebalance_timeout_ms = session_timeout",
        ),
    ),
    "topics-counted-once": (
        Edit(
            f"{_COORDINATOR}.rebalance:start_generation",
            "group.subscribed_topics = group.read_subscriptions()",
            "group.subscribed_topics = group.subscribed_topics or group.read_subscriptions()",
        ),
    ),
    "assignment-forgotten-when-sent": (
        Edit(
            f"{_COORDINATOR}.sync:propagate",
            "        answer_sync(shard, group, member, Error.NONE)",
            '        answer_sync(shard, group, member, Error.NONE)\n        member.assignment = b""',
        ),
    ),
    "former-member-keeps-its-timer": (
        Edit(f"{_COORDINATOR}.leave:remove_member", "    shard.cancel_session(group, member_id)\n", ""),
    ),
    "handed-out-id-is-not-timed": (
        Edit(
            f"{_COORDINATOR}.join:join_as_new_member",
            "        shard.arm_session(group, member_id, request.session_timeout_ms)\n",
            "",
        ),
    ),
    "added-partitions-not-read": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator.fetchable",
            "if tp not in self._pending_revocation",
            "if tp not in self._pending_revocation and (tp in self._positions or not self._positions)",
        ),
    ),
    "auto-commit-interval-in-seconds": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator._restart_auto_commit",
            "(self._auto_commit_ms or 0)",
            "1_000 * (self._auto_commit_ms or 0)",
        ),
    ),
    "started-store-forgets-topics": (
        Edit(
            "rebalance_check.impl.connect.status.store:StatusStore.read",
            "self.cache.read(key, value)",
            'self.cache.read(key, value if self._starting or not key.startswith("status-topic-") else None)',
        ),
    ),
    "look-up-pause-keeps-growing": (
        Edit(f"{_CLIENT}.lookup:CoordinatorLookup.answered", "        self._backoff.reset()\n", ""),
    ),
    "election-names-no-address": (
        Edit(
            f"{_CLIENT}.elector:elect",
            "master_identity=UNSET if master is None else candidates[master]",
            "master_identity=UNSET",
        ),
    ),
}
