"""The simulator as a `Subject`: churn in, events out; and the run of a seed's schedule on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.choices import Choices, choosing
from rebalance_check.impl.runtime.clock import EndlessError
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan, draw_plan
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.cluster import OtherCluster
from rebalance_check.impl.simulator.connect.config_cluster import ConfigCluster
from rebalance_check.impl.simulator.connect.status_cluster import StatusCluster
from rebalance_check.impl.simulator.consumers import SUBSCRIBE
from rebalance_check.impl.simulator.convergence import await_group, settle
from rebalance_check.impl.simulator.environment import GROUP_CHURN, Environment, Listener, not_understood
from rebalance_check.impl.simulator.group import build_members
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig, draw_group_config
from rebalance_check.impl.simulator.nodes import LOADING_MS
from rebalance_check.impl.simulator.progress import SpinError
from rebalance_check.impl.simulator.schedule import drawn_protocol
from rebalance_check.impl.simulator.untimed import untimed
from rebalance_check.model.vocabulary.actions import (
    CONFIG_CHURN,
    CONNECT_CHURN,
    STATUS_CHURN,
    Action,
    ActionKind,
)
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted

NAME: Final = "simulator"


class SimulatorSubject:
    """A whole group in virtual time, disturbed by churn and by the faults that the seed draws.

    ``options`` add to `Bounds`: protocol (drawn from the seed for ``mixed``), allowed faults, mutant. For the
    protocols ``status`` and ``connect-config`` it is a cluster of stores. ``listener`` receives each event at once;
    without one, `perform` returns them. ``other`` puts another cluster in the place of ours under a group. ``choices``
    note those of the run. The mutant is planted while a method runs, and only then.
    """

    name = NAME

    def __init__(
        self,
        options: SimulationOptions,
        listener: Listener | None = None,
        other: OtherCluster | None = None,
        *,
        choices: Choices | None = None,
    ) -> None:
        self._other = other
        self._options = options
        self._choices = options.given_choices() if choices is None else choices
        self._observed: list[Event] = []
        self._listener: Listener = listener or self._observed.append
        self._run: GroupRun | StatusCluster | ConfigCluster | None = None

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of action it understands: those of status stores, of groups, or of both where a seed decides."""
        match self._options.protocol:
            case SimulatedProtocol.STATUS:
                return STATUS_CHURN
            case SimulatedProtocol.CONNECT_CONFIG:
                return CONFIG_CHURN
            case SimulatedProtocol.MIXED:
                return GROUP_CHURN | STATUS_CHURN | CONFIG_CHURN
            case _:
                return GROUP_CHURN

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Start a new run; the sizes are those of ``bounds``, the rest is drawn from ``seed``.

        Raises `RebalanceCheckError` when the options name no known mutant.
        """
        options = replace(self._options, members=bounds.members, partitions=bounds.partitions)
        with planted(self._options.mutant), choosing(self._choices):
            match drawn_protocol(seed, options):
                case SimulatedProtocol.STATUS:
                    self._run = StatusCluster(seed, options, self._listener)
                case SimulatedProtocol.CONNECT_CONFIG:
                    self._run = ConfigCluster(seed, options, self._listener)
                case _:
                    self._run = GroupRun(seed, options, self._listener, self._other)
        return self._take()

    def perform(self, action: Action) -> Sequence[Event]:
        """Do one churn action, and let its immediate effects happen; time passes in `AdvanceClock` and `Heal` only.

        Raises `RebalanceCheckError` before `open`, and for an action that the protocol of the run does not know.
        """
        if self._run is None:
            raise RebalanceCheckError(f"{action} came before open() or after close(): open the simulator first")
        if not self._options.mutant and self._choices is None:
            self._run.perform(action)
            return self._take()
        with planted(self._options.mutant), choosing(self._choices):
            self._run.perform(action)
        return self._take()

    def close(self) -> Sequence[Event]:
        """End the run; `RunEnded` names work that was unsettled when it was healed."""
        ended, self._run = self._run, None
        if ended is not None:
            with choosing(self._choices):
                ended.close()
        return self._take()

    def _take(self) -> list[Event]:
        observed = self._observed[:]
        self._observed.clear()
        return observed


class GroupRun:
    """The run of a group of consumers, Connect workers or candidates of an election."""

    def __init__(
        self, seed: int, options: SimulationOptions, listener: Listener, other: OtherCluster | None = None
    ) -> None:
        options = replace(options, protocol=drawn_protocol(seed, options))
        plan, settings = draw_plan(seed, options), draw_group_config(seed, options.protocol, options.upgrade_path)
        self._pending: tuple[str, ...] = ()
        self._spins = False
        self._environment = Environment(seed, plan, listener, other)
        self._environment.harness.emit(
            RunStarted(
                subject=NAME if other is None else other.name,
                seed=seed,
                bounds=_address(options, settings, plan),
                mutant=options.mutant,
                punctual=other is None,
            )
        )
        build_members(self._environment, options, settings)

    def perform(self, action: Action) -> None:
        """Do one churn action; raises `RebalanceCheckError` for one that groups do not know.

        A run in which something spins is over: the spinning work is pending, and no further action is done.
        """
        if self._spins:
            return
        self._environment.progress.begin()
        try:
            self._do(action)
        except (SpinError, EndlessError) as endless:
            self._spins, self._pending = True, (str(endless),)

    def _do(self, action: Action) -> None:
        if action.kind is ActionKind.HEAL:
            self._heal()
            return
        effect = _EFFECTS.get(action.kind)
        if effect is None:
            not_understood(action)
        self._environment.struck.note_churn(action, self._environment.network.plan)
        effect(self._environment, action)

    def close(self) -> None:
        """End the run; `RunEnded` names work that was unsettled when it was healed."""
        self._environment.progress.release()
        environment = self._environment
        environment.harness.emit(
            RunEnded(
                pending=self._pending,
                last=environment.numbers.attested,
                unclaimed=environment.unclaimed(),
                struck=environment.struck.noted(),
                untimed=tuple(untimed(environment)) if self._pending else (),
            )
        )

    def _heal(self) -> None:
        environment = self._environment
        environment.network.plan = NO_FAULTS
        environment.nodes.resume()
        for member in environment.members:
            member.resume()
            member.change_subscription(SUBSCRIBE)
        environment.heal_cluster()
        self._pending = settle(environment)


def _advance(environment: Environment, action: Action) -> None:
    environment.clock.run_until(environment.clock.now_ms + action.choice)


_EFFECTS: Final[dict[ActionKind, Callable[[Environment, Action], None]]] = {
    ActionKind.START_MEMBER: lambda environment, action: environment.members[action.member].start_with(action.choice),
    ActionKind.STOP_MEMBER: lambda environment, action: environment.members[action.member].stop(),
    ActionKind.CRASH_MEMBER: lambda environment, action: environment.members[action.member].crash(),
    ActionKind.PAUSE_MEMBER: lambda environment, action: environment.members[action.member].pause(),
    ActionKind.RESUME_MEMBER: lambda environment, action: environment.members[action.member].resume(),
    ActionKind.CHANGE_CONFIG: lambda environment, action: environment.change_config(action.choice),
    ActionKind.CHANGE_SUBSCRIPTION: lambda environment, action: environment.members[action.member].change_subscription(
        action.choice
    ),
    ActionKind.CHANGE_TOPICS: lambda environment, action: environment.change_topics(action.choice),
    ActionKind.FAIL_OVER: lambda environment, action: environment.nodes.fail_over(action.choice),
    ActionKind.KILL_COORDINATOR: lambda environment, action: environment.nodes.kill(action.choice),
    ActionKind.PAUSE_COORDINATOR: lambda environment, _action: environment.nodes.pause(),
    ActionKind.RESUME_COORDINATOR: lambda environment, _action: environment.nodes.resume(),
    ActionKind.MOVE_COORDINATOR: lambda environment, action: environment.nodes.move(action.choice * LOADING_MS),
    **dict.fromkeys(CONNECT_CHURN, lambda environment, action: environment.change_cluster(action)),
    ActionKind.ADVANCE_CLOCK: _advance,
    ActionKind.AWAIT_GROUP: lambda environment, _action: await_group(environment),
}


def _address(options: SimulationOptions, settings: SimulatedGroupConfig, plan: FaultPlan) -> str:
    """The marks of this run among others of its seed: the options, and its drawn config and faults."""
    return f"{options.summary()}; {settings}; faults drawn: {plan}"
