"""A counterexample as text: claim, reason, place, the table, how to see it again. No timestamps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalance_check.properties.verdict import STEP, Counterexample
from rebalance_check.report.lanes import LaneTable, Places, Row
from rebalance_check.report.terminal import visible

_LABEL = 8


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a run came from: ``run`` in words, ``replay`` the command that shows it again, ``seed`` if there is one."""

    run: str
    replay: str = ""
    seed: str = ""


def counterexample_text(counterexample: Counterexample, table: LaneTable, origin: Origin) -> str:
    """The whole explanation; its first line alone names invariant, breach, member and time."""
    reasons = because_texts(counterexample, table.places)
    blocks = [
        "\n".join(
            [
                f"{counterexample.invariant}: {visible(counterexample.headline)}",
                _labelled("claim", counterexample.claim),
                *(_labelled("" if number else "because", reason) for number, reason in enumerate(reasons)),
                *(
                    _labelled("" if number else "then", str(one))
                    for number, one in enumerate(counterexample.consequences)
                ),
                _labelled("run", origin.run),
            ]
        ),
        table_text(table),
    ]
    closing = [_labelled(label, text) for label, text in (("replay", origin.replay), ("seed", origin.seed)) if text]
    return "\n\n".join([*blocks, *(["\n".join(closing)] if closing else [])])


def because_texts(counterexample: Counterexample, places: Places) -> list[str]:
    """The reasons, each naming the step that gives it."""
    return [reason.text.replace(STEP, places.step_of(reason.event)) for reason in counterexample.because]


def table_text(table: LaneTable) -> str:
    """The steps, a column per member, the step where the claim broke marked with ``>``."""
    table = visible_table(table)
    action_width = max([len("action"), *(len(row.action) for row in table.rows)])
    widths = [max(len(name), *(len(row.cells[i]) for row in table.rows), 1) for i, name in enumerate(table.columns)]
    digits = max(2, len(str(max((row.number for row in table.rows), default=0))))
    head = f"   {'#':>{digits}}  {'action':<{action_width}}  " + _cells(table.columns, widths)
    lines = [head.rstrip(), *(_row(row, digits, action_width, widths) for row in table.rows)]
    if any("(" in cell for row in table.rows for cell in row.cells):
        lines.append(f"   {'':>{digits}}  (x) = to be given up, not yet revoked")
    if any(row.repeats for row in table.rows):
        lines.append(f"   {'':>{digits}}  ~ = repeats for ever")
    if table.left_out:
        lines.append(f"   {'':>{digits}}  {_steps(table.left_out)} left out (--verbose shows every step)")
    return "\n".join(lines)


def _steps(count: int) -> str:
    return "1 step is" if count == 1 else f"{count} steps are"


def visible_table(table: LaneTable) -> LaneTable:
    """The table, with each character escaped that a terminal would obey instead of print (`visible`)."""
    rows = tuple(replace(row, action=visible(row.action), cells=tuple(map(visible, row.cells))) for row in table.rows)
    return replace(table, columns=tuple(map(visible, table.columns)), rows=rows)


def _row(row: Row, digits: int, action_width: int, widths: list[int]) -> str:
    mark = ">" if row.marked else "~" if row.repeats else " "
    number = str(row.number or "")
    return f" {mark} {number:>{digits}}  {row.action:<{action_width}}  {_cells(row.cells, widths)}".rstrip()


def _cells(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))


def _labelled(label: str, text: str) -> str:
    return f"  {label:<{_LABEL}} {visible(text)}".rstrip()
