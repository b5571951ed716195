"""Claims about a coordinator that need no other to compare with: judged after each line of a scenario.

They know what a client may rely on and nothing of how a coordinator is made, or of its defects.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.protocol.messages import JoinGroupRequest
from rebalance_check.integration.differential.scene import FORMED, PREPARING, Claim, Scene, in_order, members
from rebalance_check.model.vocabulary.errors import Error

EMPTY: Final = "Empty"
DEAD: Final = "Dead"
NEW_MEMBER_MS: Final = 300_000
"""How long a member may be parked in its first JoinGroup; a scenario that takes less time has no such expiry."""


def _unknown_member(scene: Scene) -> str:
    if scene.waiting:  # who waits may still be told
        return ""
    unknown = members(scene.after) - scene.known
    if scene.after.described.state in FORMED and unknown:
        return f"generation {scene.after.generation} has {min(unknown)}, an id that no client was told"
    return ""


def _too_many(scene: Scene) -> str:
    count = len(scene.after.described.members)
    if scene.after.described.state in FORMED and count > scene.max_size:
        return f"{count} members are {scene.after.described.state}; group.max.size is {scene.max_size}"
    return ""


def _rebalance_without_cause(scene: Scene) -> str:
    left = scene.line.startswith("leave") and scene.before.described.state in FORMED
    if not left or scene.after.described.state != PREPARING:
        return ""
    same = members(scene.before) == members(scene.after)
    return "a LeaveGroup that removed no member made the group rebalance" if same else ""


def _parked_member_expired(scene: Scene) -> str:
    if not scene.line.startswith("advance") or scene.now_ms >= NEW_MEMBER_MS:
        return ""
    for each in scene.observed:
        if isinstance(each.request, JoinGroupRequest) and each.reply.error is Error.UNKNOWN_MEMBER_ID:
            return f"{each.name} waited in JoinGroup, and was told UNKNOWN_MEMBER_ID when its session ran out"
    return ""


def _server_error(scene: Scene) -> str:
    if scene.failing == "MESSAGE_TOO_LARGE":
        return ""
    errors = [each for each in scene.observed if each.reply.error is Error.UNKNOWN_SERVER_ERROR]
    return f"{errors[0].name} was told UNKNOWN_SERVER_ERROR" if errors else ""


def _thrown(scene: Scene) -> str:
    return f"the coordinator threw {scene.thrown}" if scene.thrown else ""


def _fenced_holder(scene: Scene) -> str:
    holders = {m.member_id: m.group_instance_id for m in scene.after.described.members if m.group_instance_id}
    back = sorted(holders.keys() & scene.fenced)
    return f"{back[0]} was told that it is fenced, and holds instance {holders[back[0]]}" if back else ""


def _endless_join_phase(scene: Scene) -> str:
    """Whoever joins without an id is parked under one that nobody else knows: such a JoinGroup stands for a member."""
    there = members(scene.after)
    if scene.after.described.state != PREPARING or scene.is_initial or scene.pending or not there:
        return ""
    absent = there - {request.member_id for request in scene.waiting}
    newcomers = sum(not request.member_id for request in scene.waiting)
    if len(absent) > newcomers:
        return ""
    return f"all {len(there)} members wait in JoinGroup, nobody else is awaited, and the join phase goes on"


def _generation_of_nobody(scene: Scene) -> str:
    """A join phase needs somebody who joins; who loses the log may fall back to an earlier generation."""
    is_empty = scene.before.described.state == scene.after.described.state == EMPTY
    if not is_empty or scene.line.split()[0] in ("join", "failover", "load"):
        return ""
    before, after = scene.before.generation, scene.after.generation
    return f"nobody joined the Empty group, and it goes from generation {before} to {after}" if before != after else ""


def _trace_of_a_refusal(scene: Scene) -> str:
    refused = scene.line.startswith("join") and scene.reply is not None and scene.reply.error is not Error.NONE
    if not refused or scene.reply is None or scene.before.described.state not in FORMED:
        return ""
    before, after = in_order(scene.before.described), in_order(scene.after.described)
    return f"a JoinGroup was told {scene.reply.error.name}, and the group is not what it was" if before != after else ""


def _lost_offsets(scene: Scene) -> str:
    gone = scene.line.startswith("advance") and scene.is_kept and scene.after.described.state == DEAD
    return "the group was deleted with offsets that are not too old, or with an open transaction" if gone else ""


CLAIMS: Final = (
    Claim("members_are_known", "every member of a completed generation has an id that a client was told",
          _unknown_member),
    Claim("group_size", "a formed group has at most group.max.size members", _too_many),
    Claim("leave_without_members_changes_nothing", "a LeaveGroup that removes no member starts no rebalance",
          _rebalance_without_cause),
    Claim("parked_member_stays", "the session of a member that waits in JoinGroup does not run out",
          _parked_member_expired),
    Claim("no_server_error", "no request is answered UNKNOWN_SERVER_ERROR, unless the log says so", _server_error),
    Claim("nothing_is_thrown", "no exception of the coordinator ends in a log, with nobody told of it", _thrown),
    Claim("fenced_stays_fenced", "an instance id is not held by a member that was told that it is fenced",
          _fenced_holder),
    Claim("join_phase_ends", "a join phase ends when the JoinGroup of every member waits, and no other id is awaited",
          _endless_join_phase),
    Claim("refused_join_leaves_no_trace", "a JoinGroup that is refused at once changes nothing in a formed group",
          _trace_of_a_refusal),
    Claim("generations_have_members", "an Empty group that nobody joins stays in its generation",
          _generation_of_nobody),
    Claim("kept_offsets_keep_their_group", "no group goes with offsets that are not too old, or an open transaction",
          _lost_offsets),
)  # fmt: skip
"""All claims."""
