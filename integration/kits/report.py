"""The findings of a conformance kit: a row per claim, and their sum. Nothing here prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalance_check.properties.exit_codes import ExitCode, exit_code_of_claims, worst_exit_code
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class KitRow:
    """The outcome of one claim over all that a kit tried.

    ``section`` groups the rows of a report (``KIP-429``). ``checked`` counts how often the claim was put to the test.
    ``detail`` says why the outcome is so; of several lines, a table shows the first. ``history`` is the path of
    the history that shows it, ``command`` reproduces it, each "" for none. ``kind`` decides whether a violation
    is one of safety or of liveness.
    """

    section: str
    claim: str
    outcome: Outcome
    checked: int = 0
    detail: str = ""
    history: str = ""
    command: str = ""
    kind: Kind = Kind.SAFETY

    @property
    def headline(self) -> str:
        """The first line of ``detail``."""
        return self.detail.partition("\n")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class KitReport:
    """All that one run of a kit found out about its ``subject``.

    ``title`` names the kit; ``seed`` is that of the run, which took ``seconds``. ``unfinished`` says why the run
    ended before it had tried everything ("" where it did not): then the rows hold claims judged until then, and what
    no row violates is undecided.
    """

    title: str
    subject: str
    seed: int
    seconds: float
    rows: tuple[KitRow, ...]
    unfinished: str = ""

    @property
    def sections(self) -> Mapping[str, tuple[KitRow, ...]]:
        """The rows by section, in the order of their first rows."""
        names = dict.fromkeys(row.section for row in self.rows)
        return {name: tuple(row for row in self.rows if row.section == name) for name in names}

    @property
    def exit_code(self) -> ExitCode:
        """0 held, 10 a safety claim is violated, 11 only a liveness claim is, 12 undecided or unfinished."""
        code = exit_code_of_claims((row.outcome, row.kind) for row in self.rows)
        return worst_exit_code([code, ExitCode.UNDECIDED]) if self.unfinished else code

    @property
    def violated(self) -> tuple[KitRow, ...]:
        """The rows that are violated."""
        return tuple(row for row in self.rows if row.outcome is Outcome.VIOLATED)

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many rows have each outcome, in the order of `Outcome`; those that none has are left out."""
        return counts_of(self.rows)


def counts_of(rows: Sequence[KitRow]) -> Mapping[Outcome, int]:
    """How many of the rows have each outcome, in the order of `Outcome`; those that none has are left out."""
    found = Counter(row.outcome for row in rows)
    return {outcome: found[outcome] for outcome in Outcome if found[outcome]}
