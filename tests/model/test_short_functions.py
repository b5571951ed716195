"""What the compiler makes of short functions: what Python does, or what the compiled program notices instead."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from tests.model.backends import BACKENDS
from tests.model.short_functions import Done, interpreted, native

BOX: Final = (3, 200, 4, 5, 6, 7, 1, 255, 2, 0, 0, 1)
"""a, b, four cells, and three parts with x and who."""


ARITHMETIC: Final = {
    "plus_stays_plus": "return (+ p + q)",
    "minus": "return -p - -q",
    "invert": "return ~p & ~q",
    "product_wraps": "return p * q * p",
    "division_rounds_down": "return p // q if q != 0 else 0",
    "remainder_has_the_sign_of_the_divisor": "return p % q if q != 0 else 0",
    "known_divisors": "return (p // 3) * 10000 + (p // -3) * 100 + (p % 7) * 10 + p % -7",
    "comparisons_in_a_row": "return p < q < 5",
    "a_longer_row": "return -5 <= p != q <= 5 > p",
    "truth_values_count": "return (p < q) + (p == q) * 2 + (True + True)",
    "truth_values_are_compared": "return (p < q) == (q > 2)",
    "nested_choices": "return 1 if p < q else 2 if p == q else (3 if q < 0 else 4)",
    "or_and_not": "return not (p < 0 or q < 0) and (p > 3 or not q > 3)",
    "numbers_as_conditions": "return 1 if p and not q else 2 if p or q else 3",
    "bool_and_int": "return int(bool(p)) + int(p < q) * 2",
    "least_and_most": "return min(p, q, 3) * 1000 + max(p, q, -3)",
    "bits": "return (p & 12) | (q ^ 5)",
    "both_at_once": "p, q = q, p + q\n    return p * 1000 + q",
    "several_in_a_loop": "t = 0\n    for i in range(p, q, 2):\n        if i == 3:\n            continue\n"
                         "        if i > 20:\n            break\n        t += i\n    return t",
    "a_loop_computes_its_end_once": "n, t = 3, 0\n    for i in range(n):\n        n += 1\n        t += n + i\n    return t",
    "while_with_two_tests": "t = 0\n    while t < 10 and p > t:\n        t += 3\n    return t",
    "a_parameter_changes": "p += 1\n    if q > 0:\n        p *= 2\n    return p",
    "the_configuration": "return c.most * 100 + c.table[0] + c.table[1] + c.table[2] + (1 if c.on and not c.off else 0)",
    "an_enumeration": "return int(Color.BLUE) if p == Color.BLUE else Color.RED",
}  # fmt: skip
"""Bodies of ``f(c, s, p, q) -> int``."""

SHIFTS: Final = {
    "left": "return 1 << q",
    "right": "return p >> q",
    "right_of_negatives": "return -1 >> q",
    "by_nil": "return (5 >> NIL) + (p >> 255) * 2",
    "by_64_and_63": "return (p >> 64) + (p >> 63)",
    "the_rest": "return (p >> q) & 1",
}

MEMORY: Final = {
    "a_guard_before_an_index": "return s.cells[p] if 0 <= p < 4 else 0",
    "and_guards_an_index": "return p >= 0 and p < 4 and s.cells[p] > 4",
    "or_guards_an_index": "return p < 0 or p > 3 or s.cells[p] > 4",
    "nil_guards_a_member": "w = s.parts[0].who\n    return s.parts[w].x if w != NIL else -1",
    "nil_is_found": "w = s.parts[p % 3].who\n    return s.parts[w].x if w != NIL else -1",
    "writes": "s.a = p % 200\n    s.cells[p % 4] += 1\n    s.parts[q % 3].who = NIL\n    return s.a",
    "an_exchange": "s.a, s.b = s.b, s.a\n    return s.a - s.b",
    "a_name_for_a_record_stays": "i = p % 3\n    me = s.parts[i]\n    i = 0\n    me.x = 9\n    return me.x * 10 + s.parts[0].x",
    "a_record_is_copied": "assign(s.parts[0], s.parts[p % 3])\n    return s.parts[0].x",
    "a_record_is_emptied": "reset(s.parts[p % 3])\n    return s.parts[p % 3].who",
    "the_box_is_emptied": "reset(s)\n    return s.parts[1].who",
    "absent_fields_read_empty": "return s.attic * 1000 + s.tenant + s.cellar.who + s.cellar.shade",
    "absent_fields_take_what_they_read": "s.attic = 0\n    s.tenant = NIL\n    s.cellar.x = p * 0\n    return 1",
}
"""Bodies that read and write the box."""

CALLS: Final = """\
def count(s: Box) -> bool:
    s.a += 1
    return s.a > 4
def f(c: Config, s: Box, p: int, q: int) -> int:
    return {}
"""

ORDERS: Final = {
    "and_calls_the_second_where_the_first_holds": "1 if count(s) and count(s) else 0",
    "or_calls_the_second_where_the_first_does_not_hold": "1 if count(s) or count(s) else 0",
    "what_writes_is_called_before_something_known": "1 if count(s) and c.off else 0",
    "the_left_operand_comes_first": "s.a * 10 + count(s) + s.a * 100",
    "one_of_two_is_called": "(s.a if count(s) else s.a + 1) if p > q else (count(s) or count(s)) + 0",
}


def head(body: str) -> str:
    return f"def f(c: Config, s: Box, p: int, q: int) -> int:\n    {body}\n"


def wrapped(value: int) -> int:
    """As registers cut it."""
    return (value + 2**63) % 2**64 - 2**63


def agree(backend: str, text: str, p: int, q: int) -> None:
    wanted, found = interpreted(text, BOX, (p, q)), native(backend, text, BOX, (p, q))
    assert wanted.result is not None
    assert found == wanted._replace(result=wrapped(wanted.result)), f"{text}with p={p} and q={q}"


NUMBERS = st.integers(-6, 30) | st.sampled_from([-(2**63) + 1, 2**63 - 1, 2**31, 255])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", [*ARITHMETIC.values(), *MEMORY.values()], ids=[*ARITHMETIC, *MEMORY])
@given(p=st.integers(-9, 30), q=st.integers(-9, 30))
def test_a_compiled_function_does_what_python_does(backend: str, body: str, p: int, q: int) -> None:
    agree(backend, head(body), p, q)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", ORDERS.values(), ids=list(ORDERS))
@given(p=st.integers(-1, 1))
def test_what_writes_is_called_as_often_and_as_early_as_in_python(backend: str, expression: str, p: int) -> None:
    agree(backend, CALLS.format(expression), p, 0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", SHIFTS.values(), ids=list(SHIFTS))
@given(p=NUMBERS, q=st.integers(0, 70) | st.just(255))
def test_a_shift_by_more_than_64_bits_leaves_none_of_them(backend: str, body: str, p: int, q: int) -> None:
    agree(backend, head(body), p, q)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%", "&", "|", "^"])
@given(p=NUMBERS, q=NUMBERS.filter(bool))
def test_numbers_wrap_at_64_bits(backend: str, operator: str, p: int, q: int) -> None:
    agree(backend, head(f"return p {operator} q"), p, q)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_least_number_divided_by_minus_one_wraps(backend: str) -> None:
    agree(backend, head("return p // q"), -(2**63), -1)
    agree(backend, head("return p % q"), -(2**63), -1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("value", [256, 300, -1])
def test_a_number_that_a_byte_does_not_hold_is_cut__where_python_refuses_to_pack_it(backend: str, value: int) -> None:
    text = head("s.a = p\n    return s.a")
    with pytest.raises(ValueError, match="range\\(0, 256\\)"):
        interpreted(text, BOX, (value, 0))
    assert native(backend, text, BOX, (value, 0)) == Done(value % 256, bytes((value % 256, *BOX[1:])))


FAULTS: Final = {
    "an_index_beyond_its_list": ("return s.cells[p]", 4, IndexError),
    "an_index_of_nil": ("return s.parts[p].x", 255, IndexError),
    "a_known_index_beyond_its_list": ("return s.cells[4]", 0, IndexError),
    "a_write_beyond_its_list": ("s.cells[p] = 1\n    return 0", 7, IndexError),
    "a_table_of_the_configuration": ("return c.table[p]", 3, IndexError),
    "a_name_of_a_record_beyond_its_list": ("me = s.parts[p]\n    return 0", 3, IndexError),
    "a_divisor_of_0": ("return 5 // p", 0, ZeroDivisionError),
    "a_remainder_by_0": ("return 5 % p", 0, ZeroDivisionError),
    "a_known_divisor_of_0": ("return p // 0", 0, ZeroDivisionError),
    "a_shift_to_the_left_by_less_than_nothing": ("return 5 << p", -1, ValueError),
    "a_shift_to_the_right_by_less_than_nothing": ("return 5 >> p", -1, ValueError),
    "a_known_shift_by_less_than_nothing": ("return p >> -1", 3, ValueError),
    "a_write_to_an_absent_field": ("s.attic = p\n    return 0", 1, AttributeError),
    "a_sum_in_an_absent_field": ("s.attic += p\n    return 0", 1, AttributeError),
    "a_write_to_a_field_of_an_absent_record": ("s.cellar.x = p\n    return 0", 1, AttributeError),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("body", "p", "error"), FAULTS.values(), ids=list(FAULTS))
def test_what_python_refuses_is_noticed__with_the_name_of_the_function(
    backend: str, body: str, p: int, error: type[Exception]
) -> None:
    text = head(body).replace("def f(", "def inner(") + head("return inner(c, s, p, q)")
    with pytest.raises(error):
        interpreted(text, BOX, (p, 0))
    assert native(backend, text, BOX, (p, 0)).fault == "inner"


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_below_0_is_noticed__where_python_counts_from_the_end(backend: str) -> None:
    text = head("return s.cells[p]")
    assert interpreted(text, BOX, (-1, 0)).result == 7
    assert native(backend, text, BOX, (-1, 0)).fault == "f"
