"""Verdicts of several scenarios become a row per claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.integration.kits.client.verdicts import ScenarioResult, chosen_kips, rows, violated_rows
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import Counterexample, Held, Outcome, Undecided, Untested, Verdict, Violated

ONE, TWO = CATALOGUE[:2]
KIPS = {"base protocol": (ONE,), "KIP-62": (TWO,)}
BROKEN = Violated(
    Counterexample(invariant=ONE.name, headline="p0 is late", claim="nobody is late", because=(), events=()), 2
)


def result(name: str, one: Verdict, two: Verdict | None = None, cut: str = "") -> ScenarioResult:
    verdicts = {ONE: one, TWO: two or Untested("nothing did")}
    judgement = Judgement(verdicts, events=1, ended=True)
    return ScenarioResult(name=name, path=Path(f"{name}.jsonl"), judgement=judgement, cut=cut, seconds=1.0)


def merged(*results: ScenarioResult, untested: dict[str, str] | None = None) -> list[KitRow]:
    return list(rows(results, KIPS, lambda name: f"run {name}", untested or {}))


def test_a_claim_that_held_names_the_history_that_checked_it_most() -> None:
    row, _ = merged(result("joins", Held(3)), result("kill", Held(5)), result("pause", Untested("no")))
    assert (row.section, row.claim, row.outcome) == ("base protocol", ONE.name, Outcome.HELD)
    assert (row.checked, row.history, row.command) == (8, "kill.jsonl", "")


def test_a_claim_that_is_violated_names_the_first_scenario_and_how_to_run_it_again() -> None:
    row, _ = merged(result("joins", Held(3)), result("kill", BROKEN), result("pause", BROKEN))
    assert row.outcome is Outcome.VIOLATED
    assert row.headline == "p0 is late"
    assert row.detail.splitlines()[1:] == ["  claim    nobody is late", "  seen     4 times"]
    assert (row.history, row.command) == ("kill.jsonl", "run kill")


def test_a_claim_that_no_scenario_tests_says_why() -> None:
    _, row = merged(result("joins", Held(3)))
    assert (row.outcome, row.detail, row.history) == (Outcome.UNTESTED, "nothing did", "")
    _, row = merged(result("joins", Held(3)), untested={"KIP-62": "the client is too old"})
    assert row.detail == "the client is too old"


def test_a_doubt_outweighs_what_held() -> None:
    row, _ = merged(result("joins", Held(3)), result("kill", Undecided("a hole")))
    assert (row.outcome, row.detail, row.checked, row.history) == (Outcome.UNDECIDED, "a hole", 3, "kill.jsonl")


def test_what_one_scenario_shows_violated() -> None:
    assert violated_rows(result("joins", Held(3)), KIPS, str) == []
    assert [row.claim for row in violated_rows(result("joins", BROKEN), KIPS, str)] == [ONE.name]


@pytest.mark.parametrize("name", ["KIP-62", "62"])
def test_a_kip_is_chosen_by_its_number(name: str) -> None:
    assert list(chosen_kips([name], KIPS)) == ["KIP-62"]
    assert list(chosen_kips(["base"], KIPS)) == ["base protocol"]
    assert chosen_kips([], KIPS) == KIPS


def test_an_unknown_kip_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="'848' is no KIP of this kit: choose from base protocol, KIP-62"):
        chosen_kips(["848"], KIPS)
