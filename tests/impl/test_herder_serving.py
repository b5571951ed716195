"""A herder's answers to other workers and to an operator: who may ask what, how it is refused, what is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.values import RestartRequest, SessionKey, TargetState
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, FenceZombies, OnAnswer, PutTaskConfigs, Signature
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from tests.impl.herder_alone import LoneHerder

KEY = SessionKey(b"k" * 32, "HmacSHA256", 0)
SIGNED = Signature(KEY.key, "HmacSHA256")
FORGED = Signature(b"f" * 32, "HmacSHA256")
TWO_TASKS = PutTaskConfigs("a", ({"t": "0"}, {"t": "1"}))


def asked(alone: LoneHerder, ask: Callable[[Herder, OnAnswer], None]) -> list[Answer]:
    """How the herder answered."""
    answers: list[Answer] = []
    ask(alone.herder, answers.append)
    alone.run()
    return answers


def restarts(key: WorkKey) -> Callable[[Herder, OnAnswer], None]:
    """A request to restart one connector or task."""
    return lambda herder, answer: herder.restart_work(key, answer)


def internal(alone: LoneHerder, request: PutTaskConfigs | FenceZombies, signature: Signature | None) -> list[Answer]:
    """How the herder answered a request of another worker."""
    return asked(alone, lambda herder, answer: herder.receive_internal(request, signature, answer))


# ------------------------------------------------------------------------------------------------ other workers


def test_task_configs_of_another_worker_are_written_and_committed() -> None:
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE)
    alone.configure("a")
    assert internal(alone, TWO_TASKS, None) == [Answer.OK]
    assert alone.keys() == ["connector-a", "task-a-0", "task-a-1", "commit-a"]


def test_a_fencing_is_written_down_also_where_exactly_once_support_is_off() -> None:
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE)
    alone.configure("a", tasks=2)
    assert internal(alone, FenceZombies("a"), None) == [Answer.OK]
    assert alone.keys()[-1] == "tasks-fencing-a"
    assert not alone.configs.snapshot().of_connector("a").pending_fencing


@pytest.mark.parametrize(
    ("signature", "knows_key", "expected"),
    [
        (None, True, Answer.BAD_REQUEST),
        (Signature(KEY.key, "HmacSHA512"), True, Answer.BAD_REQUEST),
        (Signature(KEY.key, "hmacsha256"), True, Answer.BAD_REQUEST),  # case matters
        (SIGNED, False, Answer.UNAVAILABLE),
        (FORGED, True, Answer.FORBIDDEN),
        (SIGNED, True, Answer.CONFLICT),  # a good signature reaches the herder's thread, which does not lead
    ],
    ids=["unsigned", "algorithm", "case", "no key yet", "forged", "good"],
)
def test_signatures_are_checked_before_leadership(
    signature: Signature | None, knows_key: bool, expected: Answer
) -> None:
    alone = LoneHerder(leads=False)
    if knows_key:
        alone.knows_key(KEY)
    assert internal(alone, TWO_TASKS, signature) == [expected]


@pytest.mark.parametrize("mode", [ConnectMode.EAGER, ConnectMode.COMPATIBLE])
def test_only_a_sessioned_group_checks_signatures(mode: ConnectMode) -> None:
    alone = LoneHerder(mode=mode)
    alone.configure("a")
    assert internal(alone, TWO_TASKS, FORGED) == [Answer.OK]


def test_a_session_key_that_was_replaced_signs_nothing_more() -> None:
    """No grace period, and the reader looks at no expiry."""
    alone = LoneHerder(leads=False)
    alone.knows_key(KEY)
    alone.run(2 * alone.herder.settings.key_ttl_ms)
    assert internal(alone, TWO_TASKS, SIGNED) == [Answer.CONFLICT]
    alone.knows_key(SessionKey(b"n" * 32, "HmacSHA256", 1))
    assert internal(alone, TWO_TASKS, SIGNED) == [Answer.FORBIDDEN]


def test_the_leader_refuses_task_configs_of_an_unknown_or_a_stopped_connector() -> None:
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE)
    assert internal(alone, TWO_TASKS, None) == [Answer.NOT_FOUND]
    alone.configure("a")
    alone.configs.put_target_state("a", TargetState.STOPPED).result()
    alone.read()
    assert internal(alone, TWO_TASKS, None) == [Answer.BAD_REQUEST]
    assert internal(alone, PutTaskConfigs("a", ()), None) == [Answer.OK]


# ------------------------------------------------------------------------------------------------ an operator

LEADERS: dict[str, Callable[[Herder, OnAnswer], None]] = {
    "put": lambda herder, answer: herder.put_connector("a", {}, answer),
    "delete": lambda herder, answer: herder.delete_connector("a", answer),
    "stop": lambda herder, answer: herder.stop_connector("a", answer),
    "restart with flags": lambda herder, answer: herder.restart_connector_and_tasks(
        RestartRequest("a", include_tasks=True), answer
    ),
    "task configs": lambda herder, answer: herder.receive_internal(TWO_TASKS, None, answer),
    "fence": lambda herder, answer: herder.receive_internal(FenceZombies("a"), None, answer),
}
ANYBODYS: dict[str, Callable[[Herder, OnAnswer], None]] = {
    "pause": lambda herder, answer: herder.pause_connector("a", answer),
    "resume": lambda herder, answer: herder.resume_connector("a", answer),
}


@pytest.mark.parametrize("request_of", LEADERS)
def test_only_the_leader_serves(request_of: str) -> None:
    follower = LoneHerder(leads=False, mode=ConnectMode.COMPATIBLE)
    follower.configure("a")
    assert asked(follower, LEADERS[request_of]) == [Answer.CONFLICT]
    assert follower.keys() == ["connector-a"]
    leader = LoneHerder(mode=ConnectMode.COMPATIBLE)
    leader.configure("a", tasks=1)
    leader.status(ConnectorKey("a"), Status.RUNNING)
    assert asked(leader, LEADERS[request_of]) == [Answer.OK]
    assert len(leader.keys()) > 3


@pytest.mark.parametrize("request_of", ANYBODYS)
def test_any_worker_serves(request_of: str) -> None:
    follower = LoneHerder(leads=False)
    assert asked(follower, ANYBODYS[request_of]) == [Answer.NOT_FOUND]
    follower.configure("a")
    assert asked(follower, ANYBODYS[request_of]) == [Answer.OK]
    assert follower.keys() == ["connector-a", "target-state-a"]


def test_only_the_owner_restarts_one_connector_or_task__and_no_record_is_written() -> None:
    alone = LoneHerder(leads=False)
    alone.configure("a", tasks=2)
    alone.assign(("a",), (("a", 0),))
    before = len(alone.keys())
    for key in (ConnectorKey("a"), TaskKey("a", 0)):
        assert asked(alone, restarts(key)) == [Answer.OK]
    for other in (ConnectorKey("b"), TaskKey("a", 1)):
        assert asked(alone, restarts(other)) == [Answer.CONFLICT]
    assert len(alone.keys()) == before


def test_a_stop_commits_no_tasks_and_then_writes_the_target_state() -> None:
    alone = LoneHerder()
    alone.configure("a", tasks=2)
    assert asked(alone, LEADERS["stop"]) == [Answer.OK]
    assert alone.keys()[-2:] == ["commit-a", "target-state-a"]
    stopped = alone.configs.snapshot()
    assert (stopped.task_count("a"), stopped.target_state("a")) == (
        0,
        TargetState.STARTED,
    )  # target states are not read back
    alone.read()
    assert alone.configs.snapshot().target_state("a") is TargetState.STOPPED


def test_a_write_that_fails_is_answered_500__a_fenced_leader_claims_the_topic_again() -> None:
    settings = HerderConfig(exactly_once=ExactlyOnce.ENABLED)
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE, settings=settings)
    alone.assign()
    other, _channel = alone.config_store("other", ExactlyOnce.ENABLED)
    other.start().result()
    other.claim_privileges().result()
    assert asked(alone, LEADERS["put"]) == [Answer.FAILED]
    assert asked(alone, LEADERS["put"]) == [Answer.OK]
    assert alone.keys() == ["connector-a"]


def test_a_restart_that_is_fenced_leaves_the_leader_without_privileges_until_it_is_assigned_again() -> None:
    settings = HerderConfig(exactly_once=ExactlyOnce.ENABLED)
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE, settings=settings)
    alone.assign()
    assert asked(alone, LEADERS["put"]) == [Answer.OK]
    alone.status(ConnectorKey("a"), Status.RUNNING)
    other, _channel = alone.config_store("other", ExactlyOnce.ENABLED)
    other.start().result()
    other.claim_privileges().result()
    assert asked(alone, LEADERS["restart with flags"]) == [Answer.FAILED]
    assert asked(alone, LEADERS["put"]) == [Answer.FAILED]
    assert asked(alone, LEADERS["put"]) == [Answer.FAILED]
    alone.assign()
    assert asked(alone, LEADERS["put"]) == [Answer.OK]


def test_a_restart_of_a_connector_without_a_status_is_written__and_answered_404() -> None:
    alone = LoneHerder(mode=ConnectMode.COMPATIBLE)
    alone.configure("a")
    assert asked(alone, LEADERS["restart with flags"]) == [Answer.NOT_FOUND]
    assert alone.keys() == ["connector-a", "restart-connector-a"]
