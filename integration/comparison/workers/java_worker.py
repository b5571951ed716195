"""Kafka's WorkerCoordinator in a Java process, driven step by step; its requests and replies travel as bytes."""

from __future__ import annotations

from typing import cast

import msgspec

from rebalance_check.impl.protocol.messages import GroupRequest
from rebalance_check.integration.comparison.workers.our_fields import described_request, reply_in
from rebalance_check.integration.comparison.workers.steps import Seen, Step
from rebalance_check.integration.jvm.child import JavaChild
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.jvm.services import WORKERS, service_command
from rebalance_check.integration.wire.frames import LENGTH_BYTES, encode_response, read_prefix
from rebalance_check.integration.wire.messages import name_of, read_request
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.integration.wire.requests import requests_from_wire


class JavaWorker(JavaChild):
    """One process, as a context manager; a step ``reset`` begins a new worker in it."""

    name = "Kafka's"

    def __init__(self, release: Release) -> None:
        self.release = release
        self._in_flight: dict[str, dict[int, bytes]] = {}
        super().__init__("Kafka's WorkerCoordinator", service_command(WORKERS, release))

    def perform(self, step: Step) -> Seen:
        """Do a step; the observations since the one before.

        Raises: `RebalanceCheckError` when the process has ended, or refused the step.
        """
        worker = f"{step.get('run', '')} {step.get('worker', 'w')}"
        in_flight = self._in_flight.get(worker, {})
        asked = {**_as_reply(step, in_flight), "run": worker, **({"open": step} if step["do"] == "reset" else {})}
        seen = cast("Seen", msgspec.json.decode(self.answer_to(asked)))
        in_flight |= {number: bytes.fromhex(frame) for number, frame in seen["frames"]}
        seen["requests"] = [described_request(_request(in_flight[number])) for number, _ in seen["frames"]]
        self._in_flight[worker] = {number: in_flight[number] for number in seen.pop("in_flight")}
        return seen


def _as_reply(step: Step, in_flight: dict[int, bytes]) -> Step:
    """A step that chooses an answer, as the bytes that answer the oldest request of that api."""
    if step["do"] != "answer":
        return step
    wanted = step["api"].title().replace("_", "")
    number, frame = next(one for one in in_flight.items() if name_of(read_prefix(one[1]).api_key) == wanted)
    request = _request(frame)
    reply = encode_response(replies_to_wire([(request, reply_in(step))]), request.version, number)
    return {"do": "reply", "correlation": number, "frame": reply[LENGTH_BYTES:].hex()}


def _request(frame: bytes) -> GroupRequest:
    (request,) = requests_from_wire(read_request(read_prefix(frame), frame), client_host="")
    return request
