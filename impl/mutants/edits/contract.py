"""The edits of the mutants that break the contract of a coordinator with the code that uses it."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CLIENT: Final = "rebalance_check.impl.client"
_COORDINATOR: Final = f"{_CLIENT}.coordinator:Coordinator"
_CONSUMER: Final = f"{_CLIENT}.consumer:ConsumerCoordinator"
_JOINING: Final = f"{_CLIENT}.joining:Joining"

_HEARTBEATING: Final = f"{_CLIENT}.heartbeating:Heartbeating"
_TIMERS: Final = f"{_CLIENT}.timers:HeartbeatTimers"

CONTRACT_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "next-join-is-not-prepared": (
        Edit(
            f"{_COORDINATOR}._finish",
            "        self._join = None\n        self._needs_join_prepare = True\n",
            "        self._join = None\n",
        ),
    ),
    "prepare-names-no-membership": (
        Edit(f"{_COORDINATOR}._prepared", "of = self._generation", 'of = Generation(-1, "", None)'),
    ),
    "close-does-not-prepare-to-leave": (
        Edit(f"{_COORDINATOR}.close", "    self._prepare_to_leave()\n    if", "    if"),
    ),
    "followers-assign": (Edit(f"{_JOINING}._assignments", "if reply.leader != reply.member_id:", "if False:"),),
    "next-join-is-prepared-while-completing": (
        Edit(
            f"{_COORDINATOR}._finish",
            "            self.on_join_complete(",
            "            self._needs_join_prepare = True\n"
            "            self._prepared()\n"
            "            self.on_join_complete(",
        ),
    ),
    "close-prepares-to-leave-last": (
        Edit(f"{_COORDINATOR}.close", "    self._prepare_to_leave()\n    if", "    if"),
        Edit(
            f"{_COORDINATOR}.close",
            "    self.recorder.emit(MemberLeft(member=self.member))\n",
            "    self.recorder.emit(MemberLeft(member=self.member))\n    self._prepare_to_leave()\n",
        ),
    ),
    "heartbeats-at-half-the-interval": (
        Edit(f"{_TIMERS}.sent", "self._config.heartbeat_interval_ms", "self._config.heartbeat_interval_ms // 2"),
    ),
    "silent-coordinator-is-kept-twice-as-long": (
        Edit(f"{_TIMERS}.session_alive", "self._config.session_timeout_ms", "self._config.session_timeout_ms * 2"),
    ),
    "absent-application-stays-twice-as-long": (
        Edit(f"{_TIMERS}.polled", "self._config.rebalance_timeout_ms", "self._config.rebalance_timeout_ms * 2"),
    ),
    "unknown-member-joins-after-a-backoff": (
        Edit(
            f"{_JOINING}._join_refused",
            "        self._fail_join(Retry.AT_ONCE)\n    elif error is Error.MEMBER_ID_REQUIRED",
            "        self._fail_join(Retry.AFTER_BACKOFF)\n    elif error is Error.MEMBER_ID_REQUIRED",
        ),
    ),
    "failed-join-is-repeated-at-once": (
        Edit(f"{_COORDINATOR}._recover", "self._now_ms + self.config.retry_backoff_ms", "self._now_ms"),
    ),
    "closing-member-leaves-against-its-setting": (
        Edit(f"{_COORDINATOR}.close", "if self.config.leave_on_close:", "if not self.config.leave_on_close:"),
    ),
    "static-member-leaves": (Edit(f"{_HEARTBEATING}._leave", " and self.config.group_instance_id is None", ""),),
    "close-leaves-last": (
        Edit(
            f"{_COORDINATOR}.close",
            '        self._leave("the member is being closed"',
            "        self.recorder.emit(MemberLeft(member=self.member))\n"
            '        self._leave("the member is being closed"',
        ),
        Edit(
            f"{_COORDINATOR}.close",
            "    self._closed = True\n    self.recorder.emit(MemberLeft(member=self.member))\n",
            "    self._closed = True\n",
        ),
    ),
    "lost-coordinator-is-not-reported": (
        Edit(
            f"{_CLIENT}.core:CoordinatorCore._forget_coordinator",
            "    if not self._closed:\n        self.recorder.emit(CoordinatorLost(member=self.member))\n",
            "",
        ),
    ),
    "asked-member-joins-when-its-poll-ends": (
        Edit(f"{_COORDINATOR}.next_poll", "return None if waiting else self._retry_ms", "return None"),
    ),
    "committed-member-joins-when-its-poll-ends": (
        Edit(
            f"{_CONSUMER}.next_poll",
            "if self._prepare_commit is not None and self._prepare_commit.outcome is CommitOutcome.PENDING:",
            "if self._prepare_commit is not None:",
        ),
    ),
    "accepted-member-goes-on-when-its-poll-ends": (Edit(f"{_COORDINATOR}.next_poll", "return 0", "pass"),),
    "failed-join-is-repeated-when-the-poll-ends": (
        Edit(
            f"{_COORDINATOR}.next_poll",
            "waiting = self._join is not None and not self._needs_join_prepare",
            "waiting = self._join is None and not self._needs_join_prepare",
        ),
    ),
    "look-up-is-repeated-when-the-poll-ends": (
        Edit(
            f"{_CLIENT}.lookup:CoordinatorLookup.next_ms",
            "return self.due_ms if self.in_flight is None else None",
            "return self.due_ms if self.in_flight is not None else None",
        ),
    ),
    "periodic-commit-waits-for-the-poll-to-end": (
        Edit(
            f"{_CONSUMER}.next_poll",
            "return None if self._commit_waits_for_coordinator() else self._next_auto_commit_ms",
            "return None",
        ),
    ),
}
