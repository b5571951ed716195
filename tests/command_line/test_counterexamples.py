"""Counterexamples on paper: the text and the page of one history, held against golden files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rebalance_check import Event, NoDoubleOwnership, RevokedBeforeReassigned, judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.report.excerpts import history_lanes
from rebalance_check.report.runs import explained
from rebalance_check.report.text import table_text

Golden = Callable[[str, str], None]


@pytest.fixture
def judgement(double_ownership: list[Event]) -> Judgement:
    return judge(double_ownership, [NoDoubleOwnership])


@pytest.fixture
def both(double_ownership: list[Event]) -> Judgement:
    return judge(double_ownership, [NoDoubleOwnership, RevokedBeforeReassigned])


def test_text__no_double_ownership__as_agreed(
    double_ownership: list[Event], judgement: Judgement, golden: Golden
) -> None:
    text, _, _ = explained(double_ownership, judgement.counterexamples[0], "rebalance-check judge history.jsonl")
    assert text.splitlines()[0] == "no_double_ownership: t-1 is owned by m0 and m1 in generation 2"
    golden("no_double_ownership.txt", text + "\n")


def test_text__a_step_of_the_leader_breaks_the_claim__as_agreed(
    double_ownership: list[Event], both: Judgement, golden: Golden
) -> None:
    (finding,) = both.findings
    text, table, _ = explained(double_ownership, finding, "rebalance-check judge history.jsonl")
    assert [row.number for row in table.rows if row.marked] == [16]
    golden("revoked_before_reassigned.txt", text + "\n")


def test_table__ends_where_the_claim_broke(double_ownership: list[Event], both: Judgement) -> None:
    table = history_lanes(double_ownership, both.findings[0])
    assert table.rows[-1].number == 16
    assert table.rows[-1].marked


def test_table__what_is_to_be_given_up_stands_in_brackets(double_ownership: list[Event]) -> None:
    row = next(row for row in history_lanes(double_ownership, context=0).rows if row.number == 16)
    assert row.cells == ("Completing g2", "t-0  (t-1)", "-")


def test_table__quiet_steps_are_folded_and_old_ones_left_out(double_ownership: list[Event]) -> None:
    shown = [row.number for row in history_lanes(double_ownership).rows]
    assert 10 not in shown
    assert 12 not in shown
    few = history_lanes(double_ownership, context=2)
    assert few.rows[0].action == "..."
    assert len(few.rows) == 3
    every = history_lanes(double_ownership, context=0)
    assert [row.number for row in every.rows] == list(range(1, 20))
    assert table_text(every).count("\n") == 20


def test_table__another_group_is_left_out(double_ownership: list[Event], judgement: Judgement) -> None:
    other = [event for event in double_ownership if event.source == "m1"]
    mixed = [*double_ownership[:5], *(_moved(event) for event in other), *double_ownership[5:]]
    table = history_lanes(mixed, judgement.counterexamples[0])
    assert table.rows[-1].cells == history_lanes(double_ownership, judgement.counterexamples[0]).rows[-1].cells


def _moved(event: Event) -> Event:
    return replace(event, group="other")
