"""When each member of a scenario was seen last, and since when its group is as it is: for invariants about time.

Only what requests, replies and DescribeGroups show is used, so a bound is kept only where it is certain. Times are in
ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import RequestIssued
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.steps import Reply, Step, is_accepted, members_of

TAKEOVERS: Final = frozenset({"failover", "load", "unload"})
"""Steps after which another coordinator serves the group, or none."""

FAULTS: Final = TAKEOVERS | {"hold", "release", "fail"}
PROLONG_A_SESSION: Final = frozenset({ACCEPTED, "REBALANCE_IN_PROGRESS"})


@dataclass(slots=True)
class MemberTimes:
    """The timeouts of a member, when its session was certainly restarted last, and whether it sent its SyncGroup.

    A JoinGroup that is answered at once changes no timeout, so each of them has a range.
    """

    session_ms: int
    rebalance_ms: int
    longest_ms: int
    seen_ms: int | None = None
    synced: bool = False


class StepTimes:
    """When the present status and generation of the group began, and the times of each member id.

    What happens while a step lets time pass happened between ``since_least_ms`` and ``since_ms``; so with generations.
    A group that was Dead may have had its status for longer: it is described by what the log has acknowledged.
    ``disturbed``: a fault was injected while the group was in this status; ``held``: the log acknowledges nothing.
    """

    def __init__(self) -> None:
        self.members: dict[str, MemberTimes] = {}
        self.status = ""
        self.since_ms = 0
        self.since_least_ms = 0
        self.generation = -1
        self.generation_ms = 0
        self.generation_least_ms = 0
        self.came_from = ""
        self.disturbed = False
        self.held = False

    def note(self, step: Step) -> None:
        """Take a step into account."""
        self._note_requests(step)
        for reply in step.replies_to(Api.JOIN_GROUP):
            self._note_join(step, reply)
        since_ms = 0 if step.before.status == GroupStatus.DEAD else step.started.time_ms
        if step.after.generation != self.generation:
            self.generation, self.generation_ms = step.after.generation, step.now_ms
            self.generation_least_ms = since_ms
            for times in self.members.values():
                times.synced = False
        if step.after.status != self.status:
            self.came_from, self.status, self.since_ms = self.status, step.after.status, step.now_ms
            self.since_least_ms = since_ms
            self.disturbed = False
        if step.verb in FAULTS:
            self.disturbed = True
            self.held = step.verb == "hold" or (self.held and step.verb != "release")
            if step.verb in TAKEOVERS:
                self.members.clear()

    def _note_requests(self, step: Step) -> None:
        for sent in step.sent:
            times = self.members.get(sent.member_id)
            if times is None:
                continue
            error = next((reply.error for reply in step.replies if reply.request is sent), None)
            if sent.api == Api.HEARTBEAT and error in PROLONG_A_SESSION:
                times.seen_ms = step.now_ms
            if sent.api == Api.SYNC_GROUP:
                times.synced |= error in {None, ACCEPTED}

    def _note_join(self, step: Step, reply: Reply) -> None:
        if reply.error == "GROUP_MAX_SIZE_REACHED":
            self.disturbed = True
        if not is_accepted(reply):
            return
        member_id, request = reply.event.assigned_member_id, reply.request
        known = self.members.get(member_id)
        if known is None and request in step.sent and member_id in members_of(step.before):
            return  # it was answered from memory, and keeps the timeouts of the log, which no step shows
        session_ms, rebalance_ms = request.session_timeout_ms, rebalance_timeout_of(request)
        # Only the end of a join phase restarts sessions; the log may delay an answer, too.
        waited = request not in step.sent and step.before.status == GroupStatus.PREPARING_REBALANCE
        self.members[member_id] = MemberTimes(
            min(session_ms, known.session_ms if known else session_ms),
            min(rebalance_ms, known.rebalance_ms if known else rebalance_ms),
            max(rebalance_ms, known.longest_ms if known else rebalance_ms),
            step.started.time_ms if waited else known.seen_ms if known else None,
            known is not None and known.synced,
        )


def rebalance_timeout_of(request: RequestIssued) -> int:
    """The rebalance timeout of a JoinGroup in ms: version 0 has one timeout for both."""
    return request.rebalance_timeout_ms if request.version else request.session_timeout_ms
