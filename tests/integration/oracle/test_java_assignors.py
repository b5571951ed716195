"""Kafka's own assignors: ours compared with them, and defects of releases found by claims that know none."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rebalance_check.commands.assignors import read_problem
from rebalance_check.integration.comparison.assignors import JavaAssignors, OurAssignors
from rebalance_check.integration.comparison.assignors.compare import (
    HASH_ORDER,
    WITHOUT_THE_MEANINGLESS,
    compare,
    shares,
)
from rebalance_check.integration.comparison.assignors.search import problems_for, search
from rebalance_check.properties.assignment.claims import broken_claims
from rebalance_check.properties.assignment.problem import ASSIGNORS, Problem
from rebalance_check.properties.assignment.problems import random_problem

pytestmark = pytest.mark.oracle

LATEST = "4.3.1"
DIFFERENCES = Path(__file__).parents[3] / "docs" / "differences.md"
WITHOUT_RACKS = ["tame", "stale", "outdated", "contested", "beyond", "twice", "empty", "lapsed"]
WITH_RACKS = ["racks", "scattered"]
SENSIBLE = ["tame", "stale", "outdated", "dropped"]
MEANINGLESS = ["beyond", "below", "twice", "empty"]


@pytest.fixture(scope="module")
def latest() -> Iterator[JavaAssignors]:
    with JavaAssignors(LATEST) as assignors:
        yield assignors


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_ours_equals_kafkas__on_more_than_ten_thousand_problems(latest: JavaAssignors, name: str) -> None:
    for result in compare(latest, [name], [*WITHOUT_RACKS, *WITH_RACKS], range(1_200)):
        assert (result.counts["inputs"], result.known, result.differences) == (1_200, {}, [])


@pytest.mark.parametrize("version", ["3.9.2", LATEST])
@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_the_sticky_family_equals_kafkas__on_more_than_ten_thousand_problems(version: str, name: str) -> None:
    with JavaAssignors(version) as theirs:
        for result in compare(theirs, [name], [*SENSIBLE, *WITH_RACKS], range(1_700)):
            assert (result.counts["inputs"], result.known, result.differences) == (1_700, {}, [])


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@pytest.mark.parametrize("shape", MEANINGLESS)
def test_ours_is_what_kafka_answers_when_the_problem_leaves_out_what_means_nothing(
    latest: JavaAssignors, name: str, shape: str
) -> None:
    problems = [random_problem(shape, seed) for seed in range(600)]
    theirs = latest.answer_all(name, [problem.sensible() for problem in problems])
    for problem, answer in zip(problems, theirs, strict=True):
        assert shares(OurAssignors(patience_lines=None).answer(name, problem)) == shares(answer), problem


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_every_difference_has_a_reason__on_what_bytes_can_say(latest: JavaAssignors, name: str) -> None:
    for result in compare(latest, [name], ["contested", "lapsed", *MEANINGLESS], range(400)):
        others = set(result.known) - {WITHOUT_THE_MEANINGLESS, HASH_ORDER}
        assert all(reason.startswith("Kafka breaks ") for reason in others)
        assert result.differences == []


def test_every_documented_input_is_answered_differently(latest: JavaAssignors) -> None:
    rows = re.findall(r'^\| .* \| `(\{"topics".*\})` \|$', DIFFERENCES.read_text(), re.MULTILINE)
    assert len(rows) == 6
    for problem in map(read_problem, rows):
        theirs, ours = (by.answer("cooperative-sticky", problem) for by in (latest, OurAssignors()))
        assert list(broken_claims("cooperative-sticky", problem, theirs)), problem
        assert not list(broken_claims("cooperative-sticky", problem, ours)), problem


class Defect(NamedTuple):
    """One defect of a release: where it is found, in which release it is, and in which no more."""

    entry: str
    assignor: str
    shape: str
    claim: str
    affected: str
    fixed: str


FIXED_DEFECTS = [
    Defect("sticky-same-generation-multi-claim", "sticky", "contested", "exclusive", "2.8.0", "2.8.1"),
    Defect("cooperative-claims-carry-no-generation", "cooperative-sticky", "outdated", "exclusive", "2.8.0", "2.8.1"),
    Defect("sticky-drops-all-older-generation-claims", "cooperative-sticky", "stale", "transfer", "3.4.0", "3.4.1"),
    Defect("sticky-drops-all-older-generation-claims", "sticky", "stale", "sticky", "3.4.0", "3.4.1"),
    Defect("rack-aware-sticky-unfilled-check", "cooperative-sticky", "racks", "answers", "3.7.0", "3.8.0"),
    Defect("KAFKA-15170 part 1", "cooperative-sticky", "racks", "transfer", "3.7.0", "3.8.0"),
    Defect("not in the catalogue", "sticky", "outdated", "exclusive", "3.5.1", "3.5.2"),
]


@pytest.mark.parametrize("defect", FIXED_DEFECTS, ids=lambda one: f"{one.entry} {one.assignor}")
def test_a_defect_is_found_in_a_release_that_has_it__and_not_in_the_next(defect: Defect) -> None:
    where = ([defect.assignor], [defect.shape], range(300))
    with JavaAssignors(defect.affected) as affected, JavaAssignors(defect.fixed) as fixed:
        (finding,) = search(problems_for(affected), *where, claims=(defect.claim,)).findings
        assert finding.broken.claim == defect.claim
        assert search(problems_for(fixed), *where, claims=(defect.claim,)).findings == []
        assert search(problems_for(fixed), [defect.assignor], ["tame"], range(100)).findings == []


OPEN_DEFECTS = [
    ("empty", "subscribed", 2),
    ("beyond", "existing", 2),
    ("beyond", "answers", 2),
    ("beyond", "exclusive", 2),
    ("lapsed", "subscribed", 3),
    ("lapsed", "answers", 4),
]


@pytest.mark.parametrize("version", ["3.9.2", LATEST])
@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
@pytest.mark.parametrize(("shape", "claim", "members"), OPEN_DEFECTS)
def test_what_is_still_wrong_is_found(version: str, assignor: str, shape: str, claim: str, members: int) -> None:
    with JavaAssignors(version) as assignors:
        (finding,) = search(problems_for(assignors), [assignor], [shape], range(400), claims=(claim,)).findings
        assert finding.count >= 1
        assert len(finding.input.members) <= members


@pytest.mark.parametrize("version", ["2.4.0", "2.8.1", "3.0.0", "3.9.2", LATEST])
def test_sensible_claims_break_nothing__in_range_and_roundrobin_of_any_release(version: str) -> None:
    with JavaAssignors(version) as assignors:
        assert (
            search(problems_for(assignors), ["range", "roundrobin"], [*WITHOUT_RACKS, *WITH_RACKS], range(120)).findings
            == []
        )


def test_two_processes_answer_byte_for_byte_alike() -> None:
    def digest() -> str:
        with JavaAssignors(LATEST) as assignors:
            answers = [
                str(answer)
                for name in ASSIGNORS
                for answer in assignors.answer_all(name, [random_problem("contested", seed) for seed in range(500)])
            ]
        return hashlib.sha256("".join(answers).encode()).hexdigest()

    assert digest() == digest()


def test_an_assignor_that_does_not_end_is_a_failure__and_the_next_problem_is_answered() -> None:
    large = Problem({"a": 2_000}, {f"m{n}": random_problem("tame", 1).members["m0"] for n in range(50)})
    with JavaAssignors(LATEST, patience_ms=1) as assignors:
        answers = list(assignors.answer_all("sticky", [large, Problem({}, {})]))
    assert answers[0].failure == "no answer within 1 ms"
