"""The cause of a rebalance, from the reason that the coordinator logs, or from a client's own.

Source: the reasons of ``GroupCoordinator.prepareRebalance`` and ``GroupMetadataManager.prepareRebalance``; KIP-800.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Cause(StrEnum):
    """Why a rebalance began. The values are the words of reports."""

    NEW_MEMBER = "a new member"
    CLOSED = "a member closed"
    POLL_TIMEOUT = "a member did not poll in time"
    UNSUBSCRIBED = "a member unsubscribed"
    LEFT = "a member left"
    EXPIRED = "a member's session timed out"
    METADATA = "topics or partitions changed"
    SUBSCRIPTION = "a subscription changed"
    FOLLOW_UP = "a follow-up of the cooperative protocol"
    ENFORCED = "the application asked for it"
    MISMATCH = "an assignment did not match the subscription"
    STATIC_CHANGE = "a static member came back with another subscription"
    NOT_SYNCED = "members did not send SyncGroup in time"
    STORE_ERROR = "the coordinator could not store the assignment"
    OVER_CAPACITY = "the group is over its capacity"
    DOWNGRADE = "the group went back to the classic protocol"
    REJOINED = "a member joined again"
    UNKNOWN = "unknown"

    @property
    def is_change(self) -> bool:
        """Whether the group has another set of members, subscriptions or partitions after it."""
        return self not in {Cause.ENFORCED, Cause.REJOINED, Cause.UNKNOWN, Cause.FOLLOW_UP}


LEAVES: Final = frozenset({Cause.CLOSED, Cause.POLL_TIMEOUT, Cause.UNSUBSCRIBED, Cause.LEFT})
POLL_TIMEOUT: Final = "poll timeout has expired"
ERROR: Final = re.compile(r"(?:rejoin(?:ing)?(?: due to)?:? )?[A-Z]+(?:_[A-Z]+)+\b")
"""A reason that is Kafka's name of an error: the client follows the coordinator."""
CLOSES: Final = ("being closed", "normal operation", "shutting down", "closing")


@dataclass(frozen=True, slots=True)
class Trigger:
    """The first cause of a rebalance: the kind, the member that it concerns, the client's own words."""

    cause: Cause
    member: str = ""
    words: str = ""
    by_leader: bool = False


def cause_of_leave(reason: str) -> Cause:
    """The kind of a leave, by the client's own reason (KIP-800)."""
    if POLL_TIMEOUT in reason:
        return Cause.POLL_TIMEOUT
    if "unsubscribe" in reason:
        return Cause.UNSUBSCRIBED
    return Cause.CLOSED if any(words in reason for words in CLOSES) else Cause.LEFT


def cause_of_rejoin(words: str) -> Cause:
    """Why a member of a generation joined again, by the client's own reason; REJOINED where it gives none."""
    known = next((cause for text, cause in _REJOINS if text in words), None)
    if known is not None:
        return known
    return Cause.REJOINED if not words or ERROR.match(words) else Cause.ENFORCED


def given_id(words: str) -> str:
    """The member id that a client joins with for the first time, where its reason names it."""
    return words.partition(GIVEN_ID)[2].strip() if GIVEN_ID in words else ""


GIVEN_ID: Final = "need to re-join with the given member-id:"
_REJOINS: Final = (
    ("metadata has changed", Cause.METADATA),
    ("subscription has changed", Cause.SUBSCRIPTION),
    ("does not match the current subscription", Cause.MISMATCH),
    ("need to revoke partitions and re-join", Cause.FOLLOW_UP),
    ("after revoking", Cause.FOLLOW_UP),
    ("group is already rebalancing", Cause.REJOINED),
    ("need to re-join with the given member-id", Cause.NEW_MEMBER),
    ("MemberIdRequiredException", Cause.NEW_MEMBER),
    ("rebalance failed due to", Cause.REJOINED),
    ("pro-actively leaving the group", Cause.LEFT),
    (POLL_TIMEOUT, Cause.POLL_TIMEOUT),
)
"""Reasons of Java's and of franz-go's clients; the text of ``enforceRebalance(reason)`` is any other."""

_WORDS: Final = r"(?:; client reason: (?P<words>.*))?$"
_ROWS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Trigger]], ...]] = tuple(
    (re.compile(pattern, re.DOTALL), make)
    for pattern, make in (
        (rf"[Aa]dding new member (?P<member>\S+?)(?:,? with group instance ?id .*?)?{_WORDS}",
         lambda found, _words: Trigger(Cause.NEW_MEMBER, found["member"])),
        (rf"[Ll]eader (?P<member>\S+) (?:re-joining|is re-joining) group during \w+{_WORDS}",
         lambda found, words: Trigger(cause_of_rejoin(words), found["member"], words, by_leader=True)),
        (rf"[Uu]pdating metadata for (?:static )?member (?P<member>\S+) .*?during \w+{_WORDS}",
         lambda found, words: Trigger(_updated(words), found["member"], words)),
        (rf"[Mm]ember (?P<member>\S+) (?:is )?joining group during \w+{_WORDS}",
         lambda found, words: Trigger(cause_of_rejoin(words), found["member"], words)),
        (rf"[Rr]emoving member (?P<member>\S+) on LeaveGroup{_WORDS}",
         lambda found, words: Trigger(cause_of_leave(words), found["member"], words)),
        (r"explicit `LeaveGroup` request for \((?P<member>[^,)]*).*?\) members",
         lambda found, _words: Trigger(Cause.LEFT, found["member"].strip())),
        (r"[Rr]emoving member (?P<member>\S+) on heartbeat expiration",
         lambda found, _words: Trigger(Cause.EXPIRED, found["member"])),
        (r"[Rr]emoving (?:Set\(|\[)?(?P<member>[^,)\]\s]*).*? on pending sync request expiration",
         lambda found, _words: Trigger(Cause.NOT_SYNCED, found["member"])),
        (rf"[Gg]roup's selectedProtocol will change because static member (?P<member>\S+).*?{_WORDS}",
         lambda found, words: Trigger(Cause.STATIC_CHANGE, found["member"], words)),
        (rf"[Uu]pdating metadata for static member (?P<member>\S+).*?{_WORDS}",
         lambda found, words: Trigger(Cause.STATIC_CHANGE, found["member"], words)),
        (r"[Ee]rror .*? (?:when|while) storing group assignment", lambda _found, _words: Trigger(Cause.STORE_ERROR)),
        (r"is over capacity", lambda _found, _words: Trigger(Cause.OVER_CAPACITY)),
        (r"[Dd]owngrade group", lambda _found, _words: Trigger(Cause.DOWNGRADE)),
    )
)  # fmt: skip


def _updated(words: str) -> Cause:
    """A member joined with other metadata: its subscription, unless it says more."""
    cause = cause_of_rejoin(words)
    return Cause.SUBSCRIPTION if cause is Cause.REJOINED and words else cause


def trigger_of(reason: str) -> Trigger:
    """The trigger that the coordinator's reason names. An empty client reason is not a cause."""
    for pattern, make in _ROWS:
        found = pattern.search(reason)
        if found is not None:
            words = (found.groupdict().get("words") or "").strip()
            bare = words.rstrip(".") if words.rstrip(".") in {"", "not provided"} else words
            return make(found, "" if bare == "not provided" else bare)
    return Trigger(Cause.UNKNOWN, words=reason)
