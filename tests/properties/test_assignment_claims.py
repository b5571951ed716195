"""The claims about assignments: for each a history that holds and one that breaks it; problems and shrinking."""

from dataclasses import replace

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.claims import CLAIMS, broken_claims
from rebalance_check.properties.assignment.problem import ASSIGNORS, ROUNDROBIN, Answer, Member, Partition, Problem
from rebalance_check.properties.assignment.problems import SHAPES, fits, random_problem
from rebalance_check.properties.assignment.shrink import shrink, smaller

A0, A1, A2, A3 = (("a", n) for n in range(4))


def group(*members: Member, **topics: int) -> Problem:
    return Problem(topics, {f"m{n}": member for n, member in enumerate(members)})


def broken(assignor: str, problem: Problem, *shares: tuple[Partition, ...], failure: str = "") -> list[str]:
    answer = Answer({f"m{n}": share for n, share in enumerate(shares)}, failure)
    return [one.claim for one in broken_claims(assignor, problem, answer)]


BOTH_WANT_A = group(Member(topics=("a",)), Member(topics=("a",)), a=4)
HELD = group(Member(("a",), (A0, A1, A2, A3), 1), Member(("a",)), a=4)


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_a_good_answer_breaks_nothing(assignor: str) -> None:
    shares = ((A0, A2), (A1, A3)) if assignor == ROUNDROBIN else ((A0, A1), (A2, A3))
    assert broken(assignor, BOTH_WANT_A, *shares) == []


def test_what_an_owner_gives_up_may_be_left_out__by_a_cooperative_round() -> None:
    assert broken("cooperative-sticky", HELD, (A0, A1), ()) == []
    assert broken("sticky", HELD, (A0, A1), ()) == ["complete", "balanced"]


def test_a_failure_is_the_only_thing_said_about_an_answer() -> None:
    assert broken("sticky", BOTH_WANT_A, failure="IllegalStateException") == ["answers"]


UNEQUAL = group(Member(("a", "b")), Member(("a",)), a=2, b=1)
OUTDATED = group(Member(("a",), (A0,), 1), Member(("a",), (A0,), 2), a=2)
RACKS = replace(
    group(Member(("a",), rack="east"), Member(("a",), rack="west"), a=2), racks={"a": (("west",), ("east",))}
)
PAIR = group(Member(("a", "b")), Member(("a", "b")), a=2, b=2)

BREAKS = [
    ("members", "range", BOTH_WANT_A, ((A0, A1, A2, A3),)),
    ("exclusive", "roundrobin", BOTH_WANT_A, ((A0, A1), (A1, A2, A3))),
    ("existing", "sticky", BOTH_WANT_A, ((A0, A1), (A2, A3, ("a", 4)))),
    ("subscribed", "sticky", group(Member(("a",)), Member(), a=2), ((A0,), (A1,))),
    ("complete", "range", BOTH_WANT_A, ((A0, A1), (A2,))),
    ("withheld_is_claimed", "cooperative-sticky", BOTH_WANT_A, ((A0, A1), (A2,))),
    ("transfer", "cooperative-sticky", HELD, ((A0, A1), (A2, A3))),
    ("balanced", "range", BOTH_WANT_A, ((A0, A1, A2), (A3,))),
    ("balanced", "roundrobin", BOTH_WANT_A, ((A0, A1, A2), (A3,))),
    ("balanced", "cooperative-sticky", HELD, ((A0, A1, A2), ())),
    ("balanced", "sticky", UNEQUAL, ((A0, A1, ("b", 0)), ())),
    ("sticky", "sticky", HELD, ((A0,), (A1, A2, A3))),
    ("sticky", "sticky", OUTDATED, ((A0,), (A1,))),
    ("sticky", "sticky", group(Member(("a", "b"), (("b", 0),), 1), Member(("a",), (A0, A1), 1), a=2, b=1),
     ((A0, ("b", 0)), (A1,))),
    ("copartitioned", "range", PAIR, ((A0, ("b", 1)), (A1, ("b", 0)))),
    ("circle", "roundrobin", BOTH_WANT_A, ((A0, A1), (A2, A3))),
    ("near_first", "range", RACKS, ((A0,), (A1,))),
    ("near_first", "sticky", RACKS, ((A0,), (A1,))),
    ("near_first", "cooperative-sticky", RACKS, ((A0,), (A1,))),
    ("ranges", "range", PAIR, ((A1, ("b", 1)), (A0, ("b", 0)))),
]  # fmt: skip


def test_where_racks_matter_the_near_members_come_first() -> None:
    for assignor in ("range", "sticky", "cooperative-sticky"):
        assert broken(assignor, RACKS, (A1,), (A0,)) == []


def test_what_a_member_had_it_may_keep__however_far() -> None:
    members = {name: replace(one, owned=((A0,), (A1,))[n]) for n, (name, one) in enumerate(RACKS.members.items())}
    assert broken("sticky", replace(RACKS, members=members), (A0,), (A1,)) == []


def test_racks_that_are_everywhere_do_not_matter() -> None:
    everywhere = replace(RACKS, racks={"a": (("east", "west"), ("east", "west"))})
    assert broken("range", everywhere, (A0,), (A1,)) == []


def test_the_circle_passes_who_does_not_subscribe() -> None:
    problem = group(Member(("a", "b")), Member(("b",)), a=2, b=2)
    b0, b1 = ("b", 0), ("b", 1)
    assert broken("roundrobin", problem, (A0, A1, b1), (b0,)) == []
    assert "circle" in broken("roundrobin", problem, (A0, A1, b0), (b1,))


@pytest.mark.parametrize(("claim", "assignor", "problem", "shares"), BREAKS, ids=lambda value: str(value)[:24])
def test_a_claim_is_broken__by_an_answer_that_does_what_it_forbids(
    claim: str, assignor: str, problem: Problem, shares: tuple[tuple[Partition, ...], ...]
) -> None:
    assert claim in broken(assignor, problem, *shares)


def test_every_claim_has_an_answer_that_breaks_it() -> None:
    assert {claim.name for claim in CLAIMS} == {claim for claim, *_ in BREAKS} | {"answers"}


def test_the_newest_of_several_claimants_is_the_owner__and_nobody_when_two_share_it() -> None:
    members = [Member(("a",), (A0, A1), generation) for generation in (1, 2, 2)]
    members[2] = Member(("a",), (A1,), 2)
    assert group(*members, a=2).owners() == {A0: "m1"}


@pytest.mark.parametrize("shape", SHAPES)
def test_problems_are_a_function_of_shape_and_seed__and_fit_their_shape(shape: str) -> None:
    problems = [random_problem(shape, seed) for seed in range(200)]
    assert problems == [random_problem(shape, seed) for seed in range(200)]
    assert all(fits(shape, problem) for problem in problems)
    assert len({str(problem) for problem in problems}) > 190


def test_half_of_the_problems_have_equal_subscriptions() -> None:
    alike = sum(random_problem("tame", seed).subscribed_alike() for seed in range(400))
    assert 160 < alike < 340


def test_an_unknown_shape_is_refused__with_those_there_are() -> None:
    with pytest.raises(RebalanceCheckError, match=r"no shape 'round'.*tame"):
        random_problem("round", 0)


def test_shrinking_leaves_nothing_out_that_matters__and_everything_else() -> None:
    def someone_claims_a1(problem: Problem) -> bool:
        return any(A1 in member.owned for member in problem.members.values())

    start = next(p for p in (random_problem("contested", seed) for seed in range(50)) if someone_claims_a1(p))
    small = shrink(start, someone_claims_a1)
    assert someone_claims_a1(small)
    assert not any(someone_claims_a1(one) for one in smaller(small))
    assert [len(member.owned) for member in small.members.values()] == [1]


def test_a_smaller_problem_keeps_a_rack_for_every_partition() -> None:
    for seed in range(20):
        for one in smaller(random_problem("racks", seed)):
            assert one.racks is None or {t: len(r) for t, r in one.racks.items()} == one.topics
