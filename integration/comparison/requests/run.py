"""Sends the same random requests to two brokers, and compares every answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.impl.comparison.difference import Difference, Field, differing
from rebalance_check.impl.comparison.known import KnownDifference, foreseen
from rebalance_check.integration.comparison.requests.comparing import UNANSWERED, comparable
from rebalance_check.integration.comparison.requests.requests import GroupRequests
from rebalance_check.integration.comparison.requests.sides import Answers, Follower, Reference
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.messages import name_of, read_request, read_response

STEP_MS: Final = (0, 0, 0, 0, 0, 0, 1, 1, 10, 1_000)
"""The virtual time that passes between two requests."""

OF_MEMBERS: Final = frozenset({"JoinGroup", "SyncGroup", "Heartbeat"})
"""Apis whose replies say whether a member is one."""

_REPEATED: Final = re.compile(r"(.)\1{19,}", re.DOTALL)

Sides = tuple[Reference, Follower]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and the virtual time that passes before it, in ms."""

    frame: bytes
    pass_ms: int

    @property
    def api(self) -> str:
        """The name of its api."""
        return name_of(read_prefix(self.frame).api_key)

    def __str__(self) -> str:
        """Api, version and fields, on one line."""
        prefix = read_prefix(self.frame)
        request: Any = read_request(prefix, self.frame)
        shown = f"bytes {self.frame.hex()}" if request is None else request.to_dict()
        return f"{self.api} v{prefix.api_version} {shortened(str(shown))}"


@dataclass(frozen=True, slots=True)
class Terms:
    """The names of two sides, and on which terms they are compared.

    Fields that are ``left_out``, ``known`` differences, and groups that may be listed.
    """

    names: tuple[str, str]
    left_out: frozenset[str]
    known: Sequence[KnownDifference] = ()
    is_listed: Callable[[str], bool] = bool


class Drawn:
    """The requests of a seed, ``frames`` of them; a request that would show a known difference is ``spared``."""

    def __init__(self, requests: GroupRequests, frames: int, known: Sequence[KnownDifference]) -> None:
        self.spared = 0
        self._requests, self._frames, self._known = requests, frames, known

    def __iter__(self) -> Iterator[Sent]:
        for _ in range(self._frames):
            while foreseen(self._known, frame := self._requests.next()):
                self.spared += 1
            yield Sent(frame, self._requests.values.draws.choice(STEP_MS))

    def observe(self, shown: tuple[Sequence[Sent], Answers]) -> None:
        """The ids of members are in later requests."""
        sent, answers = shown
        for number, answer in answers.items():
            frame = sent[number].frame
            if answer is not None and sent[number].api in OF_MEMBERS:
                prefix = read_prefix(frame)
                request: Any = read_request(prefix, frame)
                reply: Any = read_response(prefix, answer)
                if request is not None and reply is not None:
                    self._requests.learn(request, reply)


class WireRun:
    """A `rebalance_check.impl.comparison.compare.Run`: requests for both sides, which are closed with it.

    The reference goes first, and chooses member ids; answers may come to requests that waited until then. ``answers``
    counts those that were compared, by api.
    """

    def __init__(self, sides: Sides, schedule: Any, terms: Terms) -> None:
        self.steps: list[Sent] = []
        self.answers: Counter[str] = Counter()
        self._reference, self._follower = sides
        self._schedule, self._terms = schedule, terms
        self._coming = iter(schedule)

    def begin(self) -> bool:
        """Send the next request to both; False where there is none."""
        each = next(self._coming, None)
        if each is None:
            return False
        number = len(self.steps)
        self.steps.append(each)
        self._reference.send(number, each.frame, each.pass_ms)
        if made := self._reference.made_id(number, each.frame):
            self._follower.give_id(made)
        self._follower.send(number, each.frame, each.pass_ms)
        return True

    def finish(self) -> Difference | None:
        """Compare the answers."""
        followed = self._follower.answers()
        answered = self._reference.answers(due=followed.keys())
        for number in sorted({*answered, *followed}):
            self.answers[self.steps[number].api] += 1
            if fields := self._fields(number, answered, followed):
                origin = f"the answer to request {number + 1}"
                return Difference(self._terms.names, tuple(self.steps), fields, origin, kind=self.steps[number].api)
        self._schedule.observe((self.steps, answered))
        return None

    def _fields(self, number: int, answered: Answers, followed: Answers) -> tuple[Field, ...]:
        first, second = (self._shown(number, answers) for answers in (answered, followed))
        if isinstance(first, dict) and isinstance(second, dict):
            return differing(first, second)
        return differing({"answer": first}, {"answer": second})

    def _shown(self, number: int, answers: Answers) -> Any:
        if number not in answers:
            return UNANSWERED
        return comparable(self.steps[number].frame, answers[number], self._terms.left_out, self._terms.is_listed)

    def close(self) -> None:
        """No further answer is waited for."""
        self._reference.close()
        self._follower.close()


def shortened(text: str) -> str:
    """A text in which a character that stands there twenty times or more in a row stands there once."""
    return _REPEATED.sub(lambda found: f"{found[1]}*{len(found[0])}", text)
