"""Random stories for our own coordinator alone: what clients may send, old and lost ones, too, in whatever order.

They are drawn apart from those that Kafka's coordinators are told (`virtual.random_stories`), so that the seeds of
planted defects stay what they are when those learn something new.
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
STEPS: Final = 40
STATIC_SINCE: Final = {"join": 5, "sync": 3, "heartbeat": 3, "leave": 3, "commit": 7}
"""The first version of each request that has a place for an instance id."""


class WideStoryteller:
    """Draws one story; ``faults`` lets appends fail or hang, and coordinators crash or resign.

    Some clients are of JoinGroup v0, groups are deleted in spite of faults, and every second story begins with a group
    that is formed and then befallen by something.
    """

    def __init__(self, seed: int, *, faults: bool) -> None:
        self._random = random.Random(seed)
        self._faults = faults
        self._wide = random.Random(f"wide/{seed}")
        self._failover = "failover" if seed % 3 else "failover loading"
        chance = self._random.random
        self._instances = {name: self._random.choice(INSTANCES) for name in NAMES if chance() < 0.3}
        # Sessions that begin together end in hash order: a few ms apart, they end in an order that is known.
        self._sessions = {name: self._random.choice((3_000, 10_000, 30_000)) + at for at, name in enumerate(NAMES)}
        self._rebalances = {name: self._random.choice((2_000, 5_000, 60_000)) for name in NAMES}

    def tell(self, steps: int = STEPS) -> list[str]:
        """A story of so many lines, with a line of settings in front."""
        pick = self._random.choice
        size = pick((1, 2, 2, 3, 100, 100, 100))
        setting = f"setting initial_rebalance_delay_ms={pick((0, 0, 100, 3_000, 8_000))} max_size={size}"
        slow = ["hold"] if self._faults and self._random.random() < 0.3 else []
        lines = [*slow, *(self._line() for _ in range(steps - len(slow)))]
        if self._wide.random() < 0.5:
            names = self._wide.sample(NAMES, self._wide.randint(1, 3))
            lines = [*self._formed(names), *(self._event(names) for _ in range(self._wide.randint(0, 3))), *lines]
        return [setting, *map(self._widened, lines)]

    def _line(self) -> str:
        kinds: list[tuple[Callable[[], str], int]] = [
            (self._join, 36), (self._sync, 20), (self._heartbeat, 10), (self._leave, 7), (self._commit, 6),
            (self._fetch, 3), (self._advance, 14),
        ]  # fmt: skip
        # A deletion that is not committed yet is not modelled: ours takes effect, and is refused, at once.
        kinds.append((self._fault, 9) if self._faults else (lambda: "delete g", 1))
        (kind,) = self._random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return kind()

    def _join(self) -> str:
        name = self._name()
        version, instance = self._version("join", name, (9, 9, 5, 4, 3, 2, 1))
        protocols = self._random.choice(PROTOCOLS)
        words = [f"join {name}", version, f"protocols={protocols}", f"session={self._sessions[name]}"]
        restarts = instance and self._random.random() < 0.3
        words += [f"rebalance={self._rebalances[name]}", instance, "as==" if restarts else self._speaking_as()]
        return _joined(words if self._random.random() > 0.02 else [*words, "type=connect"])

    def _sync(self) -> str:
        name = self._name()
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

    def _formed(self, names: Sequence[str]) -> list[str]:
        """A group in its first generation, led by the first name."""
        lines = []
        for name in names:
            instance = f" instance={self._instances[name]}" if name in self._instances else ""
            times = f"session={self._sessions[name]} rebalance={self._rebalances[name]}"
            lines += [f"join {name} protocols=range {times}{instance}"] * (1 if instance else 2)
        give = ",".join(f"{name}:{name.upper()}0" for name in names)
        syncs = [f"sync {name} last" + self._as_static(name) for name in reversed(names[1:])]
        return [*lines, "advance 8000", *syncs, f"sync {names[0]} last give={give}" + self._as_static(names[0])]

    def _event(self, names: Sequence[str]) -> str:
        """Something that befalls a formed group: a restart, a leave of some, a failover, or time."""
        name = self._wide.choice(names)
        times = f"session={self._sessions[name]} rebalance={self._rebalances[name]}"
        restart = f"join {name} protocols=range {times} as=="
        leave = "leave " + " ".join(self._wide.sample(names, self._wide.randint(1, len(names))))
        return self._wide.choice((restart + self._as_static(name), leave, self._failover, "advance 1000"))

    def _as_static(self, name: str) -> str:
        return f" instance={self._instances[name]}" if name in self._instances else ""

    def _widened(self, line: str) -> str:
        if line.startswith("join") and "instance=" not in line and self._wide.random() < 0.15:
            return " ".join("version=0" if word.startswith("version=") else word for word in line.split())
        return "delete g" if line in {"fail", "unload"} and self._wide.random() < 0.5 else line


def _joined(words: Sequence[str]) -> str:
    return " ".join(word for word in words if word)


def wide_story(seed: int, *, steps: int = STEPS) -> list[str]:
    """The story of a seed; every second one has faults."""
    return WideStoryteller(seed, faults=bool(seed % 2)).tell(steps)
