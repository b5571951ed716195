"""Frames are read as strictly as Kafka reads them: null, length and repetition, in every field and version."""

import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from rebalance_check.integration.frame_fuzz.frames import FrameGenerator
from rebalance_check.integration.wire.apis import APIS, Api
from rebalance_check.integration.wire.frames import decode_request, read_prefix
from rebalance_check.integration.wire.kafka_python import metadata
from rebalance_check.integration.wire.malformed import MalformedFrame

VERSIONS = [
    pytest.param(api, version, id=f"{api.name}-v{version}")
    for api in APIS.values()
    for version in range(api.low, api.high + 1)
]
SAMPLES = {"string": "s", "bytes": b"b", "records": b"r", "bool": True, "uuid": None}


def sample(struct_: Any, made: Any, version: int) -> Any:
    """A struct with one element in each array, and no null."""
    return made(version=version, **{f.name: value(f, version) for f in struct_.untagged_fields(version)})


def value(field: Any, version: int) -> Any:
    if field.is_struct_array():
        return [sample(field.array_of, field.array_of.data_class, version)]
    if field.is_array():
        return [SAMPLES.get(field.array_of.type_str, 1)]
    return SAMPLES.get(field.type_str, 1)


def encoded(request: Any, version: int) -> bytes:
    request.API_VERSION = version
    request.with_header(correlation_id=1, client_id="c")
    return bytes(request.encode(header=True))


def decoded(api: Api, frame: bytes) -> Any:
    return decode_request(api.request, read_prefix(frame), frame)


def nullable_places(struct_: Any, holder: Any, version: int) -> Iterator[tuple[Any, Any]]:
    """Each object with each of its fields that has a form of null on the wire."""
    for field in struct_.untagged_fields(version):
        if field.is_array() or field.type_str in ("string", "bytes", "records"):
            yield holder, field
        if field.is_struct_array():
            yield from nullable_places(field.array_of, getattr(holder, field.name)[0], version)


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_null_is_read_where_the_protocol_has_it__and_refused_in_every_other_field(api: Api, version: int) -> None:
    request = sample(api.request._struct, api.request, version)
    assert decoded(api, encoded(request, version)) is not None
    for holder, field in nullable_places(api.request._struct, request, version):
        kept = getattr(holder, field.name)
        setattr(holder, field.name, None)
        frame = encoded(request, version)
        if (api.name, version, field.name) == ("Metadata", 0, "topics"):
            frame = frame[:-4] + b"\xff" * 4  # kafka-python writes an empty array instead
        if field.nullable_for_version_q(version):
            decoded(api, frame)
        else:
            with pytest.raises(MalformedFrame, match=f"null as {field.name}"):
                decoded(api, frame)
        setattr(holder, field.name, kept)


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_a_request_reads_as_kafka_pythons_own_decoder_reads_it(api: Api, version: int) -> None:
    frames = FrameGenerator(version)
    for _ in range(30):
        frame = frames.request(api, version)
        try:
            read = decoded(api, frame)
        except MalformedFrame:
            continue  # it has a null that must not be: the test above
        assert read == api.request.decode(frame, version=version, header=True)
        assert read.header.client_id == api.request.decode(frame, version=version, header=True).header.client_id


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_every_prefix_of_a_request_is_malformed__and_bytes_behind_it_do_not_count(api: Api, version: int) -> None:
    frame = encoded(sample(api.request._struct, api.request, version), version)
    whole = decoded(api, frame)
    assert decoded(api, frame + b"behind") == whole
    for length in range(8, len(frame)):
        with pytest.raises(MalformedFrame):
            decoded(api, frame[:length])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"\x80" * 1_000_000 + b"\0", "a varint of more than 5 bytes", id="endless varint"),
        pytest.param(b"\xff\xff\xff\xff\x07", "elements of topics in", id="more elements than bytes"),
        pytest.param(b"\x02\x80\x80\x04", "bytes of name, which has at most 32767", id="string too long"),
        pytest.param(b"\x02\x09short", "8 bytes, of which the frame has 5", id="string behind the end"),
        pytest.param(b"\x01\0\0\0\xff\xff\xff\xff\x07", "bytes, of which the frame has", id="endless tags"),
    ],
)
def test_lengths_that_cannot_be_are_refused_at_once(body: bytes, reason: str) -> None:
    frame = struct.pack(">hhih", 3, 9, 1, -1) + b"\0" + body
    with pytest.raises(MalformedFrame, match=reason):
        decode_request(metadata.MetadataRequest, read_prefix(frame), frame)


def test_bytes_that_are_no_text_are_replaced__as_java_does() -> None:
    frame = struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">ih", 1, 3) + b"a\xffb"
    assert decode_request(metadata.MetadataRequest, read_prefix(frame), frame).topics[0].name == "a\ufffdb"


def test_random_bytes_are_a_request_or_malformed__and_nothing_else() -> None:
    chosen = random.Random(3)
    outcomes = set()
    for _ in range(5_000):
        api = chosen.choice(list(APIS.values()))
        version = chosen.randint(api.low, api.high)
        frame = struct.pack(">hhih", api.key, version, 1, -1) + chosen.randbytes(chosen.randrange(40))
        try:
            decoded(api, frame)
            outcomes.add("request")
        except MalformedFrame:
            outcomes.add("malformed")
    assert outcomes == {"request", "malformed"}
