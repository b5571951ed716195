"""The incremental assignor of Connect, rule by rule: what it finds, what it takes away, what waits, where work goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.impl.connect.assignors.balance import Work, place, surplus
from rebalance_check.impl.connect.assignors.incremental import (
    Found,
    IncrementalAssignor,
    handle_lost,
    recall,
    remember,
    revoke_for_balance,
    revoke_invalid,
    sort_out,
)
from rebalance_check.impl.connect.assignors.memory import Memory
from rebalance_check.impl.connect.assignors.round import ITSELF, Assigned, Item, Round, owners
from rebalance_check.impl.protocol.connect_protocol import EMPTY, ConnectAssignment, WorkerState

NOW_MS = 10_000
NOTHING: frozenset[Item] = frozenset()


def item(name: str) -> Item:
    """``c1`` is the connector, ``c1-0`` a task of it."""
    connector, _, number = name.partition("-")
    return Item(connector, int(number) if number else ITSELF)


def items(names: str) -> tuple[Item, ...]:
    return tuple(map(item, names.split()))


def names(work: tuple[Item, ...] | list[Item]) -> list[str]:
    return [each.connector if each.task == ITSELF else f"{each.connector}-{each.task}" for each in work]


def work(**held: str) -> Work:
    return {worker: list(items(text)) for worker, text in held.items()}


def claim(text: str) -> ConnectAssignment:
    """A claim to connectors and tasks; the object `EMPTY` for none."""
    claimed = items(text)
    if not claimed:
        return EMPTY
    return ConnectAssignment(
        leader="stale",
        leader_url="stale",
        connectors=tuple(each.connector for each in claimed if each.task == ITSELF),
        tasks=tuple(each for each in claimed if each.task != ITSELF),
    )


def a_round(configured: dict[str, int], *, generation: int = 5, completed: int = 4, **claims: str) -> Round:
    """A round that ``w1`` leads; ``configured`` gives the number of tasks of each connector."""
    return Round(
        leader="w1",
        members={w: WorkerState(url=f"http://{w}/", config_offset=7, allocation=claim(c)) for w, c in claims.items()},
        task_counts=configured,
        config_offset=7,
        generation=generation,
        last_completed_generation=completed,
        now_ms=NOW_MS,
    )


def assign(memory: Memory, current: Round, max_delay_ms: int = 300_000) -> tuple[Assigned, Memory]:
    """The assignment of a leader with this memory, and its memory then."""
    assignor = IncrementalAssignor(max_delay_ms)
    assignor.memory = memory
    return assignor.assign(current), assignor.memory


def given(assigned: Assigned, worker: str) -> str:
    return " ".join(assigned.assignments[worker].names)


def taken(assigned: Assigned, worker: str) -> str:
    return " ".join(assigned.assignments[worker].revoked_names)


def remembered(previous: str, **fields: Any) -> Memory:
    """The memory of a leader that completed generation 4, in which ``previous`` was assigned to w1 and w2."""
    memory = Memory(
        previous_assignment=frozenset(items(previous)), previous_generation=4, previous_members=frozenset({"w1", "w2"})
    )
    return replace(memory, **fields)


# ---------------------------------------------------------------------------------------------------- memory


def test_a_leader_that_never_led_remembers_nothing() -> None:
    assert IncrementalAssignor().memory == Memory(
        previous_assignment=frozenset(),
        previous_revocation=frozenset(),
        revoked_in_previous=False,
        candidates=(),
        scheduled_rebalance_ms=0,
        delay_ms=0,
        previous_generation=-1,
        previous_members=frozenset(),
        successive_revocations=0,
    )


def test_the_leader_relies_on_what_it_assigned_only_when_it_completed_that_round() -> None:
    memory = remembered("c1 c1-0")
    assert recall(memory, a_round({}, completed=4, w1=""), {}) == set(items("c1 c1-0"))
    assert recall(memory, a_round({}, completed=3, w1=""), {}) == set()


def test_a_round_that_was_not_completed_clears_nothing_else() -> None:
    memory = remembered(
        "c1 c1-0", revoked_in_previous=True, candidates=("w9",), scheduled_rebalance_ms=NOW_MS + 70, delay_ms=200
    )
    memory = replace(memory, successive_revocations=2, previous_generation=3)
    _, after = assign(memory, a_round({"c1": 1}, w1="c1 c1-0", w2=""))
    assert (after.delay_ms, after.scheduled_rebalance_ms) == (70, NOW_MS + 70)
    assert (after.candidates, after.successive_revocations) == (("w9", "w2"), 2)


def test_a_revocation_that_did_not_happen_makes_what_is_claimed_count() -> None:
    """Work that was lost in the same round then counts as new, and does not wait."""
    memory = remembered("c1 c1-0 c1-1", previous_revocation=frozenset(items("c1-2")))
    claims = {"w1": items("c1 c1-0 c1-2")}
    assert recall(memory, a_round({}, w1=""), claims) == set(claims["w1"])
    assigned, after = assign(memory, a_round({"c1": 3}, w1="c1 c1-0 c1-2"))
    assert (given(assigned, "w1"), assigned.assignments["w1"].delay_ms) == ("c1-1", 0)
    assert after.previous_revocation == set(), "forgotten in every case"


def test_what_a_round_remembers() -> None:
    current = a_round({"c1": 3}, generation=9, w1="", w3="")
    revoked = {"w1": items("c1-1"), "w3": ()}
    after = remember(Memory(), current, frozenset(items("c1-2")), work(w1="c1 c1-0 c1-1", w3=""), revoked)
    assert after.previous_assignment == set(items("c1 c1-0 c1-2")), "with what is lost, without what is taken away"
    assert after.previous_revocation == set(items("c1-1"))
    assert (after.previous_generation, sorted(after.previous_members)) == (9, ["w1", "w3"])


# ---------------------------------------------------------------------------------------------------- what it finds


def test_work_is_sorted_by_what_was_assigned_what_is_claimed_and_what_is_configured() -> None:
    claims = {"w1": items("c1 c1-0"), "w2": items("c1-0 c2")}
    found = sort_out(frozenset(items("c1 c1-0 c1-1 c2 c3")), a_round({"c1": 3, "c3": 0}, w1=""), claims)
    assert found == Found(
        deleted=frozenset(items("c2")),
        lost=frozenset(items("c1-1 c3")),
        created=frozenset(items("c1-2")),
        duplicated=frozenset(items("c1-0")),
    )


def test_connectors_and_tasks_are_sorted_each_for_itself() -> None:
    """A connector with fewer tasks stays; only the task that is gone is taken away."""
    memory = remembered("c1 c1-0 c1-1")
    assigned, _ = assign(memory, a_round({"c1": 1}, w1="c1 c1-0 c1-1"))
    assert (given(assigned, "w1"), taken(assigned, "w1")) == ("", "c1-1")


def test_what_was_deleted_is_known_from_memory_alone() -> None:
    assert sort_out(NOTHING, a_round({}, w1=""), {"w1": items("c1")}).deleted == set()


def test_what_two_claim_is_taken_from_both_and_given_to_neither() -> None:
    found = sort_out(NOTHING, a_round({"c1": 1}, w1=""), {"w1": items("c1 c1-0"), "w2": items("c1")})
    revoked = revoke_invalid({"w1": items("c1 c1-0"), "w2": items("c1")}, found)
    assert {worker: names(each) for worker, each in revoked.items()} == {"w1": ["c1"], "w2": ["c1"]}
    assigned, after = assign(remembered("c1 c1-0"), a_round({"c1": 1}, w1="c1 c1-0", w2="c1"))
    assert [given(assigned, "w1"), given(assigned, "w2")] == ["", ""]
    assert after.revoked_in_previous is False, "only revocations for balance count"
    again, _ = assign(after, a_round({"c1": 1}, generation=6, completed=5, w1="c1-0", w2=""))
    assert [given(again, "w1"), given(again, "w2")] == ["c1", ""], "new in the next round, for the one that comes first"


def test_deleted_and_duplicated_work_is_taken_away_also_while_lost_work_waits() -> None:
    memory = remembered("c1 c1-0 c1-1 c2", delay_ms=100, scheduled_rebalance_ms=NOW_MS + 100, revoked_in_previous=True)
    assigned, after = assign(memory, a_round({"c1": 2}, w1="c1 c2", w2="c1"))
    assert (taken(assigned, "w1"), taken(assigned, "w2")) == ("c1 c2", "c1")
    assert {one.delay_ms for one in assigned.assignments.values()} == {100}
    assert after.revoked_in_previous is False


# ---------------------------------------------------------------------------------------------------- what is lost


def test_nothing_lost_and_no_revocation_ends_the_delay() -> None:
    memory = remembered("c1", candidates=("w2",), scheduled_rebalance_ms=NOW_MS + 50, delay_ms=90)
    after, again = handle_lost(memory, a_round({"c1": 0}, w1="c1"), NOTHING, work(w1="c1"), 300_000)
    assert (after.candidates, after.scheduled_rebalance_ms, after.delay_ms, list(again)) == ((), 0, 0, [])


def test_after_a_revocation_a_delay_begins_although_nothing_is_lost() -> None:
    memory = remembered("c1", revoked_in_previous=True)
    after, _ = handle_lost(memory, a_round({"c1": 0}, w1="c1"), NOTHING, work(w1="c1"), 300_000)
    assert (after.delay_ms, after.scheduled_rebalance_ms) == (300_000, NOW_MS + 300_000)


def test_when_every_previous_worker_is_there_lost_work_is_new_and_the_delay_stays_as_it_is() -> None:
    memory = remembered("c1 c1-0", delay_ms=7)
    after, again = handle_lost(memory, a_round({"c1": 1}, w1="c1", w2=""), frozenset(items("c1-0")), {}, 300_000)
    assert (names(sorted(again)), after) == (["c1-0"], memory)


def test_with_a_maximum_delay_of_0_lost_work_is_new() -> None:
    memory = remembered("c1 c1-0")
    after, again = handle_lost(memory, a_round({"c1": 1}, w1="c1"), frozenset(items("c1-0")), {}, 0)
    assert (names(sorted(again)), after) == (["c1-0"], memory)


def test_when_the_delay_is_over_candidates_get_what_was_lost_in_turn_whatever_they_run() -> None:
    """In the order in which they became candidates; tasks begin with the first candidate again."""
    memory = remembered("", candidates=("w3", "gone", "w2"), scheduled_rebalance_ms=NOW_MS, delay_ms=9)
    memory = replace(memory, revoked_in_previous=True)
    held = work(w1="", w2="c1 c1-0 c1-1", w3="c2")
    current = a_round({}, w1="", w2="c1 c1-0 c1-1", w3="c2")
    after, again = handle_lost(memory, current, frozenset(items("c3 c3-0 c3-1 c3-2")), held, 300_000)
    assert names(held["w3"]) == ["c2", "c3", "c3-0", "c3-2"]
    assert names(held["w2"]) == ["c1", "c1-0", "c1-1", "c3-1"]
    assert (held["w1"], list(again)) == ([], [])
    assert (after.candidates, after.scheduled_rebalance_ms, after.delay_ms) == ((), 0, 0)
    assert after.revoked_in_previous is False


def test_when_the_delay_is_over_and_no_candidate_is_left_lost_work_is_new() -> None:
    memory = remembered("", candidates=("gone",), scheduled_rebalance_ms=NOW_MS - 1, delay_ms=9)
    after, again = handle_lost(memory, a_round({}, w1="c1"), frozenset(items("c3")), work(w1="c1"), 300_000)
    assert (names(sorted(again)), after.scheduled_rebalance_ms, after.delay_ms) == (["c3"], 0, 0)


def test_workers_that_run_nothing_become_candidates_after_those_that_are() -> None:
    memory = remembered("", candidates=("w7",), scheduled_rebalance_ms=NOW_MS + 1, delay_ms=9)
    held = work(w1="c1", w2="", w7="")
    after, _ = handle_lost(memory, a_round({}, w1="c1", w2="", w7=""), frozenset(items("c3")), held, 300_000)
    assert after.candidates == ("w7", "w2")


@pytest.mark.parametrize(
    ("scheduled_ms", "max_delay_ms", "delay_ms"),
    [(0, 300_000, 300_000), (NOW_MS + 40, 300_000, 40), (NOW_MS + 9_000, 5_000, 5_000)],
    ids=["begins", "runs", "is cut to the maximum"],
)
def test_how_long_lost_work_waits(scheduled_ms: int, max_delay_ms: int, delay_ms: int) -> None:
    memory = remembered("c1 c2", scheduled_rebalance_ms=scheduled_ms)
    after, again = handle_lost(memory, a_round({}, w1="c1"), frozenset(items("c2")), work(w1="c1"), max_delay_ms)
    assert (after.delay_ms, after.scheduled_rebalance_ms, list(again)) == (delay_ms, NOW_MS + delay_ms, [])


# ---------------------------------------------------------------------------------------------------- balance

BALANCE = {
    # revoked before, a delay runs, out of balance, maximum delay -> revokes, flag, successive, delay
    "first": ((False, 0, True, 300_000), (True, True, 2, 0)),
    "second": ((True, 0, True, 300_000), (False, True, 3, 64_000)),
    "second without a delay": ((True, 0, True, 0), (True, True, 3, 0)),
    "balanced after a revocation": ((True, 0, False, 300_000), (False, False, 0, 0)),
    "balanced": ((False, 0, False, 300_000), (False, False, 2, 0)),
    "waits": ((True, 9, True, 300_000), (False, False, 2, 9)),
}


@pytest.mark.parametrize("case", BALANCE)
def test_when_work_is_revoked_for_balance(case: str) -> None:
    (before, delay_ms, uneven, max_delay_ms), expected = BALANCE[case]
    memory = remembered("", revoked_in_previous=before, delay_ms=delay_ms, successive_revocations=2)
    held = work(w1="c1-0 c1-1", w2="") if uneven else work(w1="c1-0", w2="c1-1")
    after, revoked = revoke_for_balance(memory, a_round({"c1": 2}, w1="", w2=""), held, max_delay_ms)
    assert (bool(revoked), after.revoked_in_previous, after.successive_revocations, after.delay_ms) == expected
    scheduled_ms = NOW_MS + after.delay_ms if case == "second" else 0
    assert after.scheduled_rebalance_ms == scheduled_ms


def given_up(configured: str, **held: str) -> dict[str, list[str]]:
    return {worker: names(each) for worker, each in surplus(work(**held), items(configured)).items()}


def test_a_worker_gives_up_the_first_of_its_surplus_and_keeps_its_share() -> None:
    assert given_up("c1-0 c1-1 c1-2 c1-3", w1="c1-3 c1-1 c1-0 c1-2", w2="") == {"w1": ["c1-3", "c1-1"]}


def test_as_many_workers_keep_one_more_as_there_are_extras() -> None:
    """Five tasks on three workers: two of them may keep two. Those that exceed the share are asked in turn."""
    tasks = "c1-0 c1-1 c1-2 c1-3 c1-4"
    assert given_up(tasks, w1="c1-0 c1-1", w2="c1-2 c1-3", w3="c1-4") == {}
    assert given_up(tasks, w1="", w2="c1-0 c1-1", w3="c1-2 c1-3 c1-4") == {"w3": ["c1-2"]}
    assert given_up("c1-0 c1-1 c1-2", w1="c1-0 c1-1", w2="c1-2", w3="") == {"w1": ["c1-0"]}


def test_shares_follow_from_what_is_configured() -> None:
    """Work that waits, or is still to be placed, counts."""
    assert given_up("c1-0 c1-1", w1="c1-0 c1-1", w2="") == {"w1": ["c1-0"]}
    assert given_up("c1-0 c1-1 c1-2 c1-3", w1="c1-0 c1-1", w2="") == {}


def test_connectors_and_tasks_are_balanced_each_for_itself() -> None:
    assert given_up("c1 c2 c1-0 c2-0", w1="c1 c2", w2="c1-0 c2-0") == {"w1": ["c1"], "w2": ["c1-0"]}


def test_nothing_is_given_up_when_no_worker_runs_anything_or_nothing_is_configured() -> None:
    assert given_up("c1 c2 c3", w1="", w2="") == {}
    assert given_up("", w1="c1 c2", w2="") == {}


# ---------------------------------------------------------------------------------------------------- new work


def placed(new: str, **held: str) -> dict[str, list[str]]:
    target = work(**held)
    place(target, items(new))
    return {worker: names(each) for worker, each in target.items()}


def test_new_work_goes_to_the_workers_with_the_least_of_its_kind() -> None:
    assert placed("c9", w1="c1", w2="c1-0 c1-1 c1-2", w3="c2") == {
        "w1": ["c1"], "w2": ["c1-0", "c1-1", "c1-2", "c9"], "w3": ["c2"],
    }  # fmt: skip


def test_workers_with_equal_loads_get_new_work_by_their_ids() -> None:
    assert placed("c1-0 c1-1 c1-2", w2="", w1="") == {"w2": ["c1-1"], "w1": ["c1-0", "c1-2"]}


def test_a_round_of_new_work_goes_to_the_leading_run_of_equal_loads() -> None:
    """w1 and w2 get one each until they have as many as w3; only then w3 has a turn."""
    filled = placed("c9-0 c9-1 c9-2 c9-3 c9-4 c9-5 c9-6", w3="c1-0 c1-1", w1="", w2="")
    assert filled["w1"] == ["c9-0", "c9-2", "c9-4"]
    assert filled["w2"] == ["c9-1", "c9-3", "c9-5"]
    assert filled["w3"] == ["c1-0", "c1-1", "c9-6"]


def test_created_work_and_lost_work_come_each_in_order_connectors_first() -> None:
    """Tasks by connector, then by number: not as texts."""
    assigned, _ = assign(remembered("a a-0"), a_round({"b": 11, "a": 1}, w1="", w2=""))
    assert assigned.assignments["w1"].connectors == ("b",)
    assert assigned.assignments["w2"].connectors == ("a",)
    dealt = [task for pair in zip(*(assigned.assignments[w].tasks for w in ("w1", "w2")), strict=True) for task in pair]
    assert names(dealt) == [*(f"b-{number}" for number in range(11)), "a-0"]


# ---------------------------------------------------------------------------------------------------- the answer


def test_a_worker_gets_what_it_has_not_and_all_get_the_same_delay() -> None:
    memory = remembered("c1 c1-0 c2 c2-0")
    assigned, _ = assign(memory, a_round({"c1": 1, "c2": 1, "c3": 0}, w1="c1 c1-0", w3=""))
    assert (given(assigned, "w1"), given(assigned, "w3")) == ("", "c3")
    assert {(one.delay_ms, one.config_offset) for one in assigned.assignments.values()} == {(300_000, 7)}
    assert assigned.connector_owners == {"c1": "w1", "c3": "w3"}, "lost work that waits has no owner"
    assert assigned.task_owners == {item("c1-0"): "w1"}


def test_what_is_revoked_has_no_owner() -> None:
    assigned, _ = assign(remembered("c1 c2"), a_round({"c1": 0, "c2": 0}, w1="c1 c2", w2=""))
    assert (taken(assigned, "w1"), given(assigned, "w2")) == ("c1", "")
    assert assigned.connector_owners == {"c2": "w1"}


def test_work_that_two_claim_has_one_owner_in_the_leaders_map() -> None:
    """Kafka's map names any of them: ours the last."""
    assert owners(work(w1="c1 c1-0", w2="c1")) == ({"c1": "w2"}, {item("c1-0"): "w1"})


def test_of_a_claim_only_the_work_counts() -> None:
    """Its leader, its error, its delay and its revocations are those of an old round."""
    current = a_round({"c1": 1}, w1="c1 c1-0")
    stale = replace(claim("c1 c1-0"), error=1, delay_ms=77, revoked_connectors=("c1",), config_offset=99)
    states = {"w1": replace(current.members["w1"], allocation=stale)}
    plain = assign(remembered("c1 c1-0"), current)
    assert assign(remembered("c1 c1-0"), replace(current, members=states)) == plain
