"""Mutants of a herder's queue, of what workers ask their leader for, and of session keys."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_HERDER: Final = "rebalance_check.impl.connect.herder"

HERDER_QUEUE_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "retries-do-not-wait": (
        Edit(
            f"{_HERDER}.requests:Requests.add_request",
            "QueuedRequest(self.now_ms + delay_ms, number, serve, refuse)",
            "QueuedRequest(self.now_ms, number, serve, refuse)",
        ),
    ),
    "retries-sleep-on": (
        Edit(
            f"{_HERDER}.requests:Requests._next_request_ms",
            "return self._queue[0].due_ms if self._queue else None",
            "return None",
        ),
    ),
    "follower-does-not-answer": (
        Edit(f"{_HERDER}.serving:Serving._serve_internal", "answer(Answer.CONFLICT)", "pass"),
    ),
    "refused-signatures-are-not-answered": (
        Edit(f"{_HERDER}.serving:Serving.receive_internal", "say(refusal)", "pass"),
    ),
    "written-task-configs-are-sent-again": (
        Edit(f"{_HERDER}.reconfiguring:Reconfiguring._forward", "if answer is not Answer.OK:", "if answer:"),
    ),
    "retries-wait-twice-as-long": (
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring.request_reconfiguration",
            "RETRY_MS << min(attempt - 1, 16)",
            "RETRY_MS << min(attempt, 16)",
        ),
    ),
    "leader-without-a-group-asks-itself": (
        Edit(
            f"{_HERDER}.reconfiguring:Reconfiguring._forward",
            "if self.leader_url is None or self.leader_url == self.url:",
            "if self.leader_url is None:",
        ),
    ),
    "session-keys-in-every-group": (
        Edit(
            f"{_HERDER}.leading:Leading._key_is_needed",
            "if self.mode is not ConnectMode.SESSIONED or not self.is_leader:",
            "if not self.is_leader:",
        ),
    ),
    "session-keys-expire-unseen": (
        Edit(
            f"{_HERDER}.herder:Herder._due_ms",
            "self._key_expires_ms if rotates else None",
            "None",
        ),
    ),
    "what-runs-has-a-trace": (
        Edit(
            "rebalance_check.impl.connect.status.codec:status_value",
            "BOOM if status is Status.FAILED else None",
            "BOOM",
        ),
    ),
}
"""In the order of the claims that they break."""
