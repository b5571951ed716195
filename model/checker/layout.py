"""State layouts: declared once as an annotated class, used as plain objects and as packed NumPy records.

A layout lists the fields of a state, each a small number (0 to 255). Whatever must walk over *all* fields (copying,
packing into bytes, relabelling interchangeable members) is generated from the declaration, so that a new field cannot
be forgotten. This module knows nothing about Kafka, and imports NumPy only when a record type is asked for.

How to declare one::

    @layout
    class Member(Layout):
        status: Number
        generation: Number

    @layout
    class State(Layout):
        leader: Index                 # a member, or NIL
        joined: IndexSet              # a bit mask over the members
        members: PerMember[Member]    # one record for each member
        log: Annotated[list[Number], Dimension("log")]    # an array of any other size

    state = State({"members": 3, "log": 8})    # all zero: note that an Index of 0 is member 0, so set NIL in ``init``

A layout is built with *sizes*: how long each dimension is. The dimension ``members`` is the symmetric one: its elements
are interchangeable processes, `Index` and `IndexSet` point into it, and `Helpers.relabel` permutes it. A model without
symmetry calls its dimension something else. Do not write ``from __future__ import annotations`` in the file that
declares a layout: the annotations must be objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    import numpy as np

NIL: Final = 255
"""The `Index` of nobody."""

SYMMETRIC: Final = "members"
"""The dimension whose elements are interchangeable."""

WORD: Final = 8
"""Packed records are padded to whole words of this many bytes."""

Sizes = Mapping[str, int]
"""The length of each dimension."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """Names the dimension along which an annotated list extends."""

    name: str


T = TypeVar("T")

Number = Annotated[int, "number"]
"""A number from 0 to 255 that relabelling leaves alone."""

Index = Annotated[int, "index"]
"""An element of the symmetric dimension, or NIL."""

IndexSet = Annotated[int, "set"]
"""A set of elements of the symmetric dimension, as a bit mask (at most 8 of them)."""

Ordinal = Annotated[int, "ordinal"]
"""A Number of which only 0 and the order among ordinals matter, such as a generation somebody remembers."""

Counter = Annotated[int, "counter"]
"""An Ordinal that counts on, one by one: the group's own generation."""

Spent = Annotated[int, "spent"]
"""A Number that counts disturbances up to their budget; no other action reads it."""

Age = Annotated[int, "age"]
"""A Number that only a disturbance changes, and that other actions read: how often the coordinator changed."""

PerMember = Annotated[list[T], Dimension(SYMMETRIC)]
"""One value for each element of the symmetric dimension."""


class Layout:
    """Base of all layouts; build one with ``State(sizes)``, all fields zero."""

    __slots__ = ()
    FIELDS: ClassVar[Mapping[str, Any]] = {}

    PARTS: ClassVar[Sequence[tuple[str, Any, str | None]]] = ()
    """Of each field its name, the layout of its items (None: numbers), and the dimension it extends along."""

    def __init__(self, sizes: Sizes) -> None:
        for name, item, dimension in self.PARTS:
            if dimension is None:
                setattr(self, name, item(sizes) if item else 0)
            else:
                length = sizes[dimension]
                setattr(self, name, [item(sizes) for _ in range(length)] if item else [0] * length)


L = TypeVar("L", bound=Layout)


def layout(cls: type[L]) -> type[L]:
    """Class decorator: the annotated fields become ``__slots__``, in the order of declaration."""
    fields = {
        name: kind for name, kind in get_type_hints(cls, include_extras=True).items() if name in cls.__annotations__
    }
    space = {key: value for key, value in vars(cls).items() if key not in {"__dict__", "__weakref__", *fields}}
    split_fields = ((name, *split(kind)) for name, kind in fields.items())
    parts = tuple((name, item if is_layout(item) else None, dimension) for name, item, dimension in split_fields)
    space |= {"__slots__": tuple(fields), "FIELDS": fields, "PARTS": parts}
    return cast("type[L]", type(cls.__name__, cls.__bases__, space))


def split(kind: Any) -> tuple[Any, str | None]:
    """The item of a field, and the dimension it extends along (None for a single value)."""
    base, *marks = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    dimension = next((mark.name for mark in marks if isinstance(mark, Dimension)), None)
    return (kind, None) if dimension is None else (get_args(base)[0], dimension)


def is_layout(item: Any) -> bool:
    """Whether a field's item is a nested layout rather than a number."""
    return isinstance(item, type) and issubclass(item, Layout)


# ------------------------------------------------------------------------------------------------ walking


class Step(NamedTuple):
    """One step from a layout towards a leaf: a field, and where it is an array the element and its dimension."""

    field: str
    at: int | None
    dimension: str | None

    def __str__(self) -> str:
        return f".{self.field}" if self.at is None else f".{self.field}[{self.at}]"


class Leaf(NamedTuple):
    """One number of a state: how to reach it and what kind it is (number, index, set, ...)."""

    steps: tuple[Step, ...]
    kind: str

    @property
    def path(self) -> str:
        """The access as Python writes it, ``.members[1].status``."""
        return "".join(map(str, self.steps))


def leaves(cls: type[Layout], sizes: Sizes, before: tuple[Step, ...] = ()) -> Iterator[Leaf]:
    """Every number of a layout, in the order of the bytes of its record."""
    for name, kind in cls.FIELDS.items():
        item, dimension = split(kind)
        elements = [None] if dimension is None else range(sizes[dimension])
        for at in elements:
            steps = (*before, Step(name, at, dimension))
            if is_layout(item):
                yield from leaves(item, sizes, steps)
            else:
                yield Leaf(steps, get_args(item)[1])


def width(cls: type[Layout], sizes: Sizes) -> int:
    """Bytes of the packed record, padding included."""
    used = sum(1 for _ in leaves(cls, sizes))
    return -(-used // WORD) * WORD


def record_type(cls: type[Layout], sizes: Sizes) -> np.dtype[Any]:
    """The packed NumPy record of a layout, padded to whole words."""
    import numpy as np  # noqa: PLC0415  # interpreted models run without NumPy

    def of(kind: Any) -> Any:
        item, dimension = split(kind)
        one = fields(item) if is_layout(item) else np.dtype("u1")
        return one if dimension is None else np.dtype((one, (sizes[dimension],)))

    def fields(nested: type[Layout]) -> Any:
        return np.dtype([(name, of(kind)) for name, kind in nested.FIELDS.items()])

    flat = fields(cls)
    return np.dtype(
        {
            "names": list(flat.names or ()),
            "formats": [flat.fields[name][0] for name in flat.names],
            "offsets": [flat.fields[name][1] for name in flat.names],
            "itemsize": width(cls, sizes),
        }
    )


# ------------------------------------------------------------------------------------------------ generated source

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
    return "\n".join(["def relabel(dst, src, perm, sets):", *lines, ""])


def signature_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``signature(s, m)``: a number that depends on m's part in the state, and not on how members are named.

    Two elements with different signatures are told apart without trying permutations.
    """
    if SYMMETRIC not in sizes:
        return "def signature(s, m):\n    return 0\n"
    terms = [term for i, leaf in enumerate(own_leaves(cls, sizes)) for term in [own_term(leaf, i)] if term]
    return "\n".join(
        ["def signature(s, m):", "    return (", *[f"        + {term}" for term in terms or ["0"]], "    )", ""]
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


def relabellings(sizes: Sizes) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every permutation of the symmetric dimension with its table of relabelled bit masks; the identity comes first."""
    n = sizes.get(SYMMETRIC, 0)
    return [
        (perm, tuple(sum(1 << perm[x] for x in range(n) if mask >> x & 1) for mask in range(1 << n)))
        for perm in permutations(range(n))
    ]
