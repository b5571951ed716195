"""The search for a way in which the reference coordinator gives the recorded replies.

A recorder sees when a request and its reply pass, and not when the coordinator handles the request, so the order of
requests whose intervals overlap is open, and so is a timer within the tolerance. The search keeps every course that
gave all replies so far, and lets a request arrive when a reply needs it, or when the tolerance has passed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rebalance_check.impl.coordinator.records import GroupRecord
from rebalance_check.integration.acceptor.course import Course, Followed
from rebalance_check.integration.acceptor.recorded import (
    NONE,
    Answered,
    Asked,
    Recording,
    event_of,
    recorded,
    recording_of,
    shown,
)
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event

TOLERANCE_MS: Final = 1_000
"""How long a request takes at most from the recorder to its handling; so much may a timer fire early or late."""


class Width(NamedTuple):
    """How far the search looks: so many courses at once, copies for one reply, and choices beyond the fewest."""

    courses: int
    copies: int
    beyond: int


NARROW: Final = Width(12, 600, 0)
"""Accepts nearly all that may be accepted, in milliseconds a reply."""
WIDE: Final = Width(48, 4_000, 1)
"""Looks again before a reply is refused."""

MOVED: Final = frozenset(
    each.name for each in (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS)
)
OF_SETTINGS: Final = MOVED | {
    each.name
    for each in (
        Error.INVALID_SESSION_TIMEOUT, Error.GROUP_MAX_SIZE_REACHED, Error.GROUP_AUTHORIZATION_FAILED,
        Error.TOPIC_AUTHORIZATION_FAILED, Error.OFFSET_METADATA_TOO_LARGE, Error.UNKNOWN_TOPIC_OR_PARTITION,
    )
}  # fmt: skip
"""Errors for reasons that no recording shows: the settings of a broker, and where a group's coordinator is."""

OF_AN_UNSEEN_FIELD: Final = (Api.SYNC_GROUP, Error.INCONSISTENT_GROUP_PROTOCOL.name)
"""A SyncGroup that names another protocol than the group's: no record holds the name (KIP-559)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first reply that the reference coordinator does not give.

    ``api`` is Kafka's name of the request. ``expected`` are the replies that it gives in the courses that led there,
    each as text, the most likely first ("no reply" where it lets the request wait). ``prefix`` are the events of the
    group up to the reply.
    """

    api: str
    asked: Event
    reply: Event
    given: str
    expected: tuple[str, ...]
    prefix: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The result: how many replies were compared, the first that is refused, and why nothing can be said."""

    group: str
    requests: int
    replies: int
    refusal: Refusal | None = None
    undecided: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether the reference coordinator gave every reply."""
        return self.refusal is None and not self.undecided and self.replies > 0


def accept(
    history: Iterable[Event], group: str = "", *, tolerance_ms: int = TOLERANCE_MS, initial_delay_ms: int | None = None
) -> Acceptance:
    """Whether the replies to a recorded group are those of a Kafka coordinator.

    ``group`` is the group's id ("": the history has one group). The record begins before the group's first member.
    ``initial_delay_ms`` is the broker's ``group.initial.rebalance.delay.ms``; without it the delay is over when a reply
    shows that it is. The group is not forgotten with its offsets meanwhile.
    """
    history = list(history)
    recording = recording_of(history, group)
    if (reason := _why_not(recording)) is not None:
        return Acceptance(group, 0, 0, undecided=reason)
    found = _Search(recording, tolerance_ms, initial_delay_ms, NARROW).run(group)
    if found.is_accepted:
        return found
    return _Search(recording, tolerance_ms, initial_delay_ms, WIDE).run(group)


def _why_not(recording: Recording) -> str | None:
    """Why nothing can be said: a group without requests, or one that was there before."""
    first = next((step for step in recording.steps if isinstance(step, Asked)), None)
    if first is None or not recording.replied:
        return "the history holds no request of the group with its reply"
    if first.event.api != Api.OFFSET_COMMIT and first.event.member_id:
        return f"the record begins with a {first.event.api} of {first.event.member_id}: the group was there before"
    return None


class _Search:
    """All courses that gave the replies so far."""

    def __init__(self, recording: Recording, tolerance_ms: int, initial_delay_ms: int | None, width: Width) -> None:
        self._recording, self._tolerance_ms, self._initial_delay_ms = recording, tolerance_ms, initial_delay_ms
        self._width, self._was_cut, self._was_full, self._tried = width, False, False, 0
        self._has_operator = False
        self._asked: dict[int, Asked] = {}
        self._done: list[Event] = []
        self._group = next(step.request.group_id for step in recording.steps if isinstance(step, Asked))
        self._courses = [*self._begun()]

    def _begun(self) -> Iterator[Course]:
        """A new group, or an Empty one of the generation before the first one that a reply names."""
        choices = Followed(self._recording.leaders, self._recording.protocols)
        course = Course(self._group, choices, self._initial_delay_ms)
        yield course
        before = min(self._recording.leaders, default=1) - 1
        if before > 0:
            older = course.copied()
            older.coordinator.log.records.append(_empty(self._group, before))
            older.move()
            yield older

    def run(self, group: str) -> Acceptance:
        """Follow the recording to its end, or to the first reply that no course gives."""
        replies = 0
        for step in self._recording.steps:
            self._done.append(event_of(step))
            self._pass_time(step.time_ms)
            if isinstance(step, Asked):
                self._asked[step.number] = step
                for course in self._courses:
                    course.waiting[step.number] = step
            elif step.number in self._asked:
                replies += 1
                courses = self._after(step)
                if not courses:
                    return self._ended(group, replies, step)
                self._courses = courses
        return Acceptance(group, len(self._asked), replies)

    def _ended(self, group: str, replies: int, step: Answered) -> Acceptance:
        """No course gives the reply: it is refused, or something before it is not in the record."""
        self._has_operator = True
        is_of_an_operator = bool(self._after(step))
        self._has_operator = False
        refusal, compared = self._refusal(step), (group, len(self._asked), replies)
        missing = [
            asked.event
            for asked in self._asked.values()
            if asked.number not in self._recording.replied and asked.event.api in {Api.JOIN_GROUP, Api.SYNC_GROUP}
        ]
        doubt = ""
        if missing:
            doubt = f"{len(missing)} requests before it have no recorded reply, such as a {missing[0].api}"
        elif unrecorded := self._recording.unrecorded_members:
            doubt = f"{unrecorded[0]} is a member whose requests are not recorded"
        elif is_of_an_operator:
            doubt = "an operator, whom no record shows, may have removed a member or deleted the group"
        elif self._recording.has_late_replies:
            doubt = "a member that recorded its own replies was paused or crashed before"
        elif self._was_full:
            doubt = (
                "a JoinGroup before it was refused because the group is full, and no record shows the broker's limit"
            )
        elif self._was_cut:
            doubt = f"the search looked at {self._width.copies} courses for a reply, and there are more"
        if doubt:
            said = f"no course gives the {step.event.api} reply of {step.time_ms} ms ({refusal.given}), but {doubt}"
            return Acceptance(*compared, undecided=said)
        return Acceptance(*compared, refusal)

    def _pass_time(self, now_ms: int) -> None:
        """A reply that is recorded must have been given in time: its request arrives at the latest now."""
        late_ms = now_ms - self._tolerance_ms
        for course in [*self._courses]:
            self._let_arrive(course, late_ms)
            deadline_ms = course.coordinator.next_deadline()
            if deadline_ms is not None and deadline_ms <= late_ms:
                in_time = [
                    each for each, asked in course.waiting.items() if asked.time_ms <= deadline_ms + self._tolerance_ms
                ]
                self._fork(course, in_time)
        for course in self._courses:
            course.advance(late_ms)

    def _let_arrive(self, course: Course, late_ms: int) -> None:
        """The requests that must have arrived, in the order in which they were sent; those before them whose replies
        are not recorded may have arrived, too. The first to join an empty group leads it."""
        due = [
            number
            for number, asked in course.waiting.items()
            if asked.time_ms < late_ms and number in self._recording.replied
        ]
        first = next((number for number in due if self._leads_next(course, self._asked[number])), None)
        if first is not None and first != due[0]:
            self._fork(course, [first, *(number for number in due if number != first)])
        before = [each for each in course.waiting if due and self._asked[each].time_ms <= self._asked[due[-1]].time_ms]
        if len(before) > len(due):
            self._fork(course, due)
        self._deliver(course, sorted({*before, *due}, key=self._order))

    def _order(self, number: int) -> tuple[int, bool, int]:
        return self._asked[number].time_ms, number in self._recording.replied, abs(number)

    def _fork(self, course: Course, numbers: list[int]) -> None:
        """Another course, in which these requests arrive in this order."""
        if numbers and len(self._courses) < self._width.courses:
            self._courses.append(course.copied())
            self._deliver(self._courses[-1], numbers)

    def _deliver(self, course: Course, numbers: list[int]) -> None:
        for number in numbers:
            if number in course.waiting:
                course.advance(self._asked[number].time_ms - self._tolerance_ms)
                course.deliver(number)

    def _leads_next(self, course: Course, asked: Asked) -> bool:
        """Whether a request joins as the leader that a reply names for the next generation."""
        inside = course.coordinator.coordinator.inspect(course.group)
        leaders = self._recording.leaders.get((inside.generation if inside is not None else 0) + 1, set())
        return asked.event.api == Api.JOIN_GROUP and (asked.event.member_id or asked.new_id) in leaders

    def _after(self, step: Answered) -> list[Course]:
        """The courses that gave this reply."""
        found: dict[Hashable, Course] = {}
        self._tried = 0
        for course in self._courses:
            for after in self._ways(course, step):
                found.setdefault(after.digest(), after)
        return [*found.values()][: self._width.courses]

    def _ways(self, course: Course, step: Answered) -> Iterator[Course]:
        """Breadth first: the courses that need the fewest choices."""
        if step.event.error in OF_SETTINGS or (step.event.api, step.event.error) == OF_AN_UNSEEN_FIELD:
            yield from self._refused(course, step)
            return
        seen, enough = set[Hashable](), None
        self._was_cut |= len(self._courses) == self._width.courses
        waiting = deque((0, begun) for begun in self._begun_with(course, self._asked[step.number]))
        while waiting:
            if self._tried >= self._width.copies:
                self._was_cut = True
                return
            depth, here = waiting.popleft()
            if enough is not None and depth > enough + self._width.beyond:
                return
            if (said := here.said.get(step.number)) is not None:
                if self._agree(here, step, shown(said)):
                    enough = depth if enough is None else enough
                    after = here.copied() if here is course else here
                    del after.said[step.number]
                    yield after
                continue
            for following in self._choices(here, step.number):
                self._tried += 1
                if (digest := following.digest()) not in seen:
                    seen.add(digest)
                    waiting.append((depth + 1, following))

    def _begun_with(self, course: Course, asked: Asked) -> Iterator[Course]:
        """As it is, and with all requests before this one, which arrived in the order in which they were sent."""
        yield course
        before = [number for number in course.waiting if self._asked[number].time_ms <= asked.time_ms]
        if before and before != [asked.number]:
            ahead = course.copied()
            for number in before:
                if number != asked.number and number in ahead.waiting:
                    ahead.deliver(number)
            yield ahead

    def _refused(self, course: Course, step: Answered) -> Iterator[Course]:
        if step.number in course.said:
            after = course.copied()
            del after.said[step.number]
            yield after
            return
        after = course.copied()
        after.refuse(step.number)
        yield after
        member_id = self._asked[step.number].event.member_id
        self._was_full |= step.event.error == Error.GROUP_MAX_SIZE_REACHED.name
        if step.event.error == Error.GROUP_MAX_SIZE_REACHED.name and member_id:
            removed = after.copied()
            removed.remove(member_id)
            yield removed
        if step.event.error in MOVED:
            moved = course.copied()
            moved.move()
            moved.said.pop(step.number, None)
            moved.refuse(step.number)
            yield moved

    def _choices(self, course: Course, wanted: int) -> Iterator[Course]:
        """Further by one step: a request arrives, the wanted one first, or a timer fires."""
        arriving = course.arriving()
        for number in sorted(arriving, key=lambda each: each != wanted):
            after = course.copied()
            after.deliver(number)
            yield after
        yield from course.fired_early(2 * self._tolerance_ms)
        if self._has_operator:
            yield from course.operated_on()

    def _agree(self, course: Course, step: Answered, said: dict[str, Any]) -> bool:
        """A member whose id is not recorded may be any."""
        given = recorded(step.event, self._asked[step.number].event)
        if course.has_unseen and given["error"] == said["error"] == NONE:
            given, said = ({name: each for name, each in one.items() if name not in _WITH_IDS} for one in (given, said))
        agrees = all(said.get(name, value) == value for name, value in given.items())
        return agrees and self._forms(course, said)

    def _forms(self, course: Course, said: dict[str, Any]) -> bool:
        """Whether the generation of a JoinGroup reply has the members that the reply to its leader lists."""
        generation = said.get("reply_generation", -1)
        listed, has = self._recording.members.get(generation), course.members_in(generation)
        return listed is None or has is None or course.has_unseen or has in listed

    def _refusal(self, step: Answered) -> Refusal:
        asked = self._asked[step.number]
        given = recorded(step.event, asked.event)
        expected: dict[str, None] = {}
        for course in self._courses:
            if step.number in course.waiting:
                course.deliver(step.number)
            later = (course, *course.fired_early(2 * self._tolerance_ms))
            said = next((each.said[step.number] for each in later if step.number in each.said), None)
            expected[_text(shown(said), given) if said is not None else "no reply"] = None
        return Refusal(
            step.event.api, event_of(asked), event_of(step), _text(given, given), tuple(expected), tuple(self._done)
        )


_WITH_IDS: Final = frozenset({"members", "leader"})


def _text(reply: dict[str, Any], given: dict[str, Any]) -> str:
    """The fields of a reply that the recorded one has, on a line."""
    return " ".join(
        f"{name}={','.join(value) if isinstance(value, list) else value}"
        for name, value in reply.items()
        if name in given or given["error"] != NONE
    )


def _empty(group: str, generation: int) -> GroupRecord:
    return GroupRecord(
        group_id=group, generation=generation, protocol_type="", protocol_name=None, leader=None, timestamp_ms=0,
        members=(),
    )  # fmt: skip
