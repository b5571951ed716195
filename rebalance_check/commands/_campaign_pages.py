"""``fuzz --html`` and ``judge FOLDER --html``: a campaign as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.commands._console import Console, write_page
from rebalance_check.commands._fuzz_campaign import FuzzCampaign
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.verdict import could_have_failed
from rebalance_check.report.campaign_page import Campaign, campaign_page
from rebalance_check.report.terminal import suggested

A_SEED: Final = "SEED"
"""Stands in a suggested command for the seed that the reader chooses."""


def page_of_seeds(result: FuzzResult, campaign: FuzzCampaign) -> Campaign:
    """A campaign whose histories are made again from their seeds."""
    return Campaign(
        result,
        about=[campaign.header, figures(result)],
        histories=lambda seeds: ((seed, list(campaign.run(seed))) for seed in sorted(seeds)),
        replay=campaign.command,
        again=campaign.command(0).replace("--seeds 0:1", f"--seeds {A_SEED} --html FILE", 1),
    )


def page_of_table(folder: Path, result: FuzzResult) -> Campaign:
    """A campaign whose histories stand in a table."""
    from rebalance_check.pipeline.run_on_table import stored_runs  # noqa: PLC0415 - needs the extra `tables`

    return Campaign(
        result,
        about=[suggested("judge", folder), figures(result)],
        histories=lambda seeds: stored_runs(folder, seeds),
        replay=lambda _: suggested("judge", folder),
        again="",
    )


def figures(result: FuzzResult) -> str:
    """How much was judged."""
    failing = len(result.failing_seeds)
    tested = could_have_failed(claim.outcome for claim in result.verdicts.values())
    return f"{result.runs:,} runs, {result.events:,} events, {failing:,} of the runs break a claim; {tested}"


def write_campaign(console: Console, html: Path, campaign: Campaign) -> None:
    """Write the page of a campaign."""
    write_page(console, html, campaign_page(campaign))
