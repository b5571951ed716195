"""Planted defects of the assignors: `rebalance_check.impl.assignors`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant, Posed
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))

ASSIGNOR_MUTANTS: Final = [
    Mutant(
        name="cooperative-leader-does-not-withhold",
        what="the leader gives a claimed partition to its next owner in the same round",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="range-boundary-given-twice",
        what="the last partition of a range is given to the next member, too",
        caught_by="assignment_is_disjoint",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="claims-of-one-generation-both-honoured",
        what="two members that claim one partition in one generation both keep it",
        caught_by="assignors.exclusive",
        where="impl",
        find=Posed(assignor="sticky", shape="contested"),
        catalogue_id="sticky-same-generation-multi-claim",
    ),
    Mutant(
        name="lowest-generation-wins",
        what="of two claims that of the older generation wins",
        caught_by="assignors.sticky",
        where="impl",
        find=Posed(assignor="sticky", shape="outdated"),
        catalogue_id="librdkafka-lowest-generation-wins",
    ),
    Mutant(
        name="cooperative-claims-carry-no-generation",
        what="a cooperative leader does not read the generation of claims",
        caught_by="assignors.sticky",
        where="impl",
        find=Posed(assignor="cooperative-sticky", shape="outdated"),
        catalogue_id="cooperative-claims-carry-no-generation",
    ),
    Mutant(
        name="sticky-max-generation-updated-too-late",
        what="the scan of claims raises the highest generation after it took a member, and drops that one, too",
        caught_by="assignors.transfer",
        where="impl",
        find=Posed(assignor="cooperative-sticky", shape="stale"),
        catalogue_id="sticky-max-generation-updated-too-late",
    ),
    Mutant(
        name="sticky-drops-all-older-generation-claims",
        what="claims of any but the highest generation count for nothing",
        caught_by="assignors.transfer",
        where="impl",
        find=Posed(assignor="cooperative-sticky", shape="stale"),
        catalogue_id="sticky-drops-all-older-generation-claims",
    ),
    Mutant(
        name="sticky-quota-unfilled-after-max-reached",
        what="who has the minimum counts as unfilled although all that get one more have it",
        caught_by="assignors.answers",
        where="impl",
        find=Posed(assignor="sticky", shape="tame"),
        catalogue_id="sticky-quota-unfilled-after-max-reached",
    ),
    Mutant(
        name="sticky-movement-memory-leaks-across-runs",
        what="an assignor goes on from the claims of its last run",
        caught_by="assignors.any_leader",
        where="impl",
        find=Posed(assignor="sticky", shape="course"),
        catalogue_id="sticky-movement-memory-leaks-across-runs",
    ),
    Mutant(
        name="sticky-fails-on-deleted-topic",
        what="a topic without metadata makes the assignor fail",
        caught_by="assignors.answers",
        where="impl",
        find=Posed(assignor="range", shape="stale"),
        catalogue_id="sticky-fails-on-deleted-topic",
    ),
    Mutant(
        name="cooperative-sacrifices-stickiness-third-rebalance",
        what="partitions move though the numbers stay what they are",
        caught_by="assignors.settles",
        where="impl",
        find=Posed(assignor="cooperative-sticky", shape="course"),
        catalogue_id="cooperative-sacrifices-stickiness-third-rebalance",
    ),
    Mutant(
        name="librdkafka-balance-score-overwritten",
        what="the balance score is the difference of the last two members alone",
        caught_by="assignors.balanced",
        where="impl",
        find=Posed(assignor="sticky", shape="tame"),
        catalogue_id="librdkafka-balance-score-overwritten",
    ),
    Mutant(
        name="librdkafka-sticky-index-shadowing-loop",
        what="the balancing loop begins anew where a topic has fewer subscribers than there are members",
        caught_by="assignors.answers",
        where="impl",
        find=Posed(assignor="sticky", shape="tame"),
        catalogue_id="librdkafka-sticky-index-shadowing-loop",
    ),
    Mutant(
        name="librdkafka-topics-skipped-when-more-than-members",
        what="topics are no longer looked at when every member has matched one",
        caught_by="assignors.complete",
        where="impl",
        find=Posed(assignor="range", shape="tame"),
        catalogue_id="librdkafka-topics-skipped-when-more-than-members",
    ),
    Mutant(
        name="librdkafka-roundrobin-modulus",
        what="the circle of all members is walked modulo the number of those that subscribe",
        caught_by="assignors.answers",
        where="impl",
        find=Posed(assignor="roundrobin", shape="tame"),
        catalogue_id="librdkafka-roundrobin-modulus",
    ),
    Mutant(
        name="negative-claim-crashes-or-aliases",
        what="a claimed partition is compared with the upper bound only",
        caught_by="assignors.existing",
        where="impl",
        find=Posed(assignor="sticky", shape="below"),
        catalogue_id="negative-claim-crashes-or-aliases",
    ),
    Mutant(
        name="sticky-uses-list-cleared-at-session-end",
        what="the claims are taken from a list that was emptied before the member joins",
        caught_by="assignors.sticky_over_rounds",
        where="impl",
        find=Posed(assignor="sticky", shape="course"),
        catalogue_id="sticky-uses-list-cleared-at-session-end",
    ),
    Mutant(
        name="sarama-range-differs-from-reference",
        what="ranges end at rounded fractions",
        caught_by="assignors.ranges",
        where="impl",
        find=Posed(assignor="range", shape="tame"),
        catalogue_id="sarama-range-differs-from-reference",
    ),
    Mutant(
        name="sticky-keeps-unsubscribed-topic",
        what="a member keeps partitions of a topic that it dropped and others still want",
        caught_by="assignors.subscribed",
        where="impl",
        find=Posed(assignor="sticky", shape="dropped"),
        catalogue_id="sticky-keeps-unsubscribed-topic",
    ),
    Mutant(
        name="range-rack-aware-breaks-copartitioning",
        what="racks are matched topic by topic, also where equally large topics belong together",
        caught_by="assignors.copartitioned",
        where="impl",
        find=Posed(assignor="range", shape="racks", last=50),
        catalogue_id="range-rack-aware-breaks-copartitioning",
    ),
]
