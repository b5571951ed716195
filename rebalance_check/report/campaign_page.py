"""A campaign on a page: every run with its verdict, findings that are alike, and the histories of the first runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.judging import ClaimTally
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.pages.run_pages import Broken, ListedRun, run_page
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.pages.signatures import shape_of
from rebalance_check.report.shown_histories import seed_run

MOST_EVENTS: Final = 200_000
"""So many events of runs the page of a campaign holds, about 40 bytes each; the first run is held in any case."""

Histories: TypeAlias = Callable[[Collection[int]], Iterable[tuple[int, Sequence[Event]]]]
"""The histories of these seeds, in any order."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as its page needs it: ``result`` with its list of runs, ``about`` in words, where the histories are.

    ``replay`` is the command that repeats the run of a seed, ``again`` the one that makes a page of a run whose
    history this one does not hold.
    """

    result: FuzzResult
    about: Sequence[str]
    histories: Histories
    replay: Callable[[int], str]
    again: str


def campaign_page(campaign: Campaign, most_events: int = MOST_EVENTS) -> str:
    """The page of a campaign. Runs that broke a claim come first into the events that it holds, one of each kind of
    finding before all others."""
    result = campaign.result
    broken = _broken(result.verdicts.values())
    verdicts = {run.seed: run.outcome(require_tested=result.require_tested) for run in result.listed}
    shown = {
        seed: _shown(campaign, seed, verdicts[seed], history, broken.get(seed, ()))
        for seed, history in campaign.histories(_chosen(result, broken, most_events))
    }
    runs = [
        ListedRun(str(run.seed), verdicts[run.seed], run.event_count, broken.get(run.seed, ()), shown.get(run.seed))
        for run in result.listed
    ]
    return run_page(runs, campaign.about, again=campaign.again)


def _broken(tallies: Iterable[ClaimTally]) -> dict[int, list[Broken]]:
    """What each seed broke."""
    found: dict[int, list[Broken]] = {}
    for claim in tallies:
        sentence = select([claim.invariant])[0].claim
        for row in claim.violations:
            found.setdefault(row.seed, []).append(Broken(claim.invariant, sentence, row.detail))
    return found


def _chosen(result: FuzzResult, broken: dict[int, list[Broken]], most_events: int) -> frozenset[int]:
    """The seeds whose histories fit into the page."""
    length = {run.seed: run.event_count for run in result.listed}
    shortest: dict[tuple[str, str], int] = {}
    for seed in sorted(broken, key=lambda seed: (length[seed], seed)):
        for each in broken[seed]:
            shortest.setdefault((each.claim, shape_of(each.headline)), seed)
    chosen: set[int] = set()
    events = 0
    for seed in dict.fromkeys(chain(shortest.values(), sorted(broken), length)):
        if chosen and events + length[seed] > most_events:
            break
        chosen.add(seed)
        events += length[seed]
    return frozenset(chosen)


def _shown(
    campaign: Campaign, seed: int, verdict: Outcome, history: Sequence[Event], broken: Sequence[Broken]
) -> ShownRun:
    """One run in full, judged once more by what it broke, for the reasons."""
    judgement = judge(history, select([each.claim for each in broken])) if broken else None
    findings = [Finding.of(found) for found in judgement.counterexamples] if judgement else []
    return seed_run(seed, history, verdict, findings, campaign.replay(seed))
