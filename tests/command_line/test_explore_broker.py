"""`explore --broker`: every transition within bounds is executed on a coordinator, and divergences are its verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.commands import _explore_broker
from rebalance_check.impl.conformance.in_process import ReferenceTransport
from tests.command_line.conftest import Answer

Command = Callable[..., Answer]

ONE_MEMBER = ("--members", 1, "--partitions", 1, "--generations", 2, "--crashes", 1, "--leaves", 0, "--expiries", 0,
              "--duplicates", 0, "--deletions", 0)  # fmt: skip


def test_our_coordinator_does_what_the_model_says(command: Command, golden: Callable[[str, str], None]) -> None:
    answer = command("explore", "--broker", "embedded", *ONE_MEMBER)
    assert answer.code == 0
    golden("explore-embedded.txt", answer.out)


def test_a_divergence_is_a_violation__and_its_address_is_printed(
    command: Command, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(ReferenceTransport):
        def expire(self, member_id: str) -> None:
            """The session never runs out."""

    monkeypatch.setattr(_explore_broker, "ReferenceTransport", Forgetful)
    answer = command("explore", "--broker", "embedded", *ONE_MEMBER)
    assert answer.code == 10
    golden("explore-embedded-divergence.txt", answer.out)
    document = command("explore", "--broker", "embedded", *ONE_MEMBER, "--json").document
    assert document["verdict"] == "violated"
    assert all(each["action"].startswith("ExpireSession") for each in document["divergences"])
    assert document["divergences"][0]["address"] in answer.out


def test_the_document_counts_what_was_executed(command: Command) -> None:
    document = command("explore", "--broker", "embedded", *ONE_MEMBER, "--json").document
    assert document["verdict"] == "held"
    assert document["executed"] == document["transitions"] > document["compared"] > 0
    assert document["divergences"] == []
    assert "JoinGroup NONE" in document["answers"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--broker", "local"), "explore cannot execute every transition on 'local'"),
        (("--broker", "embedded", "--max-states", 5), "--max-states applies to the model alone"),
        (("--broker", "embedded", "--protocol", "status"), "a status log has no group coordinator"),
    ],
)
def test_what_cannot_be_executed_is_refused(command: Command, arguments: tuple[object, ...], sentence: str) -> None:
    answer = command("explore", *arguments)
    assert answer.code == 2
    assert sentence in answer.err


@pytest.mark.virtual
@pytest.mark.parametrize("release", ["virtual:4.3.1", "virtual:3.9.2-scala"])
def test_kafkas_coordinators_are_executed__and_listed_divergences_stand_apart(command: Command, release: str) -> None:
    sizes = ("--members", 1, "--partitions", 1, "--generations", 2, "--crashes", 1, "--leaves", 0, "--expiries", 0,
             "--duplicates", 0, "--deletions", 0, "--failovers", 1)  # fmt: skip
    document = command("explore", "--broker", release, *sizes, "--json").document
    assert document["verdict"] == "held"
    assert document["executed"] + document["never_taken"] == document["transitions"]
    assert document["divergences"] == []
    assert bool(document["listed"]) == release.endswith("scala")
