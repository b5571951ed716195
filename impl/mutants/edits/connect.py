"""Mutants of Kafka Connect: assignors, the worker's coordinator, its herder, its config store."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CONNECT: Final = "rebalance_check.impl.connect"
_EAGER: Final = f"{_CONNECT}.assignors.eager:EagerAssignor.assign"
_INCREMENTAL: Final = f"{_CONNECT}.assignors.incremental"
_ROUND: Final = f"{_CONNECT}.assignors.round"
_WORKER: Final = f"{_CONNECT}.worker.coordinator:WorkerCoordinator"
_HERDER: Final = f"{_CONNECT}.herder"

_ROUNDS: Final = {
    "offset-of-each-worker": (
        Edit(_EAGER, "config_offset=current.config_offset", "config_offset=current.members[member].config_offset"),
    ),
    "leader-url-of-each-worker": (
        Edit(_EAGER, "leader_url=current.members[current.leader].url", "leader_url=current.members[member].url"),
    ),
    "connect-active-work-counts-as-new": (
        Edit(f"{_INCREMENTAL}:sort_out", "created=configured - previous - active", "created=configured - previous"),
    ),
    "eager-deals-connectors-to-all": (
        Edit(
            _EAGER,
            "        work[next(circle)].append(item)",
            "        work[next(circle)].append(item)\n"
            "        if item.task < 0:\n            work[next(circle)].append(item)",
        ),
    ),
    "lost-work-never-assigned-again": (
        Edit(
            f"{_INCREMENTAL}:handle_lost", "            return expired, lost", "            return expired, frozenset()"
        ),
    ),
    "target-state-begins-a-round": (
        Edit(
            f"{_HERDER}.updating:Updating.on_config_change",
            "            self._target_updates[connector] = None\n",
            "            self._target_updates[connector] = None\n            self._needs_rebalance = True\n",
        ),
    ),
}

_WORK: Final = {
    "worker-waits-for-a-coordinator": (
        Edit(
            f"{_WORKER}._has_coordinator_or_gave_up",
            "self._now_ms < self._unknown_since_ms + self.config.heartbeat_interval_ms",
            "self._unknown_since_ms is not None",
        ),
    ),
    "connect-revocations-skipped-after-incomplete-rebalance": (
        Edit(
            f"{_HERDER}.revoking:Revoking.on_revoked",
            "if not self.resolved and self.mode is ConnectMode.EAGER",
            "if not self.resolved",
        ),
    ),
    "connect-task-reconfig-not-restarted-incremental": (
        Edit(
            f"{_HERDER}.updating:Updating._apply_updates",
            "yield from self._stop_reconfigured_tasks(updates)",
            "del updates",
        ),
    ),
    "connect-restart-cascades-to-cached-tasks": (
        Edit(
            f"{_HERDER}.updating:Updating._stop_reconfigured_tasks",
            "key for key in assigned if numbers and key.connector == connector and not isinstance(key, ConnectorKey)",
            "key for key in assigned if numbers and not isinstance(key, ConnectorKey)",
        ),
    ),
    "connect-compares-transformed-with-raw-configs": (
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring._differ",
            "!= one for number, one",
            "!= {**one, 'password': 'resolved'} for number, one",
        ),
    ),
    "connect-runtime-only-change-not-applied": (
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring._differ",
            "    return state.applied != state.config",
            "    return False",
        ),
    ),
    "connect-shrunk-task-set-not-cleaned": (
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring._reconfigure",
            "    if not changed:",
            "    if not changed or not configs:",
        ),
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring._reconfigure",
            "published=changed",
            "published=changed and bool(configs)",
        ),
    ),
    "connect-key-rotation-after-leader-change": (
        Edit(
            f"{_HERDER}.leading:Leading._take_session_key",
            "if self.settings.key_ttl_ms > 0:",
            "if self.settings.key_ttl_ms > 0 and self.is_leader:",
        ),
        Edit(
            f"{_HERDER}.leading:Leading._key_is_needed",
            "or not self.is_leader:",
            "or not (self.is_leader or self._key_expires_ms is not None):",
        ),
    ),
    "started-before-configs-are-read": (
        Edit(
            f"{_HERDER}.completing:Completing._complete_rebalance",
            "here != assigned.config_offset",
            "here < assigned.config_offset",
        ),
    ),
    "no-rejoin-after-revocation": (
        Edit(f"{_HERDER}.completing:Completing._follow_up", "    if follows:", "    if False:"),
    ),
    "revoked-tasks-not-stopped": (
        Edit(f"{_HERDER}.revoking:Revoking.on_revoked", "work_of(connectors, tasks)", "work_of(connectors, ())"),
    ),
    "lost-start": (
        Edit(f"{_HERDER}.starting:Starting.start_work", "    for key in missing:", "    for key in missing[1:]:"),
    ),
}

_WORK_2: Final = {
    "old-assignment-started-after-giving-up": (
        Edit(
            f"{_HERDER}.herder:Herder._tick",
            "    if not self.coordinator.rejoin_needed_or_pending():",
            "    if True:",
        ),
    ),
    "unassigned-work-restarted": (
        Edit(f"{_HERDER}.serving:Serving._serve_restart_work", "    if not own:", "    if False:"),
    ),
}

_OPERATOR: Final = {
    "target-state-restarts-the-connector": (
        Edit(
            f"{_HERDER}.updating:Updating.on_config_change",
            "            self._target_updates[connector] = None\n",
            "            self._target_updates[connector] = self._connector_updates[connector] = None\n",
        ),
    ),
}

_READING_AND_FENCING: Final = {
    "connect-unsync-backoff-exceeds-rebalance-delay": (
        Edit(f"{_HERDER}.completing:Completing._back_off", "    if self.mode is ConnectMode.EAGER:", "    if True:"),
    ),
    "connect-rebalance-config-read-unbounded": (
        Edit(
            f"{_HERDER}.completing:Completing._read_configs_to_end",
            "self.configs.refresh(self.config.worker_sync_timeout_ms)",
            "self.configs.refresh(1 << 40)",
        ),
    ),
    "connect-fencing-aborted-by-pending-rebalance": (
        Edit(
            f"{_HERDER}.fencing:Fencing._fence",
            "    if not before.pending_fencing:",
            "    if self._needs_rebalance:\n"
            "        self._emit_fenced(connector, (), 'conflict')\n"
            "        return Answer.CONFLICT\n"
            "    if not before.pending_fencing:",
        ),
    ),
    "producer-keeps-its-epoch": (
        Edit(
            f"{_HERDER}.producers:SharedProducers.initialise",
            "self.epochs.get(name, -1) + 1",
            "max(self.epochs.get(name, -1), 0)",
        ),
    ),
}

_STATUSES: Final = {
    "statuses-with-the-groups-generation": (
        Edit(f"{_HERDER}.statuses:StatusWriter._put", "self._generation()", "self._generation() + 1"),
    ),
    "status-deleted-task-lingers": (
        Edit(f"{_HERDER}.leading:Leading._clean_up", "if number not in configured.tasks(name):", "if False:"),
    ),
    "silent-connector-start": (
        Edit(
            f"{_HERDER}.connector_instance:ConnectorInstance._write_state",
            "        self._statuses.running(self.key)",
            "        pass",
        ),
    ),
}

CONNECT_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **_ROUNDS,
    **_WORK,
    **_WORK_2,
    **_OPERATOR,
    **_READING_AND_FENCING,
    **_STATUSES,
}
