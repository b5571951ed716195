"""Code that cannot be compiled is refused, with file, line, function, and what to write instead."""

import ctypes
from typing import Final

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler import engine
from rebalance_check.model.checker.compiler.program import module
from rebalance_check.model.checker.compiler.subset import SubsetError
from tests.model.short_functions import compiled

HEAD: Final = "def f(c: Config, s: Box, p: int, q: int) -> int:\n"

REFUSED: Final = {
    # what: (lines of the function, the line that is named, what the message says)
    "a comprehension": (["return sum([x for x in range(3)])"], 2, "sum has no value here"),
    "a list": (["t = [1, 2]", "return 0"], 2, r"\[1, 2\] \(List\) is not known: write it with loops"),
    "a lambda": (["g = lambda: 1", "return 0"], 2, r"\(Lambda\) is not known"),
    "an assignment inside of an expression": (["return (t := 1)"], 2, r"\(NamedExpr\) is not known"),
    "a text": (["return 'x'"], 2, "'x' is no whole number: use whole numbers"),
    "a fraction": (["return 1.5"], 2, "1.5 is no whole number"),
    "a number of more than 64 bits": (["return 20000000000000000000000"], 2, "does not fit 64 bits with a sign: use smaller"),
    "a division with a rest": (["return p / q"], 2, r"Div is not known: use \+ - \* // %"),
    "a power": (["return p ** q"], 2, "Pow is not known"),
    "a membership": (["return 1 if p in (1, 2) else 0"], 2, "is not known|is no comparison"),
    "an identity": (["return 1 if p is q else 0"], 2, "is no comparison of numbers: use == !="),
    "a try": (["try:", "    return 1", "finally:", "    pass"], 2, "Try is not known: use if, for, while"),
    "a with": (["with s:", "    return 1"], 2, "With is not known"),
    "a raise": (["raise ValueError"], 2, "Raise is not known"),
    "an assertion": (["assert p", "return 0"], 2, "Assert is not known"),
    "a deletion": (["del p", "return 0"], 2, "Delete is not known"),
    "a function inside": (["def g() -> int:", "    return 1", "return 0"], 2, "FunctionDef is not known"),
    "a chain of assignments": (["t = u = 1", "return t"], 2, "Assign is not known"),
    "a loop over records": (["for each in s.parts:", "    s.a += 1", "return 0"], 2, r"loop over range\(\.\.\.\)"),
    "a loop with else": (["for i in range(3):", "    s.a = i", "else:", "    s.a = 0", "return 0"], 2, "For is not known"),
    "a loop that counts down": (["for i in range(3, 0, -1):", "    s.a = i", "return 0"], 2, "count up by a constant"),
    "a loop with an unknown step": (["for i in range(0, 3, p):", "    s.a = i", "return 0"], 2, "count up by a constant"),
    "a loop variable assigned": (["for i in range(3):", "    i = 2", "return 0"], 2, "i is assigned in its own loop"),
    "a loop variable used behind": (["for i in range(3):", "    s.a = i", "return i"], 4, "i has no value here"),
    "a loop variable known before": (["p = 2", "for p in range(3):", "    s.a = p", "return 0"], 3, "p has a meaning"),
    "a record named in a branch": (
        ["me = s.parts[0]", "if p > 0:", "    me = s.parts[1]", "return me.x"], 2,
        "me names a record and is assigned again: use one name for each record",
    ),
    "a record named in a branch alone": (["if p > 0:", "    me = s.parts[1]", "return me.x"], 4, "me has no value here"),
    "a parameter that becomes a record": (["if p:", "    q = s.parts[0]", "return q.x"], 3, "q names a record and is assigned"),
    "a record chosen": (["me = s.parts[0] if p else s.parts[1]", "return 0"], 2, "is no number: name one of its fields"),
    "a number that becomes a record": (["t = 1", "t = s.parts[0]", "return 0"], 3, "t names a record and is assigned"),
    "a record as a number": (["return s.parts[0]"], 2, "is no number: name one of its fields"),
    "a field that becomes a record": (["s.a = s.parts[0]", "return 0"], 2, "use layout.assign to copy records"),
    "a record that becomes a record": (["s.parts[0] = s.parts[1]", "return 0"], 2, "use layout.assign to copy records"),
    "an unknown field": (["return s.z"], 2, "Box has no field z: declare it in the layout"),
    "an unknown field of an absent record": (["return s.cellar.z"], 2, "Part has no field z"),
    "an unknown field of the configuration": (["return c.z"], 2, "the configuration has no field z"),
    "items of a number": (["return s.a[0]"], 2, "s.a has no items: declare its dimension"),
    "an unknown name": (["return z"], 2, "z has no value here: give it one on every way"),
    "an unknown function": (["g(s)", "return 0"], 2, "g cannot be called: call a function of the model"),
    "an unknown function with a result": (["return g(s)"], 2, "g has no value here"),
    "a method": (["s.parts.append(1)", "return 0"], 2, "does nothing: call a function"),
    "arguments by name": (["return f(c, s, p=1, q=2)"], 2, "names its arguments: give them in their order"),
    "an expression that does nothing": (["p + q", "return 0"], 2, "p \\+ q does nothing"),
    "itself": (["return f(c, s, p, q)"], 1, "it calls itself: write a loop"),
    "an end without a result": (["if p:", "    return 1"], 1, "it may end without a result: return one at its end"),
    "two results for one": (["return 1, 2"], 2, "has other results than announced"),
    "no result": (["return"], 2, "has other results than announced"),
    "as many values as targets": (["p, q = 1, 2, 3", "return 0"], 2, "is no list of as many values"),
    "numbers joined as a value": (["t = p and q", "return t"], 2, r"p in p and q is no truth value: write bool\(p\)"),
    "a truth value that becomes a number": (["t = p > q", "t = 3", "return t"], 3, "t is a truth value and would become a int"),
    "a sum of a truth value": (["t = p > q", "t += 1", "return 0"], 3, "t is a truth value and would become a int"),
    "bits with a number": (["return p + np.uint64(3)"], 2, "a number of type int meets one of 64 bits"),
    "bits negated": (["return -np.uint64(p)"], 2, "a number of type int meets one of 64 bits"),
    "a variable of bits that becomes a number": (["t = np.uint64(p)", "t = q", "return 0"], 3, "t is a 64 bits and would become a int"),
    "one number compared to itself": (["return min(p)"], 2, r"min\(p\) is not known: give it two numbers or more"),
    "a value given in one branch": (["if p:", "    t = q", "return t"], 4, "t has no value here: give it one on every way"),
    "a value given in a loop": (["for i in range(p):", "    t = q", "return t"], 4, "t has no value here"),
    "a value given in a while": (["while p > 9:", "    t = p", "    p -= 1", "return t"], 5, "t has no value here"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "number", "message"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_compiled_is_refused__with_its_place(lines: list[str], number: int, message: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    with pytest.raises(SubsetError, match=rf"^short\.py, line {number}, in f: .*({message})"):
        compiled(text)


REBOUND: Final = """\
def f(one: Part, other: Part, p: int) -> int:
    if p > 0:
        one = other
    return one.x
"""

TWICE: Final = """\
def count(s: Box) -> int:
    s.a += 1
    return s.a
def f(s: Box) -> None:
    s.cells[count(s)] += 1
"""

MUTUAL: Final = """\
def even(p: int) -> bool:
    return p == 0 or odd(p - 1)
def odd(p: int) -> bool:
    return p > 0 and even(p - 1)
"""

ROW: Final = """\
def count(s: Box) -> int:
    s.a += 1
    return s.a
def f(s: Box) -> bool:
    return 1 < count(s) < 3
"""

ABSENT: Final = """\
def count(s: Box) -> int:
    s.a += 1
    return s.a
def f(s: Box) -> None:
    s.attic = count(s)
"""

SEVERAL: Final = {
    "a parameter rebound in a branch": (REBOUND, 3, "f: one names a record and is assigned again"),
    "two that call each other": (MUTUAL, 1, "even: it calls itself: write a loop"),
    "a term between two comparisons that writes": (ROW, 5, "f: .*compare two at a time"),
    "an unknown layout": ("def f(s: Chest) -> None:\n    pass\n", 1, "f: the parameter s has the type 'Chest'"),
    "no annotation": ("def f(s) -> None:\n    pass\n", 1, "f: the parameter s has the type ''"),
    "an unknown result": ("def f(s: Box) -> str:\n    return ''\n", 1, "f: it returns 'str'"),
    "another record": ("def g(s: Box) -> None:\n    s.a = 1\ndef f(s: Part) -> None:\n    g(s)\n", 4, "f: s is no "),
    "too few arguments": ("def g(s: Box, p: int) -> None:\n    s.a = p\ndef f(s: Box) -> None:\n    g(s)\n", 4,
                          r"f: g\(s\) does not fit: g takes s, p"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "number", "message"), SEVERAL.values(), ids=list(SEVERAL))
def test_functions_that_cannot_be_compiled_together_are_refused(text: str, number: int, message: str) -> None:
    with pytest.raises(SubsetError, match=rf"^short\.py, line {number}, in {message}"):
        compiled(text)


def test_a_condition_that_is_known_hides_what_must_not_be_read() -> None:
    text = "def g(one: Part) -> bool:\n    return one.x > 1\n" + HEAD + "    return 1 if c.off and g(s.cellar) else 2\n"
    assert compiled(text)[0][-1].constant == 2


@pytest.mark.parametrize(("text", "cells", "is_refused"), [(TWICE, [0, 1, 0, 0], False), (ABSENT, [0] * 4, True)])
def test_a_function_that_writes_is_called_once(text: str, cells: list[int], is_refused: bool) -> None:
    functions, known = compiled(text)
    loaded = engine.Loaded(engine.object_code(module(functions, known.tables, ["f"])))
    box = ctypes.create_string_buffer(64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address("f"))(ctypes.addressof(box))
    assert [box.raw[0], *box.raw[2:6]] == [1, *cells]
    assert bool(loaded.fault().value) == is_refused
