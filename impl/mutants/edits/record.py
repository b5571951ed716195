"""The edits of the mutants of what is recorded."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"

RECORD_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "generations-have-no-protocol": (
        Edit(
            f"{_COORDINATOR}.emit:EventEmitter.generation_started",
            'protocol=group.protocol_name or "",',
            'protocol="",',
        ),
    ),
    "answered-join-lists-nothing": (
        Edit(
            f"{_COORDINATOR}.emit:_joined",
            "request.protocols if isinstance(request, JoinGroupRequest) else ()",
            "()",
        ),
    ),
    "request-numbers-skip": (
        Edit(
            f"{_CLIENT}.core:CoordinatorCore._enqueue",
            "self._next_correlation_id += 1",
            "self._next_correlation_id += 2",
        ),
    ),
    "closing-is-recorded-as-a-loss": (
        Edit(f"{_CLIENT}.coordinator:Coordinator.close", "emits_loss=False", "emits_loss=True"),
    ),
    "computed-assignment-is-not-recorded": (
        Edit(
            f"{_CLIENT}.leading:Leading.perform_assignment",
            "self._emit_assignment(protocol, subscriptions, assigned)",
            "pass",
        ),
    ),
    "coordinator-is-not-looked-at": (
        Edit(
            f"{_COORDINATOR}.coordinator:GroupCoordinator.rested",
            "return None if group is None else rested(self._shard, group)",
            "return None",
        ),
    ),
    "commit-events-name-no-member": (
        Edit(
            f"{_CLIENT}.committing:Committing._commit_answered",
            'getattr(sent.request, "member_id", "")',
            '"member_id"',
        ),
    ),
    "assignments-teach-nothing": (
        Edit(f"{_CLIENT}.subscriptions:Subscribed.learn", "if self._pattern is None or not new:", "if False:"),
    ),
    "cooperative-assignors-are-followed-eagerly": (
        Edit(
            f"{_CLIENT}.consumer:common_protocol",
            "return RebalanceProtocol.COOPERATIVE",
            "pass",
        ),
    ),
    "commits-prolong-no-session": (
        Edit(
            f"{_COORDINATOR}.offsets:offset_commit",
            "shard.arm_session(group, member.member_id, member.session_timeout_ms)",
            "pass",
        ),
    ),
    "resigning-coordinator-dismisses-nobody": (
        Edit(f"{_COORDINATOR}.failover:unload", "dismiss(shard, group, member)", "pass"),
    ),
    "closing-consumer-keeps-its-partitions": (
        Edit(f"{_CLIENT}.consumer:ConsumerCoordinator.on_leave_prepare", "self._revoke(self._owned)", "pass"),
    ),
}
