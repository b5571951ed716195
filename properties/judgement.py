"""A judgement: one verdict per invariant about one history, and their sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_check.properties.exit_codes import ExitCode, exit_code_of_claims, worst_exit_code
from rebalance_check.properties.implication import first_causes
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.properties.verdict import (
    Counterexample,
    Outcome,
    Undecided,
    UndecidedError,
    Untested,
    Verdict,
    Violated,
    could_have_failed,
    overall_outcome,
    with_consequences,
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of a judge about a history.

    ``verdicts`` maps each invariant that was asked for, in that order, to its verdict over all groups of the history
    (`rebalance_check.properties.verdict.worst`); an invariant that was not asked for counts for nothing. ``events`` is
    the number of events read; ``ended`` says whether the run ended in an orderly way; with ``require_tested`` an
    untested claim leaves the whole undecided. ``unread`` are the first lines that could not be read, ``unread_count``
    counts all of them.
    """

    verdicts: Mapping[Invariant, Verdict]
    events: int
    ended: bool
    require_tested: bool = False
    unread: tuple[UnreadLine, ...] = ()
    unread_count: int = 0

    @property
    def outcome(self) -> Outcome:
        """The verdict over all invariants: violated, undecided or held. Where nothing was tested, it is undecided."""
        return overall_outcome((v.outcome for v in self.verdicts.values()), require_tested=self.require_tested)

    @property
    def exit_code(self) -> ExitCode:
        """0 held, 10 a safety invariant is violated, 11 only a liveness invariant is, 12 undecided, 2 bad lines."""
        claims = [(v.outcome, i.kind) for i, v in self.verdicts.items()]
        code = exit_code_of_claims(claims, require_tested=self.require_tested)
        return worst_exit_code([code, *(ExitCode.USAGE for line in self.unread if not line.is_cut)])

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """The first counterexample of each violated invariant: `findings`, then their consequences."""
        findings = self.findings
        folded = [one.invariant for found in findings for one in found.consequences]
        broken = {i.name: v.counterexample for i, v in self.verdicts.items() if isinstance(v, Violated)}
        return (*findings, *(broken[name] for name in folded))

    @property
    def findings(self) -> tuple[Counterexample, ...]:
        """The counterexamples of first causes, each with its consequences: safety before liveness, then the earliest
        first."""
        broken = {i.name: (i, v) for i, v in self.verdicts.items() if isinstance(v, Violated)}
        causes = first_causes({name: v.place for name, (_, v) in broken.items()})
        order = sorted(causes, key=lambda name: broken[name][0].kind is Kind.LIVENESS)
        found = {name: v.counterexample for name, (_, v) in broken.items()}
        return tuple(with_consequences(found[name], [found[one] for one in causes[name]]) for name in order)

    @property
    def undecided(self) -> Mapping[str, str]:
        """The invariants that are undecided, by name, each with the reason."""
        return {i.name: v.reason for i, v in self.verdicts.items() if isinstance(v, Undecided)}

    @property
    def untested(self) -> Mapping[str, str]:
        """The invariants that nothing in the history could have broken, by name, each with the events that it needs."""
        return {i.name: v.reason for i, v in self.verdicts.items() if isinstance(v, Untested)}

    @property
    def could_have_failed(self) -> str:
        """How many of the invariants the history could have broken, in words."""
        return could_have_failed(verdict.outcome for verdict in self.verdicts.values())

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the invariants that held."""
        return tuple(i.name for i, v in self.verdicts.items() if v.outcome is Outcome.HELD)

    def verdict(self, name: str) -> Verdict:
        """The verdict on the invariant called ``name``.

        Raises: KeyError when it was not asked for.
        """
        for invariant, verdict in self.verdicts.items():
            if invariant.name == name:
                return verdict
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the invariants that were asked for, in order."""
        return tuple(i.name for i in self.verdicts)

    def check(self, *, allow_undecided: bool = False) -> None:
        """Raise unless the history holds; ``allow_undecided`` lets one pass of which nothing is known to be wrong.

        Violations come first: the `Violation` of the first violated invariant is raised, safety before liveness.
        Then `UndecidedError`, for each undecided invariant, for a history in which no invariant was tested, and, with
        ``require_tested``, for each that was not.

        Raises: the violation class of the first violated invariant; UndecidedError where one is undecided.
        """
        for found in self.counterexamples:
            raise next(i for i in self.verdicts if i.name == found.invariant).violation(found)
        if self.outcome is Outcome.UNDECIDED and not allow_undecided:
            untested = self.untested if self.require_tested or not self.held else {}
            raise UndecidedError(self._open(untested))

    def _open(self, untested: Mapping[str, str]) -> Mapping[str, str]:
        reasons = {**self.undecided, **{name: f"untested: {reason}" for name, reason in untested.items()}}
        return {name: reasons[name] for name in self.names if name in reasons}
