"""Functions on states whose source is generated from their layout, for the interpreter and the compiler alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from rebalance_check.model.checker.layout import NIL, SYMMETRIC, Layout, Leaf, Sizes, leaves, present

WEIGHTS: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
"""Odd constants that `signature_source` mixes with (the primes of xxHash)."""

INDENT: Final = " " * 4


def relabel_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``relabel(dst, src, perm, sets)``: element x of the symmetric dimension becomes ``perm[x]``.

    ``sets[b]`` is the relabelled bit mask ``b``.
    """
    head = "def relabel(dst: 'State', src: 'State', perm: 'Permutation', sets: 'Sets') -> None:"
    return "\n".join([head, *relabel_lines(cls, sizes, "dst", "src"), ""])


def relabel_lines(cls: type[Layout], sizes: Sizes, to: str, of: str, depth: int = 0) -> Iterator[str]:
    """The lines that relabel a record: a loop for each list, because written out they take long to compile."""
    for field in present(cls, sizes):
        target, source, inner = f"{to}.{field.name}", f"{of}.{field.name}", depth
        if field.dimension is not None:
            at, inner = f"x{depth}", depth + 1
            yield f"{INDENT * inner}for {at} in range({sizes[field.dimension]}):"
            target += f"[perm[{at}]]" if field.dimension == SYMMETRIC else f"[{at}]"
            source += f"[{at}]"
        if field.item is not None:
            yield from relabel_lines(field.item, sizes, target, source, inner)
        else:
            yield f"{INDENT * (inner + 1)}{target} = {relabelled(field.kind, source)}"


def relabelled(kind: str, value: str) -> str:
    """A number with the members that it names relabelled."""
    if kind == "index":
        return f"{NIL} if {value} == {NIL} else perm[{value}]"
    return f"sets[{value}]" if kind == "set" else value


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
    """A leaf's term in a signature; empty for one that says nothing about m."""
    symmetric = any(step.dimension == SYMMETRIC for step in leaf.steps)
    path = "".join(f".{step.field}[m]" if step.dimension == SYMMETRIC else str(step) for step in leaf.steps)
    weight = (WEIGHTS[i % len(WEIGHTS)] * (2 * i + 1)) & 0x7FFFFFFF
    if leaf.kind == "set":
        return f"((s{path} >> m) & 1) * {weight}"
    if leaf.kind == "index":
        return f"(s{path} == m) * {weight}"
    return f"s{path} * {weight}" if symmetric else ""


def helper_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``relabel`` and ``signature``, which the interpreter runs and the compiler compiles."""
    return relabel_source(cls, sizes) + signature_source(cls, sizes)


def relabellings(sizes: Sizes) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every permutation of the symmetric dimension with its table of relabelled bit masks; the identity comes first."""
    n = sizes.get(SYMMETRIC, 0)
    return [
        (perm, tuple(sum(1 << perm[x] for x in range(n) if mask >> x & 1) for mask in range(1 << n)))
        for perm in permutations(range(n))
    ]
