"""What the claims about deadlines have in common: a fold that waits, and reports what did not happen in time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from rebalance_check.model.vocabulary.events import Event, StepStarted
from rebalance_check.properties.kinds import Counts, Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Undecided, Verdict, Violated
from rebalance_check.properties.views.coordinator import IncarnationFold
from rebalance_check.properties.views.deadlines import Deadlines, Wait
from rebalance_check.properties.views.step_times import FAULTS, TAKEOVERS
from rebalance_check.properties.views.timeouts import Timeouts


class DeadlineFold(IncarnationFold):
    """A fold that waits for something; `begin` starts a wait under a key, `end` is when it happens or need not."""

    deadlines: Deadlines
    timeouts: Timeouts

    def __init__(self, invariant: Invariant, handlers: Mapping[type[Event], Handler]) -> None:
        super().__init__(invariant, handlers)
        self.open: dict[Hashable, Wait] = {}
        self.compared = 0
        self.is_held = False

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same deadlines."""
        super().share(memories)
        self.deadlines = Deadlines.among(memories)
        self.timeouts = Timeouts.among(memories)
        self.memories = (*self.memories, self.deadlines, self.timeouts)

    def lacks(self, counts: Counts) -> str:
        """Nothing can be late in a history that says no times, or of no timeout."""
        lacking = super().lacks(counts)
        if not lacking and not self.timeouts.rebalance:
            return "no event says the timeouts of members (MemberStarted, RequestParked, RequestIssued)"
        return lacking or ("" if self.deadlines.have_times else "the events carry no times (time_ms)")

    def begin(self, key: Hashable, what: str, since: Event, allowed: Callable[[], int]) -> None:
        """Wait from the event at hand on; a wait under the same key is over."""
        self.compared = (self.compared or 0) + 1
        wait = self.open[key] = Wait((self.invariant.name, key), what, since, allowed, self._miss)
        self.deadlines.begin_wait(wait)

    def end(self, key: Hashable) -> None:
        """Wait no more."""
        wait = self.open.pop(key, None)
        if wait is not None:
            self.deadlines.end_wait(wait.key)

    def end_all(self) -> None:
        """Wait for nothing more: a fault came between."""
        for key in list(self.open):
            self.end(key)

    def begin_again(self, event: Event) -> None:
        """What is waited for is late from here on, by a fault that takes nothing away."""
        for key, wait in list(self.open.items()):
            self.begin(key, wait.what, event, wait.allowed)

    def on_step(self, event: StepStarted) -> None:
        """A fault of a scenario: the log acknowledges nothing, refuses what is written, or the coordinator changes."""
        verb = event.step.partition(" ")[0]
        if verb in TAKEOVERS:
            self.end_all()
        elif verb in FAULTS:
            self.begin_again(event)
        if verb in FAULTS:
            self.is_held = verb == "hold" or (self.is_held and verb == "fail")

    def _miss(self, wait: Wait, event: Event) -> None:
        _, key = wait.key
        del self.open[key]
        if not self.is_excused(key):
            self.report(wait, event)
        else:
            self.begin(key, wait.what, event, wait.allowed)

    def is_excused(self, key: Hashable) -> bool:  # noqa: ARG002 - for those that look at it
        """Whether the wait begins again although its deadline has passed: the log acknowledges nothing."""
        return self.is_held

    def report(self, wait: Wait, event: Event) -> None:
        """The deadline has passed, as ``event`` shows."""
        allowed_ms = wait.allowed()
        self.contradiction(
            f"{wait.what}, and its {allowed_ms} ms have passed",
            (f"{wait.what} since {STEP}.", wait.since),
            (f"{allowed_ms} ms later, at {STEP}, that had not changed: contradiction.", event),
        )

    def verdict(self) -> Verdict:
        """A violation stands; what still waits leaves the claim undecided."""
        verdict = super().verdict()
        if isinstance(verdict, Violated) or not self.open:
            return verdict
        return Undecided(self.deadlines.doubt_about(next(iter(self.open.values()))))
