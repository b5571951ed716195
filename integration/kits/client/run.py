"""One run of the kit: scenario after scenario on one broker, each judged when its history is complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.kits.client.feeding import Feeder
from rebalance_check.integration.kits.client.placeholders import ClientCommand
from rebalance_check.integration.kits.client.scenarios import FAULTS, Scenario
from rebalance_check.integration.kits.client.stepping import Steps, run_side_by_side
from rebalance_check.integration.kits.client.trial import CutError, Ground, NeverConnectedError, open_trial
from rebalance_check.integration.kits.client.verdicts import Kips, ScenarioResult
from rebalance_check.integration.kits.client.view import GroupView, Spoken
from rebalance_check.integration.live.recording import reserve
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.files import judge_file
from rebalance_check.properties.kinds import Invariant

AT_ONCE: Final = 2
"""So many scenarios run side by side: most of their time is spent waiting, for a session to expire or a heartbeat."""

_FAILURES: Final = (RebalanceCheckError, OSError, errors.KafkaError)
"""The errors with which a scenario may end: it was cut short, or the broker failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRun:
    """One run: the ``command`` as ``members`` processes on ``broker`` (as `open_broker` has it), and how.

    Reports call the client ``subject``, "" for the command itself. Histories and the output of the processes go to the
    folder ``out``. No scenario begins after ``minutes``. The kit waits ``patience_s`` seconds for steps that a client
    has to do, and longer where the protocol gives it more time. ``faults`` makes the faults of the scenario `FAULTS`.
    """

    command: ClientCommand
    scenarios: tuple[Scenario, ...]
    kips: Kips
    out: Path
    subject: str = ""
    broker: str = "embedded"
    members: int = 3
    minutes: float = 10.0
    seed: int = 0
    patience_s: float = 30.0
    faults: Callable[[], FaultPlan] = FaultPlan

    def __post_init__(self) -> None:
        if self.members < 2:
            raise RebalanceCheckError(f"{self.members} is too few members: a group rebalances from 2 on")

    @property
    def claims(self) -> tuple[Invariant, ...]:
        """The claims of all KIPs, each once."""
        return tuple(dict.fromkeys(claim for claims in self.kips.values() for claim in claims))


@dataclass(slots=True)
class Course:
    """How far a run has come: the ``results`` in the order in which scenarios ended, and the scenarios ``left_out``.

    ``listener`` gets each result at once. ``broker`` is the one that ran, ``spoken`` which versions the client speaks.
    """

    run: ClientRun
    listener: Callable[[ScenarioResult], None]
    results: list[ScenarioResult] = field(default_factory=list)
    left_out: str = ""
    broker: str = ""
    spoken: Spoken = field(default_factory=Spoken)

    def take(self, result: ScenarioResult) -> None:
        """A scenario is over and judged."""
        self.results.append(result)
        self.listener(result)

    @property
    def cuts(self) -> tuple[str, ...]:
        """Why scenarios were cut short, each with its name, and what was left out."""
        cuts = [f"{result.name}: {result.cut}" for result in self.results if result.cut]
        return (*cuts, *filter(None, [self.left_out]))

    def leave_out(self, scenarios: Sequence[Scenario], why: str) -> None:
        """These scenarios are not run; ``why`` says it in words."""
        if scenarios:
            self.left_out = f"{why}, so these were left out: {', '.join(scenario.name for scenario in scenarios)}"


def run_client_kit(run: ClientRun, listener: Callable[[ScenarioResult], None]) -> Course:
    """Run the scenarios: the first by itself, and where a client could join in it, the others side by side.

    Raises: NeverConnectedError when no process of the first scenario connects, and RebalanceCheckError when the broker
    cannot be had.
    """
    course = Course(run, listener)
    deadline = time.monotonic() + 60 * run.minutes
    changed = threading.Condition()
    with open_broker(run.broker) as broker, Feeder(broker.bootstrap) as feeder:
        ground = Ground(
            broker=broker, command=run.command, members=run.members, seed=run.seed, patience_s=run.patience_s,
            changed=changed, feeder=feeder,
        )  # fmt: skip
        course.broker = broker.name
        first, *others = run.scenarios
        run_side_by_side(_one_by_one([first], ground, course, lambda: True), changed, at_once=1)
        if course.spoken != Spoken():
            run_side_by_side(
                _one_by_one(others, ground, course, lambda: time.monotonic() < deadline), changed, at_once=AT_ONCE
            )
        else:
            course.leave_out(others, f"no process joined in {first.name}")
    return course


def _one_by_one(
    scenarios: Sequence[Scenario], ground: Ground, course: Course, is_time: Callable[[], bool]
) -> Callable[[], Steps | None]:
    """Gives out the scenarios, and none when the time is over."""
    left = list(scenarios)

    def give() -> Steps | None:
        if left and not is_time():
            course.leave_out(left, f"{course.run.minutes:g} minutes were over")
            left.clear()
        return _steps(left.pop(0), ground, course) if left else None

    return give


def _steps(scenario: Scenario, ground: Ground, course: Course) -> Steps:
    """A scenario from its first process to its judgement."""
    run, began, view = course.run, time.monotonic(), GroupView()
    folder, path = reserve(run.out, scenario.name)
    faults = run.faults() if scenario is FAULTS else FaultPlan()
    trial = open_trial(ground, scenario.name, view, path, folder, is_static=scenario.is_static, faults=faults)
    cut = ""
    try:
        with trial as opened:
            yield from scenario.steps(opened)
    except _FAILURES as fault:
        if not course.results and not view.has_connected:
            raise _never_connected(fault) from fault
        cut = str(fault) if isinstance(fault, RebalanceCheckError) else f"the broker failed ({fault}): see its log"
    course.spoken |= view.spoken
    judgement = judge_file(path, run.claims)
    seconds = time.monotonic() - began
    course.take(ScenarioResult(name=scenario.name, path=path, judgement=judgement, cut=cut, seconds=seconds))


def _never_connected(fault: Exception) -> Exception:
    """The error of a run when no process of its first scenario connected."""
    if not isinstance(fault, CutError):
        return fault
    return NeverConnectedError(f"the command never connected to the broker: {fault}")
