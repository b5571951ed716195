"""The parts of the assignor oracle that need no Java: frames, searches over our own assignors, the command."""

import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from rebalance_check.cli import run
from rebalance_check.integration.comparison.assignors import OurAssignors
from rebalance_check.integration.comparison.assignors.compare import compare
from rebalance_check.integration.comparison.assignors.messages import (
    owned_field,
    problem_message,
    read_answer,
    user_data_of,
)
from rebalance_check.integration.comparison.assignors.release import CLIENT_JARS
from rebalance_check.integration.comparison.assignors.search import problems_for, search
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.problem import ASSIGNORS, Answer, Member, Problem
from rebalance_check.properties.assignment.problems import SHAPES, random_problem


class Greedy:
    """Gives the first member all that exists, whatever the members want or hold."""

    name = "greedy"
    knows_racks = True

    def answer_all(self, assignor: str, problems: Iterable[Problem]) -> Iterator[Answer]:  # noqa: ARG002 - the protocol's
        for problem in problems:
            everything = tuple((topic, n) for topic, count in problem.topics.items() for n in range(count))
            yield Answer({name: everything if not i else () for i, name in enumerate(problem.members)})


def test_our_assignors_break_no_claim__on_any_shape() -> None:
    found = search(problems_for(OurAssignors()), ASSIGNORS, list(SHAPES), range(60))
    assert found.findings == []
    assert found.inputs == 60 * len(ASSIGNORS) * len(SHAPES)


def test_a_search_finds_and_shrinks__what_an_assignor_gets_wrong() -> None:
    found = search(problems_for(Greedy()), ["cooperative-sticky"], ["tame"], range(100), claims=("transfer",))
    (finding,) = found.findings
    assert finding.broken.claim == "transfer"
    assert len(finding.input.members) == 2
    assert sum(len(member.owned) for member in finding.input.members.values()) == 1


def test_equal_assignors_compare_equal() -> None:
    (result,) = compare(OurAssignors(), ["sticky"], ["tame"], range(50))
    assert (result.counts["inputs"], result.known, result.differences) == (50, {}, [])


def test_a_comparison_tells_who_is_wrong__when_answers_differ() -> None:
    (result,) = compare(Greedy(), ["roundrobin"], ["tame"], range(50))
    assert result.known
    assert all(reason.startswith("Kafka breaks") for reason in result.known)
    example = next(iter(result.examples.values()))
    assert str(example).startswith("greedy and our own differ in m0")


def test_claims_go_where_the_assignor_looks_for_them() -> None:
    member = Member(("a",), (("a", 0),), 5)
    assert owned_field("sticky", member) == ()
    assert user_data_of("sticky", member) == b"\0\0\0\1\0\1a\0\0\0\1\0\0\0\0\0\0\0\5"
    assert owned_field("cooperative-sticky", member) == member.owned
    assert user_data_of("cooperative-sticky", member) == struct.pack(">i", 5)
    assert user_data_of("range", member) is None


def test_a_problem_is_written_field_by_field() -> None:
    problem = Problem({"a": 1, "b": 2}, {"m": Member(("a",), (("a", 0),), 4, "i", None)}, {"a": (("r",),)})
    assert problem_message("cooperative-sticky", problem) == {
        "assignor": "CooperativeStickyAssignor",
        "topics": {"a": (("r",),), "b": ((), ())},
        "members": [
            {
                "id": "m",
                "topics": ("a",),
                "user_data": struct.pack(">i", 4),
                "owned": (("a", 0),),
                "generation": 4,
                "instance": "i",
                "rack": None,
            }
        ],
    }


def test_answers_and_failures_are_read() -> None:
    assert read_answer(b'{"assigned":{"m":[["a",2]]}}') == Answer({"m": (("a", 2),)})
    assert read_answer(b'{"failure":"boom"}') == Answer({}, "boom")


@pytest.mark.parametrize("version", ["2.3.1", "4", "latest", "../x"])
def test_a_version_without_such_assignors_is_refused(version: str) -> None:
    with pytest.raises(RebalanceCheckError, match=r"since 2\.4\.0"):
        CLIENT_JARS.folder_of(version)


def test_without_maven_and_jars_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("REBALANCE_CHECK_KAFKA_JARS", raising=False)
    with pytest.raises(RebalanceCheckError, match=r"install Maven, or put kafka-clients-2\.8\.0\.jar"):
        CLIENT_JARS.folder_of("2.8.0")


def test_the_command_judges_ours__and_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assignors", "ours", "--seeds", "0:10", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["inputs"], document["findings"]) == (
        "held",
        10 * len(ASSIGNORS) * len(SHAPES),
        [],
    )


def test_the_command_refuses_what_is_no_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assignors", "ours", "--input", '{"topics":3}']) == 2
    assert "--input is no assignment problem" in capsys.readouterr().err


def test_a_problem_survives_the_way_to_the_command_line_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    from rebalance_check.commands.assignors import read_problem  # noqa: PLC0415 - the console is imported late
    from rebalance_check.properties.assignment.problem import problem_json  # noqa: PLC0415 - the console is imported late

    for shape in SHAPES:
        for seed in range(20):
            problem = random_problem(shape, seed)
            assert read_problem(problem_json(problem)) == problem
