"""The edits of the mutants of what workers do with plug-ins, restarts, stops, configs and records."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CONNECT: Final = "rebalance_check.impl.connect"

_OF_PLUGINS: Final = {
    "configured-tasks-fail": (
        Edit(f"{_CONNECT}.herder.starting:Starting._start_task", "if config is None:", "if config is not None:"),
    ),
    "paused-connectors-run-on": (
        Edit(
            f"{_CONNECT}.herder.connector_instance:ConnectorInstance._go_on",
            "self._inside(self._behaviour.stop_ms if stops else 0, self._suspended)",
            "pass",
        ),
    ),
    "pause-stops-no-connector": (
        Edit(
            f"{_CONNECT}.herder.connector_instance:ConnectorInstance._go_on",
            "stops = self.state is InstanceState.RUNNING",
            "stops = False",
        ),
    ),
    "calls-of-a-connector-overlap": (
        Edit(f"{_CONNECT}.herder.connector_instance:ConnectorInstance._inside", "self._busy = True", "pass"),
    ),
    "paused-tasks-do-not-start": (
        Edit(
            f"{_CONNECT}.herder.task_instance:TaskInstance.transition_to",
            "elif target is TargetState.STARTED and waits_to_start:",
            "elif target is TargetState.STARTED and waits_to_start and self.ended:",
        ),
    ),
    "stopping-task-outlives-its-refusal": (
        Edit(f"{_CONNECT}.herder.task_instance:TaskInstance._prepared", "self._shut_down()", "pass"),
    ),
    "quick-work-is-cancelled": (
        Edit(f"{_CONNECT}.herder.stopping:StopJob._is_over", "now_ms >= deadline_ms:", "now_ms < deadline_ms:"),
    ),
    "asked-worker-stays": (
        Edit(
            f"{_CONNECT}.herder.herder:Herder.request_stop",
            "self._stop_requested = True",
            "self._stop_requested = False",
        ),
    ),
    "work-is-given-up-at-once": (
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator._has_coordinator_or_gave_up",
            "if self._now_ms < self._unknown_since_ms + self.config.heartbeat_interval_ms:",
            "if self._now_ms < self._unknown_since_ms:",
        ),
    ),
    "begun-revocation-waits-for-a-coordinator": (
        Edit(
            f"{_CONNECT}.worker.coordinator:WorkerCoordinator._can_prepare",
            "self._is_revoking or super()._can_prepare()",
            "super()._can_prepare()",
        ),
    ),
    "stopping-worker-waits-for-its-round": (
        Edit(f"{_CONNECT}.herder.herder:Herder._become_active", "return False", "pass"),
    ),
}

_OF_RESTARTS: Final = {
    "restart-takes-what-runs": (
        Edit(
            f"{_CONNECT}.herder.restarting:Restarting.plan_restart",
            "if not request.only_failed or self._has_failed(key)",
            "if not request.only_failed or not self._has_failed(key)",
        ),
    ),
    "planned-restart-starts-nothing": (
        Edit(f"{_CONNECT}.herder.restarting:Restarting._restart", "self._start(key)", "pass"),
    ),
}

_OF_FENCING: Final = {
    "fencing-leaves-the-epoch": (
        Edit(
            f"{_CONNECT}.herder.producers:SharedProducers.fence",
            "self.epochs[name] = epoch + 1",
            "self.epochs[name] = epoch",
        ),
    ),
    "fencing-forgets-a-task": (
        Edit(f"{_CONNECT}.herder.fencing:Fencing._fence", "range(recorded))", "range(recorded - 1))"),
    ),
    "refused-task-goes-on": (
        Edit(
            f"{_CONNECT}.herder.fencing:Fencing._prepare_task",
            "prepared(False)\n            return",
            "prepared(False)",
        ),
    ),
}

_OF_CONFIGS: Final = {
    "restart-of-the-known-is-not-found": (
        Edit(
            f"{_CONNECT}.herder.serving:Serving._serve_restart",
            "cache.get(ConnectorKey(request.connector)) is None:",
            "cache.get(ConnectorKey(request.connector)) is not None:",
        ),
    ),
    "deletion-of-the-unknown-is-a-bad-request": (
        Edit(f"{_CONNECT}.herder.serving:Serving._as_leader", "answer(Answer.NOT_FOUND)", "answer(Answer.BAD_REQUEST)"),
    ),
    "known-configs-are-read-again": (
        Edit(
            f"{_CONNECT}.herder.completing:Completing._complete_rebalance",
            "if self._must_read_on(assigned) and not",
            "if not",
        ),
    ),
    "refused-task-configs-are-forgotten": (
        Edit(
            f"{_CONNECT}.herder.reconfiguring:Reconfiguring._forward",
            "if answer is not Answer.OK:\n            retry()",
            "pass",
        ),
    ),
    "commits-need-no-round": (
        Edit(f"{_CONNECT}.herder.updating:Updating.on_config_change", "self._needs_rebalance = True", "pass"),
    ),
    "reads-end-at-once": (
        Edit(
            f"{_CONNECT}.config.channel:ConfigChannel._is_below",
            "return record is not None and record.offset < end",
            "return False",
        ),
    ),
    "stopped-is-written-once": (
        Edit(
            f"{_CONNECT}.config.values:target_state_record",
            "older = TargetState.PAUSED if state is TargetState.STOPPED else state",
            "older = state",
        ),
    ),
}

_OF_MEMBERSHIPS: Final = {
    "unsettled-worker-is-notified": (
        Edit(
            "rebalance_check.impl.client.heartbeating:Heartbeating._heartbeat_answered",
            "(error is Error.REBALANCE_IN_PROGRESS and",
            "(error is Error.MEMBER_ID_REQUIRED and",
        ),
    ),
}

_OF_SHARES: Final = {
    "successive-revocations-wait-for-long": (
        Edit(
            f"{_CONNECT}.assignors.memory:backoff_ms",
            "min(int(_MULTIPLIER**exponent), max_delay_ms)",
            "max(int(_MULTIPLIER**exponent), max_delay_ms)",
        ),
    ),
    "delay-begins-anew": (
        Edit(
            f"{_CONNECT}.assignors.incremental:_wait",
            "memory.scheduled_rebalance_ms - now_ms",
            "memory.scheduled_rebalance_ms + now_ms",
        ),
    ),
    "new-work-goes-to-the-most": (
        Edit(
            f"{_CONNECT}.assignors.balance:_place_kind",
            "(load[worker], utf16_key(worker)))",
            "(-load[worker], utf16_key(worker)))",
        ),
    ),
    "balance-takes-what-is-left-over": (
        Edit(
            f"{_CONNECT}.assignors.balance:_surplus_of_kind",
            "kept, extras = share + 1, extras - 1",
            "kept, extras = share, extras - 1",
        ),
    ),
}

_OF_STATUSES: Final = {
    "paused-connectors-are-not-written": (
        Edit(
            f"{_CONNECT}.herder.connector_instance:ConnectorInstance._write_state",
            "self._statuses.paused(self.key)",
            "pass",
        ),
    ),
    "statuses-are-not-drained": (
        Edit(f"{_CONNECT}.herder.herder:Herder._halt", "self.now_ms + DRAIN_MS", "self.now_ms - DRAIN_MS"),
    ),
    "status-of-the-next-generation": (
        Edit(f"{_CONNECT}.status.codec:write_status", "{value.generation}", "{value.generation + 1}"),
    ),
    "stopped-status-store-sends": (Edit(f"{_CONNECT}.status.store:StatusStore.stop", "self._stopped = True", "pass"),),
    "paused-connectors-are-stopped": (
        Edit(
            f"{_CONNECT}.herder.serving:Serving.pause_connector",
            'self._put_target_state("pause", connector, TargetState.PAUSED, answer)',
            'self._put_target_state("pause", connector, TargetState.STOPPED, answer)',
        ),
    ),
    "read-back-has-no-limit": (
        Edit(
            f"{_CONNECT}.herder.core:HerderCore._is_over", "call.done or deadline_ms != awaited_ms or", "call.done or"
        ),
    ),
    "status-store-starts-unread": (
        Edit(
            f"{_CONNECT}.status.store:StatusStore.start",
            "self._missing = {partition: end for partition, end in enumerate(ends) if end > 0}",
            "self._missing = {}",
        ),
    ),
    "status-store-starts-for-ever": (
        Edit(f"{_CONNECT}.status.store:StatusStore._finish_start", "self._starting = False", "pass"),
    ),
    "cached-status-is-not-written-again": (
        Edit(
            f"{_CONNECT}.status.writing:StatusWriting.put",
            "    self.hand_over(",
            "    cached = self.cache.entry(key).value\n"
            "    if cached is not None and cached.status == value.status:\n"
            "        return\n"
            "    self.hand_over(",
        ),
    ),
}

WORKER_DUTY_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_OF_PLUGINS,
    **_OF_RESTARTS,
    **_OF_FENCING,
    **_OF_CONFIGS,
    **_OF_MEMBERSHIPS,
    **_OF_SHARES,
    **_OF_STATUSES,
}
"""By the name of the mutant."""
