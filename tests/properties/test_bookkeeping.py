"""``checked_events`` counts the events on which a claim could have failed: the others are declared as bookkeeping."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import FunctionType, MethodType

import pytest

from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberStarted, RunEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.engines.rules import RuleFold
from rebalance_check.properties.kinds import Either, Fold, Invariant
from rebalance_check.properties.verdict import Violation


def used_of_self(function: FunctionType) -> set[str]:
    """The attributes of ``self`` and of ``super()`` that a method's source names."""
    found = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Attribute):
            of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            of_super = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super"
            if of_self or of_super:
                found.add(node.attr)
    return found


def may_break(kind: type[Fold], method: str, seen: set[str]) -> bool:
    """Whether a method of a fold can reach `Fold.violated`."""
    if method == "violated":
        return True
    if method in seen:
        return False
    seen.add(method)
    bodies = [function for each in kind.__mro__ if isinstance(function := each.__dict__.get(method), FunctionType)]
    return any(may_break(kind, name, seen) for body in bodies for name in used_of_self(body))


def silent_events(fold: Fold) -> Iterator[type[Event]]:
    """The events that a fold takes and that cannot break its claim; the end can, where `verdict` looks at it."""
    at_the_end = {RunEnded} if may_break(type(fold), "verdict", set()) else set()
    for event, handler in fold.handlers.items():
        assert isinstance(handler, MethodType)
        if event not in at_the_end and not may_break(type(fold), handler.__name__, set()):
            yield event


@pytest.mark.parametrize("invariant", CATALOGUE, ids=lambda invariant: invariant.name)
def test_what_cannot_break_a_claim_is_bookkeeping(invariant: Invariant) -> None:
    fold = invariant.fold(invariant)
    if not isinstance(fold, Either | RuleFold):  # the folds that one unites stand for themselves; engines count cases
        assert set(silent_events(fold)) <= fold.bookkeeping


def test_a_handler_that_only_remembers_is_seen() -> None:
    class Example(Fold):
        """A fold of which one handler breaks the claim, by another method."""

        def __init__(self, invariant: Invariant) -> None:
            super().__init__(invariant, {MemberStarted: self.on_started, MemberCrashed: self.on_crashed})

        def on_started(self, event: MemberStarted) -> None:
            self.started = event

        def on_crashed(self, event: MemberCrashed) -> None:
            self.report(event)

        def report(self, event: MemberCrashed) -> None:
            self.violated("crashed", [], [event])

    example = Invariant(
        name="example", family="ours", claim="no crash", source="ours", violation=Violation, fold=Example
    )
    assert list(silent_events(example.fold(example))) == [MemberStarted]
