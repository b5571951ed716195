"""Patterns of a subscription: the topics that they match. `clients/patterns.scenario` shows consumers that use them."""

from __future__ import annotations

import re

from rebalance_check.impl.client.subscriptions import INTERNAL_TOPICS, Subscribed

PATTERN = re.compile("t.*")


def test_a_pattern_must_match_the_whole_name() -> None:
    assert Subscribed(PATTERN, ["t", "t1", "at", "u"]).topics == ("t", "t1")
    assert Subscribed(re.compile("t"), ["t", "t1"]).topics == ("t",)


def test_a_pattern_leaves_internal_topics_out__unless_its_options_include_them() -> None:
    known = ["t", *INTERNAL_TOPICS]
    everything = re.compile(".*")
    assert Subscribed(everything, known).topics == ("t",)
    assert set(Subscribed(everything, known, exclude_internal_topics=False).topics) == set(known)
    assert Subscribed(sorted(INTERNAL_TOPICS), known).topics == tuple(sorted(INTERNAL_TOPICS))
