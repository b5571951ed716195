"""Findings that are known: a list of them, which violations each accounts for, and the file in which a user keeps more.

A file is TOML, with a table for each finding::

    [[known]]
    claim = "rebalance_completes"
    finding = "m# died: SyncGroup failed with COORDINATOR_LOAD_IN_PROGRESS*"
    of = "the Java client of Kafka"
    reason = "KAFKA-1234: it takes the error for a fatal one"

``claim`` is the name of an invariant; ``finding`` the headline of the counterexample, with its numbers as they are or
as ``#``, and ``*`` for anything; without it, all findings of the claim are meant. ``reason`` says why it is known,
``of`` (optional) whose it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.signatures import shape_of

ANYTHING: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntry:
    """A finding that is known: ``claim`` and ``finding`` say which, ``reason`` why, ``of`` whose it is."""

    claim: str
    reason: str
    finding: str = ANYTHING
    of: str = ""

    def accounts_for(self, claim: str, headline: str) -> bool:
        """Whether this is the violation of ``claim`` with that headline, for other members or generations, too."""
        parts = [re.escape(shape_of(part)) for part in self.finding.split(ANYTHING)]
        return claim == self.claim and re.fullmatch(".*".join(parts), shape_of(headline), re.DOTALL) is not None

    def __str__(self) -> str:
        of = f" of {self.of}" if self.of else ""
        finding = "" if self.finding == ANYTHING else f": {self.finding}"
        return f"known{of}: {self.claim}{finding}"


@dataclass(frozen=True, slots=True)
class KnownFindings:
    """A list of known findings; the first that accounts for a violation counts."""

    entries: tuple[KnownEntry, ...] = ()

    def entry_for(self, claim: str, headline: str) -> KnownEntry | None:
        """The entry that accounts for a violation; None for a new one."""
        return next((entry for entry in self.entries if entry.accounts_for(claim, headline)), None)


NOTHING_KNOWN: Final = KnownFindings()


def read_known(path: Path) -> KnownFindings:
    """The list in the file at ``path``.

    Raises: RebalanceCheckError when it cannot be read, is no TOML, or an entry is not as described above.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise RebalanceCheckError(f"{path} cannot be read: {fault.strerror}; name a file of known findings") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise RebalanceCheckError(f"{path} is no TOML: {fault}") from fault
    entries = document.get("known")
    if document.keys() != {"known"} or not isinstance(entries, list):
        raise RebalanceCheckError(f"{path} holds {_listed(document)}: write a [[known]] table for each known finding")
    return KnownFindings(tuple(_entry(path, number, entry) for number, entry in enumerate(entries, 1)))


def _entry(path: Path, number: int, entry: Mapping[str, Any]) -> KnownEntry:
    names = [field.name for field in fields(KnownEntry)]
    where = f"entry {number} of {path}"
    if not isinstance(entry, dict) or any(not isinstance(value, str) or not value for value in entry.values()):
        raise RebalanceCheckError(f"{where} is {entry!r}: write a table of texts, none of them empty")
    if unknown := sorted(set(entry) - set(names)):
        raise RebalanceCheckError(f"{where} has {_listed(unknown)}: choose from {_listed(names)}")
    if missing := [name for name in ("claim", "reason") if name not in entry]:
        raise RebalanceCheckError(
            f"{where} has no {_listed(missing)}: say which claim is broken, and why that is known"
        )
    try:
        select([entry["claim"]])
    except RebalanceCheckError as fault:
        raise RebalanceCheckError(f"{where}: {fault}") from fault
    return KnownEntry(**entry)


def _listed(names: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
