"""Mutants of what a herder does of itself: it applies what it read, verifies tasks, reads on, and answers others."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_HERDER: Final = "rebalance_check.impl.connect.herder"

HERDER_DUTY_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "target-states-wait-for-other-news": (
        Edit(
            f"{_HERDER}.updating:Updating._apply_updates",
            "or self._connector_updates or self._target_updates or self._task_updates):",
            "or self._connector_updates or self._task_updates):",
        ),
    ),
    "verification-is-not-read": (
        Edit(
            f"{_HERDER}.fencing:Fencing._verify_task",
            "prepared(error is None and latest == generation and assigned)",
            "prepared(assigned)",
        ),
    ),
    "unread-configs-are-joined-with": (
        Edit(f"{_HERDER}.completing:Completing._complete_rebalance", "self._can_read_configs = False", "pass"),
    ),
    "unread-worker-stays-in-its-group": (
        Edit(
            f"{_HERDER}.completing:Completing._read_configs_to_end",
            'self.coordinator.maybe_leave_group("taking too long to read the log", self.now_ms)',
            "pass",
        ),
    ),
    "incremental-worker-stops-all": (
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator.on_join_prepare",
            'return self._mode is not ConnectMode.EAGER or self._revoked_all("eager join")',
            'return self._revoked_all("eager join")',
        ),
    ),
    "paused-work-is-started": (
        Edit(
            f"{_HERDER}.starting:Starting._target_state",
            "return self.config_state.target_state(connector) or TargetState.STARTED",
            "return TargetState.STARTED",
        ),
    ),
    "follower-says-that-it-wrote": (
        Edit(f"{_HERDER}.serving:Serving._serve_internal", "answer(Answer.CONFLICT)", "answer(Answer.OK)"),
    ),
}
"""In the order of the claims that they break."""
