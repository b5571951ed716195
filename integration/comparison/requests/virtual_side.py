"""Kafka's own coordinator in virtual time, asked frame by frame."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.comparison.requests.sides import Answers
from rebalance_check.integration.virtual.coordinator import UUID_LENGTH
from rebalance_check.integration.virtual.process import VirtualKafka


class VirtualSide:
    """A new environment of virtual Kafka; ``seed`` decides its member ids, unless they are given."""

    def __init__(self, kafka: VirtualKafka, config: GroupConfig, topics: Mapping[str, int], seed: int) -> None:
        self._kafka = kafka
        self._environment = kafka.environment()
        self._environment.reset(seed, topics, config.settings)
        self._numbers: dict[int, int] = {}

    def give_id(self, member_id: str) -> None:
        """The next member id ends as this one does."""
        self._environment.order(f"give {uuid.UUID(member_id[-UUID_LENGTH:]).hex}")

    def made_id(self, number: int, frame: bytes) -> str:  # noqa: ARG002 - of the protocol
        """None that the other side would not make."""
        return ""

    def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
        """Let time pass, and send a request."""
        if pass_ms:
            self._environment.order(f"advance {pass_ms}")
        self._numbers[self._environment.post(frame)] = number
        self._kafka.flush()

    def answers(self, due: Collection[int] = ()) -> Answers:  # noqa: ARG002 - of the protocol
        """The answers since the last call."""
        self._environment.control("pending")
        self._environment.thrown.clear()  # no client sees a broker's log
        return {self._numbers.pop(posted): answer for posted, answer in self._environment.take_replies()}

    def close(self) -> None:
        """Give the environment back."""
        self._kafka.give_back(self._environment)
