"""Kafka's own coordinator in an environment of virtual Kafka, as a `SteeredCoordinator`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest, ListedGroup
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.integration.virtual.codec import (
    decoded,
    delete_error,
    delete_request,
    list_request,
    listed,
    observed,
)
from rebalance_check.integration.virtual.journal import records_in
from rebalance_check.integration.virtual.process import VirtualEnvironment, VirtualKafka
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.group_status import GroupStatus

TOPICS: Final[Mapping[str, int]] = {"t": 2, "u": 2}
"""The topics of scenarios, with their numbers of partitions."""


NEVER_MS: Final = 1_000_000_000_000
"""A deadline that is as good as none: see `rebalance_check.impl.scenarios.runner.SETTINGS`."""

UUID_LENGTH: Final = 36

_WORD: Final = (1 << 64) - 1


def member_ids_of(seed: int) -> Callable[[str], str]:
    """Makes the member ids that an environment of ``seed`` makes, one after another (``SeededRandom.java``)."""
    state = seed & _WORD

    def draw() -> bytes:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return (mixed ^ (mixed >> 31)).to_bytes(8, "little")

    return lambda prefix: f"{prefix}-{uuid.UUID(bytes=draw() + draw(), version=4)}"


class VirtualCoordinator:
    """Kafka's coordinator in an environment of its own. The coordinator after it is another node with its journal.

    ``seed`` decides the member ids, and with them hash order; ``topics`` has the number of partitions of each.

    While ``defers`` is set, no call waits: its answers come out of `take_answers`, once `inspected` or `settle` has
    waited for them, or out of `collect`. Thus one round trip can take many environments a step further.
    """

    def __init__(
        self, kafka: VirtualKafka, config: GroupConfig, seed: int = 0, topics: Mapping[str, int] = TOPICS
    ) -> None:
        self._kafka = kafka
        self._environment = kafka.environment()
        self._environment.reset(seed, topics, config.settings)
        self._asked: dict[int, tuple[Hashable, GroupRequest]] = {}
        self._now_ms = 0
        self._node = self._zombie = 0
        self._epoch = 0
        self._failure = Error.NONE
        self._inspection: int | None = None
        self._settling: int | None = None
        self._observation: Observation | None = None
        self._deadline = 0
        self.defers = False

    @property
    def environment(self) -> VirtualEnvironment:
        """The environment that it runs in."""
        return self._environment

    def close(self) -> None:
        """Give the environment back."""
        self.drop_inspection()
        self._kafka.give_back(self._environment)

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """Send a request at ``now_ms``: the answers that are due now, to earlier requests, too."""
        self._pass_until(now_ms)
        return self._post(token, request, self._node)

    def advance(self, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """Let time pass."""
        self._pass_until(now_ms)
        return self._answers()

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms from the start; timers for housekeeping count."""
        return _deadline(self._environment.control("deadline", self._node))

    def give_id(self, member_id: str) -> None:
        """The next member id ends as this one does, so that hash order is that of the coordinator that made it."""
        self._order(f"give {uuid.UUID(member_id[-UUID_LENGTH:]).hex}")

    def look(self, group_id: str) -> None:
        """Ask for what `collect` returns, behind what was sent so far."""
        self.inspect(group_id)
        self._deadline = self._environment.post_control("deadline", self._node)

    def collect(self) -> tuple[list[tuple[Hashable, GroupReply]], Observation, int | None]:
        """The answers since the last call, the group, and the next deadline, all as of the last `look`."""
        observation = self.inspected()
        until = _deadline(self._environment.answer(self._deadline).text)
        return self.take_answers(), observation, until

    def inspect(self, group_id: str) -> None:
        """Ask for what `inspected` returns, behind what was sent so far."""
        self.drop_inspection()
        self._inspection = self._environment.post_inspection(group_id, self._node)

    def inspected(self) -> Observation:
        """The group as of the last `inspect`, waited for.

        Raises:
            RebalanceCheckError: `inspect` was never called.
        """
        if self._inspection is not None:
            result = self._environment.answer(self._inspection)
            self._observation, self._inspection = observed(result.inspected, scala=self._kafka.release.scala), None
        if self._observation is None:
            raise RebalanceCheckError("nothing was asked about the group: call inspect before inspected")
        return self._observation

    def drop_inspection(self) -> None:
        """Drop the answers that `inspect` and `begin_settling` asked for."""
        for number in (self._inspection, self._settling):
            if number is not None:
                self._environment.ignore(number)
        self._inspection = self._settling = None

    def observe(self, group_id: str) -> Observation:
        """The group as DescribeGroups shows it, with generation and leader from inside."""
        self.inspect(group_id)
        return self.inspected()

    def describe(self, group_id: str) -> DescribedGroup:
        """DescribeGroups."""
        return self.observe(group_id).described

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> Sequence[ListedGroup]:
        """ListGroups, by group id, filtered by states and types where some are given."""
        return listed(self._ask(list_request(tuple(states), tuple(types))))

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> Error:
        """The marker of a producer's transaction; NONE while the log withholds the outcome."""
        name = self._environment.control(
            f"end-transaction {producer_id} {'commit' if is_committed else 'abort'}", self._node
        )
        return Error[name] if name else Error.NONE

    def delete(self, group_id: str) -> Error:
        """DeleteGroups; NONE while the log withholds the outcome."""
        body = self._ask(delete_request(group_id))
        return Error.NONE if body is None else delete_error(body)

    def records(self) -> Sequence[Record]:
        """The records of the journal."""
        return records_in(self._environment.control("journal", self._node))

    def fail(self, error: Error) -> None:
        """Appends fail with this; with NONE they succeed again."""
        self._failure = error
        self._order("fail" if error is Error.NONE else f"fail {error.name}")

    def hold(self) -> None:
        """The high watermark stops."""
        self._order("acknowledge off")

    def release(self, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """The high watermark catches up."""
        self._order("acknowledge on")
        return self.advance(now_ms)

    def crash(self, lost: int) -> None:
        """The node stops; the other one is elected."""
        self._asked.clear()
        self._order("crash")
        self.elect(lost)

    def elect(self, lost: int) -> None:
        """The other node has the journal without its last ``lost`` records, and begins to load."""
        before, self._node = self._node, 1 - self._node
        self._epoch += 1
        self._order(f"replica {before} {lost} unclean")
        self.fail(self._failure)
        self._order("hold-load")
        self._order(f"elect {self._epoch}")

    def load(self, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """The journal is read."""
        self._order("release-load")
        return self.advance(now_ms)

    def unload(self, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """It resigns."""
        self._pass_until(now_ms)
        self._epoch += 1
        self._order(f"resign {self._epoch}")
        return self._answers()

    def depose(self) -> None:
        """The node goes on and cannot commit what it writes; the other one has its journal, and is elected."""
        self._order("acknowledge off")
        self._zombie = self._node
        self.elect(0)

    def handle_at_zombie(
        self, token: Hashable, request: GroupRequest, now_ms: int
    ) -> list[tuple[Hashable, GroupReply]]:
        """Send a request to the node that was deposed."""
        self._pass_until(now_ms)
        return self._post(token, request, self._zombie)

    def resign_zombie(self) -> None:
        """The node that was deposed learns of it."""
        self._environment.order(f"resign {self._epoch}", self._zombie)

    # ------------------------------------------------------------------------------------------ single timers

    def expire_session(self, group_id: str, member_id: str) -> list[tuple[Hashable, GroupReply]]:
        """Go to the deadline of this member's session: timers of others that are due on the way are late."""
        return self._fire(f"session {group_id} {member_id}")

    def expire_initial_delay(self, group_id: str) -> list[tuple[Hashable, GroupReply]]:
        """Fire the timer of the join phase until the phase is over: new members prolong the delay."""
        while self.observe(group_id).described.state == GroupStatus.PREPARING_REBALANCE:
            self._environment.control(f"join {group_id}", self._node)
        return self._answers()

    def expire_join(self, group_id: str) -> list[tuple[Hashable, GroupReply]]:
        """Go to the deadline of the join phase."""
        return self._fire(f"join {group_id}")

    def expire_sync(self, group_id: str) -> list[tuple[Hashable, GroupReply]]:
        """Go to the deadline by which all must have synced."""
        return self._fire(f"sync {group_id}")

    def prefer_leader(self, prefix: str) -> None:
        """Kafka's hash order decides, and with it the seed."""

    def _fire(self, timer: str) -> list[tuple[Hashable, GroupReply]]:
        """Go to the deadline of a timer; nothing happens where it does not run, which virtual Kafka refuses."""
        self._environment.ignore(self._environment.post_control(timer, self._node))
        return self._answers()

    # ------------------------------------------------------------------------------------------ frames

    def _post(self, token: Hashable, request: GroupRequest, node: int) -> list[tuple[Hashable, GroupReply]]:
        number = self._environment.post(encoded(request), node)
        self._asked[number] = (token, request)
        if self.defers:
            return []
        self._environment.answer(number)
        return self.take_answers()

    def _order(self, text: str) -> None:
        self._environment.order(text, self._node)

    def _pass_until(self, now_ms: int) -> None:
        if now_ms > self._now_ms:
            self._order(f"advance {now_ms - self._now_ms}")
            self._now_ms = now_ms

    def _ask(self, request: bytes) -> bytes | None:
        """The answer to a request that is not of the group protocol; None while there is none."""
        number = self._environment.post(request, self._node)
        self._environment.control("pending", self._node)
        replies = dict(self._environment.take_replies())
        body = replies.pop(number, None)
        self._environment.replies = [*replies.items()]
        return body

    def _answers(self) -> list[tuple[Hashable, GroupReply]]:
        """The answers after all that was sent."""
        if self.defers:
            return []
        self.settle()
        return self.take_answers()

    def begin_settling(self) -> None:
        """Ask for what `settle` waits for, behind what was sent so far."""
        self.drop_inspection()
        self._settling = self._environment.post_control("pending", self._node)

    def settle(self) -> None:
        """Wait until all that was sent, or was sent before `begin_settling`, has been handled."""
        if self._settling is None:
            self.begin_settling()
        number, self._settling = self._settling, None
        assert number is not None
        self._environment.answer(number)

    def take_thrown(self) -> str:
        """Exceptions of the coordinator since the last call that no reply reported; empty if there were none."""
        thrown, self._environment.thrown = "; ".join(self._environment.thrown), []
        return thrown

    def take_answers(self) -> list[tuple[Hashable, GroupReply]]:
        """The answers that have come since the last call.

        Raises:
            RebalanceCheckError: the coordinator threw an exception, or could not read a request.
        """
        if self._environment.thrown and not self.defers:
            raise RebalanceCheckError(f"Kafka's coordinator threw {self._environment.thrown[0]}: a broker would log it")
        found: list[tuple[Hashable, GroupReply]] = []
        for number, body in self._environment.take_replies():
            if number not in self._asked:  # the answer to a DeleteGroups that had to wait
                continue
            token, request = self._asked.pop(number)
            if body is None:
                raise RebalanceCheckError(f"virtual Kafka does not understand {request}: its bytes are wrong")
            found.append((token, decoded(request, body)))
        return found


def _deadline(text: str) -> int | None:
    """A time on which something depends: None for one that is as good as never."""
    return int(text) if text and int(text) < NEVER_MS else None
