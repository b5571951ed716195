"""A model interpreted: its state stepped one action at a time, on plain objects.

Everything but the compiled explorer runs a model through `Machine`: subjects, scenarios, replays of paths, the
interpreted search and the confirmation of lassos. It needs the standard library alone. A state is an object of
`Model.state`; its packed form (`Machine.pack`) is kept and compared by searches, because objects are large and can
change. Read `specification` for the parts of a model, and `safety.search` for how a machine is explored.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rebalance_check.model.checker.layout import SYMMETRIC, WORD
from rebalance_check.model.checker.layout_objects import helpers
from rebalance_check.model.checker.layout_source import relabellings
from rebalance_check.model.checker.specification import Model, arguments
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

Call = Callable[..., Any]
"""A model function as `positional` makes it."""


@lru_cache(maxsize=1024)
def positional(function: Callable[..., Any], parameters: str = "c, s, m, k") -> Call:
    """A model function, which takes its arguments by name, as one that takes these parameters in this order."""
    made: Call = eval(f"lambda {parameters}: f({', '.join(arguments(function))})", {"f": function})
    return made


def named(functions: Iterable[Callable[..., Any]], parameters: str) -> list[tuple[str, Call]]:
    """Claims by name, each to be called with these parameters."""
    return [(function.__name__, positional(function, parameters)) for function in functions]


class Machine:
    """A model at given bounds, interpreted. It holds no state of its own: states are passed in.

    ``step`` performs an action on a state in place; ``enabled`` lists the actions that may happen in it, always in the
    same order. ``enabled`` and ``successors`` leave out steps that lead beyond the bounds (`Model.within_bounds`);
    ``transitions`` and ``step`` do not. One machine may serve many runs, but not two threads: `canonical` reuses a
    state of its own.
    """

    def __init__(self, model: Model, bounds: Bounds) -> None:
        self.model = model
        self.bounds = bounds
        self.sizes = model.sizes(bounds)
        self.config = model.configure(bounds)
        self.helpers = helpers(model.state, self.sizes)
        self._rules = [
            (rule.kind, self._members(rule.members), positional(rule.step), rule.choices and positional(rule.choices))
            for rule in model.rules
        ]
        self._steps = {kind: step for kind, _, step, _ in self._rules}
        self._invariants = named(model.invariants, "c, s")
        self._step_invariants = named(model.step_invariants, "c, s, t")
        self._reachable_states = named(model.reachable_states, "c, s")
        self._reachable_steps = named(model.reachable_steps, "c, s, t")
        self._init = positional(model.init, "c, s")
        self.relabellings = relabellings(self.sizes)
        self._spare = self.new()

    def _members(self, each: bool) -> range:
        return range(self.sizes.get(SYMMETRIC, 1) if each else 1)

    def new(self) -> Any:
        """A state with all fields zero."""
        return self.model.state(self.sizes)

    def initial(self) -> Any:
        """The initial state."""
        state = self.new()
        self._init(self.config, state)
        return state

    def copy(self, state: Any) -> Any:
        """An independent copy of a state; take one before `step` if the state before is still needed."""
        return self.helpers.clone(state)

    def pack(self, state: Any) -> bytes:
        """The bytes of a state; equal bytes, equal states. Of the same length for all states of one machine."""
        return self.helpers.pack(state)

    def unpack(self, data: bytes) -> Any:
        """The state of these bytes."""
        state = self.new()
        self.helpers.unpack(state, data)
        return state

    def step(self, state: Any, action: Action) -> bool:
        """Perform an action in place; False, and nothing changed, when it is not enabled.

        Raises `RebalanceCheckError` when the model has no such action.
        """
        step = self._steps.get(action.kind)
        if step is None:
            raise RebalanceCheckError(
                f"the model {self.model.name} knows no action {action.kind}: choose one of {', '.join(self._steps)}"
            )
        return bool(step(self.config, state, action.member, action.choice))

    def transitions(self, state: Any) -> Iterator[tuple[Action, Any]]:
        """Every action that the protocol allows, with the state it leads to: an object that is reused, so copy it.

        A step that is not enabled leaves the state untouched, so the scratch state is restored only after a step that
        happened. ``state`` itself does not change, and must not change while the iteration goes on.
        """
        c, copy = self.config, self.helpers.copy
        scratch = self.copy(state)
        for kind, members, step, choices in self._rules:
            for m in members:
                for k in range(1 if choices is None else choices(c, state, m, 0)):
                    if step(c, scratch, m, k):
                        yield Action(kind, m, k), scratch
                        copy(scratch, state)

    def within_bounds(self, state: Any) -> bool:
        """Whether a state is explored at all."""
        return self.model.within_bounds(self.config, state)

    def successors(self, state: Any) -> Iterator[tuple[Action, Any]]:
        """The transitions that stay within the bounds."""
        return ((action, after) for action, after in self.transitions(state) if self.within_bounds(after))

    def enabled(self, state: Any) -> list[Action]:
        """The actions that may happen in a state, in the order of rules, members and choices."""
        return [action for action, _ in self.successors(state)]

    def canonical(self, state: Any) -> bytes:
        """The bytes of the representative of all states that differ only in how members are named.

        It is the least relabelling among those that sort members by a signature, which does not depend on names; only
        members with equal signatures are permuted. `kernel.canonicalise` chooses the same one, so that both backends
        find the same representatives.
        """
        signature, relabel = self.helpers.signature, self.helpers.relabel
        signs = [signature(state, m) for m in range(self.sizes.get(SYMMETRIC, 0))]
        best: tuple[tuple[int, ...], bytes] | None = None
        for perm, sets in self.relabellings:
            if respects(perm, signs):
                relabel(self._spare, state, perm, sets)
                data = self.helpers.pack(self._spare)
                best = min(best, (words(data), data)) if best else (words(data), data)
        return best[1] if best else self.pack(state)

    def orbit(self, state: Any) -> set[bytes]:
        """The bytes of all states that differ from this one only in how members are named, itself included."""
        found = set()
        for perm, sets in self.relabellings:
            self.helpers.relabel(self._spare, state, perm, sets)
            found.add(self.helpers.pack(self._spare))
        return found

    def violated(self, state: Any) -> str:
        """The name of the first invariant that a state breaks, or an empty string."""
        return next((name for name, holds in self._invariants if not holds(self.config, state)), "")

    def violated_step(self, state: Any, after: Any) -> str:
        """The name of the first step invariant that a step breaks, or an empty string."""
        return next((name for name, holds in self._step_invariants if not holds(self.config, state, after)), "")

    def broken(self, state: Any) -> set[str]:
        """The names of all invariants that a state breaks."""
        return {name for name, holds in self._invariants if not holds(self.config, state)}

    def met(self, state: Any, but: Container[str] = ()) -> set[str]:
        """The names of the reachable states that a state is one of, those in ``but`` left out."""
        return {name for name, holds in self._reachable_states if name not in but and holds(self.config, state)}

    def happened(self, state: Any, after: Any, but: Container[str] = ()) -> set[str]:
        """The names of the reachable steps that a step is one of, those in ``but`` left out."""
        return {name for name, holds in self._reachable_steps if name not in but and holds(self.config, state, after)}


def respects(perm: tuple[int, ...], signs: list[int]) -> bool:
    """Whether a permutation puts members in the order of their signatures."""
    order = sorted(range(len(perm)), key=perm.__getitem__)
    return all(signs[a] <= signs[b] for a, b in pairwise(order))


def words(data: bytes) -> tuple[int, ...]:
    """The bytes of a state as little-endian words: the order in which the compiled backend compares them."""
    padded = data.ljust(-(-len(data) // WORD) * WORD, b"\0")
    return struct.unpack(f"<{len(padded) // WORD}Q", padded)
