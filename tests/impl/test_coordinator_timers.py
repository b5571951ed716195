"""The timers of the coordinator: one per key, in order of deadline, then of arming; nothing else makes time pass."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.timers import TimerKey, TimerKind, Timers
from rebalance_check.impl.protocol.messages import JoinGroupRequest, JoinProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def key(name: str) -> TimerKey:
    return TimerKey(TimerKind.SESSION, "g", name)


def fired(timers: Timers, now_ms: int) -> list[str]:
    names = []
    while (timer := timers.pop_due(now_ms)) is not None:
        names.append(timer.key.member_id)
    return names


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.booleans()), max_size=300))
def test_timers_fire_as_a_plain_list_would_have_them(steps: list[tuple[str, int, bool]]) -> None:
    timers, plain = Timers(), dict[str, tuple[int, int]]()
    for order, (name, deadline, arm) in enumerate(steps):
        if arm:
            timers.arm(key(name), deadline)
            plain[name] = (deadline, order)
        else:
            timers.cancel(key(name))
            plain.pop(name, None)
        assert timers.next_deadline() == (min(plain.values())[0] if plain else None)
    assert fired(timers, 20) == sorted(plain, key=lambda name: plain[name])


def request(member_id: str = "", session_ms: int = 6_000) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        version=9,
        client_id="a",
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=(JoinProtocol("range", b"m"),),
    )


def test_the_next_deadline_is_when_advance_has_something_to_do() -> None:
    coordinator = GroupCoordinator(GroupConfig(), new_member_id=lambda _: "a")
    assert coordinator.next_deadline() is None
    coordinator.handle(0, request(), 1_000)
    assert coordinator.next_deadline() == 7_000
    coordinator.handle(0, request("a"), 2_000)
    assert coordinator.next_deadline() == 5_000
    assert coordinator.advance(4_999) == []
    assert [token for token, _ in coordinator.advance(5_000)] == [0]


def test_a_timer_that_is_due_fires_before_the_request_that_comes_then() -> None:
    coordinator = GroupCoordinator(GroupConfig(), new_member_id=lambda _: "a")
    coordinator.handle(0, request(), 0)
    ((_, reply),) = coordinator.handle(1, request("a"), 6_000)
    assert reply.error.name == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("min_session_timeout_ms", 0),
        ("max_session_timeout_ms", 5_999),
        ("initial_rebalance_delay_ms", -1),
        ("max_size", 0),
        ("write_timeout_ms", 0),
    ],
)
def test_a_setting_that_kafka_refuses_is_refused__with_the_value_seen(setting: str, value: int) -> None:
    changed: dict[str, Any] = {setting: value}
    with pytest.raises(RebalanceCheckError, match=f"{setting} is {value}"):
        GroupConfig(**changed)


def test_a_timer_that_arms_itself_again_without_delay_stands_aside_until_something_else_happens() -> None:
    timers = Timers()
    timers.arm(key("again"), 5)
    timers.arm(key("other"), 7)

    def fire_all(now_ms: int) -> list[str]:
        names = []
        timers.recall()
        while (timer := timers.pop_due(now_ms)) is not None:
            names.append(timer.key.member_id)
            if timer.key == key("again"):
                timers.arm(timer.key, timer.deadline_ms)
            timers.settle(timer, now_ms)
        return names

    assert fire_all(6) == ["again"]
    assert timers.next_deadline() == 7
    assert key("again") in timers
    assert fire_all(7) == ["again", "other", "again"]
    timers.cancel(key("again"))
    assert fire_all(8) == []


def test_timers_that_arm_each_other_without_delay_are_an_error_that_names_one_of_them() -> None:
    timers = Timers()
    timers.arm(key("a"), 5)

    def fire_all() -> None:
        while (timer := timers.pop_due(5)) is not None:
            timers.arm(key("b" if timer.key == key("a") else "a"), 5)
            timers.settle(timer, 5)

    with pytest.raises(RebalanceCheckError, match=r"session timer of group 'g', member '[ab]' fired 1,000 times at 5"):
        fire_all()
