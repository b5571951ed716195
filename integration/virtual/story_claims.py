"""Claims about a coordinator that need no other to compare with: judged after each line of a story.

They know what a client may rely on and nothing of how a coordinator is made, or of its defects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.impl.lockstep.transport import Observation
from rebalance_check.impl.messages import JoinGroupReply, JoinGroupRequest
from rebalance_check.impl.stories.stage import Heard, Stage
from rebalance_check.model.errors import Error

PREPARING: Final = "PreparingRebalance"
FORMED: Final = ("CompletingRebalance", "Stable")
NEW_MEMBER_MS: Final = 300_000
"""How long a member may be parked in its first JoinGroup; a story that takes less time has no such expiry."""


@dataclass(slots=True)
class Scene:
    """One line of a story: who heard what, the group before and after, and what members were told so far."""

    line: str
    heard: Sequence[Heard]
    before: Observation
    after: Observation
    max_size: int
    now_ms: int
    is_joining: bool
    failing: str = ""
    known: set[str] = field(default_factory=set)
    fenced: set[str] = field(default_factory=set)

    def members(self, observation: Observation) -> set[str]:
        """The member ids that DescribeGroups shows."""
        return {member.member_id for member in observation.described.members}


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold after every line: ``broken`` says how it does not, or is empty."""

    name: str
    says: str
    broken: Callable[[Scene], str]


class Audience:
    """Sees a story line by line, and notes what it has heard."""

    def __init__(self, claims: Sequence[Claim], max_size: int, before: Observation) -> None:
        self._claims = claims
        self._max_size = max_size
        self._before = before
        self._failing = ""
        self._known: set[str] = set()
        self._fenced: set[str] = set()

    def see(self, line: str, stage: Stage, after: Observation) -> tuple[str, str] | None:
        """The first claim that a line broke, with how; ``stage`` is where it was performed."""
        heard = stage.heard
        words = line.split()
        if words[0] == "fail":
            self._failing = words[1] if len(words) > 1 else ""
        self._known.update(_told(heard))
        scene = Scene(
            line=line, heard=heard, before=self._before, after=after, max_size=self._max_size, now_ms=stage.now,
            is_joining=stage.is_joining(), failing=self._failing, known=self._known, fenced=self._fenced,
        )  # fmt: skip
        broken = ((claim.name, claim.broken(scene)) for claim in self._claims)
        found = next((each for each in broken if each[1]), None)
        self._fenced.update(_fenced(heard))
        self._before = after
        return found


def _told(heard: Sequence[Heard]) -> Iterator[str]:
    """The member ids that somebody now knows: those of answers."""
    return (each.reply.member_id for each in heard if isinstance(each.reply, JoinGroupReply))


def _fenced(heard: Sequence[Heard]) -> Iterator[str]:
    for each in heard:
        if each.reply.error is Error.FENCED_INSTANCE_ID and isinstance(each.reply, JoinGroupReply):
            yield each.reply.member_id


def _unknown_member(scene: Scene) -> str:
    if scene.is_joining:  # who waits may still be told
        return ""
    unknown = scene.members(scene.after) - scene.known
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
    same = scene.members(scene.before) == scene.members(scene.after)
    return "a LeaveGroup that removed no member made the group rebalance" if same else ""


def _parked_member_expired(scene: Scene) -> str:
    if not scene.line.startswith("advance") or scene.now_ms >= NEW_MEMBER_MS:
        return ""
    for each in scene.heard:
        if isinstance(each.request, JoinGroupRequest) and each.reply.error is Error.UNKNOWN_MEMBER_ID:
            return f"{each.name} waited in JoinGroup, and was told UNKNOWN_MEMBER_ID when its session ran out"
    return ""


def _server_error(scene: Scene) -> str:
    if scene.failing == "MESSAGE_TOO_LARGE":
        return ""
    errors = [each for each in scene.heard if each.reply.error is Error.UNKNOWN_SERVER_ERROR]
    return f"{errors[0].name} was told UNKNOWN_SERVER_ERROR" if errors else ""


def _fenced_holder(scene: Scene) -> str:
    holders = {m.member_id: m.group_instance_id for m in scene.after.described.members if m.group_instance_id}
    back = sorted(holders.keys() & scene.fenced)
    return f"{back[0]} was told that it is fenced, and holds instance {holders[back[0]]}" if back else ""


CLAIMS: Final = (
    Claim("members_are_known", "every member of a completed generation has an id that a client was told",
          _unknown_member),
    Claim("group_size", "a formed group has at most group.max.size members", _too_many),
    Claim("leave_without_members_changes_nothing", "a LeaveGroup that removes no member starts no rebalance",
          _rebalance_without_cause),
    Claim("parked_member_stays", "the session of a member that waits in JoinGroup does not run out",
          _parked_member_expired),
    Claim("no_server_error", "no request is answered UNKNOWN_SERVER_ERROR, unless the log says so", _server_error),
    Claim("fenced_stays_fenced", "an instance id is not held by a member that was told that it is fenced",
          _fenced_holder),
)  # fmt: skip
"""All claims."""
