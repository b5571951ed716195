"""Functions on packed states whose source is generated from their layout, for the interpreter and for Numba alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from rebalance_check.model.checker.layout import NIL, SYMMETRIC, Layout, Leaf, Sizes, leaves, nested, record_source

WEIGHTS: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
"""Odd constants that `signature_source` mixes with (the primes of xxHash)."""


def relabel_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``relabel(dst, src, perm, sets)``: element x of the symmetric dimension becomes ``perm[x]``.

    ``sets[b]`` is the relabelled bit mask ``b``.
    """
    lines = []
    for leaf in leaves(cls, sizes):
        target = "".join(
            f".{step.field}[perm[{step.at}]]" if step.dimension == SYMMETRIC else str(step) for step in leaf.steps
        )
        value = f"src{leaf.path}"
        if leaf.kind == "index":
            value = f"{NIL} if {value} == {NIL} else perm[{value}]"
        elif leaf.kind == "set":
            value = f"sets[{value}]"
        lines.append(f"    dst{target} = {value}")
    return "\n".join(
        ["def relabel(dst: 'State', src: 'State', perm: 'Permutation', sets: 'Sets') -> None:", *lines, ""]
    )


def signature_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``signature(s, m)``: a number that depends on m's part in the state, and not on how members are named.

    Two elements with different signatures are distinguished without trying permutations.
    """
    if SYMMETRIC not in sizes:
        return "def signature(s: 'State', m: int) -> int:\n    return 0\n"
    terms = [term for i, leaf in enumerate(own_leaves(cls, sizes)) for term in [own_term(leaf, i)] if term]
    return "\n".join(
        [
            "def signature(s: 'State', m: int) -> int:",
            "    return (",
            *[f"        + {term}" for term in terms or ["0"]],
            "    )",
            "",
        ]
    )


def own_leaves(cls: type[Layout], sizes: Sizes) -> Iterator[Leaf]:
    """The leaves that speak about element 0 of the symmetric dimension, with every symmetric step at 0."""
    for leaf in leaves(cls, sizes):
        if all(step.at == 0 for step in leaf.steps if step.dimension == SYMMETRIC):
            yield leaf


def own_term(leaf: Leaf, i: int) -> str:
    """What a leaf adds to a signature; empty for one that says nothing about m."""
    symmetric = any(step.dimension == SYMMETRIC for step in leaf.steps)
    path = "".join(f".{step.field}[m]" if step.dimension == SYMMETRIC else str(step) for step in leaf.steps)
    weight = (WEIGHTS[i % len(WEIGHTS)] * (2 * i + 1)) & 0x7FFFFFFF
    if leaf.kind == "set":
        return f"((s{path} >> m) & 1) * {weight}"
    if leaf.kind == "index":
        return f"(s{path} == m) * {weight}"
    return f"s{path} * {weight}" if symmetric else ""


def helper_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``relabel`` and ``signature``, which both the interpreter and Numba run."""
    return relabel_source(cls, sizes) + signature_source(cls, sizes)


def records_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``reset_X`` and ``assign_X`` for every layout X of a state, as the compiled backend calls them."""
    return "".join(record_source(inner, sizes) for inner in nested(cls).values())


def relabellings(sizes: Sizes) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every permutation of the symmetric dimension with its table of relabelled bit masks; the identity comes first."""
    n = sizes.get(SYMMETRIC, 0)
    return [
        (perm, tuple(sum(1 << perm[x] for x in range(n) if mask >> x & 1) for mask in range(1 << n)))
        for perm in permutations(range(n))
    ]
