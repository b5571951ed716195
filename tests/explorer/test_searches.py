"""Searches in the background: what they find, that one follows another, and that they can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from rebalance_check.browser.searches import Search, Searches, SearchOptions, Wanted
from rebalance_check.browser.walks import walk_document
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import Bounds

INTERPRETED: Final = SearchOptions(compiled=False)
SMALL: Final = Bounds(members=2, partitions=1, generations=2, crashes=0, initial_delay=False)
LARGE: Final = Bounds(members=3, partitions=3, generations=9, crashes=2, expiries=2)
PATIENCE_S: Final = 120


def ended(search: Search) -> dict[str, Any]:
    """What a search found, once it has ended."""
    assert search.ends_within(PATIENCE_S)
    return search.document()


def wanted(bounds: Bounds, mutant: str = "", **others: Any) -> Wanted:
    return Wanted(model=model_for(bounds, mutant), bounds=bounds, **others)


def test_a_search__has_verdicts__and_how_often_each_rule_fired() -> None:
    found = ended(Search(wanted(SMALL), INTERPRETED))
    assert (found["state"], found["complete"], found["violated"]) == ("ended", True, "")
    assert {each["verdict"] for each in found["verdicts"]} == {"held"}
    rules = {each["name"]: each["count"] for each in found["rules"]}
    assert rules["JoinGroup"] > 0
    assert rules["Crash"] == 0  # no budget for it
    assert any(each["met"] for each in found["reachable"])


def test_a_planted_defect__gives_a_counterexample_to_walk() -> None:
    mutant = MUTANTS["generation-is-reused"]
    found = ended(Search(wanted(mutant.bounds, mutant.name), INTERPRETED))
    assert found["violated"] == mutant.caught_by
    assert [c["name"] for c in walk_document(found["counterexample"])["claims"] if not c["holds"]] == [mutant.caught_by]


def test_a_goal__gives_a_shortest_way_there() -> None:
    bounds = Bounds(members=2, partitions=1, generations=2, crashes=0, initial_delay=False)
    reachable = [each["name"] for each in ended(Search(wanted(bounds), INTERPRETED))["reachable"] if each["met"]]
    found = ended(Search(wanted(bounds, goal=reachable[-1]), INTERPRETED))
    assert reachable[-1] in walk_document(found["witness"])["met"]


def test_a_liveness_property_that_fails__gives_a_run_that_goes_on_for_ever() -> None:
    pytest.importorskip("networkx", reason="the extra 'explore' is not installed")
    bounds = Bounds(members=2, partitions=1, generations=3, crashes=0, expiries=1, initial_delay=False)
    found = ended(Search(wanted(bounds, "unknown-id-is-kept", liveness=True), INTERPRETED))
    lasso = next(each["address"] for each in found["liveness"] if each["name"] == "no_stuck_member")
    assert walk_document(lasso)["loop"] is not None


def test_limits_end_a_search__and_it_says_why() -> None:
    found = ended(Search(wanted(LARGE), SearchOptions(compiled=False, limits=Limits(states=50))))
    assert (found["complete"], found["ended"]) == (False, "the limit of states is reached")
    assert {each["verdict"] for each in found["verdicts"]} == {"undecided"}


@pytest.fixture
def searches() -> Iterator[Searches]:
    made = Searches(INTERPRETED)
    yield made
    made.stop()


def test_a_search__is_watched_while_it_goes_on__and_stopped(searches: Searches) -> None:
    assert searches.document() == {"state": "none"}
    begun = searches.begin(wanted(LARGE))
    assert begun["bounds"] == LARGE.address()
    assert begun["state"] in {"begins", "searches"}
    found = searches.stop()
    assert (found["state"], found["ended"]) == ("ended", "it was interrupted")


def test_the_next_search__ends_the_one_before(searches: Searches) -> None:
    searches.begin(wanted(LARGE))
    searches.begin(wanted(SMALL))
    assert searches.document()["bounds"] == SMALL.address()
