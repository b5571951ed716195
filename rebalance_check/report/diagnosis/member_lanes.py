"""The lanes of members: one for each client, with its member ids one after the other, and how each ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    ClientFact,
    CoordinatorUnavailable,
    Fact,
    JoinPhaseEnded,
    JoinSent,
    LeaveSent,
    MemberFact,
    MembersEvicted,
    MembershipReset,
    PollTimedOut,
    RebalanceBegan,
    RequestRefused,
    StaticMemberReplaced,
)
from rebalance_check.pipeline.diagnose.findings.finding import seconds
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.members import End, Member
from rebalance_check.pipeline.diagnose.triggers import trigger_of
from rebalance_check.report.diagnosis.stretches import FEW_LINES, MEMBER, NOTHING, Lane, Mark, Stretch, Tone, few_places

OWNERS: Final = 8
"""So many colours of members has page.css."""
ENDS: Final = {
    End.CLOSED: "quiet",
    End.LEFT: "quiet",
    End.UNSUBSCRIBED: "quiet",
    End.POLL_TIMEOUT: "violated",
    End.EXPIRED: "violated",
    End.EVICTED: "violated",
    End.FENCED: "violated",
    End.REPLACED: "undecided",
    End.NEVER_JOINED: "undecided",
}
UNUSED: Final = 30
"""The shade of an id with which no client joined."""


@dataclass(slots=True)
class Said:
    """The facts that name a member id: the first and the last ones."""

    first: list[Fact] = field(default_factory=list)
    last: deque[Fact] = field(default_factory=lambda: deque(maxlen=FEW_LINES // 2))
    last_ms: int | None = None

    def add(self, fact: Fact) -> None:
        """Take the next fact."""
        (self.first if len(self.first) < FEW_LINES // 2 else self.last).append(fact)
        self.last_ms = fact.time_ms if fact.time_ms is not None else self.last_ms


def said_of(facts: Iterable[Fact]) -> dict[str, Said]:
    """By member id, the facts that name it."""
    found: dict[str, Said] = {}
    for fact in facts:
        for member in dict.fromkeys(_members_in(fact)):
            if member:
                found.setdefault(member, Said()).add(fact)
    return found


def _members_in(fact: Fact) -> Iterator[str]:
    match fact:
        case MembersEvicted():
            yield from fact.members
        case StaticMemberReplaced():
            yield from (fact.old, fact.member)
        case RebalanceBegan():
            yield trigger_of(fact.reason).member
        case JoinPhaseEnded():
            yield from fact.ids
        case MemberFact() | ClientFact():
            yield fact.member
        case _:
            pass


def client_of(member: Member) -> str:
    """The name of a member's lane: its instance, else its client, which keeps its name over many ids."""
    return member.instance or member.client or member.id


def member_lanes(group: Group) -> list[Lane]:
    """The lanes of all clients, in the order in which they joined first."""
    said = said_of(group.facts)
    by_client: dict[str, list[Member]] = {}
    timed = [member for member in group.members.by_id.values() if member.first_ms is not None]
    for member in sorted(timed, key=lambda each: (each.first_ms or 0, each.id)):
        by_client.setdefault(client_of(member), []).append(member)
    lanes: list[Lane] = []
    for place, (client, own) in enumerate(by_client.items()):
        tracks = _tracks(own, said)
        for number, track in enumerate(tracks, 1):
            lane = Lane(MEMBER, client if len(tracks) == 1 else f"{client} ({number})")
            lane.stretches = list(_stretches(group, track, said, f"owner-{place % OWNERS}"))
            lanes.append(lane)
    _mark(lanes, group.facts, by_client)
    return lanes


def colours_of(lanes: Sequence[Lane]) -> dict[str, str]:
    """By the name of a lane, the colour of its client."""
    return {lane.name: lane.stretches[0].tone.colours[0] for lane in lanes}


# --------------------------------------------------------------------------------------------------------------- tracks


def _end_ms(member: Member, said: dict[str, Said], following: Sequence[Member]) -> int | None:
    """When an id ends. Where no source says it, and its client joined again: at its last line before that."""
    if member.ended_ms is not None:
        return member.ended_ms
    last = said[member.id].last_ms if member.id in said else None
    after = next((each.first_ms for each in following if (each.first_ms or 0) > (member.first_ms or 0)), None)
    return last if last is not None and after is not None and last <= after else None


def _tracks(own: Sequence[Member], said: dict[str, Said]) -> list[list[tuple[Member, int | None]]]:
    """The ids of a client, each with its end; those at one time are processes that share a client id."""
    tracks: list[list[tuple[Member, int | None]]] = []
    for place, member in enumerate(own):
        ended = _end_ms(member, said, own[place + 1 :])
        free = next((track for track in tracks if _is_over(track[-1][1], member)), None)
        if free is None:
            tracks.append([(member, ended)])
        else:
            free.append((member, ended))
    return tracks


def _is_over(ended_ms: int | None, after: Member) -> bool:
    return ended_ms is not None and ended_ms <= (after.first_ms or 0)


def _stretches(
    group: Group, track: Sequence[tuple[Member, int | None]], said: dict[str, Said], colour: str
) -> Iterator[Stretch]:
    for place, (member, ended_ms) in enumerate(track):
        facts = said.get(member.id, Said())
        places = few_places([*facts.first, *facts.last, member.ended_by])
        end = ENDS.get(member.end, "") if member.end is not None else ""
        tone = Tone((colour,), UNUSED if member.end is End.NEVER_JOINED else 100, narrow=True, end=end)
        how = str(member.end) if member.end is not None else "its end is not seen" if ended_ms is not None else ""
        text = ", ".join(filter(None, (group.members.name(member.id), how)))
        yield Stretch(member.first_ms or 0, text, tone, places, _detail(member))
        if ended_ms is not None:
            after = track[place + 1][0] if place + 1 < len(track) else None
            begins = said[after.id].first[:1] if after is not None and after.id in said else []
            yield Stretch(ended_ms, "no member", NOTHING, few_places([member.ended_by or _last(facts), *begins]))


def _last(facts: Said) -> Fact | None:
    return facts.last[-1] if facts.last else facts.first[-1] if facts.first else None


def _detail(member: Member) -> str:
    parts = {
        "member id": member.id,
        "client": member.client,
        "instance": member.instance,
        "host": member.host,
        "session timeout": seconds(member.session_timeout_ms) if member.session_timeout_ms else "",
        "rebalance timeout": seconds(member.rebalance_timeout_ms) if member.rebalance_timeout_ms else "",
        "assignors": ", ".join(member.assignors),
    }
    return "; ".join(f"{name} {text}" for name, text in parts.items() if text)


# ---------------------------------------------------------------------------------------------------------------- marks


def _mark(lanes: Sequence[Lane], facts: Iterable[Fact], by_client: dict[str, list[Member]]) -> None:
    """Put what clients' own lines say of their membership into the first lane of each client."""
    lane_of = {lane.name: lane for lane in lanes}
    first = {client: lane_of.get(client) or lane_of[f"{client} (1)"] for client in by_client}
    by_id = {member.id: first[client] for client, own in by_client.items() for member in own}
    for fact in facts:
        text = _mark_text(fact) if isinstance(fact, ClientFact) else ""
        if text and isinstance(fact, ClientFact) and fact.time_ms is not None:
            lane = by_id.get(fact.member) or first.get(fact.instance) or first.get(fact.client)
            if lane is not None:
                lane.marks.append(Mark(fact.time_ms, text, fact.place))


def _mark_text(fact: Fact) -> str:
    match fact:
        case PollTimedOut():
            return "it notices that it did not poll in time"
        case RequestRefused():
            return f"{fact.request} refused: {fact.error}"
        case LeaveSent():
            return "it sends LeaveGroup"
        case JoinSent():
            return "it sends JoinGroup"
        case MembershipReset():
            return "it forgets its generation"
        case CoordinatorUnavailable():
            return "it has lost its coordinator"
        case _:
            return ""
