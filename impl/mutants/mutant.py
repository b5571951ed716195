"""What is known about a planted defect: what it breaks, which invariant catches it, and the search that finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.upgrade_paths import path_numbered
from rebalance_check.model.vocabulary.worker_modes import mode_path_numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzSearch:
    """Found by simulating the seeds from ``first`` up to, not including, ``last``.

    ``options`` leave the mutant's name out: the search fills it in.
    """

    options: SimulationOptions
    first: int = 0
    last: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSearch:
    """Found by exhausting these bounds of the model, and checking its liveness properties where one of them breaks."""

    bounds: Bounds
    liveness: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentSearch:
    """Found by giving random problems to an assignor: those of ``shape`` for the seeds below ``last``.

    The shape ``course`` is several rounds of one group (`properties.assignment.courses`). The shapes of Connect's
    assignors are those of histories (`properties.assignment.connect_histories`).
    """

    assignor: str
    shape: str
    first: int = 0
    last: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSearch:
    """Found by running random scenarios on the coordinator, those of the seeds from ``first`` up to ``last``.

    Their histories are judged by the invariant that the mutant names.
    """

    first: int = 0
    last: int = 100


Find: TypeAlias = FuzzSearch | ModelSearch | AssignmentSearch | ScenarioSearch
"""The search that finds a mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted defect.

    ``what`` says in one sentence what the mutant does wrong, ``catalogue_id`` which defect of the field it repeats
    (empty: an obvious one), ``caught_by`` the name of the invariant that must catch it, or ``assignors.`` and a claim
    about answers. ``edits`` are what a mutant of the implementation changes in its source; a mutant of the model has
    its own (`model.registry`).
    """

    name: str
    what: str
    caught_by: str
    where: Literal["model", "impl"]
    find: Find
    catalogue_id: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def listed_name(self) -> str:
        """Its name in the list of all mutants, where one defect may stand twice."""
        return f"model/{self.name}" if self.where == "model" else self.name

    @property
    def command(self) -> str:
        """The command that finds it."""
        if isinstance(self.find, FuzzSearch):
            seeds = f"--seeds {self.find.first}:{self.find.last}"
            return f"rebalance-check fuzz {seeds} --mutant {self.name} {self.find.options.command_line()}".rstrip()
        if isinstance(self.find, AssignmentSearch | ScenarioSearch):
            return f"rebalance-check mutants {self.name} --run"
        liveness = " --liveness" if self.find.liveness else ""
        return f"rebalance-check explore --mutant {self.name} {_bounds_options(self.find.bounds)}{liveness}"


_BUDGETS: Final = (
    "leaves", "expiries", "duplicates", "deletions", "static_members", "shared_instances", "losses", "failovers",
    "commits", "zombie_coordinators", "rolling_restarts", "heartbeats_during_sync",
)  # fmt: skip


_GROUP_BUDGETS: Final = ("leaves", "expiries", "losses", "config_changes")

_OF_CONNECT: Final = {
    RebalanceProtocol.STATUS: ("writes", "failures"),
    RebalanceProtocol.CONNECT_EAGER: _GROUP_BUDGETS,
    RebalanceProtocol.CONNECT_INCREMENTAL: _GROUP_BUDGETS,
    RebalanceProtocol.CONNECT_CONFIG: ("writes", "expiries", "compactions"),
    RebalanceProtocol.CONNECT_EXACTLY_ONCE: ("writes", "expiries"),
}
"""The budgets that a command of each protocol of Connect names."""


def _bounds_options(bounds: Bounds) -> str:
    """The options of ``rebalance-check explore`` that stand for ``bounds``: the sizes, and every other that counts.

    Budgets of 0 are left out where 0 is what the command takes by itself; protocols of Connect and restarts on an
    upgrade path have other defaults.
    """
    sizes = [name for name in ("members", "partitions", "generations", "crashes") if bounds.reads(name)]
    if bounds.protocol in _OF_CONNECT:
        sizes += [*_OF_CONNECT[bounds.protocol], *(["rolling_restarts"] if bounds.modes else [])]
    else:
        sizes += [name for name in _BUDGETS if getattr(bounds, name) or (name == "rolling_restarts" and bounds.upgrade)]
    words = [
        f"--protocol {bounds.protocol}",
        *(f"--{name.replace('_', '-')} {getattr(bounds, name)}" for name in sizes),
    ]
    if bounds.protocol in _OF_CONNECT:
        words += [] if bounds.rebalance_delay else ["--no-rebalance-delay"]
        words += ["--task-rewrites"] if bounds.task_rewrites else []
        words += ["--fencing"] if bounds.fencing else []
        words += [f"--upgrade {mode_path_numbered(bounds.modes).name}"] if bounds.modes else []
    else:
        words += [] if bounds.initial_delay else ["--no-initial-delay"]
        words += ["--member-id-required"] if bounds.member_id_required else []
        words += ["--timeouts"] if bounds.timeouts else []
        words += ["--new-members"] if bounds.new_members else []
        words += [f"--upgrade {path_numbered(bounds.upgrade).name}"] if bounds.upgrade else []
    return " ".join(words)
