"""The replies of the model's coordinator as events (`model.vocabulary.reply_events`).

Two kinds of events speak of a reply. `RequestAnswered` belongs to the member's request and is what a client or a packet
capture shows. A reply event belongs to the coordinator and adds its own knowledge: incarnation and generation of the
group when it replied. Invariants on the coordinator's API read the second; this module derives it from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypedDict

from rebalance_check.model.classic.state import GroupStatus, Phase, State
from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, Action
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    Event,
    HeartbeatReplied,
    JoinGroupReplied,
    LeaveGroupReplied,
    OffsetCommitReplied,
    ReplyEvent,
    RequestAnswered,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Place = tuple[int, int]
"""Incarnation and generation of the group that answers."""

NOWHERE: Final[Place] = (UNKNOWN_INCARNATION, NO_GENERATION)
"""There is no group, or it is still being read from the log."""

KNOWN_TO_ITS_HOLDER: Final = frozenset({Error.NONE.name, Error.MEMBER_ID_REQUIRED.name})
"""The outcomes of a JoinGroup whose reply carries a member id: other errors carry none."""


class RequestFields(TypedDict):
    """The fields of a `ReplyEvent`, as keywords."""

    source: str
    incarnation: int
    generation: int
    request: int
    member_id: str
    request_generation: int
    error: str


class Replies:
    """Numbers the replies, and remembers the generation in each member's last request.

    ``request_generation`` has it by slot. ``answers`` counts the replies; a reply's number also stands for that of its
    request, because each request is answered at most once.
    """

    def __init__(self) -> None:
        self.request_generation: dict[int, int] = {}
        self.answers = 0

    def with_replies(
        self, events: Iterable[Event], place: Place, sent_id: list[str], id_of: Callable[[int], str]
    ) -> Iterator[Event]:
        """The events, each answer of the coordinator followed by its reply event.

        ``place`` is where the replies of this step come from, ``sent_id`` has by slot the member id in the last
        request, ``id_of`` names the member id that the coordinator knows of a slot. An answer whose ``error`` is None
        (the network lost it) or that the client reports itself is no reply of the coordinator.
        """
        for event in events:
            yield event
            if isinstance(event, RequestAnswered) and event.error is not None and event.source != event.member:
                yield self._reply(event, place, sent_id, id_of)

    def _reply(
        self, event: RequestAnswered, place: Place, sent_id: list[str], id_of: Callable[[int], str]
    ) -> ReplyEvent:
        self.answers += 1
        slot = int(event.member[1:])
        slots = {f"m{m}" for m in range(len(sent_id))}
        who: RequestFields = {
            "source": event.source, "incarnation": place[0], "generation": place[1], "request": self.answers,
            "member_id": sent_id[slot], "request_generation": self.request_generation.get(slot, NO_GENERATION),
            "error": event.error or "",
        }  # fmt: skip
        match event.api:
            case Api.JOIN_GROUP:
                return JoinGroupReplied(
                    **who,
                    reply_generation=event.generation,
                    assigned_member_id=id_of(slot) if event.error in KNOWN_TO_ITS_HOLDER else "",
                    leader=id_of(int(event.leader[1:])) if event.leader in slots else event.leader,
                    protocol=event.protocol,
                    listed_members=tuple(id_of(int(member[1:])) for member, _ in event.members),
                )
            case Api.SYNC_GROUP:
                return SyncGroupReplied(**who, assignment=" ".join(event.assignment))
            case Api.HEARTBEAT:
                return HeartbeatReplied(**who)
            case Api.OFFSET_COMMIT:
                return OffsetCommitReplied(**who)
            case _:
                return LeaveGroupReplied(**who)


def incarnation_of(state: State) -> int:
    """The number of the group's incarnation: it grows whenever the group is deleted, or the coordinator changes.

    (group id, incarnation, generation) identifies a generation; the generation alone does not, because a group that is
    created again, or loaded from a log that lacks the last record, begins numbers anew.
    """
    return state.deletions + state.incarnation


def place_after(action: Action, before: State, after: State, zombie_incarnation: int) -> Place:
    """Where the answers of a step come from.

    A zombie coordinator answers from its own memory, so with the incarnation ``zombie_incarnation`` and the generation
    that it had before the step: a step at a zombie begins no generation.
    """
    return (zombie_incarnation, before.zombie_coordinator.generation) if action.kind in AT_ZOMBIE else place_of(after)


def place_of(state: State) -> Place:
    """Where an answer of the coordinator comes from: a group that is there, and loaded."""
    is_loading = state.phase != Phase.SERVING
    return NOWHERE if is_loading or state.status == GroupStatus.DEAD else (incarnation_of(state), state.generation)
