"""Cells of members, workers and client processes, read off events one by one."""

from __future__ import annotations

import pytest

from rebalance_check import events
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.report.board import COORDINATOR, Board, members_of


def cell_after(column: str, *seen: Event) -> str:
    board = Board()
    for event in seen:
        board.observe(event)
    return board.cell(column)


@pytest.mark.parametrize("protocol", list(SimulatedProtocol))
def test_only_the_columns_that_an_event_touches__change(protocol: SimulatedProtocol) -> None:
    """Lanes and tables rely on this: they look at no other column."""
    history = list(simulate(7, SimulationOptions(protocol=protocol, steps=25)))
    columns = (COORDINATOR, *members_of(history))
    board = Board()
    before = {column: board.cell(column) for column in columns}
    for event in history:
        board.observe(event)
        now = {column: board.cell(column) for column in columns}
        assert {column for column in columns if now[column] != before[column]} <= set(board.touched(event)), event
        before = now


STARTED = events.ProcessStarted(process="p0")
JOINED = events.ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=2)
SYNCED = events.ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup", assignment=("t-0", "t-1"))
REJOINS = events.RequestObserved(connection=1, process="p0", request=3, api="JoinGroup", version=9, owned=("t-0",))
REFUSED = events.ReplyObserved(
    connection=1, process="p0", request=2, api="SyncGroup", error="REBALANCE_IN_PROGRESS", assignment=("t-9",)
)
LEFT = events.ReplyObserved(connection=1, process="p0", request=4, api="LeaveGroup")


@pytest.mark.parametrize(
    ("seen", "cell"),
    [
        ((STARTED,), "-"),
        ((STARTED, JOINED), "g2"),
        ((STARTED, JOINED, SYNCED), "g2  t-0  t-1"),
        ((STARTED, JOINED, SYNCED, REJOINS), "g2  t-0"),
        ((STARTED, JOINED, REFUSED), "g2"),
        ((STARTED, JOINED, SYNCED, LEFT), "-"),
        ((STARTED, JOINED, SYNCED, events.ProcessSignalled(process="p0", signal="pause")), "g2  t-0  t-1  paused"),
        ((STARTED, events.ProcessSignalled(process="p0", signal="kill")), "killed"),
        ((STARTED, JOINED, SYNCED, events.ProcessEnded(process="p0", exit_status=-9)), "ended -9"),
    ],
)
def test_a_client_process__shows_what_passed_on_the_wire(seen: tuple[Event, ...], cell: str) -> None:
    assert cell_after("p0", *seen) == cell


def test_the_coordinator_of_a_recorder__is_the_node_it_moved_to() -> None:
    assert cell_after(COORDINATOR, STARTED, events.CoordinatorMoved(node=2)) == "node 2"
