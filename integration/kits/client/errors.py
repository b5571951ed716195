"""Scenarios in which a coordinator refuses, moves, loads, or loses a reply: errors that are rare on a healthy broker.

Only such errors are used that a coordinator of Kafka's may give in reply to that request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.kits.client.stepping import Steps
from rebalance_check.integration.kits.client.steps import end_all, gather, leave, settle
from rebalance_check.integration.kits.client.trial import Trial
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error

IN_A_REBALANCE: Final = (Api.JOIN_GROUP, Api.SYNC_GROUP, Api.OFFSET_FETCH)
"""Requests that a member sends when its group rebalances; the others it sends by itself, again and again."""

OWN_ACCORD_S: Final = 10.0
"""How long a member may take to send a request by itself: twice Kafka's default of ``auto.commit.interval.ms``."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The fault that meets one request of a member: an ``effect``, and where that is an answer, its ``error``."""

    effect: Effect
    error: Error = Error.NONE

    def at(self, api: Api, process: str) -> Fault:
        """The fault that strikes the next such request of a process, once."""
        return Fault(api, self.effect, process=process, error=self.error)


def disturbed(disturbance: Disturbance, *apis: Api) -> Callable[[Trial], Steps]:
    """The scenario in which the disturbance strikes a request of each of the ``apis``, of a member drawn each time."""

    def scenario(trial: Trial) -> Steps:
        yield from gather(trial)
        for api in _shuffled(trial, [api for api in apis if api not in IN_A_REBALANCE]):
            yield from _strike(trial, disturbance, api)
        for api in _shuffled(trial, [api for api in apis if api in IN_A_REBALANCE]):
            yield from _strike_in_a_rebalance(trial, disturbance, api)
        yield from end_all(trial)

    return scenario


def _shuffled(trial: Trial, apis: Sequence[Api]) -> list[Api]:
    return trial.random.sample(apis, len(apis))


def _strike(trial: Trial, disturbance: Disturbance, api: Api) -> Steps:
    """The next such request of a member is struck; a client that sends none in time is spared."""
    armed = _Armed(trial, disturbance, api)
    yield from trial.hope(armed.has_struck, armed.what, OWN_ACCORD_S)
    armed.disarm()
    yield from settle(trial)


def _strike_in_a_rebalance(trial: Trial, disturbance: Disturbance, api: Api) -> Steps:
    """A request of a member is struck in the rebalance that one more process sets off, which then leaves.

    A client that sends no such request until the rebalance is over is spared.
    """
    armed = _Armed(trial, disturbance, api)
    trial.start(trial.extra)
    yield from trial.hope(lambda: armed.has_struck() or trial.is_settled(), armed.what, 2 * trial.patience_s)
    armed.disarm()
    yield from settle(trial)
    yield from leave(trial, trial.extra)


class _Armed:
    """A disturbance that waits for the next request of ``api`` of a member that is drawn now."""

    def __init__(self, trial: Trial, disturbance: Disturbance, api: Api) -> None:
        victim = trial.random.choice(trial.names)
        self.what = f"{victim} sends {api}"
        self._trial = trial
        self._disturbance = disturbance
        self._member_id = trial.view.of(victim).member_id
        self._before = len(trial.view.faults)
        trial.faults.add(disturbance.at(api, victim))

    def has_struck(self) -> bool:
        """Whether it struck."""
        return len(self._trial.view.faults) > self._before

    def disarm(self) -> None:
        """Strike no more. A member that was answered UNKNOWN_MEMBER_ID is removed at the broker, too.

        The group would wait for it until its session expires.
        """
        self._trial.faults.clear()
        if self.has_struck() and self._disturbance.error is Error.UNKNOWN_MEMBER_ID:
            self._trial.remove(self._member_id)


def coordinator_moves(trial: Trial) -> Steps:
    """The group gets another coordinator while nothing happens, before one more process joins, and while it does."""
    yield from gather(trial)
    trial.move_coordinator()
    yield from settle(trial)
    trial.start(trial.extra)
    trial.move_coordinator()
    yield from settle(trial)
    yield from leave(trial, trial.extra)
    trial.start(trial.extra)
    one = trial.view.of(trial.extra)
    yield from trial.hope(lambda: one.is_parked, f"{trial.extra} joins", 2 * trial.patience_s)
    trial.move_coordinator()
    yield from settle(trial)
    yield from end_all(trial)
