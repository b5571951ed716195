"""Each function of a model, compiled and exported alone, does what the interpreted one does.

On random states, whatever they mean, and on the states and arguments that runs of the model come to. Where Python
refuses (an index beyond its list, a write to what is absent) the compiled function must notice a fault.
"""

import operator
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler.tree import Parameter
from rebalance_check.model.checker.compiler.types import Number, Record
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import NIL, SYMMETRIC, leaves
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.model.native_functions import CONFIG, NativeFunctions

SHAPES = [
    "eager?members=2&partitions=1&generations=2",
    "cooperative?members=3&partitions=2&generations=3&timeouts&failovers=1&commits=2",
    "eager?members=3&partitions=2&leaves=1&expiries=1&duplicates=1&deletions=1&losses=1",
    "cooperative?members=2&partitions=2&timeouts&static_members=2&shared_instances=1",
    "eager?members=2&partitions=1&failovers=1&zombie_coordinators=1",
    "eager?members=2&partitions=1&new_members&heartbeats_during_sync=1&member_id_required",
    "eager?members=2&partitions=1&upgrade=1&rolling_restarts=1&failovers=1",
    "status?members=2&failures=1",
    "connect-eager?members=2",
    "connect-incremental?members=3&rebalance_delay",
    "connect-config?members=2&compactions=1&task_rewrites",
    "connect-exactly-once?members=2&fencing",
]

SLOTS = ("m", "x", "w", "y", "slot", "member", "who")
"""Parameters of these names are members."""


@cache
def native(address: str) -> NativeFunctions:
    return NativeFunctions(Bounds.from_address(address))


def random_state(machine: Machine, random: Random) -> bytes:
    members = machine.sizes.get(SYMMETRIC, 1)
    choices: dict[str, Callable[[], int]] = {
        "index": lambda: random.choice([*range(members), NIL]),
        "set": lambda: random.randrange(1 << members),
    }
    small = lambda: random.choice([0, 0, 1, 1, 2, 3, 4, random.randrange(10)])  # noqa: E731
    return bytes(choices.get(leaf.kind, small)() for leaf in leaves(machine.model.state, machine.sizes))


def walked_state(machine: Machine, random: Random) -> bytes:
    state = machine.initial()
    for _ in range(random.randrange(40)):
        enabled = machine.enabled(state)
        if not enabled:
            break
        machine.step(state, random.choice(enabled))
    return machine.pack(state)


class Case:
    """Arguments for one function, for either side; each record is in a state of its own."""

    def __init__(self, native: NativeFunctions, name: str, random: Random) -> None:
        self.native, self.name, self.random = native, name, random
        self.packed: list[bytes] = []
        self.states: list[Any] = []
        self.interpreted: list[Any] = []
        self.compiled: list[Any] = []
        of = {each.name: each for each in native.functions[name].parameters}
        for argument in native.words.sources[name].tree.args.args:
            self.add(of.get(argument.arg))

    def add(self, parameter: Parameter | None) -> None:
        if parameter is None:
            self.both(CONFIG)
        elif isinstance(parameter.type, Number):
            self.both(self.number(parameter))
        else:
            assert isinstance(parameter.type, Record)
            self.record(parameter.type)

    def both(self, value: Any) -> None:
        self.interpreted.append(value)
        self.compiled.append(value)

    def number(self, parameter: Parameter) -> int | bool:
        if parameter.type is Number.TRUTH:
            return self.random.random() < 0.5
        members = self.native.machine.sizes.get(SYMMETRIC, 1)
        return self.random.randrange(members if parameter.name in SLOTS else 8)

    def record(self, record: Record) -> None:
        make = self.random.choice([random_state, walked_state])
        packed = make(self.native.machine, self.random)
        offset, access = self.random.choice(self.native.places(record))
        state = self.native.machine.unpack(packed)
        self.compiled.append((len(self.packed), offset))
        self.interpreted.append(reached(state, access))
        self.packed.append(packed)
        self.states.append(state)

    def compare(self) -> None:
        wanted = self.native.call_interpreted(self.name, self.interpreted, self.states)
        found = self.native.call_compiled(self.name, self.compiled, self.packed)
        assert found == wanted, (self.name, self.compiled, self.packed)


def reached(state: Any, access: str) -> Any:
    """``state.member[1].net`` for ``.member[1].net``."""
    for part in access.replace("[", ".[").split(".")[1:]:
        state = operator.getitem(state, int(part[1:-1])) if part.startswith("[") else getattr(state, part)
    return state


def callable_anywhere(native: NativeFunctions) -> Iterator[str]:
    for name, function in native.functions.items():
        has_places = all(native.places(each.type) for each in function.parameters if isinstance(each.type, Record))
        if has_places and not native.loops_without_end(name):
            yield name


@pytest.mark.parametrize("address", SHAPES)
def test_a_function_does_the_same_on_any_state(address: str) -> None:
    functions = native(address)
    names = sorted(callable_anywhere(functions))

    @given(st.sampled_from(names), st.integers(0, 2**32 - 1))
    @settings(max_examples=4 * len(names), deadline=None, database=None)
    def check(name: str, seed: int) -> None:
        random = Random(seed)
        for _ in range(10):
            Case(functions, name, random).compare()

    check()


@pytest.mark.parametrize("address", SHAPES)
def test_a_function_does_the_same_where_a_run_comes_to_it(address: str) -> None:
    functions = native(address)
    machine, random = functions.machine, Random(1)
    compared = 0
    for _ in range(300):
        packed = walked_state(machine, random)
        for rule in machine.model.rules:
            compared += compare_rule(functions, packed, rule.step.__name__, random)
    assert compared > 1000


def compare_rule(functions: NativeFunctions, packed: bytes, name: str, random: Random) -> int:
    """A step for each member, with one of its choices; how many there were."""
    machine = functions.machine
    rule = next(each for each in machine.model.rules if each.step.__name__ == name)
    for m in range(machine.sizes.get(SYMMETRIC, 1) if rule.members else 1):
        known = {"c": CONFIG, "m": m, "k": 0}
        if rule.choices is not None:
            state = machine.unpack(packed)
            wanted = [
                {**known, "c": machine.config, "s": state}[each.arg] for each in arguments(functions, rule.choices)
            ]
            known["k"] = random.randrange(max(1, rule.choices(*wanted)))
        state = machine.unpack(packed)
        names = [each.arg for each in arguments(functions, rule.step)]
        wanted_outcome = functions.call_interpreted(name, [{**known, "s": state}[each] for each in names], [state])
        found = functions.call_compiled(name, [{**known, "s": (0, 0)}[each] for each in names], [packed])
        assert found == wanted_outcome, (name, known, packed)
    return machine.sizes.get(SYMMETRIC, 1)


def arguments(functions: NativeFunctions, function: Callable[..., Any]) -> list[Any]:
    return functions.words.sources[function.__name__].tree.args.args
