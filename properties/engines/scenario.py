"""Scenario: a rule about each step of a scenario, which a runner performs on a coordinator, with its replies.

A step begins with `StepStarted` and ends with `GroupDescribed`; `views.steps.Steps` puts it together. One runner
records all of it, in one order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalance_check.model.vocabulary.events import Event, GroupDescribed, StepStarted
from rebalance_check.properties.engines.form import FormFold
from rebalance_check.properties.engines.rules import Broken, Findings, Rule, Views, broken
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.steps import Step, Steps


def scenario(
    rule: Rule, *, also: Mapping[type[Event], Rule] | None = None, views: Views = ()
) -> Callable[[Invariant], Fold]:
    """An invariant about the steps of a scenario.

    ``rule`` takes the step that has ended; ``also`` has rules for events that a coordinator records itself. Rules of
    both kinds are given the ``views``.
    """

    def at_step(event: GroupDescribed, steps: Steps, *seen: object) -> Findings:
        step = steps.step
        return None if step is None or step.after is not event else rule(step, *seen)

    def with_views(other: Rule) -> Rule:
        return lambda event, _steps, *seen: other(event, *seen)

    def fold(invariant: Invariant) -> Fold:
        rules = {kind: with_views(other) for kind, other in (also or {}).items()}
        needs = () if also else ((StepStarted,),)
        return FormFold(invariant, {**rules, GroupDescribed: at_step}, (Steps, *views), needs)

    return fold


def broken_step(step: Step, headline: str, event: Event | None = None) -> Broken:
    """The finding that a step breaks the invariant, as ``event`` shows: the group after it, where none is given."""
    return broken(
        headline,
        (f"`{step.started.step}` is performed at {STEP}.", step.started),
        (f"at {STEP} {headline}: contradiction.", event or step.after),
    )
