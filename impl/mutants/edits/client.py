"""Mutants of the client coordinators: membership, joins, heartbeats and commits, whatever the group is for."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CLIENT: Final = "rebalance_check.impl.client"
_CORE: Final = f"{_CLIENT}.core:CoordinatorCore"
_LOOKUP: Final = f"{_CLIENT}.lookup:CoordinatorLookup"
_COORDINATOR: Final = f"{_CLIENT}.coordinator:Coordinator"
_JOINING: Final = f"{_CLIENT}.joining:Joining"
_HEARTBEATING: Final = f"{_CLIENT}.heartbeating:Heartbeating"
_COMMITTING: Final = f"{_CLIENT}.committing:Committing"
_ELECTOR: Final = f"{_CLIENT}.elector:LeaderElector"
_WORKER: Final = "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator"
_HERDER: Final = "rebalance_check.impl.connect.herder.completing:Completing"

_NEVER: Final = "10**12"
"""A time in ms that no run reaches."""

_MEMBERSHIP: Final = {
    "stale-response-resets-generation": (
        Edit(f"{_CORE}._unchanged", "return sent.generation == self._generation", "return True"),
    ),
    "illegal-generation-discards-member-id": (
        Edit(
            f"{_CORE}._reset",
            "    self._generation = Generation(",
            '    if reason == "ILLEGAL_GENERATION":\n        keep_member = False\n    self._generation = Generation(',
        ),
    ),
    "unknown-member-keeps-id": (Edit(f"{_CORE}._reset", 'old.member_id if keep_member else ""', "old.member_id"),),
    "join-prepare-flag-not-rearmed-after-reset": (
        Edit(f"{_CORE}._reset", "    self._needs_join_prepare = True\n", ""),
    ),
    "outdated-join-reply-applied": (
        Edit(
            f"{_CORE}.receive",
            "    if sent is None:",
            '    if sent is None and type(reply).__name__ == "JoinGroupReply":\n'
            "        joins = (one for one in self._in_flight.values() if isinstance(one.request, JoinGroupRequest))\n"
            "        sent = next(joins, None)\n"
            "    if sent is None:",
        ),
    ),
    "coordinator-lookup-future-leaked": (Edit(f"{_LOOKUP}.answered", "    self.in_flight = None\n", ""),),
}

_JOINS: Final = {
    "join-write-timeout-unhandled": (
        Edit(
            f"{_JOINING}._join_refused",
            "    elif error is Error.REBALANCE_IN_PROGRESS:\n        self._fail_join(Retry.AT_ONCE)\n",
            "",
        ),
    ),
    "loading-error-on-join-not-retried": (
        Edit(
            f"{_JOINING}._join_refused",
            "    elif error is Error.COORDINATOR_LOAD_IN_PROGRESS:\n        self._fail_join(Retry.AFTER_BACKOFF)\n",
            "",
        ),
    ),
    "protocol-check-against-reset-generation": (
        Edit(
            f"{_JOINING}._sync_accepted",
            "    if self._generation.reset or self._state is not MemberState.COMPLETING_REBALANCE:\n"
            "        self._fail_join(Retry.AT_ONCE)\n"
            "    elif reply.protocol_name",
            "    if reply.protocol_name",
        ),
    ),
    "sync-rebalance-in-progress-over-revokes": (
        Edit(
            f"{_JOINING}._sync_refused",
            "    if error is Error.REBALANCE_IN_PROGRESS:\n",
            "    if error is Error.REBALANCE_IN_PROGRESS:\n        self._reset(keep_member=True, reason=error.name)\n",
        ),
    ),
    "wakeup-abandons-completed-rebalance": (
        Edit(
            f"{_COORDINATOR}.ensure_active_group",
            "    while self.rejoin_needed_or_pending():",
            "    if not self._rejoin_needed:\n        self._join = None\n    while self.rejoin_needed_or_pending():",
        ),
    ),
    "join-disables-heartbeats-on-every-pass": (
        Edit(
            f"{_COORDINATOR}.ensure_active_group",
            "        if self._join is not None and self._join.done:",
            f"        self._timers.heartbeat_ms = {_NEVER}\n        if self._join is not None and self._join.done:",
        ),
    ),
    "join-future-not-cleared-after-reset": (
        Edit(
            f"{_COORDINATOR}._finish",
            "        self._join = None\n        self._reset(",
            "        self._reset(",
        ),
    ),
    "assignment-buffer-consumed-by-aborted-completion": (
        Edit(
            f"{_COORDINATOR}._finish",
            "        self.on_join_complete(",
            '        attempt.assignment = b""\n        self.on_join_complete(',
        ),
    ),
    "heartbeat-thread-clears-generation-before-completion": (
        Edit(
            f"{_COORDINATOR}._is_overtaken",
            "return self._generation.reset or self._state is not MemberState.STABLE",
            "return False",
        ),
    ),
    "rejoin-flag-cleared-at-join-not-sync": (
        Edit(
            f"{_COORDINATOR}._recover",
            "self._rejoin_needed = True",
            "self._rejoin_needed = self._state is not MemberState.COMPLETING_REBALANCE",
        ),
    ),
    "retriable-error-discards-membership": (
        Edit(
            f"{_COORDINATOR}._recover",
            "    if failure.retry is Retry.AFTER_BACKOFF:\n",
            "    if failure.retry is Retry.AFTER_BACKOFF:\n"
            '        self._reset(keep_member=False, reason="retriable error")\n',
        ),
    ),
}

_HEARTBEATS: Final = {
    "heartbeat-continues-after-reset": (
        Edit(
            f"{_HEARTBEATING}._heartbeats_enabled",
            "return self._state in _JOINED and",
            "return (self._state in _JOINED or self._timers.heartbeat_ms > 0) and",
        ),
    ),
    "local-session-timer-ignores-rebalance-replies": (
        Edit(
            f"{_HEARTBEATING}._heartbeat_answered",
            '        self.request_rejoin("group is already rebalancing")\n        self._timers.answered(self._now_ms)',
            '        self.request_rejoin("group is already rebalancing")\n'
            "        if self._now_ms + self.config.heartbeat_interval_ms >= self._timers.session_ms:\n"
            '            self._reset(keep_member=False, reason="session timer")',
        ),
    ),
    "all-heartbeat-errors-mark-coordinator-dead": (
        Edit(
            f"{_HEARTBEATING}._heartbeat_answered",
            '        self.request_rejoin("group is already rebalancing")\n        self._timers.answered(self._now_ms)',
            '        self.request_rejoin("group is already rebalancing")\n'
            "        self._timers.answered(self._now_ms)\n"
            "        self._forget_coordinator()",
        ),
    ),
}

_COMMITS: Final = {
    "commit-rebalance-in-progress-resets-membership": (
        Edit(
            f"{_COMMITTING}._outcome",
            "    if error is Error.REBALANCE_IN_PROGRESS:\n",
            "    if error is Error.REBALANCE_IN_PROGRESS:\n        self._reset(keep_member=False, reason=error.name)\n",
        ),
    ),
}

_ELECTIONS_AND_WORKERS: Final = {
    "primary-acts-while-joining": (Edit(f"{_ELECTOR}.on_join_prepare", "if not self.sticky:", "if False:"),),
    "schema-registry-two-masters-without-epoch": (
        Edit(
            f"{_ELECTOR}.on_join_complete",
            "    election = read_election(assignment)",
            "    latest = read_election(assignment)\n"
            '    election = getattr(self, "_latest", latest)\n'
            "    self._latest = latest",
        ),
    ),
    "schema-registry-elector-thread-dies": (
        Edit(
            "rebalance_check.impl.simulator.electors:ElectorApplication.poll",
            "    with suppress(ElectionFailed, WokenUp):\n        super().poll(now_ms)",
            '    if getattr(self, "_has_ended", False):\n'
            "        return\n"
            "    try:\n"
            "        super().poll(now_ms)\n"
            "    except ElectionFailed:\n"
            "        pass\n"
            "    except WokenUp:\n"
            "        self._has_ended = True",
        ),
    ),
    "config-mismatch-ignored": (
        Edit(f"{_WORKER}.rejoin_needed_or_pending", "assigned is None or assigned.failed or", "assigned is None or"),
        Edit(f"{_HERDER}._complete_rebalance", '"the assignment failed" if assigned.failed else ""', '""'),
    ),
    "worker-keeps-tasks-while-joining": (
        Edit(f"{_WORKER}.on_join_prepare", 'self._revoked_all("eager join")', "True"),
    ),
    "zombie-worker-keeps-tasks": (
        Edit(
            f"{_WORKER}.on_join_prepare",
            'self._revoked_all("eager join")',
            '(generation_id == -1 or self._revoked_all("eager join"))',
        ),
    ),
}

CLIENT_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_MEMBERSHIP,
    **_JOINS,
    **_HEARTBEATS,
    **_COMMITS,
    **_ELECTIONS_AND_WORKERS,
}
"""By name of the mutant."""
