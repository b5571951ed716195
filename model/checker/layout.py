"""State layouts: declared once as an annotated class, used as plain objects and as packed NumPy records.

A layout lists the fields of a state, each a small number (0 to 255). Code that must walk over *all* fields (copying,
emptying, packing into bytes, relabelling interchangeable members) is generated from the declaration, so that a new
field cannot be forgotten. This module knows nothing about Kafka, and imports NumPy for `record_type` alone.

How to declare one::

    @layout
    class Member(Layout):
        status: Number
        generation: Number
        epoch: Annotated[Number, Alias("generation")]     # another name of the same byte

    @layout
    class State(Layout):
        leader: Index                 # a member, or NIL
        joined: IndexSet              # a bit mask over the members
        members: PerMember[Member]    # one record for each member
        log: Annotated[list[Number], Dimension("log")]    # an array of any other size
        crashes: Annotated[Number, When("failover")]      # absent where the dimension "failover" is 0

    state = State({"members": 3, "log": 8, "failover": 0})
    reset(state)                           # a new layout is all zero, and an Index of 0 is member 0: now it is NIL
    assign(state.members[0], state.members[1])

A layout is built with *sizes*: how long each dimension is. The dimension ``members`` is the symmetric one: its elements
are interchangeable processes, `Index` and `IndexSet` point into it, and `layout_source.relabel_source` permutes it. A
model without symmetry calls its dimension something else. Do not write ``from __future__ import annotations`` in the
file that declares a layout: the annotations must be objects.

An absent field takes no byte. It reads as `reset` leaves a field: 0, an Index NIL, a record as one of such fields. To
write just that changes nothing; to write anything else is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    Self,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    import numpy as np

NIL: Final = 255
"""The `Index` of no element."""

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


@dataclass(frozen=True, slots=True)
class When:
    """Marks a field that is absent where this dimension is 0, and single where it is 1."""

    name: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Makes an annotated name another one for this field of the same record."""

    name: str


T = TypeVar("T")

Number = Annotated[int, "number"]
"""A number from 0 to 255 that relabelling leaves alone."""

Index = Annotated[int, "index"]
"""An element of the symmetric dimension, or NIL."""

IndexSet = Annotated[int, "set"]
"""A set of elements of the symmetric dimension, as a bit mask (at most 8 of them)."""

Ordinal = Annotated[int, "ordinal"]
"""A Number of which only 0 and the order among ordinals matter, such as a generation that a process remembers."""

Counter = Annotated[int, "counter"]
"""An Ordinal that counts on, one by one: the group's own generation."""

Spent = Annotated[int, "spent"]
"""A Number that counts disturbances up to their budget; no other action reads it."""

Age = Annotated[int, "age"]
"""A Number that only a disturbance changes, and that other actions read: how often the coordinator changed."""

PerMember = Annotated[list[T], Dimension(SYMMETRIC)]
"""One value for each element of the symmetric dimension."""


class Field(NamedTuple):
    """A field as declared: its item, a layout or (None) a number of this kind, where it extends, and when it is."""

    name: str
    item: type[Layout] | None
    kind: str
    dimension: str | None
    when: str | None

    def is_present(self, sizes: Sizes) -> bool:
        """Whether records of these sizes have the field."""
        return self.when is None or sizes[self.when] > 0


class Layout:
    """Base of all layouts; build one with ``State(sizes)``, all fields zero.

    The result is an object of a subclass made for these sizes (`sized`), in which some fields may be absent.
    """

    __slots__ = ()
    FIELDS: ClassVar[Mapping[str, Field]] = {}
    ALIASES: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, sizes: Sizes) -> Self:
        """An object of the class for these sizes."""
        made: Self = object.__new__(sized(cls, sizes))
        return made

    def __init__(self, sizes: Sizes) -> None:
        for field in present(type(self), sizes):
            if field.dimension is None:
                setattr(self, field.name, field.item(sizes) if field.item else 0)
            else:
                length = sizes[field.dimension]
                setattr(self, field.name, [field.item(sizes) if field.item else 0 for _ in range(length)])

    def empty(self) -> None:
        """See `reset`; generated for each size. Raises `TypeError` when the layout was built without sizes."""
        raise TypeError(f"{type(self).__name__} has no sizes: build it with its sizes")

    def take(self, other: Self) -> None:
        """See `assign`; generated for each size. Raises `TypeError` when the layout was built without sizes."""
        raise TypeError(f"{type(self).__name__} has no sizes, and takes no {other}: build it with its sizes")


L = TypeVar("L", bound=Layout)


def reset(record: Layout) -> None:
    """Empty a record: every number becomes 0, every Index NIL."""
    record.empty()


def assign(record: L, other: L) -> None:
    """Overwrite every field of a record with that of another one of the same layout."""
    record.take(other)


def layout(cls: type[L]) -> type[L]:
    """Class decorator: the annotated fields become ``__slots__``, in the order of declaration."""
    hints = get_type_hints(cls, include_extras=True)
    kinds = {name: hints[name] for name in cls.__annotations__}
    aliases = {name: mark.name for name, kind in kinds.items() for mark in marks(kind) if isinstance(mark, Alias)}
    fields = {name: declared(name, kind) for name, kind in kinds.items() if name not in aliases}
    space = {key: value for key, value in vars(cls).items() if key not in {"__dict__", "__weakref__"}}
    space |= {"__slots__": tuple(fields), "FIELDS": fields, "ALIASES": aliases}
    made = cast("type[L]", type(cls.__name__, cls.__bases__, space))
    for alias, name in aliases.items():
        setattr(made, alias, vars(made)[name])
    return made


def marks(kind: Any) -> tuple[Any, ...]:
    """The marks behind the type in an ``Annotated``."""
    return tuple(get_args(kind)[1:]) if get_origin(kind) is Annotated else ()


def declared(name: str, kind: Any) -> Field:
    """The field that an annotation declares."""
    base = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    dimension = next((mark.name for mark in marks(kind) if isinstance(mark, Dimension)), None)
    when = next((mark.name for mark in marks(kind) if isinstance(mark, When)), None)
    one = kind if dimension is None else get_args(base)[0]
    item = base if dimension is None else one
    if isinstance(item, type) and issubclass(item, Layout):
        return Field(name, item, "", dimension, when)
    return Field(name, None, next(mark for mark in marks(one) if isinstance(mark, str)), dimension, when)


def present(cls: type[Layout], sizes: Sizes) -> list[Field]:
    """The fields that records of these sizes have, in the order of their bytes."""
    return [field for field in cls.FIELDS.values() if field.is_present(sizes)]


# ------------------------------------------------------------------------------------------------ sized classes


def sized(cls: type[L], sizes: Sizes, absent: bool = False) -> type[L]:
    """The subclass of a layout for these sizes; with ``absent`` that of a record without any field."""
    held: Any = cls  # type checkers do not take a class for hashable
    made: type[L] = _sized(held, tuple(sizes.items()), absent)
    return made


@lru_cache(maxsize=1024)
def _sized(cls: Any, sizes: tuple[tuple[str, int], ...], absent: bool) -> Any:
    known = dict(sizes)
    space: dict[str, Any] = {"__slots__": ()}
    exec(record_source(cls, dict.fromkeys(known, 0) if absent else known), space)
    space |= {"empty": space[f"reset_{cls.__name__}"], "take": space[f"assign_{cls.__name__}"]}
    for field in cls.FIELDS.values():
        if absent or not field.is_present(known):
            names = [field.name, *(alias for alias, name in cls.ALIASES.items() if name == field.name)]
            space |= dict.fromkeys(names, Absent(field, known))
    return type(cls.__name__, (cls,), space)


class Absent:
    """Stands in a class for a field that its records do not have."""

    __slots__ = ("field", "value")

    def __init__(self, field: Field, sizes: Sizes) -> None:
        one: Any = object.__new__(sized(field.item, sizes, absent=True)) if field.item else empty_number(field.kind)
        self.field = field
        self.value = one if field.dimension is None else AbsentList([one] * sizes[field.dimension])

    def __get__(self, record: object, owner: type) -> Any:
        return self.value

    def __set__(self, record: object, value: Any) -> None:
        if value != self.value:
            raise AttributeError(f"{absence(type(record).__name__ + '.' + self.field.name)}, and cannot become {value}")


class AbsentList(tuple[Any, ...]):
    """The items of an absent field."""

    __slots__ = ()

    def __setitem__(self, at: int, value: Any) -> None:
        if value != self[at]:
            raise AttributeError(f"{absence('a list')}, and its item {at} cannot become {value}")


def absence(what: str) -> str:
    """The beginning of a message about an absent field."""
    return f"{what} is absent at these sizes (guard the write by the bound that its `When` follows from)"


def empty_number(kind: str) -> int:
    """The value that `reset` gives to a number of this kind."""
    return NIL if kind == "index" else 0


# ------------------------------------------------------------------------------------------------ walking


class Step(NamedTuple):
    """One step from a layout towards a leaf: a field, and where it is an array the element and its dimension."""

    field: str
    at: int | None
    dimension: str | None

    def __str__(self) -> str:
        return f".{self.field}" if self.at is None else f".{self.field}[{self.at}]"


class Leaf(NamedTuple):
    """One number of a state: how to reach it and its kind (number, index, set, ...)."""

    steps: tuple[Step, ...]
    kind: str

    @property
    def path(self) -> str:
        """The access as Python writes it, ``.members[1].status``."""
        return "".join(map(str, self.steps))


def leaves(cls: type[Layout], sizes: Sizes, before: tuple[Step, ...] = ()) -> Iterator[Leaf]:
    """Every number of a layout, in the order of the bytes of its record."""
    for field in present(cls, sizes):
        for at in [None] if field.dimension is None else range(sizes[field.dimension]):
            steps = (*before, Step(field.name, at, field.dimension))
            if field.item:
                yield from leaves(field.item, sizes, steps)
            else:
                yield Leaf(steps, field.kind)


def record_source(cls: type[Layout], sizes: Sizes) -> str:
    """Source of ``reset_X(d)`` and ``assign_X(d, s)`` for the layout X: `reset` and `assign` for its records."""
    each = list(leaves(cls, sizes))
    return "\n".join(
        [
            *[f"def reset_{cls.__name__}(d):", *[f"    d{leaf.path} = {empty_number(leaf.kind)}" for leaf in each]],
            *["    return", f"def assign_{cls.__name__}(d, s):"],
            *[*[f"    d{leaf.path} = s{leaf.path}" for leaf in each], "    return", ""],
        ]
    )


def nested(cls: type[Layout]) -> dict[str, type[Layout]]:
    """A layout and those of the records inside it, by name."""
    found = {cls.__name__: cls}
    for field in cls.FIELDS.values():
        if field.item:
            found |= nested(field.item)
    return found


def width(cls: type[Layout], sizes: Sizes) -> int:
    """Bytes of the packed record, padding included."""
    used = sum(1 for _ in leaves(cls, sizes))
    return -(-used // WORD) * WORD


def record_type(cls: type[Layout], sizes: Sizes) -> np.dtype[Any]:
    """The packed NumPy record of a layout, padded to whole words."""
    import numpy as np  # noqa: PLC0415 - interpreted models run without NumPy

    def of(field: Field) -> Any:
        one = fields(field.item) if field.item else np.dtype("u1")
        return one if field.dimension is None else np.dtype((one, (sizes[field.dimension],)))

    def fields(inner: type[Layout]) -> Any:
        return np.dtype([(field.name, of(field)) for field in present(inner, sizes)])

    flat = fields(cls)
    return np.dtype(
        {
            "names": list(flat.names or ()),
            "formats": [flat.fields[name][0] for name in flat.names],
            "offsets": [flat.fields[name][1] for name in flat.names],
            "itemsize": width(cls, sizes),
        }
    )
