"""Java Connect workers on the broker: what they run under disturbances, and three defects of Kafka found live."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.connect.workers.cluster import ConnectCluster
from rebalance_check.integration.connect.workers.open import open_connect, release_name
from rebalance_check.integration.connect.workers.scenarios import CONNECTOR, SCENARIOS, Scenario
from rebalance_check.integration.connect.workers.what_ran import what_ran
from rebalance_check.model.vocabulary.config_events import ConfigCompacted, ConfigSnapshotTaken, ProducerInitialised
from rebalance_check.model.vocabulary.connect_events import (
    CancelledWorkEnded,
    ConnectAssignmentReceived,
    TaskStarted,
    WorkCancelled,
)
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MembershipLost,
    StatusAppended,
    StatusIgnored,
    StatusRead,
)
from rebalance_check.properties.history import read_history, write_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import status
from rebalance_check.properties.verdict import Outcome
from rebalance_check.properties.views.status_stores import TOPIC_PREFIX
from tests.integration.seen import assert_seen

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

ONCE = "work_runs_once"
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.fixture
def run(real: Broker, spec: str, tmp_path: Path) -> Callable[[str], list[Event]]:
    """The history of a scenario, from the file that it was written to."""

    def run_one(name: str) -> list[Event]:
        scenario: Scenario = BY_NAME[name]
        with open_connect(real, spec, scenario.config, folder=tmp_path / "cluster",
                          config_topic=scenario.config_topic) as cluster:  # fmt: skip
            scenario.act(cluster)
            write_history(tmp_path / "history.jsonl", cluster.end())
        return list(read_history(tmp_path / "history.jsonl"))

    return run_one


def violated(history: list[Event]) -> set[str]:
    return {i.name for i, verdict in judge(history).verdicts.items() if verdict.outcome is Outcome.VIOLATED}


def of(kind: type[Event], history: list[Event]) -> list[Event]:
    return [event for event in history if isinstance(event, kind)]


def test_a_killed_worker__its_work_is_given_to_the_others_after_the_delay(run: Callable[[str], list[Event]]) -> None:
    history = run("worker_killed")
    assert_seen("java connect: a worker killed", history)
    assert violated(history) == set()
    assert ONCE not in violated(what_ran(history))
    (crashed,) = of(MemberCrashed, history)
    assert any(isinstance(event, TaskStarted) for event in history[history.index(crashed) :])


def test_a_paused_worker__comes_back_as_another_member_and_one_runner_is_left(
    run: Callable[[str], list[Event]],
) -> None:
    history = run("worker_paused")
    assert_seen("java connect: a worker paused", history)
    lost = [event for event in history if isinstance(event, MembershipLost) and event.reason == "UNKNOWN_MEMBER_ID"]
    assert len(lost) == 1
    revoked = [event.revoked for event in history if isinstance(event, ConnectAssignmentReceived) and event.revoked]
    assert revoked, "what both workers claim is revoked from both"
    assert violated(history) == set(), "a worker that was removed and does not know it is excused"
    assert ONCE in violated(what_ran(history)), "it still ran what the other one had been given"


def test_config_churn__what_was_abandoned_ends_at_last(run: Callable[[str], list[Event]]) -> None:
    history = run("config_churn")
    assert violated(history) == set()
    assert [event.work for event in history if isinstance(event, WorkCancelled)] == [f"{CONNECTOR}-0"]
    assert [event.work for event in history if isinstance(event, CancelledWorkEnded)] == [f"{CONNECTOR}-0"]
    states = {event.status for event in history if isinstance(event, StatusRead)}
    assert states >= {"RUNNING", "PAUSED", "STOPPED", "FAILED", "RESTARTING", "UNASSIGNED", "DESTROYED"}


def test_config_churn__the_status_stores_of_the_workers_are_judged(run: Callable[[str], list[Event]]) -> None:
    history = run("config_churn")
    assert_seen("java connect", history)
    appended = {(event.partition, event.offset) for event in history if isinstance(event, StatusAppended)}
    assert {event.worker for event in history if isinstance(event, StatusAppended)} == {"w0", "w1"}
    read = {
        (event.partition, event.offset): event for event in history if isinstance(event, StatusRead | StatusIgnored)
    }
    of_topics = {place for place, event in read.items() if event.key.startswith(TOPIC_PREFIX)}
    assert appended == read.keys() - of_topics
    verdicts = judge(history, status.LAWS).verdicts
    assert {verdict.outcome for verdict in verdicts.values()} <= {Outcome.HELD, Outcome.UNTESTED}
    held = {
        one.name.removeprefix("safe_status_writes.")
        for one, verdict in verdicts.items()
        if verdict.outcome is Outcome.HELD
    }
    assert held >= {
        "appends_answer_sends", "cache_follows_reads", "readers_converge", "suppressed_iff_newer_cached",
        "status_carries_the_generation", "last_status_says_what_runs",
    }  # fmt: skip


def test_a_rolling_restart_within_the_delay__nothing_runs_twice(run: Callable[[str], list[Event]]) -> None:
    history = run("rolling_restart")
    assert violated(history) == set()
    assert ONCE not in violated(what_ran(history))
    delays = {event.delay_ms for event in history if isinstance(event, ConnectAssignmentReceived)}
    assert max(delays) > 0, "the work of the worker that left waits for it"


def test_exactly_once__the_tasks_of_a_zombie_are_fenced(run: Callable[[str], list[Event]]) -> None:
    history = run("exactly_once_zombie")
    assert_seen("java connect: exactly once", history)
    assert violated(history) == set()
    verdicts = {i.name: verdict.outcome for i, verdict in judge(history).verdicts.items()}
    assert verdicts["producer_epochs_grow"] is Outcome.HELD
    epochs: dict[str, list[int]] = {}
    for event in history:
        if isinstance(event, ProducerInitialised) and event.work:
            epochs.setdefault(event.work, []).append(event.epoch)
    assert set(epochs) == {f"{CONNECTOR}-0", f"{CONNECTOR}-1"}
    assert all(found == sorted(set(found)) for found in epochs.values()), "each producer fences the one before"
    assert any(len(found) > 1 for found in epochs.values())


def test_kafka_16056__a_blocked_herder_leaves_and_its_tasks_run_in_two_workers(
    run: Callable[[str], list[Event]],
) -> None:
    history = run("poll_timeout")
    assert ONCE in violated(what_ran(history))
    assert violated(history) == set(), "the lost membership, which the history shows, excuses it"
    assert [event for event in history if isinstance(event, MembershipLost) and "poll timeout" in event.reason]


def test_kafka_13816__an_eager_worker_joins_and_tasks_run_in_two_workers(run: Callable[[str], list[Event]]) -> None:
    history = run("eager_worker_joins")
    assert ONCE in violated(what_ran(history))
    assert violated(history) <= {ONCE, "no_double_ownership", "revoked_before_reassigned"}, (
        "an eager round may excuse it"
    )


def test_kafka_17719__after_compaction_a_new_worker_knows_no_tasks(run: Callable[[str], list[Event]]) -> None:
    history = run("compaction_reorders")
    assert_seen("java connect: compaction", history)
    assert of(ConfigCompacted, history)
    old, new = (event for event in history if isinstance(event, ConfigSnapshotTaken))
    assert old.connectors == new.connectors
    assert old.tasks == tuple(f"{CONNECTOR}-{task}" for task in range(4))
    assert new.tasks == (), "the same topic, another list of tasks"
    assert old.offset == new.offset
    assert "snapshots_agree" in violated(what_ran(history))
    assert "snapshots_agree" not in violated(history), "the compaction, which the history shows, excuses it"


def test_a_cluster_leaves_no_worker_behind(real: Broker, spec: str, tmp_path: Path) -> None:
    with open_connect(real, spec, folder=tmp_path / "cluster") as cluster:
        assert isinstance(cluster, ConnectCluster)
        cluster.start("w0")
        rest = cluster.rest("w0")
        assert rest.call("GET", "/").body["version"] == release_name(real)
    assert not rest.answers()
