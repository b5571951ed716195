"""The choices of a simulated run, each with an address: a shrunk run replays them instead of drawing from its seed.

A decision that a seed leaves open during a run (is this request lost, how long is that reply on its way, does the
application commit now) is a *choice*. Each has a quiet value: nothing is lost, everything takes the shortest time. The
choices of a run can be *noted*, and *given*: then each has the value that was given for its address, and the quiet one
where none was. An address names the chooser, the choice, and how often it came before (``m0:3.lost``: the request of
m0 after three others; ``process m1.random5``), so that choices which are left out leave the others as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Final, TypeVar

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

T = TypeVar("T")

Value = int | float

NEVER: Final = 0.999999
"""The quiet value of a number from 0 up to 1, which is compared with a chance."""

OF_THE_RUN: Final = (
    "network",
    "metadata",
    "connect",
    "status delays",
    "status start",
    "status healing",
    "look-ups",
    "log reads",
)
OF_EACH: Final = ("process ", "nodes ", "backoff ")
"""The streams from which is drawn while a run goes on; the others decide the kind of run."""


class Choices:
    """The choices of one run. ``given`` has their values by address; None draws them.

    ``made`` are those that were made and are not quiet, in order.
    """

    def __init__(self, given: Mapping[str, Value] | None = None) -> None:
        self.made: dict[str, Value] = {}
        self.scope = ""
        self._given = given
        self._counts: Counter[str] = Counter()

    def take(self, place: str, kind: str, draw: Callable[[], Value], quiet: Value) -> Value:
        """The next choice of this kind at this place."""
        key = f"{self.scope or place}.{kind}"
        address = f"{key}{self._counts[key]}"
        self._counts[key] += 1
        return self.decide(address, draw, quiet)

    def decide(self, address: str, draw: Callable[[], Value], quiet: Value) -> Value:
        """The choice that has this address."""
        value = draw() if self._given is None else self._given.get(address, quiet)
        if value != quiet:
            self.made[address] = value
        return value

    def stream(self, seed: int, name: str) -> Random:
        """The stream of this name in the run of ``seed``, whose choices are these."""
        return ChosenStream(seed, name, self)


class ChosenStream(Random):
    """A stream of a run whose choices are noted, or given."""

    def __init__(self, seed: int, name: str, choices: Choices) -> None:
        super().__init__(0)
        self.real = Random(f"{seed}/{name}")
        self._name = name
        self.of_run = choices

    def _take(self, kind: str, draw: Callable[[], Value], quiet: Value) -> Any:
        return self.of_run.take(self._name, kind, draw, quiet)

    def random(self) -> float:
        """A number to compare with a chance; the quiet one is above all chances."""
        return float(self._take("random", self.real.random, NEVER))

    def uniform(self, a: float, b: float) -> float:
        """A number from ``a`` to ``b``, quietly in the middle."""
        return float(self._take("uniform", lambda: self.real.uniform(a, b), (a + b) / 2))

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """A number, quietly the first."""
        low, high = (0, start) if stop is None else (start, stop)
        return int(self._take("range", lambda: self.real.randrange(low, high, step), low))

    def randint(self, a: int, b: int) -> int:
        """A number, quietly the least."""
        return int(self._take("range", lambda: self.real.randint(a, b), a))

    def choice(self, seq: Sequence[T]) -> T:  # type: ignore[override]  # the stub asks for less than a sequence
        """An item, quietly the first."""
        index = int(self._take("pick", lambda: self.real.choice(range(len(seq))), 0))
        return seq[min(index, len(seq) - 1)]

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Another order, quietly the one that was."""
        order = list(range(len(x)))
        self.real.shuffle(order)
        number = int(self._take("order", lambda: int("1" + "".join(map(str, order))), _as_it_was(len(x))))
        before = list(x)
        x[:] = [before[int(digit)] for digit in str(number)[1:]] if len(str(number)) == len(before) + 1 else before


def _as_it_was(length: int) -> int:
    return int("1" + "".join(map(str, range(length))))


_CURRENT: Final[list[Choices]] = []


@contextmanager
def choosing(choices: Choices | None) -> Iterator[None]:
    """Streams that are begun inside belong to ``choices``; None leaves everything as it is."""
    if choices is None:
        yield
        return
    _CURRENT.append(choices)
    try:
        yield
    finally:
        _CURRENT.remove(choices)


def chosen_stream(seed: int, name: str) -> Random | None:
    """The stream of this name where the choices of a run are noted or given; None where they are drawn as ever."""
    if _CURRENT and (name in OF_THE_RUN or name.startswith(OF_EACH)):
        return _CURRENT[-1].stream(seed, name)
    return None


def written(choices: Mapping[str, Value]) -> tuple[str, ...]:
    """Choices as a command line has them: ``m0:3.lost``, ``m0:4.way0=340``."""
    return tuple(address if value is True else f"{address}={value!r}" for address, value in choices.items())


def read(words: Iterable[str]) -> dict[str, Value]:
    """The choices that `written` wrote.

    Raises: RebalanceCheckError for a word that is no choice.
    """
    return dict(map(_read, words))


def _read(word: str) -> tuple[str, Value]:
    address, _, value = word.partition("=")
    try:
        number: Value = (float(value) if "." in value or "e" in value else int(value)) if value else True
    except ValueError:
        number = math.nan
    if "." not in address or math.isnan(number):
        raise RebalanceCheckError(
            f"{word!r} is no choice of a run: write ADDRESS or ADDRESS=NUMBER, as --shrink prints them"
        )
    return address, number
