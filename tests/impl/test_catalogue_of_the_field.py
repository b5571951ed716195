"""Every defect of the field in the roles of this suite is planted, or the reason why not is written down."""

from __future__ import annotations

from collections import Counter
from statistics import median

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.impl.mutants.field_bugs import field_bugs
from rebalance_check.impl.mutants.finds import recorded_finds
from rebalance_check.impl.mutants.out_of_reach import OUT_OF_REACH
from rebalance_check.impl.mutants.shrunk_lengths import STEPS

CONNECT_ROLES = ("connect worker", "connect assignor", "status store")

IDS = {bug.id for bug in field_bugs()}
PLANTED = {mutant.catalogue_id for mutant in MUTANTS.values() if mutant.catalogue_id}


def test_the_catalogue_has_each_of_its_entries_once() -> None:
    assert Counter(bug.role for bug in field_bugs()) == {
        "broker coordinator": 30,
        "client coordinator": 29,
        "consumer coordinator": 24,
        "assignor": 20,
        "connect worker": 15,
        "connect assignor": 7,
        "migration": 6,
        "status store": 6,
    }
    assert len(IDS) == len(field_bugs()) == 137


def test_what_a_search_took_is_recorded_for_each_mutant_of_the_field_that_has_one() -> None:
    searched = {n for n, one in MUTANTS.items() if one.catalogue_id}
    assert set(recorded_finds()) == searched, "run `rebalance-check mutants --finds` and put what it prints there"
    assert all(
        find.seeds >= (one.where == "impl") for name, find in recorded_finds().items() for one in [MUTANTS[name]]
    )


def test_every_entry_is_planted_or_out_of_reach__and_none_is_both() -> None:
    assert set(OUT_OF_REACH) == IDS - PLANTED


def test_every_planted_entry_of_connect_has_a_counterexample_of_at_most_twenty_steps__as_a_median() -> None:
    of_connect = {bug.id for bug in field_bugs() if bug.role in CONNECT_ROLES}
    own = {name: one.catalogue_id for name, one in MUTANTS.items() if one.catalogue_id in of_connect}
    assert len(of_connect) == 28
    assert len(set(own.values())) == 28 - len(of_connect & set(OUT_OF_REACH)) >= 21
    searched = {name for name in own if MUTANTS[name].where == "impl"}
    assert {own[name] for name in searched} == set(own.values())
    assert searched <= set(STEPS)
    assert median(STEPS[name] for name in searched) <= 20


def test_at_least_seventy_entries_are_planted() -> None:
    assert len(IDS & PLANTED) >= 70


def test_the_median_of_the_counterexamples_that_were_measured_is_short() -> None:
    searched = {name for name, one in MUTANTS.items() if one.where == "impl"}
    of_the_field = {name for name in searched if MUTANTS[name].catalogue_id in IDS}
    assert len(of_the_field & set(STEPS)) >= 50
    assert set(STEPS) <= searched
    assert median(STEPS[name] for name in of_the_field & set(STEPS)) <= 20
