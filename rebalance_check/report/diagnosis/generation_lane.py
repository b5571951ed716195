"""The lane of a group's generations: join phase, sync phase, and the time after them, in the colour of the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentComputed,
    AssignmentStored,
    Fact,
    GroupEmptied,
    GroupRecorded,
    Joined,
    JoinPhaseEnded,
    Synced,
    WorkerJoined,
)
from rebalance_check.pipeline.diagnose.rebalances import Rebalance
from rebalance_check.pipeline.diagnose.triggers import Cause
from rebalance_check.report.diagnosis.stretches import GENERATIONS, Lane, Stretch, Tone, few_places

COLOURS: Final = {
    Cause.NEW_MEMBER: "cause-new",
    Cause.CLOSED: "cause-left",
    Cause.LEFT: "cause-left",
    Cause.UNSUBSCRIBED: "cause-left",
    Cause.POLL_TIMEOUT: "cause-poll",
    Cause.EXPIRED: "cause-expired",
    Cause.NOT_SYNCED: "cause-expired",
    Cause.METADATA: "cause-changed",
    Cause.SUBSCRIPTION: "cause-changed",
    Cause.STATIC_CHANGE: "cause-changed",
    Cause.MISMATCH: "cause-changed",
    Cause.ENFORCED: "cause-again",
    Cause.REJOINED: "cause-again",
    Cause.FOLLOW_UP: "cause-follow",
}
OTHER: Final = "cause-other"
JOIN, SYNC, STABLE = 100, 65, 30
"""The shades of the phases."""
_JOINED: Final = (JoinPhaseEnded, Joined, WorkerJoined, GroupEmptied)
_STORED: Final = (AssignmentStored, AssignmentComputed, Synced, GroupRecorded)


def colour_of(cause: Cause) -> str:
    """The colour of a cause, as page.css names it."""
    return COLOURS.get(cause, OTHER)


def generation_lane(found: Sequence[Rebalance]) -> Lane:
    """The lane of a group's rebalances."""
    lane = Lane(GENERATIONS, "generations")
    for one, after in zip_longest(found, found[1:]):
        lane.stretches += _stretches(one, after)
    lane.stretches.sort(key=lambda stretch: stretch.begin_ms)
    return lane


def legend(found: Sequence[Rebalance]) -> list[tuple[str, str]]:
    """The causes that occur, each with its colour."""
    causes = sorted({one.trigger.cause for one in found}, key=list(Cause).index)
    return [(str(cause), colour_of(cause)) for cause in causes]


def _stretches(one: Rebalance, after: Rebalance | None) -> Iterator[Stretch]:
    colour = colour_of(one.trigger.cause)
    generation = "" if one.generation is None else f" {one.generation}"
    until_ms = after.began_ms if after is not None else None
    if one.began_ms is not None:
        begins: list[Fact] = [fact for fact in one.evidence if not isinstance(fact, (*_JOINED, *_STORED))]
        yield Stretch(
            one.began_ms, f"join{generation}: {one.trigger.cause}", Tone((colour,), JOIN, narrow=True),
            few_places([*begins, *one.contributions]), one.trigger.words,
        )  # fmt: skip
    if one.joined_ms is not None:
        places = few_places(fact for fact in one.evidence if isinstance(fact, _JOINED))
        yield Stretch(one.joined_ms, *_after_join(one, generation, colour), places)
    if one.ended_ms is not None and (until_ms is None or one.ended_ms <= until_ms):
        members = "" if one.count is None else f", {one.count} member{'' if one.count == 1 else 's'}"
        places = few_places(fact for fact in one.evidence if isinstance(fact, _STORED))
        yield Stretch(one.ended_ms, f"generation{generation}{members}", Tone((colour,), STABLE), places)


def _after_join(one: Rebalance, generation: str, colour: str) -> tuple[str, Tone]:
    if one.emptied:
        return f"empty, generation{generation}", Tone(("empty",))
    if one.superseded:
        return f"sync{generation}: not assigned, another rebalance began", Tone((colour,), SYNC, narrow=True)
    if one.ended_ms is None and not one.seen_by_broker:
        return f"generation{generation}", Tone((colour,), STABLE)
    return f"sync{generation}", Tone((colour,), SYNC, narrow=True)
