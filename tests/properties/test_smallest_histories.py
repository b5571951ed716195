"""A history of all that is broken: what each invariant says does not depend on the others."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.examples import events_of
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant


def spelt_out(invariant: Invariant) -> list[Event]:
    """The events of the smallest history that breaks it: one call of an event class after the other."""
    return events_of(invariant.opening, invariant.breaks)


@pytest.mark.parametrize("seed", range(4))
def test_a_claim_judged_alone_says_what_it_says_among_all(seed: int) -> None:
    everything = [event for each in CATALOGUE for event in spelt_out(each)]
    of_the_group = [event for event in everything if not isinstance(event, RunStarted | RunEnded)]
    of_the_group = [replace(event, time_ms=0) for event in of_the_group]  # times that run back prove disorder
    Random(seed).shuffle(of_the_group)
    broken = [RunStarted(subject="all that is broken", punctual=True), *of_the_group, RunEnded(pending=("much",))]
    together = judge(broken)

    assert len(together.counterexamples) > 12  # so much is broken that the memories that claims share are put to use
    assert {each: judge(broken, [each]).verdicts[each] for each in CATALOGUE} == dict(together.verdicts)
