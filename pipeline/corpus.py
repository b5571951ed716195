"""The seeds that found something, kept in a folder, so that a later campaign of the same kind runs them first.

The folder holds one file, ``seeds.jsonl``, with a line for each seed: subject and options of its campaign, the claim
that broke and the signature of the finding. Of each signature the shortest runs are kept, `KEPT` of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import Campaign
from rebalance_check.pipeline.findings import Finding

KEPT: Final = 3
"""So many seeds are kept of each signature."""

FILE: Final = "seeds.jsonl"


class KeptSeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file. The version is no part of it: a seed of an older one is worth a run all the same."""

    subject: str
    options: str
    seed: int
    claim: str
    finding: str


class Corpus:
    """The seeds in ``folder``; it and its file need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def seeds(self, campaign: Campaign) -> tuple[int, ...]:
        """The seeds that found something in a campaign of this subject and these options, each once, oldest first.

        Raises: RebalanceCheckError when a line of the file is none of ours, OSError when it cannot be read.
        """
        return tuple(dict.fromkeys(kept.seed for kept in self._kept(campaign)))

    def add(self, campaign: Campaign, findings: Iterable[Finding]) -> int:
        """Keep the shortest runs of each finding that are not there yet; returns how many seeds are new.

        Raises: RebalanceCheckError and OSError as of `seeds`.
        """
        kept = list(self._kept(campaign))
        new = [each for finding in findings for each in _new_of(campaign, finding, kept)]
        if new:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.writelines(msgspec.json.encode(each) + b"\n" for each in new)
        return len(new)

    def _kept(self, campaign: Campaign) -> Iterator[KeptSeed]:
        for number, line in enumerate(self._lines(), 1):
            try:
                kept = msgspec.json.decode(line, type=KeptSeed)
            except msgspec.MsgspecError as fault:
                raise RebalanceCheckError(
                    f"line {number} of {self._path} is no seed of a corpus ({fault}): delete it, or name another folder"
                ) from fault
            if (kept.subject, kept.options) == (campaign.subject, campaign.options_json):
                yield kept

    def _lines(self) -> list[bytes]:
        return self._path.read_bytes().splitlines() if self._path.exists() else []


def _new_of(campaign: Campaign, finding: Finding, kept: Iterable[KeptSeed]) -> Iterator[KeptSeed]:
    """The seeds of a finding, up to as many as are kept of its signature; those of short runs first."""
    there = [each.seed for each in kept if (each.claim, each.finding) == (finding.claim, finding.shape)]
    rows = sorted(finding.rows, key=lambda row: (row.event_count, row.seed))
    seeds = [row.seed for row in rows if row.seed not in there]
    for seed in seeds[: max(0, KEPT - len(there))]:
        yield KeptSeed(campaign.subject, campaign.options_json, seed, finding.claim, finding.shape)
