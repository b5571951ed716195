"""The table of a counterexample: what its argument needs and what it happened to, no more columns, cells and fields."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event, StatusRead
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.properties.argument import argument
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.verdict import Counterexample
from rebalance_check.report.excerpts import MOST_ROWS, history_lanes
from rebalance_check.report.text import table_text

(CACHE,) = select(["safe_status_writes.cache_follows_reads"])
STATUS = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=40, faults=(), mutant="cache-written-at-send")

Failing = tuple[list[Event], Counterexample]


@pytest.fixture(scope="module")
def failing() -> Failing:
    """A run of three status stores with all their keys, of which the claim names one."""
    verdict = breaks(0, STATUS, CACHE)
    assert verdict is not None
    return simulate(0, STATUS), verdict.counterexample


def test_every_event_of_the_argument_has_a_row__and_the_table_ends_where_the_claim_broke(failing: Failing) -> None:
    history, found = failing

    table = history_lanes(history, found)

    numbers = {row.number for row in table.rows}
    assert {table.places.number_of(event) for event in argument(history, found, CACHE)} <= numbers
    assert [row.number for row in table.rows if row.marked] == [max(numbers)]
    assert len(table.rows) <= MOST_ROWS < table.rows[-1].number


def test_cells_show_the_key_that_is_named__and_columns_the_workers_that_take_part(failing: Failing) -> None:
    history, found = failing

    table, whole = history_lanes(history, found), history_lanes(history, found, context=0)

    read = found.events[-1]
    assert isinstance(read, StatusRead)
    key = read.key.removeprefix("status-")
    assert set(table.columns) < set(whole.columns)
    assert {cell.partition(" ")[2] for row in table.rows for cell in row.cells} <= {key, ""}
    assert max(map(len, table_text(table).splitlines())) < 140 < max(map(len, table_text(whole).splitlines()))


def test_the_last_line_counts_what_is_left_out(failing: Failing) -> None:
    history, found = failing

    table, whole = history_lanes(history, found), history_lanes(history, found, context=0)

    assert table.left_out == table.rows[-1].number - len(table.rows)
    assert f"{table.left_out} steps are left out (--verbose shows every step)" in table_text(table)
    assert whole.left_out == 0
    assert [row.number for row in whole.rows] == list(range(1, table.rows[-1].number + 1))


def test_fewer_rows__are_the_argument_and_the_last_of_the_others(failing: Failing) -> None:
    history, found = failing

    few = history_lanes(history, found, context=1)

    needed = {few.places.number_of(event) for event in argument(history, found, CACHE)}
    assert {row.number for row in few.rows} == needed | {few.places.number_of(found.events[-1])}


def test_a_loop_with_many_events__is_shown_by_the_first_of_them(failing: Failing) -> None:
    history, found = failing
    repeats = tuple(history[10:60])

    table = history_lanes(history, replace(found, repeats=repeats))

    shown = [row.number for row in table.rows if row.repeats]
    assert len(table.rows) == MOST_ROWS
    assert shown == list(range(11, 11 + len(shown)))
