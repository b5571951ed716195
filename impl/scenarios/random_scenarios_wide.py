"""Random scenarios for our own coordinator alone: requests of clients, old and lost ones, too, in any order.

They are drawn apart from those that Kafka's coordinators perform (`random_scenarios`): the seeds that find the
mutants keep their scenarios when `random_scenarios` gains new lines, as long as `random_lines` stays as it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import ClassVar, Final

from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS, NAMES, PROTOCOLS, RandomLines, joined

CLOSING: Final = ("release", "fail", "advance 100000")
"""How a scenario ends: the log recovers, and so much time passes that every request that waits is answered."""

HASTY: Final = (
    "setting initial_rebalance_delay_ms=1000 new_member_join_timeout_ms=9000 offsets_retention_check_interval_ms=499"
)
HASTY_SEED: Final = 6
"""The last digit of a seed in whose scenario new members are soon given up, and offsets soon too old."""


class WideScenarioGenerator(RandomLines):
    """Draws one scenario; ``faults`` lets appends fail or hang, and coordinators crash or resign.

    Some clients are of JoinGroup v0, groups are deleted in spite of faults, and every second scenario begins with a
    formed group to which something happens.
    """

    formed_share: ClassVar = 0.5
    forming_ms: ClassVar = 8_000
    most_events: ClassVar = 3

    def __init__(self, seed: int, *, faults: bool) -> None:
        super().__init__(seed, faults=faults)
        self._wide = random.Random(f"wide/{seed}")
        self._failover = "failover" if seed % 3 else "failover loading"

    def tell(self, steps: int = DEFAULT_STEPS) -> list[str]:
        """A scenario of so many lines, with a line of settings in front."""
        setting = self._setting()
        slow = ["hold"] if self._faults and self._random.random() < 0.3 else []
        lines = [*slow, *(self._line() for _ in range(steps - len(slow)))]
        if self._wide.random() < self.formed_share:
            names = self._wide.sample(NAMES, self._wide.randint(1, 3))
            events = self._wide.randint(0, self.most_events)
            lines = [*self._formed(names), *(self._event(names) for _ in range(events)), *lines]
        return [setting, *map(self._widened, lines)]

    def _join(self) -> str:
        name = self._name()
        version, instance = self._version("join", name, (9, 9, 5, 4, 3, 2, 1))
        protocols = self._random.choice(PROTOCOLS)
        words = [f"join {name}", version, f"protocols={protocols}", f"session={self._sessions[name]}"]
        restarts = instance and self._random.random() < 0.3
        words += [f"rebalance={self._rebalances[name]}", instance, "as==" if restarts else self._speaking_as()]
        return joined(words if self._random.random() > 0.02 else [*words, "type=connect"])

    def _formed(self, names: Sequence[str]) -> list[str]:
        """A group in its first generation, led by the first name."""
        lines = []
        for name in names:
            instance = f" instance={self._instances[name]}" if name in self._instances else ""
            times = f"session={self._sessions[name]} rebalance={self._rebalances[name]}"
            lines += [f"join {name} protocols=range {times}{instance}"] * (1 if instance else 2)
        give = ",".join(f"{name}:{name.upper()}0" for name in names)
        syncs = [f"sync {name} last" + self._as_static(name) for name in reversed(names[1:])]
        return [
            *lines,
            f"advance {self.forming_ms}",
            *syncs,
            f"sync {names[0]} last give={give}" + self._as_static(names[0]),
        ]

    def _event(self, names: Sequence[str]) -> str:
        """Something that happens to a formed group: a restart, a leave of some, a failover, or time."""
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


class HastyScenarioGenerator(WideScenarioGenerator):
    """Draws one scenario of a broker that soon gives new members up, with commits whose offsets are soon too old."""

    formed_share: ClassVar = 1.0
    forming_ms: ClassVar = 2_000
    most_events: ClassVar = 9

    def _setting(self) -> str:
        return HASTY

    def _event(self, names: Sequence[str]) -> str:
        commit = f"commit {self._wide.choice(names)} last version=2 offset={self._wide.randrange(100)}"
        return self._wide.choice((*[super()._event(names)] * 4, commit, commit, "advance 1000", "fetch"))

    def _widened(self, line: str) -> str:
        if line.startswith("commit"):
            return re.sub(r"version=\d", "version=2", line) + f" keep={self._wide.choice((1000, 4000))}"
        return "fetch" if line.startswith(("delete", "heartbeat")) else super()._widened(line)


def wide_scenario(seed: int, *, steps: int = DEFAULT_STEPS) -> list[str]:
    """The scenario of a seed, ``steps`` random lines or somewhat more, and how it ends; every second one has faults."""
    faults = bool(seed % 2)
    generator = HastyScenarioGenerator if seed % 10 == HASTY_SEED else WideScenarioGenerator
    return [*generator(seed, faults=faults).tell(steps), *(CLOSING if faults else CLOSING[-1:])]
