"""The judge takes events, and gives one verdict per invariant: a violation is data, and raises nothing.

An invariant is undecided where an event that could excuse is missing, or where the judge itself fails.
Each group of a history is judged by folds of its own. `judge` reads a whole history; `Judge` takes one event at a time,
for simulators and state machines that want to know at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Final

from rebalance_check.model.collecting import rarely_collected
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE, Claims, choose
from rebalance_check.properties.completeness import Completeness
from rebalance_check.properties.features import lacking
from rebalance_check.properties.history import Scanned, scan_history
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import NOT_FOUND, Invariant, Place
from rebalance_check.properties.malformed import MalformedHistory, UnreadLine
from rebalance_check.properties.panel import Panel
from rebalance_check.properties.verdict import Undecided, Untested, Verdict, worst

EMPTY: Final = "the history holds no event: check that it is the right file and that recording was switched on"
NAMED_LINES: Final = 10
"""So many lines that cannot be read are named; the others are counted."""


class Judge:
    """Judges a history as it happens: `observe` each event, ask for a `judgement` at any time.

    ``invariants`` defaults to the whole catalogue; ``require_tested`` is passed on to each `Judgement`. ``is_merged``:
    the events come from several files, so that only numbers and an attested end say that a record is complete.
    """

    def __init__(
        self, invariants: Sequence[Invariant] | None = None, *, require_tested: bool = False, is_merged: bool = False
    ) -> None:
        self.invariants = tuple(CATALOGUE if invariants is None else invariants)
        self.require_tested = require_tested
        self._panels: dict[str, Panel] = {}
        self._place = Place()
        self._completeness = Completeness(self._place, is_merged=is_merged)
        self._early: Event | None = None
        self._run: list[Event] = []
        self._broken = ""
        self._unread: list[UnreadLine] = []
        self._unread_count = 0
        self._missed = ""
        self._events = 0
        self._ended = False
        self._left_out: dict[Invariant, Untested] = {}

    def observe(self, event: Event) -> None:
        """Take the next event of the history."""
        if self._early is not None:
            self._bring_into_order(event)
        else:
            self._take(event, may_wait=True)

    def _bring_into_order(self, event: Event) -> None:
        """Two neighbouring lines of one source that stand in the wrong order are taken in the right one."""
        early = self._early
        assert early is not None
        self._early = None
        are_swapped = (event.group, event.source, event.seq + 1) == (early.group, early.source, early.seq)
        if are_swapped:
            self._take(event)
        self._take(early)
        if not are_swapped:
            self.observe(event)

    def _take(self, event: Event, *, may_wait: bool = False) -> None:
        self._place.index += 1
        is_admitted = self._completeness.admit(event, may_wait=may_wait)
        if is_admitted is None:
            self._early = event
            self._place.index -= 1
            return
        self._events += 1
        if not is_admitted:
            return
        if self._place.has_one_clock:
            self._completeness.note_time(event)
        if isinstance(event, (RunStarted, RunEnded)):
            self._observe_run(event)
        else:
            panel = self._panels.get(event.group) or self._open(event.group)
            if not panel.broken:
                panel.observe(event)

    def miss(self, line: UnreadLine) -> None:
        """Take note of a line that cannot be read where the next event should be.

        A violation before it stands. Behind it, an event of its group may be missing: an accusation that it
        could excuse is undecided, and nothing is held.
        """
        self._take_early()
        self._unread_count += 1
        self._unread += [line] if len(self._unread) < NAMED_LINES else []
        if line.is_foreign:
            return
        self._place.index += 1
        self._completeness.note_unread(line.group, line.fault)
        if line.group is None:
            self._missed = self._missed or line.fault
        elif line.group not in self._panels:
            self._open(line.group)

    def _take_early(self) -> None:
        """No line follows that could come before the one that came early."""
        if self._early is not None:
            early, self._early = self._early, None
            self._take(early)

    @property
    def found(self) -> int:
        """How many claims look violated so far, counted for each group: cheaper than a `judgement`, after any event."""
        self._take_early()
        judged = [one for one in self.invariants if one not in self._left_out]
        return sum(panel.found_at(one) != NOT_FOUND for panel in self._panels.values() for one in judged)

    def checked(self, invariant: Invariant) -> int:
        """How often an invariant was put to the test so far, in all groups."""
        return sum(panel.checked(invariant) for panel in self._panels.values())

    def judgement(self) -> Judgement:
        """The verdict on all that was observed so far."""
        self._take_early()
        panels = sorted(self._panels.values(), key=lambda panel: panel.is_quiet)  # groups with events come first
        verdicts = panels[0].verdicts(self._ended) if len(panels) == 1 else self._of_all(panels)
        verdicts = verdicts | self._left_out
        unread = tuple(self._unread)
        return Judgement(verdicts, self._events, self._ended, self.require_tested, unread, self._unread_count)

    def release(self) -> None:
        """Let go of the history, after the last `judgement`: its memory is free at once."""
        for panel in self._panels.values():
            panel.release()

    def _of_all(self, panels: Sequence[Panel]) -> dict[Invariant, Verdict]:
        """The verdicts over several groups, or over none."""
        says = [(panel, panel.verdicts(self._ended)) for panel in panels]
        verdicts: dict[Invariant, Verdict] = {}
        for invariant in self.invariants:
            said = [(panel_says[invariant], panel.found_at(invariant)) for panel, panel_says in says]
            said.sort(key=lambda pair: pair[1])  # so that the first counterexample of all groups stays the first
            verdicts[invariant] = (
                worst([verdict for verdict, _ in said]) if self._events else Undecided(self._missed or EMPTY)
            )
        return verdicts

    def _open(self, group: str) -> Panel:
        panel = Panel(self.invariants, group, self._completeness, self._place, broken=self._broken)
        self._panels[group] = panel
        for event in self._run:
            panel.observe(event)
        return panel

    def _observe_run(self, event: RunStarted | RunEnded) -> None:
        """The run's own events concern every group; a second start means two histories in one."""
        if self._run and isinstance(event, RunStarted):
            self._break_all("the history holds a second RunStarted: judge each run on its own")
        self._run.append(event)
        self._ended = isinstance(event, RunEnded)
        if isinstance(event, RunEnded):
            self._completeness.note_run_end(event)
        else:
            self._place.has_one_clock = event.punctual
            self._leave_out(event)
        if not self._panels:
            self._open(event.group)
            return
        for panel in self._panels.values():
            if not panel.broken:
                panel.observe(event)

    def _leave_out(self, event: RunStarted) -> None:
        """Invariants that rely on a feature which the subject lacks, as `RunStarted` says, would accuse it without
        cause."""
        if not event.without:
            return
        try:
            lacks = lacking(event.without)
        except RebalanceCheckError as fault:
            self._break_all(f"the field without of RunStarted: {fault}")
            return
        said = Untested(f"the subject lacks {', '.join(event.without)}, as RunStarted says")
        self._left_out = {one: said for one in self.invariants if not one.may_judge(lacks)}

    def _break_all(self, reason: str) -> None:
        self._broken = self._broken or reason
        for panel in self._panels.values():
            panel.broken = panel.broken or reason


def judge(
    history: Iterable[Event] | str | PathLike[str],
    invariants: Claims | None = None,
    *,
    exclude: Claims = (),
    without: Iterable[str] = (),
    require_tested: bool = False,
) -> Judgement:
    """Judge a history, in one pass and constant memory per member and partition.

    ``history`` is one run in order of observation, or the path of the file that holds it. ``invariants`` and
    ``exclude`` are invariants, their names, or families, one or several; without ``invariants`` the whole catalogue is
    meant. ``without`` names features that the coordinator lacks (``leader``, ``generations``, ``sync-group``) and
    events that happen and are not recorded: invariants that rely on them are left out. Only the invariants that are
    left are judged and count. ``require_tested``: a claim that nothing in the history put to the test leaves the
    judgement undecided.

    No content of a history makes it raise: the verdict is `Undecided`, with the reason, and lines of the file that are
    no events are in `Judgement.unread`.

    Raises: RebalanceCheckError for a name that is none, and for a file that cannot be opened;
    MalformedHistory when none of its lines is an event.
    """
    chosen = choose(invariants, exclude=exclude, without=without)
    if isinstance(history, str | PathLike):
        return judge_scanned(scan_history(Path(history)), chosen, require_tested=require_tested)
    with rarely_collected():
        return _judged(history, chosen, require_tested=require_tested)


def _judged(history: Iterable[Event], invariants: Sequence[Invariant], *, require_tested: bool) -> Judgement:
    """The judge is gone when this returns, before the garbage collector looks as often as before."""
    judging = Judge(invariants, require_tested=require_tested)
    for event in history:
        judging.observe(event)
    judgement = judging.judgement()
    judging.release()
    return judgement


def judge_scanned(
    scanned: Iterable[Scanned],
    invariants: Sequence[Invariant] | None = None,
    *,
    require_tested: bool = False,
    is_merged: bool = False,
) -> Judgement:
    """Judge the result of `scan_history` or `scan_lines`; ``is_merged``: the lines are of several files.

    Raises: MalformedHistory when none of the lines is an event, and all that ``scanned`` raises.
    """
    judging = Judge(invariants, require_tested=require_tested, is_merged=is_merged)
    for one in scanned:
        if isinstance(one, UnreadLine):
            judging.miss(one)
        else:
            judging.observe(one)
    judgement = judging.judgement()
    judging.release()
    if not judgement.events and judgement.unread and not judgement.unread[0].is_cut:
        raise MalformedHistory(judgement.unread[0].fault)
    return judgement
