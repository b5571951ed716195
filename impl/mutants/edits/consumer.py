"""Mutants of the consumer: what it subscribes to, what it owns, and when it commits for its application."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_MODULE: Final = "rebalance_check.impl.client.consumer"
_CONSUMER: Final = f"{_MODULE}:ConsumerCoordinator"
_SUBSCRIBED: Final = "rebalance_check.impl.client.subscriptions:Subscribed"

_REJOIN: Final = '        self.request_rejoin("need to revoke partitions and re-join")'

_SUBSCRIPTIONS: Final = {
    "leader-overlooks-new-partitions": (
        Edit(
            "rebalance_check.impl.client.leading:Leading.assigned_topics_changed",
            "return self._assigned_from is not None and self._assigned_from != self._snapshot()",
            "return False",
        ),
    ),
    "pattern-looks-at-topics-once": (
        Edit(f"{_SUBSCRIBED}.look_at", "    before, self.topics =", "    return False\n    before, self.topics ="),
    ),
    "pattern-takes-internal-topics": (
        Edit(
            f"{_SUBSCRIBED}._matching",
            "INTERNAL_TOPICS if self._exclude_internal_topics else frozenset[str]()",
            "frozenset[str]()",
        ),
    ),
    "leader-group-subscription-lingers": (
        Edit(
            "rebalance_check.impl.client.leading:Leading.stop_leading",
            "    self._assigned_from = None",
            "    return\n    self._assigned_from = None",
        ),
    ),
    "strategy-preference-order-ignored": (
        Edit(f"{_CONSUMER}.metadata", "in self.assignors.items()", "in sorted(self.assignors.items())"),
    ),
    "any-cooperative-assignor-counts": (
        Edit(f"{_MODULE}:common_protocol", "frozenset.intersection(", "frozenset.union("),
    ),
    "unsubscribe-clears-assignment-before-callback": (
        Edit(f"{_CONSUMER}.unsubscribe", "    self.maybe_leave", "    self._owned = ()\n    self.maybe_leave"),
    ),
    "cooperative-unsubscribe-skips-leave": (
        Edit(
            f"{_CONSUMER}.unsubscribe",
            '    self.maybe_leave_group("the consumer unsubscribed from all topics", now_ms)',
            "    if self.protocol is RebalanceProtocol.COOPERATIVE:\n"
            "        self.on_leave_prepare()\n"
            '        self._reset(keep_member=False, reason="the consumer unsubscribed from all topics")\n'
            "    else:\n"
            '        self.maybe_leave_group("the consumer unsubscribed from all topics", now_ms)',
        ),
    ),
}

_OWNERSHIP: Final = {
    "cooperative-revokes-all-before-joining": (
        Edit(
            f"{_CONSUMER}.on_join_prepare",
            "tuple(tp for tp in self._owned if tp.topic not in self.subscription)",
            "self._owned",
        ),
    ),
    "eager-keeps-partitions-while-joining": (
        Edit(f"{_CONSUMER}.on_join_prepare", "self._revoke(self._owned)", "pass"),
    ),
    "assignment-mismatch-kills-consumer": (
        Edit(
            f"{_CONSUMER}.on_join_complete",
            '        self.request_rejoin("received',
            '        raise RebalanceCheckError(f"{self.member} does not want {_names(assigned)}")\n'
            '        self.request_rejoin("received',
        ),
    ),
    "additions-ignored-by-owners": (
        Edit(
            f"{_CONSUMER}.on_join_complete",
            "    self.learn_topics(assigned)",
            "    if self._owned and self.protocol is RebalanceProtocol.COOPERATIVE:\n"
            "        assigned = tuple(tp for tp in assigned if tp in self._owned)\n"
            "    self.learn_topics(assigned)",
        ),
    ),
    "single-revocation-not-worth-a-join": (
        Edit(f"{_CONSUMER}._revoke_and_rejoin", _REJOIN, f"        if len(partitions) > 1:\n    {_REJOIN}"),
    ),
    "eager-cooperative-mode-disagreement-inside-client": (
        Edit(
            f"{_CONSUMER}._revoke_and_rejoin",
            _REJOIN,
            "        if not any(RebalanceProtocol.EAGER in one.protocols for one in self.assignors.values()):\n"
            f"    {_REJOIN}",
        ),
    ),
    "revoked-partitions-kept": (Edit(f"{_CONSUMER}._revoke_and_rejoin", "self._revoke(partitions)", "pass"),),
    "lost-partitions-revoked": (
        Edit(
            f"{_CONSUMER}._lose",
            "    try:",
            "    if partitions:\n        self._revoke(partitions)\n        return\n    try:",
        ),
    ),
    "lost-partitions-kept": (
        Edit(f"{_CONSUMER}._lose", "    partitions = self._owned\n", "    return\n    partitions = self._owned\n"),
    ),
    "positions-outlive-ownership": (
        Edit(
            f"{_CONSUMER}._forget_positions",
            "self._positions = {tp: offset for tp, offset in self._positions.items() if tp in self._owned}",
            "pass",
        ),
    ),
}

_COMMITS: Final = {
    "iggy-late-offset-store-after-leave": (
        Edit(
            f"{_CONSUMER}.on_close",
            "    if self._final_commit is None:",
            "    generation = self.generation_if_stable()\n"
            "    if self._final_commit is None and generation is not None and self._positions:\n"
            '        self._leave("the member is being closed", emits_loss=False)\n'
            "        self._final_commit = Commit(dict(self._positions))\n"
            "        self._send_commit(self._final_commit, generation)\n"
            "    if self._final_commit is None:",
        ),
    ),
    "prepare-commit-restarted-every-poll": (
        Edit(
            f"{_CONSUMER}._committed_before_joining",
            "    if self._prepare_commit is None:",
            "    if self._prepare_commit is not None and self._prepare_commit.outcome is CommitOutcome.PENDING:\n"
            "        self._prepare_commit = None\n"
            "    if self._prepare_commit is None:",
        ),
    ),
    "fetch-continues-while-commit-before-revoke": (
        Edit(f"{_CONSUMER}._committed_before_joining", "self._pending_revocation = frozenset(self._owned)", "pass"),
    ),
}

CONSUMER_EDITS: Final[dict[str, tuple[Edit, ...]]] = {**_SUBSCRIPTIONS, **_OWNERSHIP, **_COMMITS}
"""By name of the mutant."""
