"""Every defect of the field in the roles of this suite is planted, or the reason why not is written down."""

from __future__ import annotations

from collections import Counter

from rebalance_check.impl.mutants import IMPL_MUTANTS, MUTANTS
from rebalance_check.impl.mutants.field_bugs import field_bugs

CONNECT_ROLES = ("connect worker", "connect assignor", "status store")

IDS = {bug.id for bug in field_bugs()}
NOT_PLANTED = {bug.id for bug in field_bugs() if bug.not_planted}
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


def test_every_entry_is_planted_or_says_why_not__and_none_does_both() -> None:
    assert NOT_PLANTED == IDS - PLANTED


def test_every_planted_entry_of_connect_is_planted_in_the_implementation() -> None:
    of_connect = {bug.id for bug in field_bugs() if bug.role in CONNECT_ROLES}
    planted = {one.catalogue_id for one in IMPL_MUTANTS.values()} & of_connect
    assert len(of_connect) == 28
    assert planted == of_connect - NOT_PLANTED


def test_ninety_three_entries_are_planted() -> None:
    assert len(IDS & PLANTED) == len(PLANTED) == 93
