"""A consumer's subscription (``SubscriptionState``): topics by name, or those that match a pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Topics that brokers call internal; a pattern matches them only when ``exclude.internal.topics`` is off."""

Wanted = Sequence[str] | re.Pattern[str]
"""Topics by name, or a pattern, in Python's syntax, that must match the whole name of a topic."""


class Subscribed:
    """The topics that a consumer wants now.

    A pattern finds them among the topics that the client knows of, and again whenever these change. It is a
    subscription, also while it matches nothing: its member belongs to the group, and gets nothing.
    """

    def __init__(
        self,
        wanted: Wanted,
        known: Iterable[str],
        *,
        exclude_internal_topics: bool = True,
    ) -> None:
        self._exclude_internal_topics = exclude_internal_topics
        self._pattern: re.Pattern[str] | None = None
        self.topics: tuple[str, ...] = ()
        self.change(wanted, known)

    @property
    def exists(self) -> bool:
        """Whether the consumer is subscribed at all."""
        return self._pattern is not None or bool(self.topics)

    @property
    def by_pattern(self) -> bool:
        """Whether it is subscribed by a pattern."""
        return self._pattern is not None

    def change(self, wanted: Wanted, known: Iterable[str]) -> None:
        """Subscribe to this instead.

        Raises `RebalanceCheckError` when names take the place of a pattern or the reverse.
        """
        pattern = wanted if isinstance(wanted, re.Pattern) else None
        if self.exists and self.by_pattern != (pattern is not None):
            present = ", ".join(self.topics) if self._pattern is None else f"the pattern {self._pattern.pattern!r}"
            raise RebalanceCheckError(
                f"the consumer is subscribed to {present}: names and patterns exclude each other, unsubscribe first"
            )
        self._pattern = pattern
        self.topics = tuple(wanted) if not isinstance(wanted, re.Pattern) else self._matching(wanted, known)

    def clear(self) -> None:
        """Unsubscribe from all topics."""
        self._pattern, self.topics = None, ()

    def look_at(self, known: Iterable[str]) -> bool:
        """The client knows of these topics now: whether that changes the subscription."""
        if self._pattern is None:
            return False
        before, self.topics = self.topics, self._matching(self._pattern, known)
        return before != self.topics

    def accepts(self, topic: str) -> bool:
        """Whether the consumer can be assigned the topic: a pattern takes all that match, known or not."""
        if self._pattern is None:
            return topic in self.topics
        return self._pattern.fullmatch(topic) is not None

    def learn(self, topics: Iterable[str]) -> bool:
        """The leader, which may know more topics, assigned some of these: whether a pattern learned of any."""
        new = set(topics) - set(self.topics)
        if self._pattern is None or not new:
            return False
        self.topics = tuple(sorted({*self.topics, *new}))
        return True

    def _matching(self, pattern: re.Pattern[str], known: Iterable[str]) -> tuple[str, ...]:
        hidden = INTERNAL_TOPICS if self._exclude_internal_topics else frozenset[str]()
        return tuple(sorted(one for one in known if pattern.fullmatch(one) and one not in hidden))
