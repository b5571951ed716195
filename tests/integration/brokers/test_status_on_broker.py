"""Status stores of several workers over one compacted topic of the broker: their writes are judged safe."""

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.status_stores import StatusRun, run_status_stores
from rebalance_check.integration.live.status_workers import KEYS
from rebalance_check.model.vocabulary.events import RunEnded, StatusRead, StatusSuppressed
from rebalance_check.properties.history import read_history, write_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.status import reads, writes
from rebalance_check.properties.verdict import Outcome

pytestmark = pytest.mark.broker

NOT_ALWAYS_TESTED = {"safe_status_writes.retries_are_admitted"}
"""No write fails here."""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stores_that_write_at_once_keep_the_invariants(real: Broker, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "history.jsonl"
    write_history(path, run_status_stores(real.bootstrap, seed, StatusRun(workers=3, writes=40), tmp_path / "raw"))
    history = list(read_history(path))
    safe = {i.name: v for i, v in judge(history, [*writes.LAWS, *reads.LAWS]).verdicts.items()}
    others = {name: verdict.outcome for name, verdict in safe.items() if verdict.outcome is not Outcome.HELD}
    assert others.keys() <= NOT_ALWAYS_TESTED
    assert set(others.values()) == {Outcome.UNTESTED}
    assert len(safe) > 3
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    assert {event.worker for event in history if isinstance(event, StatusRead)} == {"w0", "w1", "w2"}
    late = [(event.worker, event.key) for event in history if isinstance(event, StatusSuppressed)][-len(KEYS) * 2 :]
    assert late == [(worker, str(key)) for worker in ("w1", "w2") for key in KEYS]
