"""The sides of a comparison: each answers the frames of one client after another."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

Answers = dict[int, bytes | None]
"""Answers without their lengths, by the number of the request; None where the connection is closed instead."""


class Side(Protocol):
    """A broker, as a comparison drives it."""

    def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:
        """Let time pass, and send a request on a connection on which nothing is in flight."""

    def answers(self, due: Collection[int] = ()) -> Answers:
        """The answers since the last call; those to the requests ``due`` are waited for."""
        ...

    def close(self) -> None:
        """No further answer is waited for."""


class Reference(Side, Protocol):
    """The side that is asked first, and chooses member ids."""

    def made_id(self, number: int, frame: bytes) -> str:
        """The member id that it made for a request that was just sent, where the other side cannot know it; else
        empty."""
        ...


class Follower(Side, Protocol):
    """The side that is asked after the reference."""

    def give_id(self, member_id: str) -> None:
        """The next member id is this one."""
