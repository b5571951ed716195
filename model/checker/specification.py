"""A model: a state, actions, and claims, as one value that every backend understands.

How to write a model (see `model.classic.model` for the classic group protocol):

1. Declare the state with `model.checker.layout` in a file of its own (without ``from __future__ import annotations``).
   State that exists only when a dimension is 1 is ``Annotated[Number, When("failovers")]``: it reads and writes as
   ``s.phase``, takes no byte where the dimension is 0, and reads as an empty field then (0, an Index NIL). To write
   that changes nothing, to write anything else is an error: such a step belongs behind a test of its bound. A record
   may be marked so, too; where it is absent its fields read as empty, but it cannot be handed to a function.
   ``Annotated[Number, Alias("flag")]`` names the byte of ``flag`` once more, for messages whose kinds share fields.
   ``reset(record)`` empties a record, ``assign(record, other)`` copies one of the same layout: both are generated, so
   that no field is forgotten. Parameters that are records have their layout as annotation, since the compiler
   (`model.checker.compiler`) takes the types from it.
2. Declare the configuration as a NamedTuple of ints, bools and tables (tuples of ints, which the compiled backend turns
   into arrays), and a function that builds it from `Bounds`.
3. Write one function for each action. It takes any of ``c`` (configuration), ``s`` (state), ``m`` (the
   member that acts) and ``k`` (the choice among the outcomes), by these names. When its guard holds it changes ``s``
   and returns True; otherwise it returns False **and has not touched** ``s``. A `Rule` gives it its `ActionKind`;
   ``choices`` says how many outcomes there are to choose from (absent: one; ``members=False``: an action of no
   member, tried with m=0).
4. Write the claims: predicates over ``c`` and ``s`` (`Model.invariants`: true in every state;
   `Model.reachable_states`: true in some), and over ``c``, ``s`` and the next state ``t``
   (`Model.step_invariants`: true of every step; `Model.reachable_steps`: true of some). The function's name is the
   claim. A goal of runs (`Model.liveness`) is a `LivenessProperty`: a predicate that recurs, or stabilises, once
   faults cease (`model.checker.liveness`). The docstring of an action or claim has a heading and a line
   ``Source: ...``, that of an action or invariant also ``Leaves unchanged: ...``; reports print the heading.
5. ``within_bounds(c, s)`` cuts states that are too far out (a state constraint); it guards nothing inside the
   protocol.
6. Each file ends with its rules and claims as one `Concern`. The last file defines ``MODEL`` from the concerns
   (`Model.of`); ``modules`` lists the files in the order of their imports. Names are unique over all of them, because
   the compiled backend and the mutants run them in one namespace.

The same functions run interpreted on objects and compiled by LLVM on packed records, so they keep to plain Python:
numbers, ``if``, ``for x in range(...)``, bit masks, no comprehension, no exception, no string. They never mention the
backend. Every number is 0 to 255 and must stay there.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.checker.layout import Layout, Sizes
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class Rule:
    """An action of a model: its kind, its step function, and how many outcomes there are to choose from.

    A ``fair`` action that stays enabled for one member is eventually taken (weak fairness); an action that is not fair
    may never be taken. A step that changes a `layout.Spent` or `layout.Age` field is a fault, whatever its rule says.
    """

    kind: ActionKind
    """How schedules, paths and reports name the action; one rule for each kind."""
    step: Callable[..., bool]
    """Guard and effect in one function: True if the action happened, False if it was not enabled."""
    choices: Callable[..., int] | None = None
    """The number of outcomes to try in a state, as ``k`` from 0; None for one outcome."""
    members: bool = True
    """Whether it is an action of each member; if not, it is tried once, with m=0."""
    fair: bool = False
    """Whether weak fairness holds for it, for each member (`model.checker.liveness`)."""


@dataclass(frozen=True, slots=True)
class LivenessProperty:
    """A goal of runs: once faults cease, ``holds`` recurs (``[]<>``), or if it ``stabilises`` stays true (``<>[]``).

    With a parameter ``m`` it does so for each member, with ``p`` for each partition.
    """

    holds: Callable[..., bool]
    """The predicate over ``c``, ``s`` and at most one of ``m`` and ``p``."""
    stabilises: bool = False
    """``<>[]`` instead of ``[]<>``."""

    @property
    def name(self) -> str:
        """The property has the name of its function."""
        return self.holds.__name__


@dataclass(frozen=True, slots=True)
class Concern:
    """One part's share of a model: its rules, and its claims. A model is its concerns, one after the other.

    The order of rules is the order in which actions are tried, and so part of every replay address.
    """

    rules: tuple[Rule, ...] = ()
    invariants: tuple[Callable[..., bool], ...] = ()
    step_invariants: tuple[Callable[..., bool], ...] = ()
    reachable_states: tuple[Callable[..., bool], ...] = ()
    reachable_steps: tuple[Callable[..., bool], ...] = ()
    liveness: tuple[LivenessProperty, ...] = ()

    @classmethod
    def joined(cls, *concerns: Concern) -> Concern:
        """All these concerns as one, in their order."""
        return cls(
            rules=tuple(rule for each in concerns for rule in each.rules),
            invariants=tuple(claim for each in concerns for claim in each.invariants),
            step_invariants=tuple(claim for each in concerns for claim in each.step_invariants),
            reachable_states=tuple(claim for each in concerns for claim in each.reachable_states),
            reachable_steps=tuple(claim for each in concerns for claim in each.reachable_steps),
            liveness=tuple(claim for each in concerns for claim in each.liveness),
        )


@dataclass(frozen=True, slots=True)
class Edit:
    """A one-line change of a model's source: ``old``, which stands once in the file of ``module``, becomes ``new``."""

    module: str
    """The dotted name of one of `Model.modules`."""
    old: str
    """It must occur exactly once in the module, or `sources` refuses the edit."""
    new: str
    """The text there in the mutant."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model; the module docstring says the duty of each part.

    ``edit`` is the one line in which a mutant of the model differs, and ``mutant`` the name of that defect (`mutated`).
    """

    name: str
    modules: tuple[str, ...]
    state: type[Layout]
    sizes: Callable[[Bounds], Sizes]
    configure: Callable[[Bounds], Any]
    init: Callable[..., None]
    rules: tuple[Rule, ...]
    within_bounds: Callable[..., bool]
    invariants: tuple[Callable[..., bool], ...]
    step_invariants: tuple[Callable[..., bool], ...] = ()
    reachable_states: tuple[Callable[..., bool], ...] = ()
    reachable_steps: tuple[Callable[..., bool], ...] = ()
    liveness: tuple[LivenessProperty, ...] = ()
    mutant: str = ""
    edit: Edit | None = None

    @classmethod
    def of(cls, *concerns: Concern, **parts: Any) -> Model:
        """The model of these concerns; ``parts`` are its other fields (``name``, ``modules``, ``state``, ...)."""
        whole = Concern.joined(*concerns)
        return cls(**parts, **{field.name: getattr(whole, field.name) for field in fields(whole)})


def arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a model function's parameters."""
    return tuple(inspect.signature(function).parameters)


def call(function: Callable[..., Any]) -> str:
    """The call of a model function as source, each parameter filled by the variable of the same name."""
    return f"{function.__name__}({', '.join(arguments(function))})"


EACH: Final = {"m": "members", "p": "partitions"}
"""The parameters that make a liveness property one of each, and their number's name in bounds and configuration."""


def each_of(function: Callable[..., Any]) -> str:
    """The one of these parameters that a function has; empty if it is about the whole."""
    return next((x for x in EACH if x in arguments(function)), "")


# ------------------------------------------------------------------------------------------------ one namespace


def source_file(module: str) -> str:
    """The file of a module of a model, which is imported: the module that defines the model imports it."""
    return str(sys.modules[module].__file__)


def sources(model: Model) -> dict[str, str]:
    """The source text of each module of a model, in order, with the edit of a mutant applied.

    Raises `ValueError` when the text of the edit does not stand exactly once in its module.
    """
    texts = {name: Path(source_file(name)).read_text(encoding="utf-8") for name in model.modules}
    if model.edit is not None:
        text = texts[model.edit.module]
        found = text.count(model.edit.old)
        if found != 1:
            raise ValueError(f"the edit of {model.edit.module} expects one line {model.edit.old!r} and found {found}")
        texts[model.edit.module] = text.replace(model.edit.old, model.edit.new)
    return texts


def assemble(model: Model) -> dict[str, Any]:
    """All modules of a model executed afresh in one namespace, whose ``MODEL`` is the model with its edit applied.

    Imports between these modules are left out: the names are already there.
    """
    space: dict[str, Any] = {"__name__": model.modules[-1]}
    for name, text in sources(model).items():
        tree = ast.parse(text)
        tree.body = [
            node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.module in model.modules)
        ]
        exec(compile(tree, source_file(name), "exec", dont_inherit=True), space)
    return space


def mutated(model: Model, mutant: str, edit: Edit) -> Model:
    """The model with one line of its source changed, under the name of that defect.

    Raises `RebalanceCheckError` when the edit is not of this model.
    """
    if edit.module not in model.modules:
        raise RebalanceCheckError(
            f"the mutant {mutant} edits {edit.module}, which is not part of the model {model.name}: "
            "choose bounds of the protocol that it is a defect of"
        )
    made: Model = assemble(replace(model, edit=edit))["MODEL"]
    return replace(made, mutant=mutant, edit=edit)
