"""The problems that a generated group can have, by name: what happens, and the rule that must find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rebalance_check.pipeline.diagnose.findings import rules
from rebalance_check.pipeline.diagnose.findings.rules import Rule
from rebalance_check.pipeline.diagnose.generator.groups import POLL_TIMEOUT, GroupScript

LONGEST_MS: Final = 3_600_000
"""No problem takes longer."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: ``play`` makes it from the group's present time on, on members with instance ids if ``static``."""

    name: str
    rule: Rule
    play: Callable[[GroupScript], None]
    static: bool = False


def _storm(group: GroupScript) -> None:
    """A member leaves because its application does not poll, and comes back, again and again."""
    for _ in range(8):
        last = group.members[-1]
        group.leave(last, POLL_TIMEOUT)
        group.later(20_000)
        group.join(last.client)
        group.later(35_000)


def _leader_rejoins(group: GroupScript) -> None:
    """The leader joins again without need, every quarter of an hour."""
    for _ in range(4):
        group.prepare(f"Leader {group.members[0].id} re-joining group during Stable; client reason: rebalance enforced "
                      "by the application")  # fmt: skip
        group.complete(700)
        group.later(880_000)


def _flapping(group: GroupScript) -> None:
    """A process is restarted five times in a few minutes."""
    for _ in range(5):
        last = group.members[-1]
        group.leave(last)
        group.later(15_000)
        group.join(last.client)
        group.later(70_000)


def _fencing(group: GroupScript) -> None:
    """Two processes take one instance id from each other."""
    for _ in range(4):
        group.replace(group.members[-1])
        group.later(20_000)


def _stuck(group: GroupScript) -> None:
    """A join phase that never ends."""
    group.prepare(f"Leader {group.members[0].id} re-joining group during Stable; client reason: cached metadata has "
                  "changed from (version3: {}) to (version4: {})")  # fmt: skip


def _held_up(group: GroupScript) -> None:
    """A member that processes for long holds a join phase up."""
    number = len(group.members)
    group.join(f"{group.name}-{number}", join_ms=group.rng.randint(30_000, 90_000))


def _commits_back(group: GroupScript) -> None:
    """A former owner commits what it had read."""
    group.set_back(group.rng.randrange(group.partitions), 1_000_000_000)


def _two_assignments(group: GroupScript) -> None:
    """A leader gives one partition to two members."""
    group.prepare(f"Leader {group.members[0].id} re-joining group during Stable; client reason: cached metadata has "
                  "changed from (version3: {}) to (version4: {})")  # fmt: skip
    assigned = group.assigned()
    assigned[group.members[1].id].append(assigned[group.members[0].id][0])
    group.complete(700, assigned)


def _unbalanced(group: GroupScript) -> None:
    """A sticky leader gives one member too much."""
    group.prepare(f"Leader {group.members[0].id} re-joining group during Stable; client reason: cached metadata has "
                  "changed from (version3: {}) to (version4: {})")  # fmt: skip
    assigned = group.assigned()
    first, second = (assigned[one.id] for one in group.members[:2])
    while len(second) > 1:
        first.append(second.pop())
    group.complete(700, assigned)


PROBLEMS: Final = {
    one.name: one
    for one in (
        Problem("storm", rules.STORM, _storm),
        Problem("leader-rejoins", rules.NEEDLESS, _leader_rejoins),
        Problem("flapping", rules.FLAPPING, _flapping),
        Problem("fencing", rules.FENCED, _fencing, static=True),
        Problem("stuck", rules.STUCK, _stuck),
        Problem("held-up", rules.HELD_UP, _held_up),
        Problem("commits-back", rules.COMMITS_BACK, _commits_back),
        Problem("two-assignments", rules.TWO_OWNERS, _two_assignments),
        Problem("unbalanced", rules.UNBALANCED, _unbalanced),
    )
}
