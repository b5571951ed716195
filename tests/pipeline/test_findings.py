"""Findings by signature, known ones apart, and an early end."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.findings import apart, findings
from rebalance_check.pipeline.fuzz import fuzz, judge_table
from rebalance_check.pipeline.judging import VerdictRow, tally
from rebalance_check.pipeline.limits import Limits
from rebalance_check.properties.known import KnownEntry, KnownFindings
from rebalance_check.properties.verdict import Outcome

CLAIM = "no_double_ownership"
SEEDS = range(3, 60)
FAILING = tuple(seed for seed in SEEDS if seed % 7 == 0)
ALL = KnownFindings((KnownEntry(claim=CLAIM, reason="the toy doubles"),))
OTHER = KnownFindings((KnownEntry(claim=CLAIM, finding="never seen", reason="of old"),))


def row(seed: int, detail: str = "", events: int = 10) -> VerdictRow:
    outcome = Outcome.VIOLATED if detail else Outcome.HELD
    return VerdictRow(seed, CLAIM, outcome, int(bool(detail)), events, detail)


def test_findings_that_differ_in_their_numbers_are_one_with_all_its_seeds() -> None:
    rows = [row(1, "m0 and m1 own t-0", 30), row(2, "m7 owns u"), row(3, "m2 and m3 own t-1", 20), row(4)]
    first, second = findings(tally(rows, [CLAIM]))
    assert (first.seeds, first.shortest.seed) == ((1, 3), 3)
    assert second.seeds == (2,)


def test_what_is_known_is_counted_apart_and_its_runs_count_as_held() -> None:
    rows = [row(1, "m0 and m1 own t-0"), row(2, "m7 owns u"), row(4)]
    known = KnownFindings((KnownEntry(claim=CLAIM, finding="m# owns u", reason="x"), *OTHER.entries))
    left, (seen, not_seen) = apart(tally(rows, [CLAIM]), known)
    assert [each.seed for each in left[CLAIM].violations] == [1]
    assert left[CLAIM].outcomes == {Outcome.VIOLATED: 1, Outcome.HELD: 2}
    assert ([each.seed for each in seen.rows], not_seen.rows) == ([2], ())


def test_a_campaign_with_known_findings_alone_holds(toy: Any, options: SimulationOptions, tmp_path: Path) -> None:
    alone = fuzz(SEEDS, options, simulate=toy.simulate, workers=1, known=ALL, invariants=[CLAIM])
    stored = fuzz(SEEDS, options, simulate=toy.simulate, workers=2, known=ALL, invariants=[CLAIM], out=tmp_path)
    for result in (alone, stored, judge_table(tmp_path, workers=1, known=ALL, invariants=[CLAIM])):
        assert (result.outcome, result.exit_code, result.counterexamples) == (Outcome.HELD, 0, ())
        assert tuple(each.seed for each in result.known[0].rows) == FAILING


def test_an_entry_that_accounts_for_nothing_hides_nothing(toy: Any, options: SimulationOptions) -> None:
    result = fuzz(SEEDS, options, simulate=toy.simulate, workers=1, known=OTHER, invariants=[CLAIM])
    assert (result.failing_seeds, result.exit_code, result.known[0].rows) == (FAILING, 10, ())


@pytest.mark.parametrize(("workers", "stored"), [(1, False), (2, True)])
def test_the_first_new_finding_is_reported_once_and_may_end_the_campaign(
    toy: Any, options: SimulationOptions, tmp_path: Path, workers: int, stored: bool
) -> None:
    found: list[VerdictRow] = []
    result = fuzz(
        range(3, 3_000), options, simulate=toy.simulate, workers=workers, out=tmp_path / "table" if stored else None,
        limits=Limits(stop_at_first=True), on_finding=found.append,
    )  # fmt: skip
    assert [each.seed % 7 for each in found] == [0]
    assert result.runs < 1_000
    assert found[0].seed in result.failing_seeds
    assert result.exit_code == 10


def test_a_campaign_that_ended_early_goes_on_in_its_folder(
    toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    first = fuzz(range(3, 600), options, simulate=toy.simulate, workers=1, out=tmp_path,
                 limits=Limits(stop_at_first=True))  # fmt: skip
    whole = fuzz(range(3, 600), options, simulate=toy.simulate, workers=1, out=tmp_path)
    assert (whole.runs, whole.resumed) == (597, first.runs)
    alone = fuzz(range(3, 600), options, simulate=toy.simulate, workers=1)
    assert replace(whole, seconds=0, resumed=0) == replace(alone, seconds=0)


def test_what_is_known_ends_no_campaign(toy: Any, options: SimulationOptions) -> None:
    found: list[VerdictRow] = []
    result = fuzz(
        SEEDS, options, simulate=toy.simulate, workers=1, known=ALL, invariants=[CLAIM],
        limits=Limits(stop_at_first=True), on_finding=found.append,
    )  # fmt: skip
    assert (result.runs, found) == (len(SEEDS), [])


def test_a_campaign_ends_when_its_time_is_over(toy: Any, options: SimulationOptions) -> None:
    began = time.monotonic()
    result = fuzz(range(10**8), options, simulate=toy.simulate, workers=1, limits=Limits(seconds=0.5))
    assert 0 < result.runs < 10**7
    assert time.monotonic() - began < 30
