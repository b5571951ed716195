"""Random lines: single requests, faults and waits, as clients and coordinators may come by them.

Those who tell whole scenarios of them (`random_scenarios`, `wide_scenarios`) say how a client joins.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

NAMES: Final[tuple[str, ...]] = ("a", "b", "c", "d")
INSTANCES: Final = ("i", "j")
PROTOCOLS: Final = ("range", "range", "range:1,rr:2", "rr:1,range:2", "rr")
ERRORS: Final = ("NOT_ENOUGH_REPLICAS", "NOT_LEADER_OR_FOLLOWER", "MESSAGE_TOO_LARGE", "KAFKA_STORAGE_ERROR")
WAITS_MS: Final = (1, 100, 999, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000)
DEFAULT_STEPS: Final = 40
STATIC_SINCE: Final = {"join": 5, "sync": 3, "heartbeat": 3, "leave": 3, "commit": 7}
"""The first version of each request that has a place for an instance id."""

Kind = tuple[Callable[[], str], int]
"""How a line is drawn, and how often compared with the others."""


class RandomLines(ABC):
    """Clients with a character each, and their next possible lines, all of one seed; with ``faults`` appends fail or
    hang, and coordinators crash or resign."""

    def __init__(self, seed: int, *, faults: bool) -> None:
        self._random = random.Random(seed)
        self._faults = faults
        chance = self._random.random
        self._instances = {name: self._random.choice(INSTANCES) for name in NAMES if chance() < 0.3}
        # Sessions that begin together end in hash order: a few ms apart, they end in an order that is known.
        self._sessions = {name: self._random.choice((3_000, 10_000, 30_000)) + at for at, name in enumerate(NAMES)}
        self._rebalances = {name: self._random.choice((2_000, 5_000, 60_000)) for name in NAMES}

    @abstractmethod
    def _join(self) -> str:
        """A client joins."""

    def _setting(self) -> str:
        pick = self._random.choice
        size = pick((1, 2, 2, 3, 100, 100, 100))
        return f"setting initial_rebalance_delay_ms={pick((0, 0, 100, 3_000, 8_000))} max_size={size}"

    def _line(self) -> str:
        kinds = self._kinds()
        (kind,) = self._random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return kind()

    def _kinds(self) -> list[Kind]:
        kinds: list[Kind] = [
            (self._join, 36), (self._sync, 20), (self._heartbeat, 10), (self._leave, 7), (self._commit, 6),
            (self._fetch, 3), (self._advance, 14),
        ]  # fmt: skip
        # A deletion that is not committed yet is not modelled: ours takes effect, and is refused, at once.
        return [*kinds, (self._fault, 9) if self._faults else (lambda: "delete g", 1)]

    def _sync(self) -> str:
        return self._sync_of(self._name())

    def _sync_of(self, name: str) -> str:
        version, instance = self._version("sync", name, (5, 3))
        number = self._random.randrange(100)
        give = f"give={','.join(f'{each}:{each.upper()}{number}' for each in NAMES)}"
        words = [f"sync {name} {self._generation()}", version, give if self._random.random() < 0.7 else ""]
        return joined([*words, f"protocol={self._random.choice(('range', 'range', 'rr'))}", instance,
                        self._speaking_as()])  # fmt: skip

    def _heartbeat(self) -> str:
        name = self._name()
        version, instance = self._version("heartbeat", name, (4, 3, 2))
        return joined([f"heartbeat {name} {self._generation()}", version, instance, self._speaking_as()])

    def _leave(self) -> str:
        names = self._random.sample(NAMES, self._random.choice((1, 1, 2)))
        if len(names) == 1 and self._random.random() < 0.2:
            return f"leave {names[0]} version=2"
        return joined(["leave", *map(self._leaver, names), "version=3" if self._random.random() < 0.3 else ""])

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
        return joined([f"commit {name} {self._generation()}", version, offset, instance, self._speaking_as()])

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


def joined(words: Sequence[str]) -> str:
    """The words that are not empty, as a line."""
    return " ".join(word for word in words if word)
