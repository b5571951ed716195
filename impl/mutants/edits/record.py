"""The edits of the mutants of what is recorded."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"
_PROTOCOL: Final = "rebalance_check.impl.protocol"

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
    "resigning-coordinator-lets-requests-wait": (
        Edit(f"{_COORDINATOR}.failover:unload", "dismiss(shard, group, member)", "pass"),
    ),
    "closing-consumer-keeps-its-partitions": (
        Edit(f"{_CLIENT}.consumer:ConsumerCoordinator.on_leave_prepare", "self._revoke(self._owned)", "pass"),
    ),
    "old-members-need-an-id": (
        Edit(
            f"{_COORDINATOR}.join:join_as_new_member",
            "elif instance_id is None and request.version >= MEMBER_ID_REQUIRED_SINCE:",
            "elif instance_id is None:",
        ),
    ),
    "claims-are-of-no-generation": (
        Edit(
            f"{_PROTOCOL}.consumer_protocol:_generation_field",
            "return NO_GENERATION if generation is None or generation < 0 else generation",
            "return NO_GENERATION",
        ),
    ),
    "closing-consumer-commits-nothing": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator.on_close",
            "if self._auto_commit_ms is None:",
            "if self._auto_commit_ms is not None:",
        ),
    ),
    "unknown-instance-is-fenced": (
        Edit(
            f"{_COORDINATOR}.group:Group.validate_member",
            "if holder is None:\n            return Error.UNKNOWN_MEMBER_ID\n        if holder",
            "if holder is None:\n            return Error.FENCED_INSTANCE_ID\n        if holder",
        ),
    ),
    "completed-assignment-is-not-recorded": (
        Edit(
            f"{_CONNECT}.worker.reporting:WorkerReporter.received",
            "self._recorder.emit(\n        AssignmentCompleted(",
            "str(\n        AssignmentCompleted(",
        ),
    ),
    "worker-claims-are-not-recorded": (
        Edit(f"{_CONNECT}.worker.reporting:WorkerReporter.claimed", "self._recorder.emit(", "str("),
    ),
    "commit-outcomes-are-not-recorded": (
        Edit(f"{_CLIENT}.committing:Committing._commit_answered", "self.recorder.emit(", "str("),
    ),
    "config-reads-begin-unrecorded": (
        Edit(
            f"{_CONNECT}.config.store:ConfigStore._go_on",
            "self._recorder.emit(",
            "str(",
        ),
    ),
    "session-keys-are-written-unrecorded": (
        Edit(f"{_CONNECT}.herder.leading:Leading._rotate_session_key", "self.recorder.emit(", "str("),
    ),
    "topic-statuses-have-a-generation": (
        Edit(f"{_CONNECT}.status.writing:StatusWriting._admit_topic", "generation=-1,", "generation=self.generation,"),
    ),
    "topics-are-reset-unrecorded": (
        Edit(
            f"{_CONNECT}.herder.serving:Serving.reset_topics",
            "self.recorder.emit(TopicsReset(member=self.member, connector=connector))",
            "pass",
        ),
    ),
    "status-stores-stop-unrecorded": (
        Edit(
            f"{_CONNECT}.status.store:StatusStore.stop",
            "self._recorder.emit(StatusStoreStopped(worker=self.worker))",
            "pass",
        ),
    ),
    "target-states-are-applied-unrecorded": (
        Edit(
            f"{_CONNECT}.herder.updating:Updating._apply_target_state",
            "self.recorder.emit(TargetStateChanged(member=self.member, connector=connector, state=state.value))",
            "pass",
        ),
    ),
    "joined-claims-are-those-of-before": (
        Edit(f"{_CLIENT}.joining:Joining._send_join", "self._sent_claims = self.claims()", "pass"),
    ),
    "claimed-generations-are-not-recorded": (
        Edit(
            f"{_CLIENT}.leading:Leading.describe_claimed_generation",
            "return read_claimed_generation(metadata)",
            "return None",
        ),
    ),
    "raised-calls-are-recorded-as-unfinished": (
        Edit(f"{_CLIENT}.calling:Calling.__exit__", "else RAISED", "else UNFINISHED"),
    ),
    "restart-requests-are-not-queued": (
        Edit(
            f"{_CONNECT}.herder.serving:Serving.restart_work",
            'self._ask("restart work", work_name(key), lambda: self._serve_restart_work(key, answer), answer)',
            "pass",
        ),
    ),
    "wishes-are-not-recorded": (
        Edit(f"{_CLIENT}.subscribing:Subscribing.subscribe", "self._emit_subscription()", "pass"),
    ),
    "received-requests-have-one-number": (
        Edit(f"{_CONNECT}.herder.serving:Serving.receive_internal", "self._received + 1", "self._received"),
    ),
}
