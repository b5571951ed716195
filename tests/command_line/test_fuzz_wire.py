"""``rebalance-check fuzz --wire``: figures and a verdict, and of each difference the command that shows it again."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.integration.wire_random.embedded_side import EmbeddedSide
from rebalance_check.integration.wire_random.sides import Answers
from rebalance_check.properties.exit_codes import ExitCode

ARGUMENTS = ("fuzz", "--broker", "embedded", "--wire", "--seeds", "3:5", "--frames", 60)


def test_a_broker_that_answers_as_another_holds(command: Callable[..., Any]) -> None:
    answer = command(*ARGUMENTS, "--json")
    assert answer.code == ExitCode.HELD, answer.err
    document = answer.document
    assert (document["verdict"], document["differences"], document["requests"]) == ("held", [], 120)
    assert document["compared"] == ["the embedded broker", "the embedded broker, again"]
    assert "verdict: held (0 differences)" in answer.err


def test_a_difference_comes_with_the_command_that_shows_it_again(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, asked = EmbeddedSide.answers, [0]

    def silent(self: EmbeddedSide, due: object = ()) -> Answers:
        asked[0] += 1
        return plain(self) if asked[0] != 9 else {}

    monkeypatch.setattr(EmbeddedSide, "answers", silent)
    answer = command(*ARGUMENTS)
    assert answer.code == ExitCode.SAFETY
    assert "seed 3, request 4 of 5\n  " in answer.out
    assert "\n  the embedded broker, again: no answer\n" in answer.out
    assert "replay: rebalance-check fuzz --broker embedded --wire --seeds 3:4 --frames 60" in answer.out


def test_without_a_broker_there_is_nothing_to_compare(command: Callable[..., Any]) -> None:
    answer = command("fuzz", "--wire")
    assert answer.code == 2
    assert "--wire compares the answers of a broker: add --broker BROKER" in answer.err
