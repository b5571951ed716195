"""The edits of the mutants of coordinators and consumers that random edits led to."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"
_CONSUMER: Final = f"{_CLIENT}.consumer:ConsumerCoordinator"

GROUP_CLAIM_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "listener-is-not-called-before-a-revocation": (
        Edit(f"{_CONSUMER}._revoke", "self.listener.on_partitions_revoked(partitions)", "pass"),
    ),
    "emptied-group-is-not-written": (
        Edit(
            f"{_COORDINATOR}.rebalance:complete_join",
            "append_group(shard, group, group_record(group, shard.now_ms), on_empty or (lambda _: None))",
            "pass",
        ),
    ),
    "answers-to-commits-name-no-partition": (
        Edit(
            f"{_COORDINATOR}.offsets:commit_reply",
            "return OffsetCommitReply(error=error, partitions=partitions)",
            "return OffsetCommitReply(error=error)",
        ),
    ),
    "patterns-are-matched-with-old-metadata": (
        Edit(f"{_CLIENT}.subscribing:Subscribing.ask_for_topics", "self._know(self._refresh_metadata())", "pass"),
    ),
    "join-does-not-wait-for-its-commit": (
        Edit(
            f"{_CONSUMER}._committed_before_joining",
            "outcome is CommitOutcome.PENDING:\n        return False",
            "outcome is CommitOutcome.PENDING:\n        pass",
        ),
    ),
    "failed-commit-is-not-repeated": (
        Edit(
            f"{_CONSUMER}._committed_before_joining",
            "self._now_ms < self._prepare_until_ms and outcome is CommitOutcome.RETRIABLE",
            "False",
        ),
    ),
    "joining-member-revokes-when-it-leaves": (
        Edit(f"{_CONSUMER}.on_leave_prepare", "self._generation.reset or", "self._generation.reset and"),
    ),
    "initial-delay-lasts-as-long-as-it-may": (
        Edit(
            f"{_COORDINATOR}.rebalance:on_join_timer",
            "min(shard.config.initial_rebalance_delay_ms, remaining)",
            "max(shard.config.initial_rebalance_delay_ms, remaining)",
        ),
    ),
    "commits-prolong-no-session-in-a-join-phase": (
        Edit(
            f"{_COORDINATOR}.offsets:offset_commit",
            "{GroupStatus.STABLE, GroupStatus.PREPARING_REBALANCE}",
            "{GroupStatus.STABLE}",
        ),
    ),
    "unused-id-leaves-the-join-phase-open": (
        Edit(
            f"{_COORDINATOR}.heartbeat:on_session_timer",
            "    group.pending_join.discard(member_id)\n        complete_if_all_joined(shard, group)",
            "    group.pending_join.discard(member_id)",
        ),
    ),
    "deposed-coordinator-is-not-recorded": (
        Edit(f"{_COORDINATOR}.coordinator:GroupCoordinator.depose", "depose(self._shard)", "pass"),
    ),
    "returning-member-learns-no-id": (
        Edit(f"{_COORDINATOR}.static:persist_replacement", "if error is Error.NONE:", "if error is not Error.NONE:"),
    ),
    "lost-coordinator-is-looked-up-at-once": (
        Edit(f"{_CLIENT}.lookup:CoordinatorLookup.lost", "now_ms + self._retry_ms", "now_ms"),
    ),
    "loaded-members-have-no-session": (
        Edit(
            f"{_COORDINATOR}.failover:resume",
            "shard.arm_session(group, member_id, group.members[member_id].session_timeout_ms)",
            "pass",
        ),
    ),
    "failed-commit-is-repeated-at-once": (
        Edit(
            f"{_CONSUMER}._committed_before_joining",
            "self._retry_ms = self._now_ms + self.config.retry_backoff_ms",
            "pass",
        ),
    ),
    "leaving-member-revokes-nothing": (Edit(f"{_CONSUMER}.on_leave_prepare", "return", "pass"),),
    "sticky-looks-at-no-subscriptions": (
        Edit(
            "rebalance_check.impl.assignors.sticky:StickyFamily._assign",
            "if len({frozenset(one.topics) for one in subscriptions.values()}) == 1:",
            "if subscriptions:",
        ),
    ),
}
