"""Random requests of the group apis: one seed is one history, they reach what they are for, and a difference is found.

The differences from Kafka are looked for in `tests/integration/virtual/test_wire_random_on_virtual.py` and
`tests/integration/brokers/test_wire_random_on_broker.py`.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import replace

import pytest

from rebalance_check.impl.comparison.known import foreseen
from rebalance_check.impl.coordinator.hash_order import Choices, JavaChoices
from rebalance_check.integration.comparison.requests.comparing import CLOSED, comparable
from rebalance_check.integration.comparison.requests.comparisons import SHORT, with_itself
from rebalance_check.integration.comparison.requests.embedded_side import EmbeddedSide
from rebalance_check.integration.comparison.requests.known import KNOWN
from rebalance_check.integration.comparison.requests.requests import LOOK_UP, OF_GROUPS, TOPICS
from rebalance_check.integration.comparison.requests.run import shortened
from rebalance_check.integration.comparison.requests.sides import Answers
from rebalance_check.integration.frame_fuzz.responses import encoded
from rebalance_check.integration.virtual.coordinator import member_ids_of
from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.kafka_python import admin, consumer
from rebalance_check.integration.wire.messages import name_of, read_response

SEEDS = range(12)
DIGEST = "from tests.integration.test_wire_random import digest_of; print(digest_of(3, 150))"

REACHED = {
    "JoinGroup": {0, 23, 25, 26, 79},
    "SyncGroup": {0, 22, 23, 25},
    "Heartbeat": {0, 22, 25, 27},
    "LeaveGroup": {0, 25},
    "OffsetCommit": {0, 3, 12, 22, 25},
    "OffsetFetch": {0},
    "OffsetDelete": {0, 3, 69, 86},
    "TxnOffsetCommit": {3, 42, 49},
    "DescribeGroups": {0},
    "ListGroups": {0},
    "DeleteGroups": {0, 68, 69},
    "FindCoordinator": {0, 42},
}
"""The error codes that the answers of some seeds must have: else the requests pass by what they are for."""


class Observed(EmbeddedSide):
    """Keeps the requests and their answers."""

    def __init__(self, seed: int) -> None:
        super().__init__(SHORT, TOPICS, member_ids_of(seed))
        self.frames: list[bytes] = []
        self.seen: Answers = {}

    def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
        self.frames.append(frame)
        super().send(number, frame, pass_ms)

    def answers(self, due: Collection[int] = ()) -> Answers:
        answered = super().answers(due)
        self.seen |= answered
        return answered


def other(seed: int) -> EmbeddedSide:
    return EmbeddedSide(SHORT, TOPICS, member_ids_of(seed))


@pytest.fixture(scope="module")
def sides() -> list[Observed]:
    """The requests and answers of some seeds, all equal to those of another broker."""
    return [observed(seed) for seed in SEEDS]


def observed(seed: int) -> Observed:
    side = Observed(seed)
    assert replace(with_itself(), open=lambda each: (side, other(each))).run(seed).differences == []
    return side


def digest_of(seed: int, frames: int) -> str:
    """A hash of all that the embedded broker is asked and answers in a seed."""
    side = Observed(seed)
    replace(with_itself(), open=lambda each: (side, other(each))).run(seed, frames)
    return hashlib.sha256(repr((side.frames, sorted(side.seen.items()))).encode()).hexdigest()


def codes_in(fields: object) -> set[int]:
    if isinstance(fields, dict):
        own = {value for name, value in fields.items() if name == "error_code"}
        return own.union(*(codes_in(value) for value in fields.values()))
    return set[int]().union(*(codes_in(one) for one in fields)) if isinstance(fields, list) else set()


def test_answers_reach_what_the_requests_are_for(sides: list[Observed]) -> None:
    reached: dict[str, set[int]] = {name: set() for name in REACHED}
    for side in sides:
        for number, answer in side.seen.items():
            prefix = read_prefix(side.frames[number])
            response = None if answer is None else read_response(prefix, answer)
            if response is not None:
                reached[name_of(prefix.api_key)] |= codes_in(response.to_dict())
    assert {name: codes - reached[name] for name, codes in REACHED.items() if codes - reached[name]} == {}


def test_requests_are_of_every_version__some_are_refused_and_some_wait(sides: list[Observed]) -> None:
    prefixes = [read_prefix(frame) for side in sides for frame in side.frames]
    seen = {(name_of(each.api_key), each.api_version) for each in prefixes}
    wanted = {
        (name_of(key), version)
        for key, (low, high) in VERSIONS.items()
        for version in range(low, high + 1)
        if name_of(key) in OF_GROUPS | {LOOK_UP}
    }
    assert seen == wanted
    assert sum(answer is None for side in sides for answer in side.seen.values()) > 100
    assert any(len(side.seen) < len(side.frames) for side in sides)


def test_one_seed_is_one_history__also_where_sets_are_in_another_order() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", DIGEST], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout.decode().strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert printed == {digest_of(3, 150)}
    assert digest_of(4, 150) not in printed


def test_a_difference_is_found_and_shrunk_to_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(EmbeddedSide):
        def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
            prefix = read_prefix(frame)
            if name_of(prefix.api_key) == "DeleteGroups":  # nothing is deleted
                nothing = admin.DeleteGroupsRequest(groups_names=["absent"])
                frame = encoded(nothing, prefix.api_version, prefix.correlation_id)
            super().send(number, frame, pass_ms)

    def opened(seed: int) -> tuple[EmbeddedSide, EmbeddedSide]:
        return other(seed), Forgetful(SHORT, TOPICS, member_ids_of(seed))

    comparison = replace(with_itself(), open=opened)
    (found,) = comparison.run(1).differences
    assert found.kind == "DeleteGroups"
    assert len(comparison.shrunk(found).steps) == 1


def test_who_leads_is_decided_as_by_javas_hash_maps() -> None:
    ids = ("m-1", "m-2", "m-3")
    assert Choices().leader(ids) == "m-1"
    assert JavaChoices().leader(("m-b", "m-a")) == JavaChoices().leader(("m-a", "m-b"))


def test_sessions_of_one_instant_end_in_the_order_of_javas_hash_maps() -> None:
    assert Choices().in_turn(("m-b", "m-a")) == ("m-b", "m-a")
    assert JavaChoices().in_turn(("m-b", "m-a")) == JavaChoices().in_turn(("m-a", "m-b")) == ["m-a", "m-b"]


def join(protocols: list[tuple[str, bytes]], kind: str = "consumer") -> bytes:
    of = consumer.JoinGroupRequest.JoinGroupRequestProtocol
    request = consumer.JoinGroupRequest(
        group_id="g", session_timeout_ms=6_000, rebalance_timeout_ms=6_000, member_id="", protocol_type=kind,
        protocols=[of(name=name, metadata=metadata) for name, metadata in protocols],
    )  # fmt: skip
    return encoded(request, 3)


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (join([("range", b""), ("range", b"")]), KNOWN[0].name),
        (join([("range", b"z" * 500)]), KNOWN[1].name),
        (join([("range", b"z" * 500)], "connect"), None),
        (join([("range", b"\0")]), None),
        (join([("range", b""), ("sticky", b"")]), None),
        (join([("range", b"")])[:-3], None),
    ],
)
def test_joins_that_stop_kafka_are_known(frame: bytes, name: str | None) -> None:
    known = foreseen(KNOWN, frame)
    assert (known and known.name) == name


def test_an_answer_that_cannot_be_read_is_compared_as_bytes() -> None:
    frame = join([])
    assert comparable(frame, None, (), bool) == CLOSED
    assert comparable(frame, b"\0\1", (), bool) == "bytes that are no answer: 0001"


def test_a_character_that_is_repeated_stands_once() -> None:
    assert shortened("a" + "x" * 4_097 + "bb") == "ax*4097bb"
