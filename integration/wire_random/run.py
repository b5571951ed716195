"""The requests of one seed on two sides, and where their answers differ first."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.messages import name_of, read_request, read_response
from rebalance_check.integration.wire_random.comparing import UNANSWERED, comparable
from rebalance_check.integration.wire_random.known import KnownDifference, known_difference
from rebalance_check.integration.wire_random.requests import GroupRequests
from rebalance_check.integration.wire_random.sides import Answers, Follower, Reference

STEP_MS: Final = (0, 0, 0, 0, 0, 0, 1, 1, 10, 1_000)
"""What passes in virtual time between two requests."""

OF_MEMBERS: Final = frozenset({"JoinGroup", "SyncGroup", "Heartbeat"})
"""Apis whose replies say whether a member is one."""

_REPEATED: Final = re.compile(r"(.)\1{19,}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and the virtual time that passes before it, in ms."""

    frame: bytes
    pass_ms: int

    def __str__(self) -> str:
        """Api, version and fields, on one line."""
        prefix = read_prefix(self.frame)
        request: Any = read_request(prefix, self.frame)
        shown = f"bytes {self.frame.hex()}" if request is None else request.to_dict()
        return f"{name_of(prefix.api_key)} v{prefix.api_version} {shortened(str(shown))}"


@dataclass(frozen=True, slots=True)
class WireDifference:
    """A request that two sides answered differently: the last of ``sent``, or one that waited until then."""

    seed: int
    number: int
    sent: tuple[Sent, ...]
    reference: str
    follower: str

    @property
    def request(self) -> Sent:
        """The request whose answers differ."""
        return self.sent[self.number]

    @property
    def kind(self) -> str:
        """What it is about: two of one kind are taken for one while it is made smaller."""
        return name_of(read_prefix(self.request.frame).api_key)


@dataclass(slots=True)
class WireRun:
    """What seeds have shown; ``by_api`` counts the replies that were compared."""

    requests: int = 0
    replies: int = 0
    spared: int = 0
    seconds: float = 0.0
    differences: list[WireDifference] = field(default_factory=list)
    by_api: Counter[str] = field(default_factory=Counter)

    def add(self, other: WireRun) -> None:
        """Take in the figures of another run."""
        self.requests += other.requests
        self.replies += other.replies
        self.spared += other.spared
        self.seconds += other.seconds
        self.differences += other.differences
        self.by_api += other.by_api


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms two sides are compared: fields that are left out, known differences, groups that may be listed."""

    left_out: frozenset[str]
    known: Sequence[KnownDifference]
    is_listed: Callable[[str], bool] = bool


Sides = tuple[Reference, Follower]


def compare(seed: int, requests: GroupRequests, frames: int, sides: Sides, terms: Terms) -> WireRun:
    """Send the requests of a seed to both sides, until they answer one differently; both are closed then.

    A request that would show a known difference is spared.
    """
    began, run = time.monotonic(), WireRun()
    pair = _Pair(seed, sides, terms)
    try:
        while len(pair.sent) < frames and not run.differences:
            frame = requests.next()
            if known_difference(frame, terms.known):
                run.spared += 1
                continue
            pair.step(Sent(frame, requests.values.draws.choice(STEP_MS)), run)
            for number, answer in pair.observed.items():
                _learn(requests, pair.sent[number].frame, answer)
    finally:
        pair.close()
    run.requests, run.seconds = len(pair.sent), time.monotonic() - began
    return run


def replay(seed: int, sent: Sequence[Sent], sides: Sides, terms: Terms) -> WireRun:
    """Send these requests, as they are, until they are answered differently; both sides are closed then."""
    run = WireRun()
    pair = _Pair(seed, sides, terms)
    try:
        for each in sent:
            pair.step(each, run)
            if run.differences:
                break
    finally:
        pair.close()
    return run


class _Pair:
    """Both sides, and what was sent to them; ``observed`` is what the reference answered in the last step."""

    def __init__(self, seed: int, sides: Sides, terms: Terms) -> None:
        self.sent: list[Sent] = []
        self.observed: Answers = {}
        self._seed = seed
        self._reference, self._follower = sides
        self._terms = terms

    def step(self, each: Sent, run: WireRun) -> None:
        """Send one request to both, and compare what was answered."""
        number = len(self.sent)
        self.sent.append(each)
        self._reference.send(number, each.frame, each.pass_ms)
        made = self._reference.made_id(number, each.frame)
        if made:
            self._follower.give_id(made)
        self._follower.send(number, each.frame, each.pass_ms)
        followed = self._follower.answers()
        self.observed = self._reference.answers(due=followed.keys())
        for answered in sorted({*self.observed, *followed}):
            run.replies += 1
            run.by_api[name_of(read_prefix(self.sent[answered].frame).api_key)] += 1
            self._compare(answered, followed, run)

    def _compare(self, number: int, followed: Answers, run: WireRun) -> None:
        both = [self._shown(number, side) for side in (self.observed, followed)]
        if both[0] != both[1]:
            run.differences.append(WireDifference(self._seed, number, tuple(self.sent), *map(str, both)))

    def _shown(self, number: int, answers: Answers) -> Any:
        if number not in answers:
            return UNANSWERED
        return comparable(self.sent[number].frame, answers[number], self._terms.left_out, self._terms.is_listed)

    def close(self) -> None:
        self._reference.close()
        self._follower.close()


def _learn(requests: GroupRequests, frame: bytes, answer: bytes | None) -> None:
    """The ids of members are in later requests."""
    prefix = read_prefix(frame)
    if answer is None or name_of(prefix.api_key) not in OF_MEMBERS:
        return
    request: Any = read_request(prefix, frame)
    reply: Any = read_response(prefix, answer)
    if request is not None and reply is not None:
        requests.learn(request, reply)


def shortened(text: str) -> str:
    """A text in which a character that stands there twenty times or more in a row stands there once."""
    return _REPEATED.sub(lambda found: f"{found[1]}*{len(found[0])}", text)
