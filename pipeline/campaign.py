"""A campaign: many seeds under one set of options; how a seed is run, how shards are cut, and which are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import encode
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings

Simulate: TypeAlias = Callable[[int, SimulationOptions], Iterable[Event]]
"""A subject as a function of seed and options. It travels to other processes, so it must stand in a module."""

LAST_SEED: Final = 2**63 - 1

MOST_SEEDS: Final = 10**8
"""Of one campaign: weeks of work."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """The common part of all runs of a table.

    ``subject`` names who ran, ``options`` how, ``version`` which version of this package: another version may make
    another history of the same seed, so tables of two versions are not mixed.
    """

    subject: str
    options: SimulationOptions
    version: str

    @property
    def options_json(self) -> str:
        """The options in canonical JSON: equal options give equal text."""
        return msgspec.json.encode(self.options, order="deterministic").decode()


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. ``options`` is canonical JSON, ``version`` that of the package which made the run, ``events`` the JSON
    lines of the history."""

    seed: int
    subject: str
    options: str
    version: str
    events: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """A subject and its campaign. It travels to other processes, so the subject must stand in a module."""

    simulate: Simulate
    campaign: Campaign

    def events(self, seed: int) -> list[Event]:
        """The history of ``seed``; an exception of the subject carries a note that names the seed and the options."""
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


@dataclass(frozen=True, slots=True)
class Work:
    """The task of a campaign: which seeds, run how, judged by which invariants (names, in order).

    ``known`` are findings that count for nothing.
    """

    seeds: range
    runner: Runner
    names: tuple[str, ...]
    known: KnownFindings = NOTHING_KNOWN


def parse_seeds(text: str) -> range:
    """``0:300`` as the seeds from 0 up to, not including, 300; ``7`` as the one seed 7.

    Raises: RebalanceCheckError when the text is no range of seeds, or an empty one.
    """
    first, colon, last = text.partition(":")
    try:
        start = int(first)
        seeds = range(start, int(last) if colon else start + 1)
    except ValueError:
        raise RebalanceCheckError(
            f"the seeds {text!r} are no range: write FIRST:LAST, such as 0:300, or one seed"
        ) from None
    check_seeds(seeds)
    return seeds


def check_seeds(seeds: range) -> None:
    """Check that the seeds are a non-empty, gapless range of numbers that a table can hold.

    Raises: RebalanceCheckError when they are not.
    """
    if seeds.step != 1 or not seeds:
        raise RebalanceCheckError(
            f"the seeds {seeds} hold nothing or leave some out: give FIRST:LAST with FIRST < LAST"
        )
    if seeds.stop - seeds.start > MOST_SEEDS:
        raise RebalanceCheckError(
            f"the seeds {seeds} are more than {MOST_SEEDS:,}: choose fewer, and go on with others later"
        )
    if seeds.start < 0 or seeds.stop - 1 > LAST_SEED:
        raise RebalanceCheckError(f"the seeds {seeds} go beyond 0..{LAST_SEED}: choose smaller ones")


def shards(seeds: range, size: int) -> Iterator[range]:
    """The seeds in order, cut into pieces of ``size``."""
    for first in range(seeds.start, seeds.stop, size):
        yield range(first, min(first + size, seeds.stop))


def shard_size(runs: int, workers: int) -> int:
    """Runs per shard: few enough to lose little in a kill and keep all workers busy, enough for few files."""
    return min(max(runs // (8 * workers), 16), 1024)


def missing(seeds: range, done: Sequence[range]) -> list[range]:
    """The parts of ``seeds`` that no range of ``done`` covers, in order."""
    gaps: list[range] = []
    first = seeds.start
    for piece in sorted(done, key=lambda r: r.start):
        if piece.start > first:
            gaps.append(range(first, min(piece.start, seeds.stop)))
        first = max(first, piece.stop)
        if first >= seeds.stop:
            break
    if first < seeds.stop:
        gaps.append(range(first, seeds.stop))
    return [gap for gap in gaps if gap]


def overlap(seeds: range, other: range) -> range:
    """The seeds in both."""
    return range(max(seeds.start, other.start), max(seeds.start, other.start, min(seeds.stop, other.stop)))
