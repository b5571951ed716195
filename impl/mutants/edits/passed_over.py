"""The edits of the mutants like random ones that every claim passed over before."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"

_OF_THE_COORDINATOR: Final = {
    "last-join-is-not-noticed": (
        Edit(f"{_COORDINATOR}.join:rebalance_or_complete", "maybe_complete_join(shard, group)", "pass"),
    ),
    "initial-delay-runs-once": (
        Edit(f"{_COORDINATOR}.join:add_member", "group.new_member_added = True", "group.new_member_added = False"),
    ),
    "loading-coordinator-refuses-heartbeats": (
        Edit(
            f"{_COORDINATOR}.validation:refusal",
            "if phase is Phase.LOADING and isinstance(request, HeartbeatRequest):",
            "if phase is Phase.ACTIVE and isinstance(request, HeartbeatRequest):",
        ),
    ),
    "commits-end-with-the-join-phase": (
        Edit(
            f"{_COORDINATOR}.offsets:refusal",
            "group.status is GroupStatus.COMPLETING_REBALANCE and",
            "group.status is GroupStatus.PREPARING_REBALANCE and",
        ),
    ),
    "returning-followers-skip": (
        Edit(
            f"{_COORDINATOR}.static:answer_without_rebalance",
            "leads = group.leader == member.member_id",
            "leads = group.leader != member.member_id",
        ),
    ),
    "group-record-written-twice": (
        Edit(
            f"{_COORDINATOR}.writes:append_group",
            "    append(shard, (record,), on_answer, on_commit)",
            "    append(shard, (record,), on_answer, on_commit)\n"
            "    append(shard, (record,), lambda _: None, on_commit)",
        ),
    ),
    "loading-coordinator-serves": (
        Edit(
            f"{_COORDINATOR}.coordinator:GroupCoordinator.start_loading",
            "self._stop(Phase.LOADING)",
            "self._stop(Phase.ACTIVE)",
        ),
    ),
    "leave-is-not-answered": (
        Edit(f"{_COORDINATOR}.leave:leave_group", "after_writes(shard, on_answer)", "pass"),
    ),
    "answered-leave-waits": (
        Edit(f"{_COORDINATOR}.leave:leave_group", "if not shard.has_answered(token):", "if shard.has_answered(token):"),
    ),
}  # fmt: skip

_OF_MEMBERS: Final = {
    "failed-look-up-is-repeated-at-once": (
        Edit(
            f"{_CLIENT}.lookup:CoordinatorLookup.answered",
            "self.due_ms = now_ms + self._backoff.next_ms()",
            "self.due_ms = now_ms",
        ),
    ),
    "moved-coordinator-is-kept": (
        Edit(
            f"{_CLIENT}.heartbeating:Heartbeating._heartbeat_answered",
            "{Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR}",
            "{Error.COORDINATOR_NOT_AVAILABLE}",
        ),
    ),
    "pauses-are-the-longest": (
        Edit(
            f"{_CLIENT}.backoff:ExponentialBackoff.next_ms",
            "return min(int(term * factor), self._most_ms)",
            "return max(int(term * factor), self._most_ms)",
        ),
    ),
    "last-commit-is-not-waited-for": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator.on_close",
            "return self._final_commit.outcome is not CommitOutcome.PENDING",
            "return True",
        ),
    ),
    "process-ends-while-it-closes": (
        Edit(
            f"{_CLIENT}.coordinator:Coordinator.close",
            "    if not self.on_close():\n        return False",
            "    if not self.on_close():\n        return True",
        ),
    ),
    "unnamed-member-leaves": (
        Edit(
            f"{_CLIENT}.heartbeating:Heartbeating._leave",
            'sendable = self._state is not MemberState.UNJOINED and self._generation.member_id != ""',
            "sendable = self._state is not MemberState.UNJOINED",
        ),
    ),
    "positions-outlive-the-partition": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator._forget_positions",
            "self._positions = {tp: offset for tp, offset in self._positions.items() if tp in self._owned}",
            "pass",
        ),
    ),
    "old-claims-get-a-generation": (
        Edit(
            "rebalance_check.impl.protocol.consumer_protocol:read_subscription",
            "if version >= _GENERATION_SINCE else NO_GENERATION",
            "if version >= _GENERATION_SINCE else 3",
        ),
    ),
    "roundrobin-deals-to-the-last": (
        Edit(
            "rebalance_check.impl.assignors.roundrobin:RoundRobinAssignor.assign",
            "last = _next(circle, last, members)",
            "pass",
        ),
    ),
    "sticky-keeps-nothing": (
        Edit(
            "rebalance_check.impl.assignors.sticky_constrained:_keep",
            "if not nearness.far(member, tp))",
            "if nearness.far(member, tp))",
        ),
    ),
}

_OF_WORKERS: Final = {
    "delay-postpones-nothing": (
        Edit(
            f"{_CONNECT}.assignors.incremental:revoke_for_balance",
            "if memory.delay_ms != 0:",
            "if memory.delay_ms < 0:",
        ),
    ),
    "asked-herder-sleeps-on": (Edit(f"{_CONNECT}.herder.requests:Requests.add_request", "self.wake()", "pass"),),
    "read-configs-wake-no-herder": (
        Edit(f"{_CONNECT}.herder.updating:Updating.on_config_change", "self.wake()", "pass"),
    ),
    "dealt-work-is-not-counted": (Edit(f"{_CONNECT}.assignors.balance:_place_kind", "load[worker] += 1", "pass"),),
    "halted-worker-leaves-its-tasks": (
        Edit(
            f"{_CONNECT}.herder.herder:Herder._halt",
            "    yield from self._stop_and_await(tasks, at_once=len(work))\n",
            "",
        ),
    ),
    "cancelled-work-runs-on": (
        Edit(f"{_CONNECT}.herder.task_instance:TaskInstance._shut_down", "if self.ended:", "if not self.ended:"),
    ),
    "paused-tasks-use-topics": (
        Edit(
            f"{_CONNECT}.herder.task_instance:TaskInstance._use_topics",
            "self.state is not InstanceState.RUNNING:",
            "self.state is InstanceState.RUNNING:",
        ),
    ),
    "configuring-resets-the-target-state": (
        Edit(f"{_CONNECT}.config.writing:put_connector", "if target is None else", "if target is not None else"),
    ),
    "accepted-restart-is-refused": (
        Edit(f"{_CONNECT}.herder.serving:Serving._serve_restart", "answer(Answer.OK)", "answer(Answer.CONFLICT)"),
    ),
    "compaction-keeps-what-is-old": (
        Edit(
            f"{_CONNECT}.config.shared_log:SharedConfigLog.compact",
            "if record.offset not in left)",
            "if record.offset in left)",
        ),
    ),
}

PASSED_OVER_EDITS: Final[dict[str, tuple[Edit, ...]]] = {**_OF_THE_COORDINATOR, **_OF_MEMBERS, **_OF_WORKERS}
