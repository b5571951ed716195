"""A path of the model on paper: the same table as for a history, a step per action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.observer.protocol_names import list_of
from rebalance_check.model.execution import Execution
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event, RequestAnswered
from rebalance_check.model.vocabulary.upgrade_paths import names_of, path_numbered
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import STEP, Counterexample, Outcome
from rebalance_check.report.lanes import LaneTable, lanes
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.terminal import suggested
from rebalance_check.report.text import Origin, table_text


def steps_of(run: Execution) -> list[tuple[str, Sequence[Event]]]:
    """The actions of a run, each with the events that it caused."""
    return [(str(action), events) for action, events in zip(run.actions, run.events, strict=True)]


def table_of(run: Execution, *, broken: bool = False, repeats_after: int | None = None) -> LaneTable:
    """The steps of a run; ``broken`` marks the last one, ``repeats_after`` those that repeat."""
    return lanes(steps_of(run), context=0, mark_last=broken, repeats_after=repeats_after)


def heading_of(function: Callable[..., Any]) -> str:
    """The first sentence of the docstring of an action or a claim, which names it."""
    return " ".join((function.__doc__ or "").split()).partition(". ")[0].rstrip(".")


def claim_sentence(model: Model, name: str) -> str:
    """The sentence of an invariant or a liveness property of a model."""
    claims = (*model.invariants, *model.step_invariants, *(each.holds for each in model.liveness))
    return next((heading_of(claim) for claim in claims if claim.__name__ == name), "")


SEEN_IN_EVENTS: Final = {
    "generation_is_new_after_each_join_phase": "generation_monotonicity",
    "leader_of_a_new_generation_joined": "leader_is_member",
}
"""Invariants of the model that break one of another name over events; all others go by their own name."""


def explanation(run: Execution, violated: str) -> Counterexample | None:
    """The answer of the model invariant's counterpart over events; None where there is none, or it holds."""
    named = [invariant for invariant in CATALOGUE if invariant.name == SEEN_IN_EVENTS.get(violated, violated)]
    if not named:
        return None
    found = judge((event for caused in run.events for event in caused), named).counterexamples
    return found[0] if found else None


def replay_command(run: Execution) -> str:
    """The command that shows a path again, quoted for a shell."""
    return suggested("explore", run.address)


def origin_of(run: Execution, steps: str = "") -> Origin:
    """Bounds, mutant and ``steps`` in words, and the command that shows the run again."""
    parts = [run.path.bounds.address(), f"mutant {run.path.mutant}" if run.path.mutant else "", steps]
    return Origin("; ".join(filter(None, parts)), replay_command(run))


def path_text(run: Execution, violated: str = "") -> str:
    """A path as text: the breach and its reason (or just the run), the table, and the command that shows it again."""
    table, origin = table_of(run, broken=bool(violated)), origin_of(run, f"{len(run.actions)} steps")
    return "\n".join(
        [
            *(_opening(run, violated, table) if violated else []),
            *_upgrade(run),
            f"  run      {origin.run}",
            "",
            table_text(table),
            "",
            f"  replay   {origin.replay}",
        ]
    )


def shown_path(run: Execution, violated: str) -> ShownRun:
    """A path that breaks an invariant, for a page."""
    found = explanation(run, violated)
    because = found.because if found else ()
    broken = Finding(violated, _headline(run, found), claim_sentence(run.path.model, violated), because)
    return ShownRun(run.path.bounds.address(), Outcome.VIOLATED, steps_of(run), origin_of(run), [broken])


def _headline(run: Execution, found: Counterexample | None) -> str:
    return found.headline if found else f"broken at step {len(run.actions)}, {run.actions[-1]}"


def _opening(run: Execution, violated: str, table: LaneTable) -> list[str]:
    found = explanation(run, violated)
    return [
        f"{violated}: {_headline(run, found)}",
        f"  claim    {claim_sentence(run.path.model, violated)}",
        *(
            f"  {'' if number else 'because':<8} {reason.text.replace(STEP, table.places.step_of(reason.event))}"
            for number, reason in enumerate(found.because if found else ())
        ),
    ]


def _upgrade(run: Execution) -> list[str]:
    """The upgrade that a path is part of, and which assignors each member lists at its end."""
    if not run.path.bounds.upgrade:
        return []
    upgrade = path_numbered(run.path.bounds.upgrade)
    lists = [names_of(list_of(run.path.bounds, run.states[-1], m)) for m in range(run.path.bounds.members)]
    answered = [event for event in run.events[-1] if isinstance(event, RequestAnswered)] if run.events else []
    return [
        f"  upgrade  {upgrade.name}, {' -> '.join(map(names_of, upgrade.lists))}: {upgrade.what}",
        f"  at last  {', '.join(f'm{m} lists {names}' for m, names in enumerate(lists))}",
        *(
            f"  answer   {each.api} of {each.member}: {each.error}"
            for each in answered
            if each.error not in {None, Error.NONE.name}
        ),
    ]


def path_document(run: Execution, violated: str = "") -> dict[str, Any]:
    """The JSON form of a path: its address, its actions, the claim it breaks."""
    return {
        "invariant": violated,
        "claim": claim_sentence(run.path.model, violated),
        "address": run.address,
        "mutant": run.path.mutant,
        "actions": [str(action) for action in run.actions],
        "text": path_text(run, violated),
    }
