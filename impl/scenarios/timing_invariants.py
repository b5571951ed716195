"""What a coordinator promises about time: who is removed when, and which phase ends by when (part of `promises`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_check.impl.protocol.messages import HeartbeatRequest, JoinGroupReply, JoinGroupRequest, SyncGroupRequest
from rebalance_check.impl.scenarios.step import COMPLETING, PREPARING, STABLE, Step, Watch, members_of
from rebalance_check.model.vocabulary.errors import Error


@dataclass(slots=True)
class Life:
    """What is known of a member's time: its timeouts, the last sign that surely restarted its session, its syncs.

    A JoinGroup that is answered at once changes no timeout, so each of them has a range.
    """

    session_ms: int
    rebalance_ms: int
    longest_ms: int
    seen_ms: int | None = None
    synced: bool = False


@dataclass(slots=True)
class Calendar:
    """When the present status and generation of the group began, and the life of each member id.

    ``disturbed``: a fault befell the group in this status; ``held``: the log acknowledges nothing.
    """

    lives: dict[str, Life] = field(default_factory=dict)
    state: str = ""
    since_ms: int = 0
    generation: int | None = None
    generation_ms: int = 0
    came_from: str = ""
    disturbed: bool = False
    held: bool = False

    def note(self, step: Step) -> None:
        """Take in a step, after it was judged."""
        self._note_requests(step)
        self._note_answers(step)
        if step.generation != self.generation:
            self.generation, self.generation_ms = step.generation, step.now_ms
            for life in self.lives.values():
                life.synced = False
        if step.after.state != self.state:
            self.came_from, self.state, self.since_ms = self.state, step.after.state, step.now_ms
            self.disturbed = False
        if step.command in {"failover", "load", "unload", "hold", "release", "fail"}:
            self.disturbed = True
            self.held = step.command == "hold" or (self.held and step.command != "release")
            if step.command in {"failover", "load", "unload"}:
                self.lives.clear()

    def _note_requests(self, step: Step) -> None:
        for sent in step.sent:
            if isinstance(sent.request, HeartbeatRequest) and sent.request.member_id in self.lives:
                answers = [each.reply.error for each in step.observed if each.token == sent.token]
                if answers and answers[0] in {Error.NONE, Error.REBALANCE_IN_PROGRESS}:
                    self.lives[sent.request.member_id].seen_ms = step.now_ms
            if isinstance(sent.request, SyncGroupRequest) and sent.request.member_id in self.lives:
                errors = [each.reply.error for each in step.observed if each.token == sent.token]
                self.lives[sent.request.member_id].synced |= not errors or errors[0] is Error.NONE

    def _note_answers(self, step: Step) -> None:
        new = {sent.token for sent in step.sent}
        for each in step.observed:
            request, reply = each.request, each.reply
            if isinstance(reply, JoinGroupReply) and isinstance(request, JoinGroupRequest):
                if reply.error is Error.GROUP_MAX_SIZE_REACHED:
                    self.disturbed = True
                if reply.error is Error.NONE:
                    rebalance_ms = request.rebalance_timeout_ms if request.version else request.session_timeout_ms
                    # Only the end of a join phase restarts sessions; the log may delay an answer, too.
                    waited = each.token not in new and step.before.state == PREPARING
                    seen_ms = step.now_ms if waited else None
                    known = self.lives.get(reply.member_id)
                    self.lives[reply.member_id] = Life(
                        min(request.session_timeout_ms, known.session_ms if known else request.session_timeout_ms),
                        min(rebalance_ms, known.rebalance_ms if known else rebalance_ms),
                        max(rebalance_ms, known.longest_ms if known else rebalance_ms),
                        seen_ms or (known.seen_ms if known else None),
                    )


def nobody_goes_early() -> Watch:
    """A member that is alive goes for a reason: its session, the join phase or the sync phase ran out."""
    calendar = Calendar()

    def watch(step: Step) -> str:
        finding = ""
        comparable = step.before.error is step.after.error is Error.NONE and step.after.state != "Dead"
        if comparable and step.command in {"advance", "join", "sync", "heartbeat", "commit"}:
            held = {member.group_instance_id for member in step.after.members if member.group_instance_id}
            for member in step.before.members:
                if member.member_id in members_of(step.after) or member.group_instance_id in held:
                    continue
                finding = finding or _gone_early(calendar, step, member.member_id)
        calendar.note(step)
        return finding

    return watch


def _gone_early(calendar: Calendar, step: Step, member_id: str) -> str:
    life = calendar.lives.get(member_id)
    if life is None or life.seen_ms is None or _speaks(step, member_id):
        return ""
    if step.now_ms - life.seen_ms >= life.session_ms:
        return ""
    phase_ms = step.now_ms - (calendar.since_ms if calendar.state == PREPARING else calendar.generation_ms)
    owes = calendar.state == PREPARING or not life.synced
    if owes and phase_ms >= life.rebalance_ms:
        return ""
    return (
        f"{member_id} is removed {step.now_ms - life.seen_ms} ms after it was observed and {phase_ms} ms after the phase "
        f"began; its session is {life.session_ms} ms, its rebalance timeout {life.rebalance_ms} ms"
    )


def _speaks(step: Step, member_id: str) -> bool:
    """Whether the step is about what that member itself sent, or it waits in JoinGroup."""
    own = any(getattr(sent.request, "member_id", "") == member_id for sent in step.sent)
    waits = any(getattr(request, "member_id", "") == member_id for request in step.waiting.values())
    return own or waits


def completing_ends() -> Watch:
    """No group waits for SyncGroups longer than its members' rebalance timeout (KAFKA-12890).

    Where all of them have come, it may wait for a log that acknowledges nothing.
    """
    calendar = Calendar()

    def watch(step: Step) -> str:
        calendar.note(step)
        lives = [calendar.lives.get(member) for member in members_of(step.after)]
        known = [life.longest_ms for life in lives if life is not None]
        if step.after.state != COMPLETING or calendar.disturbed or not known or len(known) < len(lives):
            return ""
        if calendar.held and all(life is not None and life.synced for life in lives):
            return ""
        waited = step.now_ms - max(calendar.since_ms, calendar.generation_ms)
        if waited <= max(known):
            return ""
        return f"the group is in CompletingRebalance for {waited} ms; no member may take longer than {max(known)} ms"

    return watch


def nobody_is_waited_for() -> Watch:
    """The join phase of a group that had members ends as soon as all of them have joined."""
    calendar = Calendar()
    latest: dict[str, int] = {}

    def watch(step: Step) -> str:
        calendar.note(step)
        for sent in step.sent:
            if isinstance(sent.request, JoinGroupRequest):
                latest[sent.request.member_id] = sent.token
        members = members_of(step.after)
        if step.after.state != PREPARING or calendar.disturbed or calendar.came_from not in {STABLE, COMPLETING}:
            return ""
        if step.generation is None or step.pending_ids or not members:
            return ""
        if all(latest.get(member) in step.waiting for member in members):
            return f"all {len(members)} members wait in JoinGroup, no id is pending, and the join phase goes on"
        return ""

    return watch
