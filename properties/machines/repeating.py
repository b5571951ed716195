"""How to repeat the run of a machine: its bounds and actions as code, and the address of the same path in the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_check.model.registry import path_of
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.verdict import Violation


def as_code(bounds: Bounds, performed: Sequence[Action]) -> str:
    """Statements that make ``bounds`` and ``actions``, and the address that ``rebalance-check replay`` takes."""
    steps = "".join(
        f"    Action(ActionKind.{action.kind.name}, {action.member}, {action.choice}),\n" for action in performed
    )
    address = path_of(Schedule(bounds, tuple(performed))).address()
    return f"bounds = Bounds.from_address({bounds.address()!r})\nactions = (\n{steps})\nreplay   {address}"


def check(judge: Judge, how_to_repeat: Callable[[], str]) -> None:
    """Raise the first violation of a run, with a note how to repeat it."""
    try:
        judge.judgement().check(allow_undecided=True)
    except Violation as violation:
        violation.add_note(how_to_repeat())
        raise
