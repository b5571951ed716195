"""A walk through a model as a document: the state at one of its steps, what may happen next, and which claims hold."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.browser.state_rows import StateRows
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.execution import Execution, execute
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.pages.columns import Templates
from rebalance_check.report.pages.timeline import timeline_document
from rebalance_check.report.paths import heading_of, replay_command, steps_of

MOST_STEPS: Final = 2_000
"""Of one walk: each look at it runs it anew."""


def walk_document(address: str, at: int | None = None) -> dict[str, Any]:
    """The walk of an address, seen after its step number ``at`` (None: at its end).

    Raises: RebalanceCheckError when the address cannot be followed, or has no such step.
    """
    if address.count(".") >= MOST_STEPS:
        raise RebalanceCheckError(f"the walk has more than {MOST_STEPS:,} steps: begin a new one")
    run = execute(path_at(address))
    place = len(run.actions) if at is None else at
    if not 0 <= place <= len(run.actions):
        raise RebalanceCheckError(f"the walk has {len(run.actions)} steps, and no step {place}: choose one of these")
    templates = Templates()
    return {
        "address": run.address,
        "bounds": run.path.bounds.address(),
        "mutant": run.path.mutant,
        "at": place,
        "actions": [str(action) for action in run.actions],
        "addresses": [_address_after(run, number) for number in range(len(run.actions) + 1)],
        "loop": run.path.loop,
        "replay": replay_command(run),
        "timeline": timeline_document(steps_of(run), templates),
        "templates": templates.document(),
        **_state_document(run, place),
    }


def _state_document(run: Execution, place: int) -> dict[str, Any]:
    """The state after ``place`` steps."""
    machine = run.path.machine
    state, before = run.states[place], run.states[place - 1] if place else None
    rows = StateRows(machine.model, dict(machine.sizes))
    happened = set() if before is None else machine.happened(before, state)
    return {
        "state": rows.document(state),
        "before": None if before is None else rows.document(before),
        "enabled": _enabled(run, machine, place),
        "claims": _claims(machine, state, before),
        "met": sorted(machine.met(state) | happened),
    }


def _enabled(run: Execution, machine: Machine, place: int) -> list[dict[str, Any]]:
    """What may happen next, each with the address of the walk that goes there, and the claim that it breaks."""
    state, here = run.states[place], _address_after(run, place)
    headings = {rule.kind: heading_of(rule.step) for rule in machine.model.rules}
    return [
        {
            "action": str(action),
            "heading": headings[action.kind],
            "address": f"{here}.{index}" if place else f"{here}{index}",
            "breaks": machine.violated_step(state, after) or machine.violated(after),
        }
        for index, (action, after) in enumerate(_successors(machine, state))
    ]


def _successors(machine: Machine, state: Any) -> list[tuple[Action, Any]]:
    return [(action, machine.copy(after)) for action, after in machine.successors(state)]


def _claims(machine: Machine, state: Any, before: Any) -> list[dict[str, Any]]:
    """Every invariant, with whether it holds in this state or of the step that led to it."""
    broken = machine.broken(state) | (set() if before is None else machine.broken_by_step(before, state))
    model = machine.model
    return [
        {"name": claim.__name__, "sentence": heading_of(claim), "of": of, "holds": claim.__name__ not in broken}
        for of, claims in (("state", model.invariants), ("step", model.step_invariants))
        for claim in claims
    ]


def _address_after(run: Execution, steps: int) -> str:
    """The address of the first steps of a walk."""
    head, _, indices = run.address.rpartition("/")
    return f"{head}/{'.'.join(indices.replace('~', '.').split('.')[:steps])}"
