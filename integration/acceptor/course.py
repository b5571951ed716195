"""One way in which the coordinator may have gone: requests that arrived, those that are on their way, replies given."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Final

from rebalance_check.impl.comparison.to_model.in_process import CopyableInProcess
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.timers import TimerKind
from rebalance_check.impl.protocol.messages import GroupReply, LeaveGroupRequest, MemberIdentity
from rebalance_check.integration.acceptor.recorded import Asked
from rebalance_check.model.vocabulary.group_status import GroupStatus

CONFIG: Final = GroupConfig(min_session_timeout_ms=1, max_session_timeout_ms=2**31 - 1)
"""Settings that no recording shows refuse nothing."""

UNKNOWN_DELAY_MS: Final = 600_000
"""An initial delay that is over when a reply shows that it is."""

UNASKED: Final = 0
"""The number of a request that no client sent."""

FIRINGS: Final = 5
"""So often the timer of the initial delay fires at most: each firing gives new members more time."""


class Followed(Choices):
    """Where Kafka's hash order decides, the leader and protocol that the recorded replies name for the generation."""

    __slots__ = ("_leaders", "_protocols", "generation")

    def __init__(self, leaders: Mapping[int, set[str]], protocols: Mapping[int, set[str]]) -> None:
        self.generation = 0
        self._leaders, self._protocols = leaders, protocols

    def __deepcopy__(self, _memo: dict[int, Any]) -> Followed:
        return copy(self)

    def leader(self, candidates: Sequence[str]) -> str:
        """The recorded one, if it may lead."""
        return self._chosen(candidates, self._leaders) or super().leader(candidates)

    def protocol(self, candidates: Sequence[str]) -> str:
        """The recorded one, if it may win."""
        return self._chosen(candidates, self._protocols) or super().protocol(candidates)

    def _chosen(self, candidates: Sequence[str], recorded: Mapping[int, set[str]]) -> str:
        """The next generation is the one that is formed; a later one may already be under way."""
        wanted = recorded.get(self.generation + 1, set())
        return next((each for each in candidates if each in wanted), "")


class MemberIds:
    """Makes the member ids that the recorded replies give; one whose reply is not recorded is named ``unseen-1``."""

    def __init__(self) -> None:
        self.following = ""
        self.unseen = 0

    def __call__(self, _prefix: str) -> str:
        """The id that the reply to the request at hand gives."""
        if self.following:
            return self.following
        self.unseen += 1
        return f"unseen-{self.unseen}"


class Course:
    """The reference coordinator after some of the recorded requests, in one possible order; ``now_ms`` is its time.

    ``waiting`` are the requests on their way, ``parked`` those that it handles, ``said`` the replies that it gave and
    that are not recorded yet.
    """

    def __init__(self, group: str, choices: Followed, initial_delay_ms: int | None) -> None:
        self.group = group
        self._ends_freely = initial_delay_ms is None
        self.now_ms = 0
        self.waiting: dict[int, Asked] = {}
        self.parked: set[int] = set()
        self.said: dict[int, GroupReply] = {}
        self._ids, self._choices = MemberIds(), choices
        delay_ms = UNKNOWN_DELAY_MS if initial_delay_ms is None else initial_delay_ms
        config = replace(CONFIG, initial_rebalance_delay_ms=delay_ms)
        self.coordinator = CopyableInProcess(config, new_member_id=self._ids, choices=choices)

    def copied(self) -> Course:
        """An independent copy."""
        made = copy(self)
        made.waiting, made.parked, made.said = dict(self.waiting), set(self.parked), dict(self.said)
        memo: dict[int, Any] = {}
        made.coordinator = deepcopy(self.coordinator, memo)
        made._ids, made._choices = memo[id(self._ids)], memo[id(self._choices)]
        return made

    def digest(self) -> Hashable:
        """Equal for courses that go on alike."""
        described = self.coordinator.describe(self.group)
        inside = self.coordinator.coordinator.inspect(self.group)
        timers = tuple(timer[::2] for timer in self.coordinator.coordinator.timers())
        said = frozenset(self.said.items())
        return described, inside, timers, frozenset(self.waiting), frozenset(self.parked), said

    @property
    def has_unseen(self) -> bool:
        """Whether it made a member id that no reply shows."""
        return self._ids.unseen > 0

    def members_in(self, generation: int) -> frozenset[str] | None:
        """The members with which that generation began, where it began last and waits for its assignments."""
        inside, described = self.coordinator.coordinator.inspect(self.group), self.coordinator.describe(self.group)
        if inside is None or inside.generation != generation or described.state != GroupStatus.COMPLETING_REBALANCE:
            return None
        return frozenset(member.member_id for member in described.members)

    def advance(self, now_ms: int) -> None:
        """Let time pass."""
        self.now_ms = max(self.now_ms, now_ms)
        self._steer()
        self._take(self.coordinator.advance(self.now_ms))

    def deliver(self, number: int) -> None:
        """A request on its way arrives."""
        asked = self.waiting.pop(number)
        self._ids.following = asked.new_id
        self.parked.add(number)
        self._steer()
        self._take(self.coordinator.handle(number, asked.request, self.now_ms))

    def refuse(self, number: int) -> None:
        """A request is refused for a reason that no recording shows, and does nothing."""
        self.waiting.pop(number, None)
        self.parked.discard(number)

    def remove(self, member_id: str) -> None:
        """A member, or an id that was given to none yet, is removed with the refusal of its request."""
        leaving = LeaveGroupRequest(group_id=self.group, version=3, members=(MemberIdentity(member_id),))
        self._take(self.coordinator.handle(UNASKED, leaving, self.now_ms))
        del self.said[UNASKED]

    def move(self) -> None:
        """The coordinator gives the group up, and loads it again."""
        self._take(self.coordinator.unload(self.now_ms))
        self.coordinator.elect(0)
        self._take(self.coordinator.load(self.now_ms))

    def arriving(self) -> list[int]:
        """The requests that may arrive next: the first of each connection."""
        first: dict[int, int] = {}
        for number, asked in self.waiting.items():
            first.setdefault(asked.event.connection, number)
        return list(first.values())

    def fired_early(self, window_ms: int) -> Iterator[Course]:
        """Copies in which a timer fired that is due within the window, in ms, or that of the initial delay."""
        for timer in self.coordinator.coordinator.timers():
            is_initial = self._ends_freely and timer.key.kind is TimerKind.JOIN and bool(timer.arguments)
            if timer.key.group_id != self.group or (timer.deadline_ms > self.now_ms + window_ms and not is_initial):
                continue
            made = self.copied()
            made._fire(timer.key.kind, timer.key.member_id)
            yield made

    def operated_on(self) -> Iterator[Course]:
        """Copies in which an operator, whom no record shows, removed a member, or deleted the group that has none."""
        members = self.coordinator.describe(self.group).members
        for member in members:
            made = self.copied()
            made.remove(member.member_id)
            yield made
        if not members:
            made = self.copied()
            made.coordinator.delete(self.group)
            yield made

    def _fire(self, kind: TimerKind, member_id: str) -> None:
        self._steer()
        match kind:
            case TimerKind.SESSION:
                self._take(self.coordinator.expire_session(self.group, member_id))
            case TimerKind.SYNC:
                self._take(self.coordinator.expire_sync(self.group))
            case TimerKind.JOIN:
                for _ in range(FIRINGS):
                    if self.coordinator.describe(self.group).state == GroupStatus.PREPARING_REBALANCE:
                        self._take(self.coordinator.expire_join(self.group))
            case TimerKind.WRITE:
                pass

    def _steer(self) -> None:
        inside = self.coordinator.coordinator.inspect(self.group)
        self._choices.generation = inside.generation if inside is not None else 0

    def _take(self, answers: Sequence[tuple[Hashable, GroupReply]]) -> None:
        for token, reply in answers:
            assert isinstance(token, int)
            self.parked.discard(token)
            self.said[token] = reply
