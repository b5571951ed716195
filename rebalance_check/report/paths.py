"""A path of the model on paper: the same table as for a history, a step per action."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

from rebalance_check.model.checker.safety import Path
from rebalance_check.model.classic.run import ModelRun
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.upgrade_paths import names_of, path_numbered
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import STEP, Counterexample
from rebalance_check.report.lanes import LaneTable, lanes
from rebalance_check.report.section import Section
from rebalance_check.report.text import Origin, table_text

Steps = Sequence[tuple[str, Sequence[Event]]]


def path_steps(path: Path) -> Steps:
    """Each action of a path with the events it causes; a status path has actions only."""
    if path.bounds.protocol is RebalanceProtocol.STATUS:
        return [(str(action), ()) for action in path.actions]
    model_run = ModelRun(path.bounds, model=path.model)
    opening = model_run.begin()
    steps: list[tuple[str, Sequence[Event]]] = []
    for number, action in enumerate(path.actions):
        caused = model_run.step(action)
        steps.append((str(action), caused if number else [*opening, *caused]))
    return steps


def claim_sentence(path: Path, name: str) -> str:
    """What a claim of the model says: the first sentence of its docstring."""
    model = path.model
    for claim in (*model.invariants, *model.step_invariants, *(each.holds for each in model.liveness)):
        if claim.__name__ == name:
            return " ".join((claim.__doc__ or "").split()).partition(". ")[0].rstrip(".")
    return ""


def explanation(steps: Steps) -> Counterexample | None:
    """What the invariants over events say about the same run, if they see it broken at its last step, too."""
    last = set(map(id, steps[-1][1])) if steps else set()
    found = judge((event for _, caused in steps for event in caused), CATALOGUE).counterexamples
    return next((one for one in found if id(one.events[-1]) in last), None)


def replay_command(path: Path) -> str:
    """The command that shows a path again, quoted for a shell."""
    return f"rebalance-check replay {quote(path.address())}"


def path_text(path: Path, violated: str = "") -> str:
    """A path as text: what broke and why (or just the run), the table, and the command that shows it again."""
    steps = path_steps(path)
    table = lanes(steps, context=0, mark_last=bool(violated))
    found = explanation(steps) if violated else None
    return "\n".join(
        [
            *_opening(path, violated, found, table),
            *_upgrade(path),
            f"  run      {path.bounds.address()}" + (f"; mutant {path.mutant}" if path.mutant else "")
            + f"; {len(path.actions)} steps",
            "",
            table_text(table),
            "",
            f"  replay   {replay_command(path)}",
        ]
    )  # fmt: skip


def path_section(path: Path, violated: str) -> Section:
    """A path that breaks a claim, for a page."""
    steps = path_steps(path)
    found = explanation(steps)
    headline = found.headline if found else f"broken at step {len(path.actions)}, {path.actions[-1]}"
    mutant = f"; mutant {path.mutant}" if path.mutant else ""
    origin = Origin(f"{path.bounds.address()}{mutant}", replay_command(path))
    lines = [] if found else [f"claim: {claim_sentence(path, violated)}"]
    return Section(f"{violated}: {headline}", "violated", lanes(steps, context=0, mark_last=True), origin, found, lines)


def _opening(path: Path, violated: str, found: Counterexample | None, table: LaneTable) -> list[str]:
    if not violated:
        return []
    headline = found.headline if found else f"broken at step {len(path.actions)}, {path.actions[-1]}"
    lines = [f"{violated}: {headline}", f"  claim    {claim_sentence(path, violated)}"]
    reasons = found.because if found else ()
    lines += [
        f"  {'' if number else 'because':<8} {reason.text.replace(STEP, table.step_of(reason.event))}"
        for number, reason in enumerate(reasons)
    ]
    return lines


def _upgrade(path: Path) -> list[str]:
    """The upgrade that a path is part of, and which assignors each member lists at its end."""
    if not path.bounds.upgrade:
        return []
    upgrade, model_run = path_numbered(path.bounds.upgrade), ModelRun(path.bounds, model=path.model)
    for action in path.actions:
        model_run.step(action)
    lists = [names_of(upgrade.lists[member.list_index]) for member in model_run.state.member]
    return [
        f"  upgrade  {upgrade.name}, {' -> '.join(map(names_of, upgrade.lists))}: {upgrade.what}",
        f"  at last  {', '.join(f'm{m} lists {names}' for m, names in enumerate(lists))}",
        *(
            f"  answer   {each.api} of {each.member}: {each.error}"
            for each in model_run.replies
            if each.error != "NONE"
        ),
    ]


def path_document(path: Path, violated: str = "") -> dict[str, Any]:
    """The JSON form of a path: its address, its actions, the claim it breaks."""
    return {
        "invariant": violated,
        "claim": claim_sentence(path, violated),
        "address": path.address(),
        "mutant": path.mutant,
        "actions": [str(action) for action in path.actions],
        "text": path_text(path, violated),
    }
