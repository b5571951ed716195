"""Each function of a model, compiled and exported alone, does what the interpreted one does.

On random states, whatever they mean, and on the states and arguments that runs of the model come to. Where Python
refuses (an index beyond its list, a write to what is absent) the compiled function must notice a fault.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler.subset import Parameter
from rebalance_check.model.checker.compiler.types import Number, Record
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import NIL, SYMMETRIC, leaves
from rebalance_check.model.checker.walks import Curious
from rebalance_check.model.vocabulary.bounds import CONNECT_ONLY, Bounds, RebalanceProtocol
from tests.model.native_functions import CONFIG, NativeFunctions, Outcome

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
    "connect-incremental?members=3&crashes=1&losses=1",
    "connect-eager?members=2&modes=eager-to-compatible-to-sessioned&rolling_restarts=2&rebalance_delay=off",
    "connect-config?members=2&compactions=1&task_rewrites&fencing",
    "connect-exactly-once?members=2&expiries=1",
]

RUNS, STEPS = 6, 80
"""How many runs give the states that are met, and how many steps each has at most."""

SMALL = (*[0] * 4, *[1] * 4, 2, 2, 3, 3, *range(4, 10))
"""The values of a number of a state; most are small."""

SLOTS = ("m", "x", "w", "y", "slot", "member", "who")
"""Parameters of these names are members."""


@cache
def native(address: str) -> NativeFunctions:
    return NativeFunctions(Bounds.from_address(address))


@cache
def walked_states(address: str) -> list[bytes]:
    """The states of a few long runs, in which seldom steps are taken as often as others."""
    machine, random, curious = native(address).machine, Random(1), Curious()
    return [packed for _ in range(RUNS) for packed in one_run(machine, random, curious)]


def one_run(machine: Machine, random: Random, curious: Curious) -> Iterator[bytes]:
    """The states of a run, until no step can follow."""
    state = machine.initial()
    for _ in range(STEPS):
        yield machine.pack(state)
        enabled = machine.enabled(state)
        if not enabled:
            return
        machine.step(state, curious.choose(enabled, random))


def random_state(machine: Machine, random: Random) -> bytes:
    """Any values that the fields may have, whether or not a run comes to them together."""
    members = machine.sizes.get(SYMMETRIC, 1)

    def number(kind: str) -> int:
        choices: Mapping[str, Sequence[int]] = {"index": [*range(members), NIL], "set": range(1 << members)}
        chosen: int = random.choice(choices.get(kind, SMALL))
        return chosen

    return bytes(number(leaf.kind) for leaf in leaves(machine.model.state, machine.sizes))


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
        walked = walked_states(self.native.address)
        is_any = self.random.random() < 0.5
        packed = random_state(self.native.machine, self.random) if is_any else self.random.choice(walked)
        offset, access = self.random.choice(self.native.places(record))
        state = self.native.machine.unpack(packed)
        self.compiled.append((len(self.packed), offset))
        self.interpreted.append(reached(state, access))
        self.packed.append(packed)
        self.states.append(state)

    def compare(self) -> None:
        wanted = self.native.call_interpreted(self.name, self.interpreted, self.states)
        found = self.native.call_compiled(self.name, self.compiled, self.packed)
        assert found == wanted, different(self.name, self.compiled, self.packed, wanted, found)


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


def different(name: str, given: object, states: Sequence[bytes], wanted: Outcome, found: Outcome) -> str:
    """The call and both outcomes, where the two differ."""
    shown = [state.hex(" ") for state in states]
    return f"{name}{given} on {shown}\ninterpreted: {wanted}\ncompiled: {found}"


def compare_all(functions: NativeFunctions, examples: int) -> None:
    """Call each function with arguments of every example's seed."""
    names = sorted(callable_anywhere(functions))

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=examples, deadline=None, database=None)
    def check(seed: int) -> None:
        for name in names:
            Case(functions, name, Random(f"{name} {seed}")).compare()

    check()


@pytest.mark.parametrize("address", SHAPES[::3])
def test_a_function_does_the_same_on_any_state(address: str) -> None:
    compare_all(native(address), 4)


@pytest.mark.nightly
@pytest.mark.parametrize("address", SHAPES)
def test_a_function_does_the_same_on_many_states(address: str) -> None:
    compare_all(native(address), 30)


@pytest.mark.parametrize("address", SHAPES)
def test_a_step_does_the_same_where_a_run_comes_to_it(address: str) -> None:
    functions, random = native(address), Random(1)
    rules = functions.machine.model.rules
    states = walked_states(address)
    compared = sum(
        compare_rule(functions, packed, rule.step.__name__, random)
        for packed in random.sample(states, min(30, len(states)))
        for rule in rules
    )
    assert compared > 300


def test_each_model_and_each_concern_is_among_them() -> None:
    bounds = [Bounds.from_address(address) for address in SHAPES]
    assert {each.protocol for each in bounds} == set(RebalanceProtocol)
    assert {name for each in bounds for name in Bounds.concerns() if getattr(each, name)} == Bounds.concerns()
    assert {
        name for each in bounds for name in CONNECT_ONLY if each.reads(name) and getattr(each, name)
    } == CONNECT_ONLY


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
        assert found == wanted_outcome, different(name, known, [packed], wanted_outcome, found)
    return machine.sizes.get(SYMMETRIC, 1)


def arguments(functions: NativeFunctions, function: Callable[..., Any]) -> list[Any]:
    return functions.words.sources[function.__name__].tree.args.args
