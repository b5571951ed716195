"""Simulation options: checked when they are made, and written on one command line."""

from __future__ import annotations

import msgspec
import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome


def test_names_become_what_they_name() -> None:
    options = SimulationOptions(protocol="status", faults=("drop", "delay"))  # type: ignore[arg-type]  # as from a shell

    assert options.protocol is SimulatedProtocol.STATUS
    assert options.faults == (FaultKind.DROP, FaultKind.DELAY)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"protocol": "raft"},
            "'raft' is no protocol: choose from eager, cooperative, connect, status, connect-config, election",
        ),
        ({"faults": ("fire",)}, "'fire' is no fault: choose from delay, drop"),
        ({"members": 0}, "members is 0: choose a number from 1 to 12"),
        ({"partitions": 25}, "partitions is 25: choose a number from 1 to 24"),
        ({"steps": -1}, "steps is -1: choose a number from 0 to 10000"),
    ],
)
def test_what_cannot_be_simulated_is_refused__with_the_choices(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        SimulationOptions(**wrong)  # type: ignore[arg-type]  # that it is wrong is the point


def test_the_command_line_holds_what_is_not_default() -> None:
    assert SimulationOptions().command_line() == ""
    options = SimulationOptions(protocol=SimulatedProtocol.EAGER, members=2, faults=(), omit=(3, 7), mutant="a-b")

    assert options.command_line() == "--protocol eager --members 2 --faults none --omit 3,7 --mutant a-b"


def test_options_survive_json() -> None:
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, faults=(FaultKind.CRASH,), omit=(1,))

    assert msgspec.json.decode(msgspec.json.encode(options), type=SimulationOptions) == options


@pytest.mark.parametrize("protocol", SimulatedProtocol)
def test_a_group_may_be_as_large_as_the_options_allow(protocol: SimulatedProtocol) -> None:
    """Every member of the largest group starts, and nothing of the run is violated."""
    options = SimulationOptions(protocol=protocol, members=12, partitions=24, faults=())
    history = simulate(0, options)
    assert {event.source for event in history} & {"m11", "w11"}
    assert judge(history).outcome is Outcome.HELD
