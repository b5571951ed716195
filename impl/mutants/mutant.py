"""A planted defect: its effect, the invariant that catches it, and the search that finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.bounds import Bounds


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


def find_written(text: str) -> FuzzSearch | AssignmentSearch | ScenarioSearch:
    """The search that a row of a table names: ``fuzz 0:100 protocol=eager``, ``scenarios 0:20``, or the problems of an
    assignor, ``problems 0:100 range tame``."""
    kind, seeds, *words = text.split()
    first, last = map(int, seeds.split(":"))
    if kind == "problems":
        assignor, shape = words
        return AssignmentSearch(assignor=assignor, shape=shape, first=first, last=last)
    if kind == "scenarios":
        return ScenarioSearch(first=first, last=last)
    return FuzzSearch(options=SimulationOptions(**dict(map(_option, words))), first=first, last=last)


def _option(word: str) -> tuple[str, Any]:
    """An option of a simulation by its name, as a command line has it."""
    name, _, value = word.partition("=")
    if name == "faults":
        return name, tuple(value.split(",")) if value != "none" else ()
    return name, int(value) if name == "steps" else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted defect.

    ``what`` says the mutant's mistake in one sentence, ``catalogue_id`` which defect of the field it repeats
    (empty: an obvious one), ``caught_by`` the name of the invariant that must catch it, or ``assignors.`` and a claim
    about answers. ``edits`` are the changes of the source, of a mutant of the implementation; a mutant of the model has
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
        """The command that finds it, under the options of its search."""
        if isinstance(self.find, FuzzSearch):
            return f"rebalance-check fuzz --mutant {self.name}"
        if isinstance(self.find, ModelSearch):
            return f"rebalance-check explore --mutant {self.name}{' --liveness' if self.find.liveness else ''}"
        return f"rebalance-check mutants {self.name} --run"
