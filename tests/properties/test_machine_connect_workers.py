"""Groups of Connect workers in random circumstances keep the claims about rounds, and share their work in the end."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.impl.connect.worker.coordinator import WorkerCoordinator
from rebalance_check.properties.machines.connect_workers import ConnectWorkers, UnsettledError
from rebalance_check.properties.verdict import Violation

STEPS = 12

ConnectWorkers.TestCase.settings = settings(max_examples=20, stateful_step_count=STEPS)
TestConnectWorkers = ConnectWorkers.TestCase

UNSHRUNK = settings(
    max_examples=40,
    stateful_step_count=STEPS,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
)


def test_a_worker_that_forgets_what_it_keeps_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkerCoordinator, "_claim_after", lambda _self, assigned: assigned)
    with pytest.raises((UnsettledError, Violation)):
        run_state_machine_as_test(ConnectWorkers, settings=UNSHRUNK)


def test_a_delay_that_nobody_waits_for_leaves_work_without_an_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkerCoordinator, "request_rejoin", lambda _self, _reason: None)
    with pytest.raises((UnsettledError, Violation)):
        run_state_machine_as_test(ConnectWorkers, settings=UNSHRUNK)
