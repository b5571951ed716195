"""Calls of the config store: what bounds them, how they fail, and what a snapshot holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.impl.connect.config.errors import ConfigWriteError
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import ConfigRecord, RestartRequest, SessionKey, TargetState
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.runtime.recorder import Recorder
from tests.impl.test_config_store import TWO_TASKS, Cluster, step

KEY = SessionKey(b"x", "HmacSHA256", 1)
CALLS: dict[str, tuple[Callable[[ConfigStore], ConfigCall], str]] = {
    "connector": (lambda store: store.put_connector("a", {}), "writing connector configuration to Kafka"),
    "target state": (lambda store: store.put_target_state("a", TargetState.PAUSED), "writing target state to Kafka"),
    "count": (lambda store: store.put_task_count("a", 1), "writing task count record to Kafka"),
    "key": (lambda store: store.put_session_key(KEY), "writing session key to Kafka"),
    "level": (lambda store: store.put_logger_level("x", "INFO"), "writing logger level to Kafka"),
    "restart": (
        lambda store: store.put_restart(RestartRequest("a", only_failed=True)),
        "writing restart request for {connectorName='a', onlyFailed=true, includeTasks=false} to Kafka",
    ),
    "removal": (lambda store: store.remove_connector("a"), "removing connector configuration from Kafka"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_send_that_fails_is_an_error_that_says_what_was_written(name: str) -> None:
    call_of, what = CALLS[name]
    store, channel = Cluster().worker(prompt=False)
    call = call_of(store)
    channel.fail(channel.sending[0])
    assert isinstance(call.error, ConfigWriteError)
    assert f"failed in {what} " in str(call.error)
    assert store.calls == 0


def test_one_timer_spans_all_steps_of_a_call() -> None:
    cluster = Cluster()
    store, channel = cluster.worker(prompt=False)
    call = store.put_tasks("a", TWO_TASKS)
    for at_ms in (10_000, 20_000, 29_999):
        cluster.clock.run_until(at_ms)
        store.expire()
        assert step(channel)
    assert not call.done
    cluster.clock.run_until(30_000)
    store.expire()
    assert isinstance(call.error, ConfigWriteError)


def test_a_transaction_is_not_bounded_by_the_timer_of_its_call() -> None:
    cluster = Cluster(ExactlyOnce.ENABLED)
    store, channel = cluster.worker()
    store.claim_privileges().result()
    channel.writable = False
    call = store.put_connector("a", {})
    cluster.clock.run_until(300_000)
    store.expire()
    assert not call.done
    channel.writable = True
    channel.pump()
    call.result()


def test_a_claim_that_fails_leaves_no_producer() -> None:
    store, _channel = Cluster(ExactlyOnce.PREPARING).worker(prompt=False)
    call = store.claim_privileges()
    store.completed(store._submitted, "no broker")
    assert isinstance(call.error, ConfigWriteError)
    assert "creating and initializing the fencable producer for the config topic" in str(call.error)
    assert not store.privileged


def test_a_stopped_store_sends_and_reads_nothing_more() -> None:
    cluster = Cluster(ExactlyOnce.ENABLED)
    store, channel = cluster.worker()
    store.claim_privileges().result()
    channel.readable = False
    call = store.refresh(100)
    store.stop()
    assert (store.privileged, channel.closed, store.calls, call.done) == (False, True, 0, False)


def test_the_leaders_of_a_cluster_share_a_transactional_id() -> None:
    topic = SharedConfigLog(Recorder("connect", "log", lambda: 0, None), group="g")
    assert topic.transactional_id == "connect-cluster-g"


# ------------------------------------------------------------------------------------------------ snapshots


def test_a_snapshot_is_a_copy__without_what_is_deferred() -> None:
    cluster = Cluster()
    store, channel = cluster.worker()
    store.put_connector("a", {"v": "1"}).result()
    cluster.topic.append("other", ConfigRecord("task-a-0", b'{"properties":{}}'))
    channel.poll()
    taken = store.snapshot()
    assert (taken.task_config("a", 0), store.deferred) == (None, {"a": {0: {}}})
    store.put_connector("a", {"v": "2"}).result()
    store.put_tasks("a", TWO_TASKS).result()
    assert (taken.config("a"), taken.task_count("a")) == ({"v": "1"}, 0)
