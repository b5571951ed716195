"""Scenarios in which a coordinator refuses, moves, loads, or loses a reply: errors that are rare on a healthy broker.

Only such errors are used that a coordinator of Kafka's may give in reply to that request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.kits.client.stepping import Steps
from rebalance_check.integration.kits.client.steps import end_all, gather, leave
from rebalance_check.integration.kits.client.trial import Trial
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error

IN_A_REBALANCE = (Api.JOIN_GROUP, Api.SYNC_GROUP, Api.OFFSET_FETCH)
"""Requests that a member sends when its group rebalances; the others it sends by itself, again and again."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What happens to one request of a member: an ``effect``, and where that is an answer, its ``error``."""

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
    victim = trial.random.choice(trial.names)
    struck = len(trial.view.faults)
    member_id = trial.view.of(victim).member_id
    trial.faults.add(disturbance.at(api, victim))
    what = f"{victim} sends {api}"
    if (yield from trial.hope(lambda: len(trial.view.faults) > struck, what, trial.patience_s)):
        _make_true(trial, disturbance, member_id)
    trial.faults.clear()
    yield from trial.settle()


def _strike_in_a_rebalance(trial: Trial, disturbance: Disturbance, api: Api) -> Steps:
    """A request of a member is struck in the rebalance that one more process sets off, which then leaves."""
    victim = trial.random.choice(trial.names)
    struck = len(trial.view.faults)
    member_id = trial.view.of(victim).member_id
    trial.faults.add(disturbance.at(api, victim))
    trial.start(trial.extra)
    what = f"{victim} sends {api}"
    if (yield from trial.hope(lambda: len(trial.view.faults) > struck, what, trial.patience_s)):
        _make_true(trial, disturbance, member_id)
    trial.faults.clear()
    yield from trial.settle()
    yield from leave(trial, trial.extra)


def _make_true(trial: Trial, disturbance: Disturbance, member_id: str) -> None:
    """A member that received UNKNOWN_MEMBER_ID is removed: the group would wait for it until its session expires."""
    if disturbance.error is Error.UNKNOWN_MEMBER_ID:
        trial.remove(member_id)


def coordinator_moves(trial: Trial) -> Steps:
    """The group gets another coordinator while nothing happens, and again while one more process joins."""
    yield from gather(trial)
    trial.move_coordinator()
    yield from trial.settle()
    trial.start(trial.extra)
    trial.move_coordinator()
    yield from trial.settle()
    yield from end_all(trial)
