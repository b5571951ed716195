"""When ``rebalance-check fuzz`` ends, and which seeds it keeps and runs first."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from rebalance_check.commands._campaign_options import CampaignOptions
from rebalance_check.commands._console import Console
from rebalance_check.commands._fuzz_campaign import FuzzCampaign
from rebalance_check.model.version import __version__
from rebalance_check.pipeline.campaign import MOST_SEEDS, Campaign
from rebalance_check.pipeline.corpus import Corpus
from rebalance_check.pipeline.limits import Limits
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.report.terminal import visible


def endless_seeds(seeds: str, minutes: float) -> str:
    """The seeds that are named; all there are where none is, and ``minutes`` say when to end."""
    chosen_by = click.get_current_context().get_parameter_source("seeds")
    return f"0:{MOST_SEEDS}" if minutes and chosen_by is ParameterSource.DEFAULT else seeds


def limits_of(ends: CampaignOptions, minutes: float) -> Limits:
    """The limits of a campaign as the command line names them."""
    return Limits(ends.stop_at_first, minutes * 60 if minutes else None)


class SeedsOfCampaign:
    """The corpus of one campaign; without a ``folder`` it holds nothing, and nothing is kept."""

    def __init__(self, folder: Path | None, campaign: FuzzCampaign) -> None:
        self._folder = folder
        self._corpus = None if folder is None else Corpus(folder)
        self._campaign = Campaign(campaign.subject, campaign.options, __version__)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that found something before."""
        return () if self._corpus is None else self._corpus.seeds(self._campaign)

    def keep(self, console: Console, result: FuzzResult) -> None:
        """Keep what was found now, and say how much is new."""
        if self._corpus is not None and (new := self._corpus.add(self._campaign, result.findings)):
            console.say(f"{new} new seed{'' if new == 1 else 's'} in the corpus {visible(str(self._folder))}")
