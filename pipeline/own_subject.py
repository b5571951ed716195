"""A subject of the user's own in a campaign: found by its name, made anew for each seed, under the seed's churn."""

from __future__ import annotations

import pkgutil
import reprlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rebalance_check.impl.runtime.options import ALL_FAULTS, FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.member_state import NEEDED_FAULT, applicable
from rebalance_check.impl.simulator.schedule import UNUSUAL, churn_schedule
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.pipeline.guarded_subject import GuardedSubject, guarded_call

NEEDED_ACTIONS: Final = {kind: frozenset({action}) for action, kind in NEEDED_FAULT.items()} | {
    kind: frozenset(action for action, _, _ in actions) for kind, actions in UNUSUAL.items()
}
"""Per kind of fault: the actions that a subject must understand so that it can happen to it."""


@dataclass(frozen=True, slots=True)
class OwnSubject:
    """Runs a seed on the subject that the function ``name`` (``module:function``) makes of it.

    ``folder`` is where modules are looked for first. ``without`` names the subject's gaps, in addition to those that it
    names itself. An object travels to other processes, which import the module anew.
    """

    name: str
    folder: str
    without: tuple[str, ...] = ()

    def __call__(self, seed: int, options: SimulationOptions) -> list[Event]:
        """The history of a seed.

        Raises: RebalanceCheckError when the user's code fails, or gives something else than events.
        """
        subject = self.make(seed)
        return list(run(subject, own_schedule(seed, options, subject.actions)))

    def make(self, seed: int) -> GuardedSubject:
        """The subject for a seed.

        Raises: RebalanceCheckError when there is no such function, or it makes no subject.
        """
        function = _found(self.name, self.folder)
        return GuardedSubject(self.name, guarded_call(f"{self.name}({seed})", lambda: function(seed)), self.without)


def own_subject(name: str, without: Sequence[str] = ()) -> OwnSubject:
    """The subject behind ``module:function``; modules are looked for in the present folder first."""
    return OwnSubject(name, str(Path.cwd()), tuple(without))


def own_options(options: SimulationOptions, actions: frozenset[ActionKind]) -> SimulationOptions:
    """The options under which a subject that understands ``actions`` runs: the faults that can happen to it, all of
    them where the user named none.

    Raises: RebalanceCheckError for options that concern our own code.
    """
    if options.mutant or options.upgrade:
        what = "--mutant" if options.mutant else "--upgrade"
        raise RebalanceCheckError(f"{what} concerns our own code, not a subject of yours: leave it out")
    protocol = SimulatedProtocol.EAGER if options.protocol is SimulatedProtocol.MIXED else options.protocol
    if protocol not in (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE):
        raise RebalanceCheckError(
            f"--protocol {protocol} has actions of its own: choose eager or cooperative, which the subject sees in its "
            "bounds"
        )
    named = tuple(FaultKind) if options.faults == ALL_FAULTS else options.faults
    faults = tuple(kind for kind in named if kind in NEEDED_ACTIONS and NEEDED_ACTIONS[kind] <= actions)
    return replace(options, protocol=protocol, faults=faults)


def own_schedule(seed: int, options: SimulationOptions, actions: frozenset[ActionKind]) -> Schedule:
    """The churn of a seed without actions that the subject does not understand, and those that depend on them."""
    drawn = churn_schedule(seed, options)
    understood = [action for action in drawn.actions if action.kind in actions]
    return replace(drawn, actions=tuple(applicable(understood)))


def _found(name: str, folder: str) -> Callable[[int], Any]:
    module, _, function = name.partition(":")
    found = getattr(_imported(module, folder), function, None)
    if not callable(found):
        seen = f"{name} is {reprlib.repr(found)}" if found is not None else f"the module {module} has no {function!r}"
        raise RebalanceCheckError(f"{seen}: name a function of it that takes a seed and returns a subject")
    return found  # type: ignore[no-any-return] # its result is looked at when it is called


def _imported(module: str, folder: str) -> Any:
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return pkgutil.resolve_name(f"{module}:")
    except ModuleNotFoundError as fault:
        raise RebalanceCheckError(_no_module(module, fault.name or "", folder)) from fault
    except Exception as fault:
        raise RebalanceCheckError(
            f"the module {module} cannot be imported ({type(fault).__name__}: {fault}): mend it first"
        ) from fault


def _no_module(module: str, missing: str, folder: str) -> str:
    if missing and missing != module and not module.startswith(f"{missing}."):
        return f"the module {module} imports {missing!r}, which is not installed: install it first"
    return f"there is no module {module!r} in {folder}, and none is installed: run the command where the module is"
