"""The fault plan of a run: the faults that may strike, and how often, drawn from the seed.

Swarm testing (Groce et al., ISSTA 2012): every run has its own subset of the kinds, and subsets of every size occur.
The seed draws how dense the faults of its run are; each kind is then on with that probability. A few runs see nothing
or one kind alone, and a few see nearly everything at once. A bug that needs quiet in one place and noise in another is
found by such runs, and hidden by runs where everything fails a little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final

from rebalance_check.impl.runtime.options import FaultKind, SimulationOptions
from rebalance_check.impl.runtime.seeds import stream


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """How a run is disturbed.

    ``kinds`` are switched on. ``delay_ms`` is the longest way of a message from one end to the other; ``drop``,
    ``duplicate`` and ``disconnect`` are chances per message; ``reorder`` is the chance that a request which was on its
    way when its connection broke arrives all the same, later than requests of the next connection;
    ``slow_application`` is the chance that the application stays away after a poll, for up to ``slow_ms``; ``refusal``
    that a request is answered with a retriable error, ``look_up`` that a look-up of the coordinator fails,
    ``look_up_break`` that its connection breaks under it, ``wake_up``
    that a poll is interrupted before an assignment is applied, ``config_outage`` that a Connect worker cannot read the
    config topic for a long time; ``slow_log_ms`` is how much longer a coordinator may take to read its log,
    ``failed_load`` the chance that it cannot read it, ``forgotten_log`` that it cannot and serves all the same,
    ``failed_read`` that a Connect worker's read of a topic fails and is tried again;
    ``callback_commit`` that a callback commits, ``seek`` that an application seeks, or
    pauses a partition, between two polls.
    """

    kinds: tuple[FaultKind, ...] = ()
    delay_ms: int = 2
    drop: float = 0.0
    duplicate: float = 0.0
    disconnect: float = 0.0
    reorder: float = 0.0
    slow_application: float = 0.0
    slow_ms: int = 0
    refusal: float = 0.0
    look_up: float = 0.0
    wake_up: float = 0.0
    config_outage: float = 0.0
    callback_commit: float = 0.0
    look_up_break: float = 0.0
    slow_log_ms: int = 0
    failed_load: float = 0.0
    forgotten_log: float = 0.0
    failed_read: float = 0.0
    seek: float = 0.0

    def has(self, kind: FaultKind) -> bool:
        """Whether that kind of fault is switched on."""
        return kind in self.kinds

    def __str__(self) -> str:
        """``delay, drop`` or ``no faults``."""
        return ", ".join(self.kinds) or "no faults"


NO_FAULTS: Final = FaultPlan()
"""The plan of the healed phase: nothing goes wrong; messages take up to 2 ms."""


def density(seed: int) -> float:
    """The probability with which each kind is on in the run of ``seed``.

    A number from 0 to 1, to the power of 1.5, so that the mean is 0.4, and a fifth of the runs is below 0.09: they have
    hardly more than one or two kinds.
    """
    return float(stream(seed, "density of faults").random() ** 1.5)


def draw_plan(seed: int, options: SimulationOptions) -> FaultPlan:
    """The fault plan of ``seed``; a kind that the options leave out does not change the draws for the others."""
    return _drawn(seed, options.faults)


@lru_cache(maxsize=1)  # a run asks twice: for its schedule, and when it begins
def _drawn(seed: int, faults: tuple[FaultKind, ...]) -> FaultPlan:
    chance = density(seed)
    allowed = [kind for kind in FaultKind if kind in faults]
    kinds = tuple(kind for kind in allowed if stream(seed, f"fault {kind}").random() < chance)
    plan = FaultPlan(kinds=kinds)
    for kind in kinds:
        plan = _with(plan, kind, stream(seed, f"rate {kind}"))
    return plan


def _with(plan: FaultPlan, kind: FaultKind, random: Random) -> FaultPlan:
    """``plan`` with the rate of one kind drawn; crashes and pauses have none: the churn schedule holds them."""
    match kind:
        case FaultKind.DELAY:
            return replace(plan, delay_ms=random.choice((50, 500, 5_000)))
        case FaultKind.DROP:
            return replace(plan, drop=random.choice((0.01, 0.05, 0.2)))
        case FaultKind.DUPLICATE:
            return replace(plan, duplicate=random.choice((0.01, 0.05, 0.2)))
        case FaultKind.DISCONNECT:
            return replace(plan, disconnect=random.choice((0.01, 0.05, 0.2)))
        case FaultKind.REORDER:
            return replace(plan, reorder=random.choice((0.2, 0.5, 0.9)))
        case FaultKind.SLOW_APPLICATION:
            return replace(plan, slow_application=random.choice((0.05, 0.2)), slow_ms=random.choice((4_000, 30_000)))
        case FaultKind.REFUSAL:
            return replace(plan, refusal=random.choice((0.02, 0.1)))
        case FaultKind.LOOK_UP:
            return replace(plan, look_up=random.choice((0.2, 0.5)))
        case FaultKind.WAKE_UP:
            return replace(plan, wake_up=random.choice((0.2, 0.5)))
        case FaultKind.CONFIG_OUTAGE:
            return replace(plan, config_outage=random.choice((0.02, 0.1)))
        case FaultKind.CALLBACK_COMMIT:
            return replace(plan, callback_commit=random.choice((0.3, 0.8)))
        case FaultKind.LOOK_UP_BREAK:
            return replace(plan, look_up_break=random.choice((0.1, 0.4)))
        case FaultKind.SLOW_LOG:
            return replace(plan, slow_log_ms=random.choice((3_000, 20_000)))
        case FaultKind.FAILED_LOAD:
            return replace(plan, failed_load=random.choice((0.2, 0.5)))
        case FaultKind.FORGOTTEN_LOG:
            return replace(plan, forgotten_log=random.choice((0.2, 0.5)))
        case FaultKind.FAILED_READ:
            return replace(plan, failed_read=random.choice((0.3, 0.7)))
        case FaultKind.SEEK:
            return replace(plan, seek=random.choice((0.1, 0.4)))
        case _:
            return plan
