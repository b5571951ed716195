"""Templates write what the ordinary encoder writes, byte for byte, for every api and version that the suite speaks."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.wire import templates
from rebalance_check.integration.wire.apis import APIS
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.integration.wire.templates import derived, encoded, ordinary
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

TEXTS = st.text(max_size=6) | st.sampled_from(["", "t", "m0-4711", "ü" * 70, "x" * 300])
MAYBE = st.none() | TEXTS
BYTES = st.binary(max_size=6) | st.sampled_from([b"", b"\xff" * 126, b"\0" * 127, b"y" * 20_000])
INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)

TOPICS = st.sampled_from(["t", "u", ""]) | TEXTS
PARTITIONS = st.lists(st.tuples(TOPICS, INT32), max_size=5).map(tuple)
OFFSETS = st.lists(st.builds(msg.CommittedOffset, TOPICS, INT32, INT64, TEXTS, INT32), max_size=5).map(tuple)
COMMON: dict[str, Any] = {"group_id": TEXTS, "client_id": TEXTS}
MEMBER: dict[str, Any] = {**COMMON, "generation_id": INT32, "member_id": TEXTS, "group_instance_id": MAYBE}


def several(item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(item, max_size=4).map(tuple)


REQUESTS: dict[int, st.SearchStrategy[Any]] = {
    11: st.builds(
        msg.JoinGroupRequest, **COMMON, session_timeout_ms=INT32, rebalance_timeout_ms=INT32, member_id=TEXTS,
        protocol_type=TEXTS, protocols=several(st.builds(msg.JoinProtocol, TEXTS, BYTES)), group_instance_id=MAYBE,
        reason=MAYBE,
    ),
    14: st.builds(
        msg.SyncGroupRequest, **MEMBER, protocol_type=MAYBE, protocol_name=MAYBE,
        assignments=several(st.builds(msg.SyncAssignment, TEXTS, BYTES)),
    ),
    12: st.builds(msg.HeartbeatRequest, **MEMBER),
    13: st.builds(
        msg.LeaveGroupRequest, **COMMON, members=several(st.builds(msg.MemberIdentity, TEXTS, MAYBE, MAYBE))
    ),
    8: st.builds(msg.OffsetCommitRequest, **MEMBER, offsets=OFFSETS, retention_time_ms=INT64),
    9: st.builds(
        msg.OffsetFetchRequest, **COMMON, partitions=st.none() | PARTITIONS, require_stable=st.booleans()
    ),
    28: st.builds(
        msg.TxnOffsetCommitRequest, **MEMBER, transactional_id=TEXTS, producer_id=INT64, producer_epoch=INT16,
        offsets=OFFSETS,
    ),
    47: st.builds(msg.OffsetDeleteRequest, **COMMON, partitions=PARTITIONS),
}  # fmt: skip
"""The requests that may be made, by api key."""

CASES = [
    pytest.param(key, version, id=f"{APIS[key].name}-v{version}")
    for key in REQUESTS
    for version in range(APIS[key].low, APIS[key].high + 1)
]


def outcome(encode: Any, request: msg.GroupRequest) -> Any:
    """The bytes, or the kind of error where a version cannot carry a request."""
    try:
        return encode(request)
    except ValueError as error:
        return type(error)


def test_every_api_of_the_group_protocol_has_its_requests_here() -> None:
    assert set(templates.ITEMS) | {msg.HeartbeatRequest} == set(msg.GroupRequest.__args__)
    assert len(REQUESTS) == len(msg.GroupRequest.__args__)


@pytest.mark.parametrize(("key", "version"), CASES)
@settings(max_examples=15)
@given(data=st.data())
def test_a_template_writes_the_bytes_of_the_ordinary_encoder(data: st.DataObject, key: int, version: int) -> None:
    request = replace(data.draw(REQUESTS[key]), version=version)
    assert outcome(encoded, request) == outcome(ordinary, request)


HEARTBEAT = msg.HeartbeatRequest(group_id="g", version=4, generation_id=1, member_id="m")


def test_no_template_is_made__of_an_encoder_that_does_not_write_values_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(templates, "ordinary", lambda request: bytes(byte ^ 0x55 for byte in ordinary(request)))
    with pytest.raises(RebalanceCheckError, match="is not written in one piece"):
        derived(msg.HeartbeatRequest, 4, 0)


def test_no_template_is_used__that_fails_with_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def hides_long_groups(request: msg.GroupRequest) -> bytes:
        return ordinary(request if len(request.group_id) < 100 else replace(request, group_id="long"))

    monkeypatch.setattr(templates, "ordinary", hides_long_groups)
    with pytest.raises(RebalanceCheckError, match="another sample is written differently"):
        derived(msg.HeartbeatRequest, 4, 0)


def test_forgotten_strings_are_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "REMEMBERED", 2)
    for number in range(20):
        request = replace(HEARTBEAT, member_id=f"m{number}", group_instance_id=None if number % 2 else f"i{number}")
        assert encoded(request) == ordinary(request)


def test_forgotten_templates_are_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "TEMPLATES_KEPT", 1)
    for version in (0, 1, 2, 3, 4, 0):
        request = replace(HEARTBEAT, version=version)
        assert encoded(request) == ordinary(request)


@pytest.mark.parametrize("header", [b"\0\0\0\0\0", b"\0\0\0\7\0", b"\0\0\0\0\1\5\1x"])
def test_an_answer_is_read_behind_any_header(header: bytes) -> None:
    message = replies_to_wire([(HEARTBEAT, msg.HeartbeatReply(error=Error.ILLEGAL_GENERATION))])
    assert decoded(HEARTBEAT, header + bytes(message.encode())).error is Error.ILLEGAL_GENERATION
