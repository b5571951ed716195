"""Walks through the state graph of the model that a coordinator follows: their guide is free to choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Protocol

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.comparison.to_model.outcome import Step
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.model.checker.walks import Curious
from rebalance_check.model.vocabulary.actions import Action


class Guide(Protocol):
    """Chooses the steps of a walk."""

    def choose(self, run: ConformanceRun) -> Action | None:
        """One of the actions that may happen next; None ends the walk."""
        ...

    def arrive(self, step: Step) -> None:
        """Where a step led: as the model has it, elsewhere, or to a difference."""


class Curiosity:
    """Takes the action that was taken least, for at most so many ``steps``."""

    def __init__(self, random: Random, steps: int) -> None:
        self._random, self._left = random, steps
        self._curious = Curious()

    def choose(self, run: ConformanceRun) -> Action | None:
        """The one that was chosen least."""
        self._left -= 1
        actions = run.enabled() if self._left >= 0 else []
        return self._curious.choose(actions, self._random) if actions else None

    def arrive(self, step: Step) -> None:
        """It is curious for actions, not for their outcomes."""


class Itinerary:
    """Takes these actions, but for those that are not enabled."""

    def __init__(self, actions: Iterable[Action]) -> None:
        self._coming = iter(actions)

    def choose(self, run: ConformanceRun) -> Action | None:
        """The next one that is enabled."""
        return next((each for each in self._coming if each in run.enabled()), None)

    def arrive(self, step: Step) -> None:
        """The way is known."""


class Walk:
    """A `rebalance_check.impl.comparison.compare.Run`: the model and a coordinator, and perhaps a ``follower``.

    The follower, another coordinator, does the choices of the first one; it ``follows`` until it cannot. ``compared``
    counts the steps in which the coordinator has a part, ``answers`` its answers.
    """

    def __init__(self, run: ConformanceRun, guide: Guide, follower: ConformanceRun | None = None) -> None:
        self.run = run
        self.compared = 0
        self.answers: Counter[str] = Counter()
        self.follows = follower is not None
        self._guide, self._follower = guide, follower
        self._variants: list[Action] = []

    @property
    def steps(self) -> Sequence[Action]:
        """The actions so far."""
        return self.run.actions

    def close(self) -> None:
        """Give back the coordinator's resources."""
        self.run.close()

    def begin(self) -> bool:
        """Go on to the next step in which the coordinator has a part, and begin it; False at the end of the walk."""
        while (action := self._guide.choose(self.run)) is not None:
            if self._follower is not None:
                alike = (each for each in self.run.enabled() if each[:2] == action[:2] and each != action)
                self._variants = [action, *alike]
            is_enabled = self.run.begin(action)
            assert is_enabled, f"the guide of a walk chose {action}, which is not enabled"
            if action.kind in COORDINATOR_STEPS:
                return True
            self._arrive(self.run.finish())
        return False

    def finish(self) -> Difference | None:
        """Compare the coordinator's step, and let the follower do it; with a difference the walk is over."""
        step = self.run.finish()
        self.compared += 1
        self.answers.update(f"{answer.api} {answer.error}" for answer in step.answers)
        return self._arrive(step)

    def _arrive(self, step: Step) -> Difference | None:
        self._guide.arrive(step)
        return step.difference or self._follow(step)

    def _follow(self, step: Step) -> Difference | None:
        """The follower chooses as the first did where it can be steered; else it goes its own way from there."""
        if self._follower is None or not self.follows:
            return None
        predictions, wanted = self.run.predictions, self.run.predictions.pack(step.after)
        for action in self._variants:
            after = predictions.after(self._follower.state, action)
            if after is not None and predictions.pack(after) == wanted:
                done = self._follower.perform(action)
                assert done is not None
                self.follows = predictions.pack(self._follower.state) == wanted
                return done.difference
        self.follows = False
        return None
