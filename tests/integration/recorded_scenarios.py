"""Random scenarios on a coordinator, recorded as a recorder on the wire would see their requests and replies."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.digest import metadata_digest
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.scenarios import ScenarioRunner, perform
from rebalance_check.impl.scenarios.random_scenarios import AGEING_SEED, random_scenario
from rebalance_check.impl.scenarios.recorded import GROUP, pieces
from rebalance_check.impl.scenarios.runner import Observed, settings_of
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved


class WireRunner(ScenarioRunner):
    """Performs a scenario; ``history`` has its requests and replies of the group, at their virtual times."""

    def __init__(self, coordinator: SteeredCoordinator) -> None:
        super().__init__(coordinator)
        self.history: list[Event] = []

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request, and record it; each is on a connection of its own."""
        if request.group_id == GROUP:
            self._record(RequestObserved, self.sent + 1, request, **_asked(request))
        return super().send(name, request)

    def _receive(self, token: int, reply: GroupReply) -> Observed:
        observed = super()._receive(token, reply)
        if observed.request.group_id == GROUP:
            self._record(ReplyObserved, token, observed.request, **_answered(reply))
        return observed

    def _record(
        self, kind: type[RequestObserved | ReplyObserved], number: int, request: GroupRequest, **fields: Any
    ) -> None:
        place: dict[str, Any] = {"group": GROUP, "source": "wire", "seq": len(self.history), "time_ms": self.now}
        api = type(request).__name__.removesuffix("Request")
        self.history.append(kind(**place, connection=number, request=number, api=api, **fields))


def _asked(request: GroupRequest) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "version": request.version, "client_id": request.client_id, "member_id": getattr(request, "member_id", ""),
        "instance_id": getattr(request, "group_instance_id", None) or "",
        "request_generation": getattr(request, "generation_id", -1),
    }  # fmt: skip
    match request:
        case JoinGroupRequest():
            fields |= {
                "session_timeout_ms": request.session_timeout_ms, "rebalance_timeout_ms": request.rebalance_timeout_ms,
                "protocol_type": request.protocol_type, "metadata": metadata_digest(request.protocols),
                "protocols": tuple(protocol.name for protocol in request.protocols),
            }  # fmt: skip
        case SyncGroupRequest():
            fields["assignments"] = tuple((one.member_id, _shown(one.assignment)) for one in request.assignments)
        case LeaveGroupRequest():
            fields["leaving"] = tuple((one.member_id, one.group_instance_id or "") for one in request.members)
        case OffsetCommitRequest():
            fields["offsets"] = tuple((f"{one.topic}-{one.partition}", one.offset) for one in request.offsets)
    return fields


def _answered(reply: GroupReply) -> dict[str, Any]:
    match reply:
        case JoinGroupReply():
            return {
                "error": reply.error.name, "reply_generation": reply.generation_id,
                "assigned_member_id": reply.member_id, "leader": reply.leader, "protocol": reply.protocol_name or "",
                "members": tuple((one.member_id, one.group_instance_id or "") for one in reply.members),
                "skip_assignment": reply.skip_assignment,
            }  # fmt: skip
        case SyncGroupReply():
            return {"error": reply.error.name, "assignment": _shown(reply.assignment)}
        case LeaveGroupReply():
            return {"error": _first(reply.error, (one.error for one in reply.members))}
        case OffsetCommitReply():
            return {"error": _first(reply.error, (error for _, _, error in reply.partitions))}
        case _:
            return {"error": reply.error.name}


def _first(error: Error, items: Iterable[Error]) -> str:
    return next((each.name for each in (error, *items) if each is not Error.NONE), Error.NONE.name)


def _shown(assignment: bytes) -> tuple[str, ...]:
    return (assignment.hex(),) if assignment else ()


UNRECORDED: tuple[str, ...] = ("delete ", "expire ")
"""The lines of which a recording shows nothing."""


def scenario_of(number: int) -> tuple[GroupConfig, list[str]]:
    """The settings and the lines of a random scenario without faults, of offsets that age and of an operator."""
    tens, rest = divmod(number, 9)
    seed = 10 * tens + (AGEING_SEED + 1 + rest) % 10
    first, *lines = random_scenario(seed, faults=False)
    config = settings_of(first)
    assert config is not None
    return config, [line for line in lines if not line.startswith(UNRECORDED)]


def performed(coordinator: SteeredCoordinator, lines: list[str]) -> list[Event]:
    """The requests and replies of a scenario, as a recorder saw them."""
    runner = WireRunner(coordinator)
    for line in lines:
        for piece in pieces(runner, line):
            perform(runner, piece)
    return runner.history


def on_ours(seed: int) -> tuple[GroupConfig, list[Event]]:
    """A random scenario on our own coordinator."""
    config, lines = scenario_of(seed)
    made = count(1)
    return config, performed(InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}"), lines)
