"""The member columns: what the coordinator and each member looked like after each step of a run.

A step is an action of a model path, or an event of a history. Cells are read off the events alone, so any subject's
run can be shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    CoordinatorEvent,
    Event,
    GroupStatusChanged,
    IncarnationStarted,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    StatusEvent,
)
from rebalance_check.properties.kinds import Memories, listeners
from rebalance_check.properties.verdict import Counterexample
from rebalance_check.properties.views.holdings import Holdings
from rebalance_check.report.phrases import phrase

COORDINATOR = "coordinator"
NOTHING = "-"
SHORT = {"PreparingRebalance": "Preparing", "CompletingRebalance": "Completing"}


@dataclass(frozen=True, slots=True)
class Row:
    """One step: its number, what happened, and the cell of each column; ``marked`` is where the claim broke.

    ``repeats`` says that the step belongs to the part of a run that repeats for ever.
    ``changed`` has the columns whose cell differs from the row before. A row with number 0 stands for folded steps.
    """

    number: int
    action: str
    cells: tuple[str, ...]
    marked: bool = False
    concerned: bool = False
    changed: frozenset[int] = frozenset()
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class LaneTable:
    """The steps of a run with a column for the coordinator and one per member; ``steps`` counts all, shown or not."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    steps: int
    place: dict[Hashable, int] = field(default_factory=dict)

    def step_of(self, event: Event | None) -> str:
        """``step 6``, where the event stands; how it is numbered by its source when it is not in this run."""
        if event is None:
            return "an unknown step"
        number = self.place.get(key_of(event))
        return f"step {number}" if number else f"event {event.seq} of {event.source}"


def key_of(event: Event) -> Hashable:
    """The identity of an event in its history; one without a number is identified by its fields."""
    return (event.group, event.source, event.seq) if event.seq >= 0 else event


class Board:
    """The cells as of now; `observe` moves them on."""

    def __init__(self) -> None:
        memories: Memories = {}
        self.holdings = Holdings.among(memories)
        self._handlers = listeners(memories.values())
        self._coordinator: dict[str, str] = {}
        self._condition: dict[str, str] = {}
        self._assigned: dict[str, frozenset[str]] = {}
        self._status: dict[str, dict[str, str]] = {}

    def observe(self, event: Event) -> None:
        """Take the next event."""
        for handler in self._handlers.get(type(event), ()):
            handler(event)
        if isinstance(event, CoordinatorEvent):
            self._observe_coordinator(event)
        elif isinstance(event, AssignmentComputed):
            self._assigned = {member: frozenset(things) for member, things in event.assignments}
        elif isinstance(event, MemberEvent):
            self._observe_condition(event)
        elif isinstance(event, StatusEvent):
            entry = f"{getattr(event, 'status', '') or type(event).__name__} {event.key.removeprefix('status-')}"
            self._status.setdefault(event.worker, {})[event.key] = entry

    def cell(self, column: str) -> str:
        """What stands in a column."""
        if column == COORDINATOR:
            status, generation = self._coordinator.get("status", ""), self._coordinator.get("generation", "")
            return f"{status:<10} {generation}".strip() or NOTHING
        holder = self.holdings.of(column)
        assigned = self._assigned.get(holder.member_id) if holder.round else None
        things = [
            f"({t})" if assigned is not None and t not in assigned and " " not in t else t for t in sorted(holder.holds)
        ]
        parts = [*things, *self._status.get(column, {}).values(), self._condition.get(column, "")]
        return "  ".join(part for part in parts if part) or NOTHING

    def _observe_coordinator(self, event: CoordinatorEvent) -> None:
        self._coordinator["generation"] = f"g{event.generation}"
        status = ""
        if isinstance(event, GroupStatusChanged):
            status = event.to_status
        elif isinstance(event, IncarnationStarted):
            status = event.status
        if status:
            self._coordinator["status"] = SHORT.get(status, status)

    def _observe_condition(self, event: MemberEvent) -> None:
        if isinstance(event, MemberCrashed | MemberLeft | MemberPaused | MembershipLost):
            words = {MemberCrashed: "crashed", MemberLeft: "left", MemberPaused: "paused", MembershipLost: "no member"}
            self._condition[event.member] = words[type(event)]
        elif isinstance(event, MemberStarted | MemberResumed | MemberJoined):
            self._condition.pop(event.member, None)


def members_of(events: Iterable[Event]) -> tuple[str, ...]:
    """The member processes and status workers that a history speaks of, sorted."""
    return tuple(sorted({name for e in events if (name := getattr(e, "member", "") or getattr(e, "worker", ""))}))


def lanes(
    steps: Sequence[tuple[str, Sequence[Event]]],
    counterexample: Counterexample | None = None,
    *,
    context: int = 24,
    group: str | None = None,
    mark_last: bool = False,
    repeats_after: int | None = None,
) -> LaneTable:
    """The table of a run given as steps: what happened, and the events it caused.

    It ends at the step where the claim broke. Steps that change no cell and concern no reason are folded, and of the
    others the last ``context`` are shown (0: all, none folded). ``group`` leaves out what other groups do;
    ``mark_last`` marks the last step of a run that ends where a claim broke; the steps behind ``repeats_after`` repeat
    for ever.
    """
    events = [event for _, caused in steps for event in caused if group is None or event.group in (group, "")]
    columns = (COORDINATOR, *members_of(events))
    concerned = {key_of(event) for event in counterexample.events} if counterexample else set()
    last = key_of(counterexample.events[-1]) if counterexample else None
    board, place, rows = Board(), {}, []
    before = tuple(NOTHING for _ in columns)
    for number, (action, caused) in enumerate(steps, 1):
        keys = {key_of(event) for event in caused}
        for event in caused:
            place[key_of(event)] = number
            if group is None or event.group in (group, ""):
                board.observe(event)
        cells = tuple(board.cell(column) for column in columns)
        changed = frozenset(i for i, cell in enumerate(cells) if cell != before[i])
        marked = last in keys or (mark_last and number == len(steps))
        repeats = repeats_after is not None and number > repeats_after
        rows.append(Row(number, action, cells, marked, bool(keys & concerned), changed, repeats))
        before = cells
        if last in keys:
            break
    return LaneTable(columns, tuple(_folded(rows, context)), len(steps), place)


def history_lanes(
    history: Sequence[Event], counterexample: Counterexample | None = None, *, context: int = 24
) -> LaneTable:
    """The table of a history: each event is a step; the group of the counterexample only."""
    group = counterexample.group if counterexample else None
    return lanes([(phrase(event), [event]) for event in history], counterexample, context=context, group=group)


def _folded(rows: list[Row], context: int) -> list[Row]:
    """Leave out quiet steps (their numbers are missing) and old ones, for which one row numbered 0 stands."""
    if not context:
        return rows
    changing = [row.number for row in rows if row.changed]
    kept = {*changing[-context:], *(row.number for row in rows if row.concerned or row.marked)}
    shown = [row for row in rows if row.number in kept]
    earlier = len(changing) > context
    return [Row(0, "...", tuple("" for _ in row.cells)) for row in shown[:1] if earlier] + shown
