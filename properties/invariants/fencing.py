"""Fencing: a coordinator refuses requests for an older generation."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    GenerationStarted,
    GroupDeleted,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Because, Violation

FENCED_APIS: Final = frozenset({Api.SYNC_GROUP, Api.HEARTBEAT, Api.OFFSET_COMMIT})
"""The requests that carry a generation and are refused when it is not the current one."""

ACCEPTED: Final = "NONE"


class StaleGenerationIsRefusedViolated(Violation):
    """A request of an older generation was accepted."""


class _StaleGeneration(Fold):
    """Remembers, per request, the generation that had already started when it was sent.

    A request travels, so the generation current when the *answer* is seen proves nothing; one that had started before
    the request was *sent* does.
    """

    bookkeeping = frozenset(
        {
            IncarnationStarted,
            IncarnationEnded,
            GenerationStarted,
            GroupDeleted,
            HeartbeatReplied,
            RequestSent,
            MemberStarted,
        }
    )

    needs = (
        (GenerationStarted,),
        (RequestSent,),
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                IncarnationStarted: self.on_incarnation,
                IncarnationEnded: self.on_incarnation,
                GenerationStarted: self.on_generation,
                GroupDeleted: self.on_deleted,
                HeartbeatReplied: self.on_heartbeat,
                RequestSent: self.on_sent,
                RequestAnswered: self.on_answered,
                MemberStarted: self.on_started,
            },
        )
        self._incarnation: IncarnationStarted | IncarnationEnded | None = None
        self._deposed: set[int] = set()
        self._current: GenerationStarted | None = None
        self._stale: dict[tuple[str, int], tuple[RequestSent, GenerationStarted]] = {}

    def on_incarnation(self, event: IncarnationStarted | IncarnationEnded) -> None:
        """A load may step back to an older generation and accept it again; until it is done, heartbeats go unread."""
        self._incarnation, self._current = event, None
        self._stale.clear()
        if isinstance(event, IncarnationEnded):
            self._deposed.discard(event.incarnation)
            self._deposed.update({event.incarnation} if event.deposed else ())

    def on_generation(self, event: GenerationStarted) -> None:
        """From here on the older generations are stale."""
        self._current = event

    def on_deleted(self, _event: GroupDeleted) -> None:
        """A new group of this name counts anew; and a coordinator that loads finds none, but answers heartbeats."""
        self._current = None
        self._stale.clear()

    def on_heartbeat(self, event: HeartbeatReplied) -> None:
        """A coordinator that was paused while it loaded, and runs again, still loads, whichever node leads by now."""
        if event.incarnation == UNKNOWN_INCARNATION and event.error == ACCEPTED:
            for key in [key for key, (sent, _) in self._stale.items() if sent.api == Api.HEARTBEAT]:
                del self._stale[key]

    def on_started(self, event: MemberStarted) -> None:
        """A new process numbers its requests anew."""
        for key in [key for key in self._stale if key[0] == event.member]:
            del self._stale[key]

    def on_sent(self, event: RequestSent) -> None:
        """Note a request that is stale before it leaves."""
        current = None if self._deposed else self._current
        if current is not None and event.api in FENCED_APIS and 0 <= event.generation < current.generation:
            self._stale[event.member, event.request] = (event, current)

    def on_answered(self, event: RequestAnswered) -> None:
        """A stale request must not be accepted."""
        stale = self._stale.pop((event.member, event.request), None)
        if stale is None or event.error != ACCEPTED:
            return
        sent, current = stale
        self.violated(
            f"{event.api} of {event.member} for generation {sent.generation} is accepted in generation "
            f"{current.generation}",
            [
                Because(f"generation {current.generation} started at {STEP}.", current),
                Because(f"{event.member} sent {event.api} for generation {sent.generation} at {STEP}.", sent),
                Because(f"it was answered without an error at {STEP}: contradiction.", event),
            ],
            [current, sent, event],
        )


StaleGenerationIsRefused: Final = Invariant(
    name="stale_generation_is_refused",
    family="fencing",
    claim="SyncGroup, Heartbeat and OffsetCommit sent for an older generation are not accepted",
    source="ClassicGroup.validateOffsetCommit; GroupMetadataManager.classicGroupSync, classicGroupHeartbeat",
    premises=(
        "the history holds the coordinator's GenerationStarted and the member's RequestSent",
        "a request counts as stale only if the newer generation had started before it was sent",
        "after a failover the coordinator may return to an older generation; a loading one answers heartbeats blindly",
        "nor is it judged while a coordinator that was deposed may answer from memory",
        "nor is a request for a generation of a group that was deleted since",
    ),
    exempted_by=(
        GroupDeleted,
        HeartbeatReplied,
        IncarnationEnded,
        IncarnationStarted,
        MemberStarted,
    ),
    violation=StaleGenerationIsRefusedViolated,
    fold=_StaleGeneration,
)
"""SyncGroup, Heartbeat and OffsetCommit that were sent for an older generation are not accepted.

Source: ``ClassicGroup.validateOffsetCommit``, ``GroupMetadataManager``: ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID.

The smallest history that breaks it::

    GenerationStarted(incarnation=1, generation=2, members=("b",), leader="b")
    RequestSent(member="m0", api="OffsetCommit", request=7, generation=1)
    RequestAnswered(member="m0", api="OffsetCommit", request=7, error="NONE")
"""

CLAIMS: Final = (StaleGenerationIsRefused,)
"""In the order in which reports name them."""
