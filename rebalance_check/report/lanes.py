"""The member columns: the state of the coordinator and each member after each step of a run.

A step is an action of a model path, or an event of a history. Cells are read off the events alone, so any subject's
run can be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.verdict import Counterexample
from rebalance_check.report.board import COORDINATOR, NOTHING, Board, members_of


@dataclass(frozen=True, slots=True)
class Row:
    """One step: its number, its events, and the cell of each column; ``marked`` is where the claim broke.

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


def key_of(event: Event) -> Hashable:
    """The identity of an event in its history; one without a number is identified by its fields."""
    return (event.group, event.source, event.seq) if event.seq >= 0 else event


@dataclass(frozen=True, slots=True)
class Places:
    """The step of a run to which each event belongs; steps count from 1."""

    steps: dict[Hashable, int] = field(default_factory=dict)

    def note(self, number: int, events: Iterable[Event]) -> None:
        """The step of this number caused these events."""
        for event in events:
            self.steps[key_of(event)] = number

    def number_of(self, event: Event | None) -> int:
        """The step of an event; 0 where it is not in this run."""
        return 0 if event is None else self.steps.get(key_of(event), 0)

    def step_of(self, event: Event | None) -> str:
        """``step 6``, where the event stands; how it is numbered by its source when it is not in this run."""
        if event is None:
            return "an unknown step"
        number = self.number_of(event)
        return f"step {number}" if number else f"event {event.seq} of {event.source}"


@dataclass(frozen=True, slots=True)
class LaneTable:
    """The steps of a run with a column for the coordinator and one per member; ``steps`` counts all, shown or not.

    ``left_out`` counts the steps up to the last row that were left out because the argument does not need them.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    steps: int
    places: Places = field(default_factory=Places)
    left_out: int = 0


def lanes(
    steps: Sequence[tuple[str, Sequence[Event]]],
    counterexample: Counterexample | None = None,
    *,
    context: int = 24,
    group: str | None = None,
    mark_last: bool = False,
    repeats_after: int | None = None,
    things: Collection[str] = (),
) -> LaneTable:
    """The table of a run given as steps: its actions, and the events they caused.

    It ends at the step where the claim broke. Steps that change no cell and concern no reason are folded, and of the
    others the last ``context`` are shown (0: all, none folded). ``group`` leaves out other groups;
    ``mark_last`` marks the last step of a run that ends where a claim broke; the steps behind ``repeats_after`` repeat
    for ever. ``things`` are the partitions, connectors, tasks and keys that cells show; empty for all.
    """
    events = [event for _, caused in steps for event in caused if group is None or event.group in (group, "")]
    columns = (COORDINATOR, *members_of(events))
    concerned = {key_of(event) for event in counterexample.events} if counterexample else set()
    last = key_of(counterexample.events[-1]) if counterexample else None
    loop = {key_of(event) for event in counterexample.repeats} if counterexample else set()
    board, places, rows = Board(things), Places(), []
    cell_of = dict.fromkeys(columns, NOTHING)
    before = tuple(cell_of.values())
    for number, (action, caused) in enumerate(steps, 1):
        keys = {key_of(event) for event in caused}
        places.note(number, caused)
        for event in caused:
            if group is None or event.group in (group, ""):
                board.observe(event)
                cell_of.update((column, board.cell(column)) for column in board.touched(event))
        cells = tuple(cell_of.values())
        changed = frozenset(i for i, cell in enumerate(cells) if cell != before[i])
        marked = last in keys or (mark_last and number == len(steps))
        repeats = bool(keys & loop) or (repeats_after is not None and number > repeats_after)
        rows.append(Row(number, action, cells, marked, bool(keys & concerned), changed, repeats))
        before = cells
        if last in keys:
            break
    return LaneTable(columns, tuple(_folded(rows, context)), len(steps), places)


def _folded(rows: list[Row], context: int) -> list[Row]:
    """Leave out quiet steps (their numbers are missing) and old ones, for which one row numbered 0 stands."""
    if not context:
        return rows
    changing = [row.number for row in rows if row.changed]
    kept = {*changing[-context:], *(row.number for row in rows if row.concerned or row.marked)}
    shown = [row for row in rows if row.number in kept]
    earlier = len(changing) > context
    return [Row(0, "...", tuple("" for _ in row.cells)) for row in shown[:1] if earlier] + shown
