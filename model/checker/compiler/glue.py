"""Generates the functions through which the kernel reaches a model's rules and claims.

Rules and claims are lists in Python; compiled, a list of functions would cost an indirect call each. So they are
written out one after the other, in the order of `Machine.successors`, and the compiler inlines them. The names are
those that `kernel` declares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rebalance_check.model.checker.layout import SYMMETRIC, Sizes
from rebalance_check.model.checker.specification import EACH, Model, Rule, arguments, call, each_of
from rebalance_check.model.vocabulary.bounds import Bounds

LABEL_RULE, LABEL_MEMBER = 24, 16
"""Where a label (32 bits) holds the rule and the member; the choice takes the bits below (see `kernel.RULE_SHIFT`)."""

STEP: Final = "c: Config, s: State, t: State"


def glue(model: Model, bounds: Bounds) -> str:
    """Source of ``successors``, ``violated``, ``violated_step``, ``witness``, ``reached_step`` and ``achieved``."""
    return "\n".join(
        [
            successors_source(model, model.sizes(bounds)),
            claims_source(model),
            achieved_source(model, bounds),
            witness_source("witness(c: Config, s: State, met: int)", model.reachable_states),
            witness_source(f"reached_step({STEP}, met: int)", model.reachable_steps),
        ]
    )


def successors_source(model: Model, sizes: Sizes) -> str:
    """Source of ``successors``: every rule tried for every member and choice, in the order of `Machine.successors`."""
    head = "c: Config, s: State, states: States, i: int, out: States, labels: Numbers, z: int, st: Numbers"
    lines = [f"def successors({head}) -> int:"]
    for number, rule in enumerate(model.rules):
        lines += rule_source(number, rule, sizes.get(SYMMETRIC, 1) if rule.members else 1)
    return "\n".join([*lines, "    return z", ""])


def rule_source(number: int, rule: Rule, members: int) -> list[str]:
    """The lines that try one rule for each of ``members`` members and each choice.

    The step works on slot z of the output, which holds a copy of the parent. A step that returns False has not touched
    it, so that the next one can use the same slot: this is why a guard must come before every effect.
    """
    label = f"{number << LABEL_RULE} | (m << {LABEL_MEMBER})"
    lines = [f"    for m in range({members}):"]
    indent = " " * 8
    if rule.choices is not None:
        lines.append(f"{indent}for k in range({call(rule.choices)}):")
        label, indent = f"{label} | k", indent + "    "
    elif "k" in arguments(rule.step):
        lines.append(f"{indent}k = 0")
    step = f"{rule.step.__name__}({', '.join('out[z]' if name == 's' else name for name in arguments(rule.step))})"
    return [
        *lines,
        f"{indent}if {step}:",
        f"{indent}    z = commit(c, states, i, out, labels, z, {label}, st)",
    ]


def claims_source(model: Model) -> str:
    """Source of ``violated`` and ``violated_step``, which return the number of the first broken claim, 0 for none.

    Step invariants are numbered on from the invariants, so that one number names a claim.
    """
    lines = ["def violated(c: Config, s: State) -> int:"]
    for number, claim in enumerate(model.invariants, 1):
        lines += [f"    if not {call(claim)}:", f"        return {number}"]
    lines += ["    return 0", f"def violated_step({STEP}) -> int:"]
    for number, claim in enumerate(model.step_invariants, len(model.invariants) + 1):
        lines += [f"    if not {call(claim)}:", f"        return {number}"]
    return "\n".join([*lines, "    return 0", ""])


def witness_source(head: str, claims: Sequence[Callable[..., bool]]) -> str:
    """Source of ``witness`` or ``reached_step``, which try only the claims not met yet."""
    everything = (1 << len(claims)) - 1
    lines = [f"def {head} -> int:", f"    if met == {everything}:", "        return met"]
    for bit, claim in enumerate(claims):
        lines += [f"    if (met & {1 << bit}) == 0 and {call(claim)}:", f"        met |= {1 << bit}"]
    return "\n".join([*lines, "    return met", ""])


def achieved_source(model: Model, bounds: Bounds) -> str:
    """Source of ``achieved``: every liveness property for every member or partition.

    They stand in the order of `liveness.compiled_properties.instances`.
    """
    lines = ["def achieved(c: Config, s: State, out: Achieved, i: int) -> None:", "    z = 0"]
    for one in model.liveness:
        indent, each = "    ", each_of(one.holds)
        if each:
            lines.append(f"{indent}for {each} in range({getattr(bounds, EACH[each])}):")
            indent = " " * 8
        lines += [f"{indent}out[i, z] = {call(one.holds)}", f"{indent}z += 1"]
    return "\n".join([*lines, ""])
