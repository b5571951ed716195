"""How tasks get their configurations, and what a herder does with what the config topic brings."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalance_check.impl.connect.config.values import RestartRequest, TargetState
from rebalance_check.impl.connect.herder.peers import Answer, PutTaskConfigs
from rebalance_check.impl.connect.herder.restarting import rank
from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import ConnectorStarted, RestartPlanned, TaskStarted, TaskStopped
from tests.impl.herder_alone import LEADER_URL, LoneHerder

ANSWERS: list[Answer] = []


def lead(mode: ConnectMode = ConnectMode.COMPATIBLE) -> LoneHerder:
    return LoneHerder(mode=mode)


def follow(mode: ConnectMode = ConnectMode.COMPATIBLE) -> LoneHerder:
    return LoneHerder(leads=False, mode=mode)


def starts(alone: LoneHerder) -> int:
    """How often a connector was started."""
    return sum(isinstance(event, ConnectorStarted) for event in alone.events)


# ------------------------------------------------------------------------------------------------ 6.1 to 6.3


def test_a_leader_writes_the_task_configs_of_its_connector__a_follower_posts_them_to_the_leader() -> None:
    leader, follower = lead(), follow()
    for alone in (leader, follower):
        alone.configure("a", more={"tasks.max": "1"})
        alone.assign(("a",))
    assert leader.keys() == ["connector-a", "task-a-0", "commit-a"]
    assert follower.keys() == ["connector-a"]
    assert [(url, request) for _at, url, request, _signature in follower.peers.sent] == [
        (LEADER_URL, PutTaskConfigs("a", ({"task.id": "0", "version": "1"},)))
    ]


def test_task_configs_that_are_as_they_were_are_not_written_again() -> None:
    alone = lead()
    alone.configure("a", tasks=2)
    alone.assign(("a",))
    assert alone.keys() == ["connector-a", "task-a-0", "task-a-1", "commit-a"]


@pytest.mark.parametrize(
    "change", [{"tasks.max": "1"}, {"version": "2"}, {"converter": "other"}], ids=["count", "task configs", "applied"]
)
def test_another_count_another_task_config_or_another_connector_config_is_written(change: dict[str, str]) -> None:
    alone = lead()
    alone.configure("a", tasks=2)
    alone.assign(("a",))
    alone.configs.put_connector("a", {"tasks.max": "2", "version": "1", **change}).result()
    alone.run()
    assert alone.keys()[-1] == "commit-a"
    assert len(alone.keys()) > 5


def test_a_request_for_task_configs_is_dropped_where_the_connector_does_not_run_or_is_not_to() -> None:
    alone = lead()
    alone.configure("a", more={"tasks.max": "1"})
    alone.herder.request_reconfiguration("a")
    alone.run()
    assert alone.keys() == ["connector-a"]
    alone.configs.put_target_state("a", TargetState.PAUSED).result()
    alone.read()
    alone.assign(("a",))
    alone.herder.request_reconfiguration("a")
    alone.run()
    assert alone.keys() == ["connector-a", "target-state-a"]
    alone.configs.put_target_state("a", TargetState.STARTED).result()
    alone.read()
    assert alone.keys()[-1] == "commit-a"


def test_a_request_for_task_configs_is_dropped_while_the_connector_that_is_to_pause_still_runs() -> None:
    alone = lead()
    alone.configure("a")
    alone.assign(("a",))
    for config in ({"tasks.max": "1"}, {"tasks.max": "2"}):
        alone.configs.put_connector("a", config).result()
    alone.configs.put_target_state("a", TargetState.PAUSED).result()
    alone.config_log.poll()
    alone.herder.config_state = alone.configs.snapshot()  # the tick has not paused the connector yet
    assert alone.herder.worker.is_running(ConnectorKey("a"))
    assert list(alone.herder._reconfigure("a", 0)) == []
    assert alone.keys().count("commit-a") == 1  # that of the start


@pytest.mark.parametrize("answer", [Answer.FORBIDDEN, Answer.FAILED, Answer.CONFLICT])
def test_task_configs_that_are_refused_are_sent_again__after_a_time_that_doubles_up_to_a_minute(answer: Answer) -> None:
    alone = follow()
    alone.peers.answer = answer
    alone.configure("a", more={"tasks.max": "1"})
    alone.assign(("a",))
    alone.run(400_000)
    times = [at for at, _url, _request, _signature in alone.peers.sent]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses[:11] == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]


# ------------------------------------------------------------------------------------------------ 6.4


def test_a_commit_asks_for_a_round_and_stops_the_tasks_of_its_connector__which_the_round_starts_anew() -> None:
    alone = lead()
    alone.configure("a", tasks=1)
    alone.configure("b", tasks=1)
    alone.assign((), (("a", 0), ("b", 0)))
    del alone.group.asked[:]
    alone.configs.put_tasks("a", [{"t": "new"}]).result()
    alone.run()
    stopped = [event.task for event in alone.events if isinstance(event, TaskStopped)]
    assert (stopped, alone.group.asked) == (["a-0"], ["connectors or tasks were reconfigured"])
    alone.assign((), (("a", 0), ("b", 0)))
    started = [event.task for event in alone.events if isinstance(event, TaskStarted)]
    assert started == ["a-0", "b-0", "a-0"]


def test_a_commit_of_no_tasks_asks_for_a_round_and_stops_nothing() -> None:
    alone = lead()
    alone.configure("a", tasks=1)
    alone.assign((), (("a", 0),))
    del alone.group.asked[:]
    alone.configs.put_tasks("a", []).result()
    alone.run()
    assert not any(isinstance(event, TaskStopped) for event in alone.events)
    assert len(alone.group.asked) == 1


@pytest.mark.parametrize(("mode", "restarts"), [(ConnectMode.EAGER, 0), (ConnectMode.COMPATIBLE, 1)])
def test_an_eager_worker_leaves_other_updates_to_the_round(mode: ConnectMode, restarts: int) -> None:
    alone = lead(mode)
    alone.configure("a", more={"tasks.max": "0"})
    alone.assign(("a",))
    before = starts(alone)
    alone.write("b")  # a new connector, which needs a round
    alone.write("a", more={"converter": "other"})
    alone.config_log.poll()
    alone.run()
    alone.run(5_000)
    assert starts(alone) - before == restarts


def test_a_commit_ends_the_fencing_under_way_with_a_conflict() -> None:
    alone = lead()
    alone.configure("a", tasks=1)
    answers: list[Answer] = []
    alone.herder._fencing = ("a", answers.append)
    alone.configs.put_tasks("a", [{"t": "new"}]).result()
    assert answers == [Answer.CONFLICT]
    assert alone.herder._fencing is None


# ------------------------------------------------------------------------------------------------ 6.5


def test_a_new_or_a_deleted_connector_asks_for_a_round() -> None:
    alone = follow()
    alone.configure("a")
    assert len(alone.group.asked) == 1
    alone.configs.remove_connector("a").result()
    alone.run()
    assert len(alone.group.asked) == 2
    alone.configs.remove_connector("a").result()
    alone.run()
    assert len(alone.group.asked) == 2  # it was unknown already


@pytest.mark.parametrize(("owns", "restarts"), [(True, 1), (False, 0)])
def test_another_config_of_a_known_connector_restarts_it_at_its_owner_alone__without_a_round(
    owns: bool, restarts: int
) -> None:
    alone = follow()
    alone.configure("a")
    alone.assign(("a",) if owns else ())
    before, rounds = starts(alone), len(alone.group.asked)
    alone.configure("a", more={"converter": "other"})
    assert (starts(alone) - before, len(alone.group.asked) - rounds) == (restarts, 0)


def test_a_target_state_asks_for_no_round() -> None:
    alone = follow()
    alone.configure("a", tasks=1)
    alone.assign(("a",), (("a", 0),))
    rounds = len(alone.group.asked)
    alone.configs.put_target_state("a", TargetState.PAUSED).result()
    alone.read()
    assert sorted(alone.written()[-2:]) == ["connector-a PAUSED", "task-a-0 PAUSED"]
    assert len(alone.group.asked) == rounds


def test_a_resumed_connector_has_all_its_tasks_published_again() -> None:
    alone = lead()
    alone.configure("a", tasks=2)
    alone.assign(("a",))
    alone.herder.stop_connector("a", ANSWERS.append)
    alone.read()
    assert alone.configs.snapshot().task_count("a") == 0
    alone.herder.resume_connector("a", ANSWERS.append)
    alone.read()
    assert alone.keys()[-3:] == ["task-a-0", "task-a-1", "commit-a"]


# ------------------------------------------------------------------------------------------------ 6.7

RANKED = [
    RestartRequest("a", only_failed=True, include_tasks=False),
    RestartRequest("a", only_failed=True, include_tasks=True),
    RestartRequest("a", only_failed=False, include_tasks=False),
    RestartRequest("a", only_failed=False, include_tasks=True),
]
"""From the lowest rank to the highest."""


def test_ranks_of_restart_requests() -> None:
    assert list(map(rank, RANKED)) == sorted(set(map(rank, RANKED)))


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("second", range(4))
def test_of_two_requests_in_one_tick_the_one_of_the_higher_rank_counts(first: int, second: int) -> None:
    alone = follow()
    for number in (first, second):
        alone.herder._note_restart(RANKED[number])
    assert alone.herder._restarts == {"a": RANKED[max(first, second)]}


PLANS = {
    0: ("b",),
    1: ("b", "b-1"),
    2: ("b",),
    3: ("b", "b-0", "b-1"),
}
"""The work that each request concerns where the connector and its task 1 have failed."""


@pytest.mark.parametrize("number", range(4))
def test_a_restart_is_planned_from_the_status_cache(number: int) -> None:
    alone = lead()
    alone.configure("b", tasks=2)
    alone.assign(("b",), (("b", 0), ("b", 1)))
    for key, status in ((ConnectorKey("b"), Status.FAILED), (TaskKey("b", 0), Status.RUNNING),
                        (TaskKey("b", 1), Status.FAILED)):  # fmt: skip
        alone.status(key, status, 9)
    request = RestartRequest("b", RANKED[number].only_failed, RANKED[number].include_tasks)
    alone.herder.restart_connector_and_tasks(request, ANSWERS.append)
    alone.read()
    planned = [event.work for event in alone.events if isinstance(event, RestartPlanned)]
    assert planned == [PLANS[number]]


def test_a_restart_stops_and_announces_the_connector__then_the_tasks__and_starts_both() -> None:
    alone = lead()
    alone.configure("a", tasks=1)
    alone.assign(("a",), (("a", 0),))
    del alone.events[:]
    alone.herder.restart_connector_and_tasks(RANKED[3], ANSWERS.append)
    alone.read()
    assert alone.written() == [
        "connector-a UNASSIGNED", "connector-a RESTARTING", "task-a-0 UNASSIGNED", "task-a-0 RESTARTING",
        "connector-a RUNNING", "task-a-0 RUNNING",
    ]  # fmt: skip


def test_a_worker_restarts_only_what_it_was_assigned() -> None:
    alone = lead()
    alone.configure("a", tasks=2)
    alone.assign((), (("a", 1),))
    for key in (ConnectorKey("a"), TaskKey("a", 0), TaskKey("a", 1)):
        alone.status(key, Status.RUNNING, 9)
    alone.herder.restart_connector_and_tasks(RANKED[3], ANSWERS.append)
    alone.read()
    assert [event.work for event in alone.events if isinstance(event, RestartPlanned)] == [("a-1",)]


def test_a_restarted_connector_has_overwritten_task_configs_published_again() -> None:
    alone = lead()
    alone.configure("a", tasks=1)
    alone.assign(("a",))
    alone.configs.put_tasks("a", [{"t": "posted"}]).result()
    alone.run()
    written = len(alone.keys())
    alone.herder.restart_connector_and_tasks(RANKED[2], ANSWERS.append)
    alone.read()
    assert alone.keys()[written:] == ["restart-connector-a", "task-a-0", "commit-a"]
    assert alone.configs.snapshot().task_config("a", 0) == {"task.id": "0", "version": "1"}
