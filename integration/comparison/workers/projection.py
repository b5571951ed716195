"""Projects observations of a worker to those that Kafka's and ours can both show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.protocol.connect_protocol import (
    ConnectAssignment,
    read_connect_assignment,
    read_worker_state,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.integration.comparison.workers.steps import FRAMES, Seen

OF_JAVA: Final = "rebalance failed due to "
"""Java writes this into the next JoinGroup after a failed one; ours gives no reason there (docs/differences.md)."""

_REVOKED: Final = ("revoked_connectors", "revoked_tasks")
_WORK: Final = ("start", "stop", "status", "status, safely")
_FIELDS: Final = ("call", "work", "state", "generation")


def projected(seen: Seen) -> dict[str, Any]:
    """Without the order of revoked work, which hash sets of the leader decide and every claim repeats.

    Requests as bytes are carried, and compared field by field; Java's listener hears of a poll timeout, ours does not.
    """
    calls: list[Seen] = [call for call in seen["calls"] if call["call"] != "poll timeout"]
    plain: dict[str, Any] = {name: value for name, value in seen.items() if name != FRAMES}
    plain["requests"] = [_request(request) for request in seen["requests"]]
    plain["calls"] = [_call(call) for call in calls]
    plain["claim"] = _in_order(seen["claim"], *_REVOKED)
    return plain


def work_done(seen: Seen) -> list[str]:
    """The work of a herder in one action, and its exception; no order, which Kafka's pool of threads decides."""
    calls = [call for call in seen["calls"] if call["call"] in _WORK]
    found = [" ".join(str(call[name]) for name in _FIELDS if name in call) for call in calls]
    return sorted(found) + ([f"raised {seen['raised']}"] if seen["raised"] else [])


def _request(request: Seen) -> Seen:
    changed: Seen = {}
    if str(request.get("reason", "")).startswith(OF_JAVA):
        changed["reason"] = ""
    if "protocols" in request:
        changed["protocols"] = [[name, _state(data)] for name, data in request["protocols"]]
    if "assignments" in request:
        changed["assignments"] = {member: _assignment(data) for member, data in request["assignments"].items()}
    return {**request, **changed}


def _call(call: Seen) -> Seen:
    if call["call"] == "revoked":
        revoked: Seen = _in_order(call, "connectors", "tasks")
        return revoked
    return {**call, "assignment": _in_order(call["assignment"], *_REVOKED)} if "assignment" in call else call


def _in_order(fields: Any, *names: str) -> Any:
    if not isinstance(fields, Mapping):
        return fields
    return {**fields, **{name: sorted(fields[name]) for name in names if name in fields}}


def _assignment(data: str) -> str:
    if not data or data.startswith("0000"):
        return data
    one = read_connect_assignment(bytes.fromhex(data))
    return (write_connect_assignment(_sorted(one), one.version) or b"").hex()


def _state(data: str) -> str:
    state = read_worker_state(bytes.fromhex(data))
    if not state.allocation.revokes:
        return data
    return write_worker_state(replace(state, allocation=_sorted(state.allocation)), state.allocation.version).hex()


def _sorted(assignment: ConnectAssignment) -> ConnectAssignment:
    return replace(
        assignment,
        revoked_connectors=tuple(sorted(assignment.revoked_connectors)),
        revoked_tasks=tuple(sorted(assignment.revoked_tasks)),
    )
