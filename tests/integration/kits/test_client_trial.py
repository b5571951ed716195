"""A scenario's actions on processes: each of them is an event, and reaches the children of a process, too."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.kits.client.feeding import Feeder
from rebalance_check.integration.kits.client.placeholders import ClientCommand
from rebalance_check.integration.kits.client.stepping import Steps, run_side_by_side
from rebalance_check.integration.kits.client.trial import CutError, Ground, Trial, open_trial
from rebalance_check.integration.kits.client.view import GroupView
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.wire_events import ProcessEnded, ProcessSignalled, ProcessStarted
from rebalance_check.properties.history import read_history

PLACES = ("{bootstrap}", "{group}", "{topic}")
CONNECTS = "import signal, socket, sys; {first}; s = socket.create_connection(sys.argv[1].split(':')); signal.pause()"
PATIENT_S = 60.0

Run = Callable[[Sequence[str], Callable[[Trial], Steps]], list[Event]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs steps on a trial of a program, and gives its history."""
    changed = threading.Condition()
    with EmbeddedBroker() as broker, Feeder(broker.bootstrap) as feeder:

        def run(words: Sequence[str], steps: Callable[[Trial], Steps]) -> list[Event]:
            ground = Ground(
                broker=Broker(broker.bootstrap, "embedded"), command=ClientCommand((*words, *PLACES)), members=2,
                seed=0, patience_s=0.2, changed=changed, feeder=feeder,
            )  # fmt: skip
            history = tmp_path / "history.jsonl"
            trial = open_trial(ground, "test", GroupView(), history, tmp_path, is_static=False, faults=FaultPlan())

            def opened() -> Steps:
                with trial as one:
                    yield from steps(one)

            scenarios = iter([opened()])
            run_side_by_side(lambda: next(scenarios, None), changed, at_once=1)
            return list(read_history(history))

        yield run


def connected(trial: Trial, name: str) -> Steps:
    trial.start(name)
    yield from trial.reach(lambda: trial.view.of(name).connected, f"{name} connects", PATIENT_S)


def program(first: str = "pass") -> tuple[str, ...]:
    """A program that does something, connects, and then nothing."""
    return (sys.executable, "-c", CONNECTS.format(first=first))


def of_processes(events: list[Event]) -> list[str]:
    """The fate of processes, in words."""
    said = []
    for event in events:
        match event:
            case ProcessStarted():
                said.append(f"{event.process} starts, {event.run}")
            case ProcessSignalled():
                said.append(f"{event.process} {event.signal}")
            case ProcessEnded():
                said.append(f"{event.process} ends, {event.exit_status}{'' if event.asked else ', unasked'}")
    return said


def test_what_happens_to_a_process_is_recorded(run: Run) -> None:
    def steps(trial: Trial) -> Steps:
        yield from connected(trial, "p0")
        trial.pause("p0")
        trial.resume("p0")
        trial.kill("p0")
        yield from connected(trial, "p0")
        trial.terminate("p0")
        yield from trial.reach(lambda: trial.view.of("p0").ended, "p0 ends", PATIENT_S)

    assert of_processes(run(program(), steps)) == [
        "p0 starts, 1",
        "p0 pause",
        "p0 resume",
        "p0 kill",
        f"p0 ends, {-signal.SIGKILL}",
        "p0 starts, 2",
        "p0 terminate",
        f"p0 ends, {-signal.SIGTERM}",
    ]


def test_a_process_that_ignores_sigterm_is_killed(run: Run) -> None:
    def steps(trial: Trial) -> Steps:
        yield from connected(trial, "p0")
        trial.terminate("p0")
        yield from trial.await_end("p0")

    with pytest.raises(CutError, match=r"p0 did not end within 0\.2 s of SIGTERM, and was killed"):
        run(program("signal.signal(signal.SIGTERM, signal.SIG_IGN)"), steps)


def test_a_process_that_ends_by_itself_cuts_its_scenario_short(run: Run) -> None:
    def steps(trial: Trial) -> Steps:
        trial.start("p0")
        yield from trial.reach(lambda: False, "never", PATIENT_S)

    with pytest.raises(CutError, match="p0 ended with exit code 1: its last lines: so long; it was not asked to end"):
        run((sys.executable, "-c", "import sys; sys.exit('so long')"), steps)


def test_a_process_that_may_end_by_itself_does_not(run: Run) -> None:
    def steps(trial: Trial) -> Steps:
        trial.allow_to_end("p0")
        trial.start("p0")
        yield from trial.reach(lambda: trial.view.of("p0").ended, "p0 ends", PATIENT_S)

    assert of_processes(run((sys.executable, "-c", "pass"), steps)) == ["p0 starts, 1", "p0 ends, 0, unasked"]


def test_the_children_of_a_process_are_killed_with_it(run: Run) -> None:
    """The connection of a child closes when it is gone."""

    def steps(trial: Trial) -> Steps:
        yield from connected(trial, "p0")
        trial.kill("p0")
        yield from trial.reach(lambda: trial.view.connections == 0, "the connection closes", PATIENT_S)

    shell = ("sh", "-c", f'{sys.executable} -c "{program()[2]}" "$0" & wait')
    assert of_processes(run(shell, steps))[-1] == f"p0 ends, {-signal.SIGKILL}"
