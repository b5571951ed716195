"""The answer of a step whose effect is a list of events: the cells of the member columns, and what happened in words.

Scenarios of the model and of the simulator use it: ``Stable g1 | t-0 | - | m0-1 removed (left)`` has the coordinator
first, a column for each member (what it owns, or why it owns nothing), and last the events that no cell shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorElected,
    Event,
    GenerationStarted,
    GroupDeleted,
    HealEnded,
    IncarnationEnded,
    IncarnationStarted,
    MemberAdded,
    MemberJoined,
    MemberRemoved,
    MembershipLost,
    NodeChanged,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
    RunEnded,
)
from rebalance_check.report.board import COORDINATOR, Board

SEPARATOR = " | "


class Rows:
    """The rows of one run; ``members`` are its columns. Every event of the run is kept in ``events``."""

    def __init__(self, members: Sequence[str]) -> None:
        self._columns = (COORDINATOR, *members)
        self._board = Board()
        self.events: list[Event] = []

    def observe(self, events: Sequence[Event]) -> None:
        """Take events that no step of the scenario caused."""
        self.events += events
        for event in events:
            self._board.observe(event)

    def row(self, events: Sequence[Event], *, coordinator: str = "", replies: bool = True) -> str:
        """The row after these events; without ``replies`` requests, their replies and
        commits that succeeded are left out.

        ``coordinator`` stands in the first column instead of what events say of it.
        """
        self.observe(events)
        cells = [" ".join(self._board.cell(column).split()) for column in self._columns]
        cells[0] = coordinator or cells[0]
        words = [text for event in events if (text := words_of(event, replies=replies))]
        return SEPARATOR.join([*cells, *(["; ".join(words)] if words else [])])


def aligned(answers: Sequence[str]) -> list[str]:
    """The rows of a scenario with their cells in columns; the last column, the words, is ragged."""
    rows = [answer.split(SEPARATOR) for answer in answers]
    columns = max((len(row) for row in rows), default=0)
    widths = [max((len(row[at]) for row in rows if len(row) > max(at, 1)), default=0) for at in range(columns)]
    return [
        SEPARATOR.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows
    ]


def words_of(event: Event, *, replies: bool = True) -> str:
    """An event in words; empty for those that the cells or the step's own name show."""
    if isinstance(event, RequestSent | RequestAnswered):
        return _request(event) if replies else ""
    if isinstance(event, OffsetCommitted) and event.error == "NONE" and not replies:
        return ""
    return _member(event) or _coordinator(event)


def _request(event: RequestSent | RequestAnswered) -> str:
    if isinstance(event, RequestSent):
        return f"{event.member} sends {event.api}"
    if event.error is None:
        return f"{event.member} never learns the reply to {event.api}"
    return f"{event.api} reply to {event.member}: {event.error}"


def _member(event: Event) -> str:
    match event:
        case MemberJoined():
            role = "leader" if event.leader else "follower"
            return f"{event.member} joined g{event.generation} as {role} {event.member_id}"
        case AssignmentComputed():
            shares = ", ".join(f"{member}: {' '.join(share) or 'nothing'}" for member, share in event.assignments)
            return f"{event.member} assigns {shares}"
        case MembershipLost():
            return f"{event.member} lost its membership of g{event.generation} ({event.reason})"
        case PartitionsAssigned() if event.partitions:
            return f"{event.member} assigned {','.join(event.partitions)}"
        case PartitionsRevoked() if event.partitions:
            return f"{event.member} revoked {','.join(event.partitions)}"
        case PartitionsLost() if event.partitions:
            return f"{event.member} lost {','.join(event.partitions)}"
        case AssignmentCompleted() if not event.owned:
            return f"{event.member} completed g{event.generation}"
        case OffsetCommitted():
            return f"{event.member} committed {event.partition} in g{event.generation}: {event.error or 'unknown'}"
        case _:
            return ""


def _coordinator(event: Event) -> str:
    match event:
        case MemberAdded():
            return f"{event.member_id} added"
        case MemberRemoved():
            return f"{event.member_id} removed ({event.reason})"
        case GenerationStarted():
            return f"g{event.generation} of {' '.join(event.members) or 'nobody'}, leader {event.leader or 'none'}"
        case IncarnationStarted() if event.incarnation:
            return f"coordinator {event.incarnation} starts with g{event.generation}"
        case IncarnationEnded():
            return f"coordinator {event.incarnation} {'deposed' if event.deposed else 'ends'}"
        case GroupDeleted():
            return "group deleted"
        case NodeChanged():
            return f"node {event.node} {event.change}"
        case CoordinatorElected():
            return f"node {event.node} elected"
        case HealEnded() | RunEnded() if event.pending:
            return f"pending: {'; '.join(event.pending)}"
        case _:
            return ""
