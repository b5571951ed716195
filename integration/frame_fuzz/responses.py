"""Responses as bytes, from which the generator learns the ids of members."""

from __future__ import annotations

from typing import Any

from rebalance_check.integration.frame_fuzz.values import Values
from rebalance_check.integration.wire.apis import APIS
from rebalance_check.integration.wire.frames import decode_request, read_prefix
from rebalance_check.integration.wire.kafka_python import ApiMessage, consumer, metadata
from rebalance_check.integration.wire.messages import MESSAGES


def encoded(request: ApiMessage, version: int, correlation_id: int = 0) -> bytes:
    """A request as a frame, without its length."""
    request.API_VERSION = version
    request.with_header(correlation_id=correlation_id, client_id="well-behaved")
    return bytes(request.encode(header=True))


def decoded(frame: bytes, answer: bytes) -> Any:
    """Decode ``answer`` (without its length) as the response to ``frame``; any exception means that it is not one."""
    prefix = read_prefix(frame)
    api = APIS[prefix.api_key]
    # Of ApiVersions alone a version that is not served is answered: in version 0 (KIP-511).
    version = prefix.api_version if api.low <= prefix.api_version <= api.high else 0
    return MESSAGES[api.key].response.decode(answer, version=version, header=True)


def check(values: Values, frame: bytes, answer: bytes) -> str:
    """Read an answer and keep the member id that it may carry: its error, or nothing."""
    prefix = read_prefix(frame)
    if prefix.api_key == metadata.ApiVersionsRequest.API_KEY:
        return ""  # kafka-python takes every error in it for one of version 0
    try:
        response = decoded(frame, answer)
    except Exception as error:
        return f"the answer to api {prefix.api_key} v{prefix.api_version} cannot be read: {error!r}"
    if prefix.api_key == consumer.JoinGroupRequest.API_KEY and response.member_id:
        request = decode_request(APIS[prefix.api_key].request, prefix, frame)
        values.learn(request.group_id, response.member_id, response.generation_id)
    return ""
