"""Random scenarios: requests of clients, lost or odd ones too, to a coordinator in any order.

A line is random, the state that it meets is not: most lines follow the protocol as far as their sender knows it
(``last`` is the generation that it learned last), so that groups form, and some do not. Now and then a scenario has a
longer piece: a whole round of joins and syncs, members that keep their sessions alive, a static member that is
restarted once or twice, a log that stalls or refuses for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rebalance_check.impl.scenarios.random_lines import (
    DEFAULT_STEPS,
    ERRORS,
    NAMES,
    PROTOCOLS,
    Kind,
    RandomLines,
    joined,
)

PATIENCE_MS: Final = 300_000
TIMELESS: Final = "setting initial_rebalance_delay_ms=0 min_session_timeout_ms=100"
"""The settings of a scenario in which no time passes: those of the brokers of this suite."""

AGEING: Final = " offsets_retention_minutes=1 offsets_retention_check_interval_ms=9973"
AGEING_SEED: Final = 7
"""The last digit of a seed whose scenario has transactions, and offsets that become too old."""


class ScenarioGenerator(RandomLines):
    """Draws one scenario; ``faults`` lets appends fail or hang, and coordinators crash or resign; ``ageing`` has
    transactions, and offsets that become too old."""

    def __init__(self, seed: int, *, faults: bool, ageing: bool = False) -> None:
        super().__init__(seed, faults=faults)
        self._ageing = ageing
        self._versions = {name: self._random.choice((9, 9, 5, 4, 3, 2, 1)) for name in NAMES}
        self._protocols = {name: self._random.choice(PROTOCOLS) for name in NAMES}

    def tell(self, steps: int = DEFAULT_STEPS) -> list[str]:
        """A scenario of so many lines, with a line of settings in front."""
        setting = self._setting()
        setting += AGEING if self._ageing else ""
        lines = ["hold"] if self._faults and self._random.random() < 0.2 else []
        while len(lines) < steps:
            lines += self._piece()
        return [setting, *lines[:steps]]

    def _piece(self) -> list[str]:
        """A line, or a longer piece."""
        pieces: list[tuple[Callable[[], list[str]], int]] = [
            (lambda: [self._line()], 88), (self._round, 7), (self._beats, 4), (self._restarts, 4),
        ]  # fmt: skip
        if self._faults:
            pieces += [(self._stall, 4), (self._refusals, 4)]
        (piece,) = self._random.choices([piece for piece, _ in pieces], [weight for _, weight in pieces])
        return piece()

    def _round(self) -> list[str]:
        """Some members join, their second JoinGroup behind the first where ids are handed out, and sync."""
        names = self._random.sample(NAMES, self._random.choice((1, 2, 2, 3, 4)))
        joins = [line for name in names for line in [self._join_of(name)] * self._random.choice((1, 2, 2))]
        return [*joins, self._advance(), *map(self._sync_of, names), self._sync_of(names[0])]

    def _beats(self) -> list[str]:
        """Each member that is there says so, in the middle of some time."""
        wait = f"advance {self._random.choice((1_000, 2_000, 2_500))}"
        return [wait, *(f"heartbeat {name} last" for name in NAMES if name not in self._instances), wait]

    def _restarts(self) -> list[str]:
        """A static member is started anew, perhaps twice: it has forgotten its member id."""
        if not self._instances:
            return [self._line()]
        name = self._random.choice(sorted(self._instances))
        return [self._join_of(name, restarts=True) for _ in range(self._random.choice((1, 1, 2)))]

    def _stall(self) -> list[str]:
        """The log takes no acknowledgement for a while."""
        return ["hold", *self._traffic(), self._advance(), "release"]

    def _refusals(self) -> list[str]:
        """The log refuses writes for a while."""
        return [f"fail {self._random.choice(ERRORS)}", *self._traffic(), "fail"]

    def _traffic(self) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.choice((1, 2, 3))):
            lines += self._restarts() if self._random.random() < 0.4 else [self._line()]
        return lines

    def _kinds(self) -> list[Kind]:
        kinds = super()._kinds()
        if self._ageing:
            kinds += [(self._txn_commit, 8), (self._end_txn, 4), (lambda: "offset-delete t-0", 1), (self._age, 4)]
        return kinds

    def _join(self) -> str:
        name = self._name()
        return self._join_of(name, restarts=name in self._instances and self._random.random() < 0.3)

    def _join_of(self, name: str, *, restarts: bool = False) -> str:
        """A client joins as it did before, but for a whim."""
        random = self._random.random
        versions = (self._versions[name],) if random() < 0.7 else (9, 9, 5, 4, 3, 2, 1)
        version, instance = self._version("join", name, (9, 5) if restarts else versions)
        protocols = self._protocols[name] if random() < 0.7 else self._random.choice(PROTOCOLS)
        words = [f"join {name}", version, f"protocols={protocols}", f"session={self._sessions[name]}"]
        words += [f"rebalance={self._rebalances[name]}", instance, "as==" if restarts else self._speaking_as()]
        return joined(words if random() > 0.02 else [*words, "type=connect"])

    def _txn_commit(self) -> str:
        name = self._name() if self._random.random() < 0.6 else "-"
        generation = self._generation() if name != "-" else "-1"
        return f"txn-commit {name} {generation} offset={self._random.randrange(100)} producer={self._producer()}"

    def _end_txn(self) -> str:
        return f"end-txn {self._random.choice(('commit', 'commit', 'abort'))} producer={self._producer()}"

    def _producer(self) -> int:
        return self._random.choice((7, 8))

    def _age(self) -> str:
        return f"advance {self._random.choice((20_000, 70_000))}"


def random_scenario(seed: int, *, steps: int = DEFAULT_STEPS, faults: bool | None = None) -> list[str]:
    """The scenario of a seed: its settings, then ``steps`` lines.

    Every second seed has faults, unless ``faults`` says otherwise; every tenth has transactions and ageing
    offsets instead.
    """
    ageing = seed % 10 == AGEING_SEED
    faulty = bool(seed % 2) if faults is None else faults
    return ScenarioGenerator(seed, faults=faulty and not ageing, ageing=ageing).tell(steps)
