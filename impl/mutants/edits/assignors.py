"""Mutants of the assignors: range, roundrobin, and both sticky ones."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_ASSIGNORS: Final = "rebalance_check.impl.assignors"
_TOPICS: Final = f"{_ASSIGNORS}.assignor:subscribed_topics"
_RANGE: Final = f"{_ASSIGNORS}.range"
_ROUND_ROBIN: Final = f"{_ASSIGNORS}.roundrobin:_next"
_STICKY: Final = f"{_ASSIGNORS}.sticky"
_COOPERATIVE: Final = f"{_ASSIGNORS}.cooperative_sticky:CooperativeStickyAssignor"
_OWNED: Final = f"{_ASSIGNORS}.sticky_owned"
_BOARD: Final = f"{_ASSIGNORS}.sticky_balance:Board"
_CONSTRAINED: Final = f"{_ASSIGNORS}.sticky_constrained"
_GENERAL: Final = f"{_ASSIGNORS}.sticky_general"

_PLAIN: Final = {
    "sticky-fails-on-deleted-topic": (
        Edit(
            _TOPICS,
            "    known = sorted(",
            "    partitions_per_topic = {topic: partitions_per_topic[topic] for topic in topics}\n    known = sorted(",
        ),
    ),
    "librdkafka-topics-skipped-when-more-than-members": (
        Edit(
            _TOPICS,
            "    return {",
            "    waiting = {member for member, one in subscriptions.items() if one.topics}\n"
            "    for scanned, topic in enumerate(known, 1):\n"
            "        waiting -= {member for member in waiting if topic in subscriptions[member].topics}\n"
            "        if not waiting:\n"
            "            known = known[:scanned]\n"
            "            break\n"
            "    return {",
        ),
    ),
    "librdkafka-roundrobin-modulus": (
        Edit(_ROUND_ROBIN, "(last + 1) % len(circle)", "(last + 1) % len(subscribers)"),
        Edit(_ROUND_ROBIN, "(place + 1) % len(circle)", "(place + 1) % len(subscribers)"),
    ),
    "sarama-range-differs-from-reference": (
        Edit(
            f"{_RANGE}:_dealt",
            "    for member, indexes in topic.given.items():",
            "    # 7 partitions are 2, 3 and 2, where Kafka's rule gives 3, 2 and 2\n"
            "    shares = len(topic.members)\n"
            "    bounds = [round(place * topic.count / shares) for place in range(shares + 1)]\n"
            "    for member, start, end in zip(topic.members, bounds, bounds[1:], strict=False):\n"
            "        yield from ((member, index) for index in range(start, end))\n"
            "    return\n"
            "    for member, indexes in topic.given.items():",
        ),
    ),
    "range-boundary-given-twice": (
        Edit(
            f"{_RANGE}:_dealt",
            "        for index in sorted(indexes):",
            "        if indexes and member != next(iter(topic.given)):\n"
            "            yield member, min(indexes) - 1\n"
            "        for index in sorted(indexes):",
        ),
    ),
    "range-rack-aware-breaks-copartitioning": (
        Edit(
            f"{_RANGE}:_match_racks",
            "        if len(group) > 1:\n"
            "            _match_together(group)\n"
            "        elif group[0].racks_matter:\n"
            "            group[0].deal(group[0].matches)",
            "        for topic in group:\n            topic.deal(topic.matches)",
        ),
    ),
}

_CLAIMS: Final = {
    "sticky-uses-list-cleared-at-session-end": (
        Edit(
            f"{_STICKY}:StickyAssignor.subscription_user_data",
            "return None if self._previous is None else write_sticky(self._previous, self._generation)",
            "return write_sticky((), self._generation)",
        ),
    ),
    "sticky-movement-memory-leaks-across-runs": (
        Edit(
            f"{_STICKY}:StickyFamily._assign",
            "    ownership = believed(",
            '    last = getattr(self, "_last_claims", {})\n'
            "    claims = self._last_claims = {**claims, **{m: c for m, c in last.items() if m in claims}}\n"
            "    ownership = believed(",
        ),
    ),
    "cooperative-claims-carry-no-generation": (
        Edit(
            f"{_COOPERATIVE}.claim",
            "    generation = subscription.generation",
            "    return Claim(subscription.owned, NO_GENERATION)\n    generation = subscription.generation",
        ),
    ),
    "sticky-max-generation-updated-too-late": (
        Edit(
            f"{_OWNED}:believed",
            "    last = max(",
            "    accepted: dict[str, Claim] = {}\n"
            "    highest = NO_GENERATION\n"
            "    for member, claim in claims.items():\n"
            "        if claim.generation >= highest:\n"
            "            accepted[member] = claim\n"
            "        if claim.generation > highest > NO_GENERATION:\n"
            "            accepted.clear()\n"
            "        highest = max(highest, claim.generation)\n"
            "    claims = accepted\n"
            "    last = max(",
        ),
    ),
    "sticky-drops-all-older-generation-claims": (
        Edit(
            f"{_OWNED}:believed",
            "    last = max(",
            "    newest = max((claim.generation for claim in claims.values()), default=NO_GENERATION)\n"
            "    claims = {member: claim for member, claim in claims.items() if claim.generation == newest}\n"
            "    last = max(",
        ),
    ),
    "negative-claim-crashes-or-aliases": (
        Edit(f"{_OWNED}:_existing", "0 <= tp.partition < counts", "tp.partition < counts"),
    ),
    "lowest-generation-wins": (
        Edit(
            f"{_OWNED}:_settle",
            "    highest = claimants[0][0]",
            "    claimants = claimants[::-1]\n    highest = claimants[0][0]",
        ),
    ),
    "claims-of-one-generation-both-honoured": (
        Edit(
            f"{_OWNED}:_settle",
            "        ownership.disputed.add(partition)",
            "        for member in newest:\n            ownership.owned[member].append(partition)",
        ),
    ),
}

_DEALS: Final = {
    "cooperative-leader-does-not-withhold": (Edit(f"{_COOPERATIVE}.assign", " if tp not in withheld", ""),),
    "sticky-quota-unfilled-after-max-reached": (
        Edit(
            f"{_CONSTRAINED}:assign_constrained",
            "_check_filled(assigned, low)",
            "_check_filled(assigned, low + 1 if extra else low)",
        ),
    ),
    "sticky-deals-without-looking-at-racks": (
        Edit(f"{_CONSTRAINED}:_Deal.out", "if self._nearness.matters else", "if not partitions else"),
    ),
    "roundrobin-deals-from-the-last": (
        Edit(
            f"{_ASSIGNORS}.roundrobin:RoundRobinAssignor.assign",
            "in range(partitions_per_topic[topic])",
            "in reversed(range(partitions_per_topic[topic]))",
        ),
    ),
    "rack-mismatch-is-no-revocation": (
        Edit(f"{_CONSTRAINED}:_keep", "set(owned) - set(kept[member])", "ordered[quota:]"),
    ),
    "rack-aware-sticky-unfilled-check": (
        Edit(f"{_CONSTRAINED}:_Deal._to_near_member", "if self._slots > 0:", "if True:"),
    ),
    "sticky-keeps-unsubscribed-topic": (
        Edit(f"{_GENERAL}:_kept", "member in subscribers[partition.topic]", "bool(subscribers[partition.topic])"),
    ),
    "cooperative-sacrifices-stickiness-third-rebalance": (
        Edit(
            f"{_GENERAL}:assign_general",
            "    return board.assigned()",
            "    for partition in ordered:\n"
            "        target = board.least_loaded_of_all(partition)\n"
            "        if board._load[board.owner[partition]] > board._load[target]:\n"
            "            board.place(partition, target)\n"
            "    return board.assigned()",
        ),
    ),
    "librdkafka-balance-score-overwritten": (
        Edit(f"{_BOARD}._score", "return sum(gaps)", "return gaps[-1] if gaps else 0"),
    ),
    "librdkafka-sticky-index-shadowing-loop": (
        Edit(
            f"{_BOARD}._once_through",
            "            moved = True",
            "            moved = True\n"
            "        else:\n"
            "            moved = moved or len(self._eligible[partition.topic]) < len(self._load)",
        ),
    ),
    "earlier-owner-need-not-subscribe": (
        Edit(f"{_BOARD}._better", "before in self._eligible[partition.topic] and ", ""),
    ),
}

ASSIGNOR_EDITS: Final[dict[str, tuple[Edit, ...]]] = {**_PLAIN, **_CLAIMS, **_DEALS}
"""By name of the mutant."""
