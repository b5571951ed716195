"""A campaign on a page: every run with its verdict, findings that are alike, and the histories of the first runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.judging import ClaimTally
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.pages.chosen_runs import MOST_EVENTS, chosen_runs
from rebalance_check.report.pages.run_pages import Broken, ListedRun, run_page
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.shown_histories import seed_run

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
    """The page of a campaign; of more than ``most_events`` events it holds the histories that `chosen_runs` chooses."""
    result = campaign.result
    broken = _broken(result.verdicts.values())
    verdicts = {run.seed: run.outcome(require_tested=result.require_tested) for run in result.listed}
    chosen = chosen_runs({run.seed: run.event_count for run in result.listed}, broken, most_events)
    shown = {
        seed: _shown(campaign, seed, verdicts[seed], history, broken.get(seed, ()))
        for seed, history in campaign.histories(chosen)
    }
    runs = [
        ListedRun(str(run.seed), verdicts[run.seed], run.event_count, broken.get(run.seed, ()), shown.get(run.seed))
        for run in result.listed
    ]
    return run_page(runs, campaign.about, again=campaign.again)


def _broken(tallies: Iterable[ClaimTally]) -> dict[int, list[Broken]]:
    """The claims that each seed broke."""
    found: dict[int, list[Broken]] = {}
    for claim in tallies:
        sentence = select([claim.invariant])[0].claim
        for row in claim.violations:
            found.setdefault(row.seed, []).append(Broken(claim.invariant, sentence, row.detail))
    return found


def _shown(
    campaign: Campaign, seed: int, verdict: Outcome, history: Sequence[Event], broken: Sequence[Broken]
) -> ShownRun:
    """One run in full, judged once more by its broken claims, for the reasons."""
    judgement = judge(history, select([each.claim for each in broken])) if broken else None
    findings = [Finding.of(found) for found in judgement.findings] if judgement else []
    return seed_run(seed, history, verdict, findings, campaign.replay(seed))
