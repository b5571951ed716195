"""``rebalance-check compare``: which pairs there are, what each says, and the command that shows a difference again."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.commands import _compare_transitions
from rebalance_check.commands._compare_model import command_of
from rebalance_check.commands.compare import PAIRS, pair_of
from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.integration.comparison.requests.embedded_side import EmbeddedSide
from rebalance_check.integration.comparison.requests.sides import Answers
from rebalance_check.integration.comparison.to_model.schedules import walks
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.properties.exit_codes import ExitCode
from tests.command_line.conftest import Answer

Command = Callable[..., Answer]
Golden = Callable[[str, str], None]

ONE_MEMBER = ("--bounds", "members=1,partitions=1,generations=2")
EVERY = ("compare", "model", "ours", *ONE_MEMBER)
REQUESTS = ("compare", "embedded", "embedded", "--seeds", "3:5", "--steps", 60)


# ------------------------------------------------------------------------------------------------ which pairs


@pytest.mark.parametrize(
    ("first", "second", "pair"),
    [
        ("model", "ours", ("model", "ours")),
        ("virtual:3.9.2", "model", ("model", "virtual")),
        ("model", "127.0.0.1:9092", ("model", "live")),
        ("model", "local", ("model", "live")),
        ("virtual:4.3.1", "ours", ("ours", "virtual")),
        ("virtual", "testcontainers", ("virtual", "live")),
        ("embedded", "broker.example:9092", ("embedded", "live")),
        ("embedded", "embedded", ("embedded", "embedded")),
        ("kafka:3.9.2", "assignors", ("assignors", "kafka")),
    ],
)
def test_two_subjects_are_a_pair_in_either_order(first: str, second: str, pair: tuple[str, str]) -> None:
    for given in ((first, second), (second, first)):
        assert pair_of(*given)[0][:2] == pair


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("model",), "Missing argument 'SUBJECT'"),
        (("model", "theirs"), "'theirs' is no subject: write model, ours, embedded, virtual"),
        (("ours", "embedded"), "ours and embedded cannot be compared: choose model ours, model virtual"),
        (("model", "kafka:4.3.1"), "cannot be compared"),
        (("model:x", "ours"), "'model:x' is no subject"),
        (("model", "embedded", "--minutes", 1), "--minutes does not go together with compare model embedded"),
        (("model", "ours", "--walks", 5), "--walks does not go together with compare model ours"),
        (("model", "embedded", "--every-transition"), "--every-transition does not go together with"),
        (("model", "virtual", "--every-transition", "--walks", 5), "--walks does not go together with"),
        (("embedded", "embedded", "--protocol", "eager"), "--protocol does not go together with"),
        (("embedded", "embedded", "v1/eager/0"), "an ADDRESS is a path of the model"),
        (("model", "ours", "v1/eager/0"), "an ADDRESS is a path of the model"),
        (("model", "ours", "--protocol", "status"), "a status log has no group coordinator"),
        (("model", "embedded", "--bounds", "initial_delay"), "a broker cannot follow eager?"),
        (("model", "embedded", "v1/eager?members=1/0"), "a broker cannot follow eager?members=1"),
        (("assignors", "kafka", "--shape", "returns"), "returns belongs to Connect: add --assignor"),
    ],
)
def test_what_cannot_be_compared_is_refused(command: Command, arguments: tuple[object, ...], sentence: str) -> None:
    answer = command("compare", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_the_help_names_every_pair(command: Command) -> None:
    said = command("compare", "--help").out
    for pair in PAIRS:
        assert f"{pair.first} {pair.second}".replace("live", "BROKER") in said


# ------------------------------------------------------------------------------------------------ model and ours


def test_our_coordinator_does_what_the_model_says(command: Command, golden: Golden) -> None:
    answer = command(*EVERY)
    assert answer.code == 0
    golden("compare-ours.txt", answer.out)


def test_a_difference_is_a_violation__and_its_address_is_printed(
    command: Command, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(ReferenceTransport):
        def expire(self, member_id: str) -> None:
            """The session never runs out."""

    monkeypatch.setattr(_compare_transitions, "ReferenceTransport", Forgetful)
    answer = command(*EVERY)
    assert answer.code == 10
    golden("compare-ours-difference.txt", answer.out)
    document = command(*EVERY, "--json").document
    assert document["verdict"] == "violated"
    assert {each["kind"] for each in document["differences"]} == {"ExpireSession"}
    assert document["differences"][0]["again"] in answer.out


def test_the_document_counts_what_was_executed(command: Command) -> None:
    document = command(*EVERY, "--json").document
    assert document["verdict"] == "held"
    counts = document["counts"]
    assert counts["executed"] == counts["transitions"] > counts["compared"] > 0
    assert document["differences"] == []
    assert document["reached"]["JoinGroup NONE"] > 0


# ------------------------------------------------------------------------------------------------ model and a broker


def test_walks_on_the_embedded_broker__every_answer_is_as_predicted(command: Command) -> None:
    document = command("compare", "model", "embedded", "--walks", 3, "--steps", 25, "--json").document
    assert (document["verdict"], document["differences"]) == ("held", [])
    assert document["counts"]["schedules"] == 3
    assert document["counts"]["requests"] > 10
    assert document["events"] > 30


def test_the_command_of_a_difference_names_broker_and_schedule__and_repeats_it(command: Command) -> None:
    bounds = Bounds(members=2, partitions=1, generations=2, crashes=0, initial_delay=False)
    schedule: Schedule = next(iter(walks(bounds, 1, seed=0, steps=8)))
    words = shlex.split(command_of(schedule, "embedded"))
    assert words[:4] == ["rebalance-check", "compare", "model", "embedded"]
    path = path_at(words[4])
    assert (path.bounds, tuple(path.actions)) == (bounds, schedule.actions)
    document = command(*words[1:], "--json").document
    assert (document["counts"]["schedules"], document["verdict"]) == (1, "held")
    assert "--real-timers" in shlex.split(command_of(schedule, "local", real_timers=True))


# ------------------------------------------------------------------------------------------------ requests


def test_a_broker_that_answers_as_another_holds(command: Command) -> None:
    answer = command(*REQUESTS, "--json")
    assert answer.code == ExitCode.HELD, answer.err
    document = answer.document
    assert (document["verdict"], document["differences"], document["counts"]["requests"]) == ("held", [], 120)
    assert document["compared"] == ["the embedded broker", "the embedded broker, again"]
    assert "; 0 differences that nothing explains)" in answer.err


def test_a_difference_comes_with_the_command_that_shows_it_again(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, asked = EmbeddedSide.answers, [0]

    def silent(self: EmbeddedSide, due: object = ()) -> Answers:
        asked[0] += 1
        return plain(self) if asked[0] != 9 else {}

    monkeypatch.setattr(EmbeddedSide, "answers", silent)
    answer = command(*REQUESTS)
    assert answer.code == ExitCode.SAFETY
    assert "differ in answer after step 5 (seed 3, the answer to request 5)" in answer.out
    assert "\n    the embedded broker, again  no answer\n" in answer.out
    assert "again: rebalance-check compare embedded embedded --seeds 3:4 --steps 60" in answer.out


def test_an_end_by_a_signal_says_what_was_compared(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, asked = EmbeddedSide.answers, [0]

    def interrupted(self: EmbeddedSide, due: object = ()) -> Answers:
        asked[0] += 1
        if asked[0] == 150:
            raise KeyboardInterrupt
        return plain(self)

    monkeypatch.setattr(EmbeddedSide, "answers", interrupted)
    answer = command(*REQUESTS)
    assert answer.code == 130
    assert answer.err.endswith("ended by SIGINT; 60 requests are compared, 0 differences are shown above\n")


# ------------------------------------------------------------------------------------------------ Kafka's own


@pytest.mark.virtual
@pytest.mark.parametrize("release", ["virtual:4.3.1", "virtual:3.9.2-scala"])
def test_kafkas_coordinators_are_executed__and_known_differences_stand_apart(command: Command, release: str) -> None:
    bounds = ("--bounds", "members=1,partitions=1,generations=2,failovers=1")
    document = command("compare", "model", release, "--every-transition", *bounds, "--json").document
    assert document["verdict"] == "held"
    counts = document["counts"]
    assert counts["executed"] + counts.get("never taken", 0) == counts["transitions"]
    assert document["differences"] == []
    assert bool(document["known"]) == release.endswith("scala")


@pytest.mark.virtual
@pytest.mark.parametrize(
    "pair", [("ours", "virtual"), ("model", "virtual", "--walks", 2), ("embedded", "virtual")], ids=lambda pair: pair[0]
)
def test_each_pair_with_virtual_kafka_holds(command: Command, pair: tuple[object, ...]) -> None:
    seeds = () if pair[0] == "model" else ("--seeds", "0:2")
    assert command("compare", *pair, *seeds).code == 0
