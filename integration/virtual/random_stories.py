"""Random stories: what clients, lost or odd ones too, may send to a coordinator in whatever order.

A line is random, not what it will meet: most lines follow the protocol as far as their sender knows it (``last`` is the
generation that it was told last), so that groups form, and some do not. Now and then a story tells a longer piece: a
whole round of joins and syncs, members that keep their sessions alive, a static member that is restarted once or twice,
a log that stalls or refuses for a while.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

NAMES: Final = ("a", "b", "c", "d")
INSTANCES: Final = ("i", "j")
PROTOCOLS: Final = ("range", "range", "range:1,rr:2", "rr:1,range:2", "rr")
ERRORS: Final = ("NOT_ENOUGH_REPLICAS", "NOT_LEADER_OR_FOLLOWER", "MESSAGE_TOO_LARGE", "KAFKA_STORAGE_ERROR")
WAITS_MS: Final = (1, 100, 999, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000)
DEFAULT_STEPS: Final = 40
PATIENCE_MS: Final = 300_000
TIMELESS: Final = "setting initial_rebalance_delay_ms=0 min_session_timeout_ms=100"
"""The settings of a story in which no time passes: those of the brokers of this suite."""

AGEING: Final = " offsets_retention_minutes=1 offsets_retention_check_interval_ms=9973"
AGEING_SEED: Final = 7
"""The last digit of a seed whose story has transactions, and offsets that become too old."""
STATIC_SINCE: Final = {"join": 5, "sync": 3, "heartbeat": 3, "leave": 3, "commit": 7}
"""The first version of each request that has a place for an instance id."""


class Storyteller:
    """Draws one story; ``faults`` lets appends fail or hang, and coordinators crash or resign; ``ageing`` has
    transactions, and offsets that become too old; in a ``timeless`` one no time passes and nobody is in a hurry."""

    def __init__(self, seed: int, *, faults: bool, ageing: bool = False, timeless: bool = False) -> None:
        self._random = random.Random(seed)
        self._faults = faults
        self._ageing = ageing
        self._timeless = timeless
        chance = self._random.random
        self._instances = {name: self._random.choice(INSTANCES) for name in NAMES if chance() < 0.3}
        # Sessions that begin together end in hash order: a few ms apart, they end in an order that is known.
        self._sessions = {name: self._random.choice((3_000, 10_000, 30_000)) + at for at, name in enumerate(NAMES)}
        self._rebalances = {name: self._random.choice((2_000, 5_000, 60_000)) for name in NAMES}
        if timeless:
            self._sessions = dict.fromkeys(NAMES, PATIENCE_MS)
            self._rebalances = dict.fromkeys(NAMES, PATIENCE_MS)
        self._versions = {name: self._random.choice((9, 9, 5, 4, 3, 2, 1)) for name in NAMES}
        self._protocols = {name: self._random.choice(PROTOCOLS) for name in NAMES}

    def tell(self, steps: int = DEFAULT_STEPS) -> list[str]:
        """A story of so many lines, with a line of settings in front."""
        pick = self._random.choice
        size = pick((1, 2, 2, 3, 100, 100, 100))
        setting = f"setting initial_rebalance_delay_ms={pick((0, 0, 100, 3_000, 8_000))} max_size={size}"
        setting += AGEING if self._ageing else ""
        unwanted: tuple[str, ...] = ()
        lines = ["hold"] if self._faults and self._random.random() < 0.2 else []
        if self._timeless:
            setting, unwanted = TIMELESS, ("advance", "delete")
        while len(lines) < steps:
            lines += [line for line in self._piece() if not line.startswith(unwanted)]
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
        """Who is there says so, in the middle of some time."""
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
        """The log refuses what is written for a while."""
        return [f"fail {self._random.choice(ERRORS)}", *self._traffic(), "fail"]

    def _traffic(self) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.choice((1, 2, 3))):
            lines += self._restarts() if self._random.random() < 0.4 else [self._line()]
        return lines

    def _line(self) -> str:
        kinds: list[tuple[Callable[[], str], int]] = [
            (self._join, 36), (self._sync, 20), (self._heartbeat, 10), (self._leave, 7), (self._commit, 6),
            (self._fetch, 3), (self._advance, 14),
        ]  # fmt: skip
        # A deletion that is not committed yet is not modelled: ours takes effect, and is refused, at once.
        kinds.append((self._fault, 9) if self._faults else (lambda: "delete g", 1))
        if self._ageing:
            kinds += [(self._txn_commit, 8), (self._end_txn, 4), (lambda: "offset-delete t-0", 1), (self._age, 4)]
        (kind,) = self._random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return kind()

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
        return _joined(words if random() > 0.02 else [*words, "type=connect"])

    def _sync(self) -> str:
        return self._sync_of(self._name())

    def _sync_of(self, name: str) -> str:
        version, instance = self._version("sync", name, (5, 3))
        number = self._random.randrange(100)
        give = f"give={','.join(f'{each}:{each.upper()}{number}' for each in NAMES)}"
        words = [f"sync {name} {self._generation()}", version, give if self._random.random() < 0.7 else ""]
        return _joined([*words, f"protocol={self._random.choice(('range', 'range', 'rr'))}", instance,
                        self._speaking_as()])  # fmt: skip

    def _heartbeat(self) -> str:
        name = self._name()
        version, instance = self._version("heartbeat", name, (4, 3, 2))
        return _joined([f"heartbeat {name} {self._generation()}", version, instance, self._speaking_as()])

    def _leave(self) -> str:
        names = self._random.sample(NAMES, self._random.choice((1, 1, 2)))
        if len(names) == 1 and self._random.random() < 0.2:
            return f"leave {names[0]} version=2"
        return _joined(["leave", *map(self._leaver, names), "version=3" if self._random.random() < 0.3 else ""])

    def _leaver(self, name: str) -> str:
        instance = self._instances.get(name)
        if instance is None:
            return name if self._random.random() > 0.1 else "=zz"
        return self._random.choice((f"{name}:{instance}", f":{instance}", name))

    def _commit(self) -> str:
        offset = f"offset={self._random.randrange(100)}"
        if self._random.random() < 0.15:
            return f"commit - -1 {offset}"
        name = self._name()
        version, instance = self._version("commit", name, (9, 8, 7, 2))
        return _joined([f"commit {name} {self._generation()}", version, offset, instance, self._speaking_as()])

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

    def _fetch(self) -> str:
        return self._random.choice(("fetch", "fetch stable", "fetch all"))

    def _advance(self) -> str:
        return f"advance {self._random.choice(WAITS_MS)}"

    def _fault(self) -> str:
        fail = f"fail {self._random.choice(ERRORS)}"
        return self._random.choice((fail, "fail", "fail", "hold", "hold", "hold", "release", "release", "failover",
                                    "failover lose=1", "failover loading", "load", "unload"))  # fmt: skip

    def _name(self) -> str:
        return self._random.choice(NAMES)

    def _version(self, api: str, name: str, versions: Sequence[int]) -> tuple[str, str]:
        """A version, and the instance id of a static member, where the version has a place for it."""
        version = self._random.choice(versions)
        instance = self._instances.get(name)
        if instance is None or version < STATIC_SINCE[api] or self._random.random() < 0.04:
            return f"version={version}", ""
        return f"version={version}", f"instance={instance}"

    def _generation(self) -> str:
        return "last" if self._random.random() < 0.9 else str(self._random.randrange(-1, 5))

    def _speaking_as(self) -> str:
        """Nearly everyone speaks for themselves."""
        if self._random.random() > 0.05:
            return ""
        return self._random.choice(("as==zz", "as==", f"as={self._name()}"))


def _joined(words: Sequence[str]) -> str:
    return " ".join(word for word in words if word)


def random_story(seed: int, *, steps: int = DEFAULT_STEPS, faults: bool | None = None) -> list[str]:
    """The story of a seed: its settings, then ``steps`` lines.

    Every second seed has faults, unless told otherwise; every tenth has transactions and ageing offsets instead.
    """
    ageing = seed % 10 == AGEING_SEED
    faulty = bool(seed % 2) if faults is None else faults
    return Storyteller(seed, faults=faulty and not ageing, ageing=ageing).tell(steps)


def timeless_story(seed: int, *, steps: int = DEFAULT_STEPS) -> list[str]:
    """A story without faults in which no time passes: a real broker can be told it, too."""
    return Storyteller(seed, faults=False, timeless=True).tell(steps)
