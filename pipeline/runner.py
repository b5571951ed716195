"""Running one seed of a campaign: the unit of work that every engine shares."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Campaign, Simulate
from rebalance_check.pipeline.rows import RunRow
from rebalance_check.properties.history import encode


@dataclass(frozen=True, slots=True)
class Work:
    """What a campaign is asked to do: which seeds, run how, judged by which invariants (names, in order)."""

    seeds: range
    runner: Runner
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """A subject and its campaign. It travels to other processes, so the subject must stand in a module."""

    simulate: Simulate
    campaign: Campaign

    def events(self, seed: int) -> list[Event]:
        """The history of ``seed``; whatever the subject raises carries a note that names the seed and the options."""
        try:
            return list(self.simulate(seed, self.campaign.options))
        except Exception as fault:
            fault.add_note(f"in the simulation of seed {seed} with {self.campaign.options_json}")
            raise

    def row(self, seed: int) -> RunRow:
        """The same as a row of the history table."""
        campaign = self.campaign
        events = tuple(encode(event) for event in self.events(seed))
        return RunRow(seed, campaign.subject, campaign.options_json, campaign.version, events)
