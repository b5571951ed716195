"""Entries of the catalogue of the field's bugs that are no mutants here, and why.

Every entry of the roles broker coordinator, client coordinator, consumer coordinator, assignor, connect assignor and
migration is either the ``catalogue_id`` of a mutant or stands here; a test holds that complete.
"""

from __future__ import annotations

from typing import Final

_KIP_848: Final = "KIP-848: the consumer protocol with a coordinator that assigns is not part of this suite"
_APPLICATION: Final = "the callbacks run inside the poll here: no state waits for a call of the application"

OUT_OF_REACH: Final[dict[str, str]] = {
    "loader-spins-at-compaction-gap": "the log is handed over as a list of records: there is no offset to wait for",
    "redpanda-join-blocks-connection": "a connection carries one member here, and Kafka itself serves one in order",
    "kip848-partition-epoch-lost-on-revert": _KIP_848,
    "kip848-revocation-ack-ignored-on-new-target": _KIP_848,
    "kip848-full-response-misdetected": _KIP_848,
    "kip848-replay-order-and-tombstones": _KIP_848,
    "kip848-load-continues-when-partition-offline": _KIP_848,
    "kip848-epoch-zero-rejoin-rejected": _KIP_848,
    "kip848-own-pending-revocation-counts-as-foreign": _KIP_848,
    "kip848-empty-group-epoch-gap": _KIP_848,
    "static-classic-holder-blocks-new-protocol": _KIP_848,
    "downgrade-exceeds-classic-limit": _KIP_848,
    "connect-incremental-to-eager-downgrade-duplicates": (
        "Kafka does so to this day, and so do our workers: "
        "`rebalance-check explore --upgrade sessioned-to-eager` shows it"
    ),
    "sync-rebalance-in-progress-keeps-stale-owned": (
        "Kafka's client does so to this day: the claim carries its generation, and the assignor decides by it "
        "(`cooperative-claims-carry-no-generation`, `sticky-drops-all-older-generation-claims`)"
    ),
    "join-future-callback-registered-before-store": "sending cannot fail at once here, and no callback can be lost",
    "waiting-for-unassign-not-counted-as-rebalancing": _APPLICATION,
    "close-during-pending-assign-hangs": _APPLICATION,
    "cooperative-validation-rejects-on-stale-claims": (
        "what our assignor answers passes the check of raw claims, too: it withholds what any claim names"
    ),
    "static-id-sent-without-membership": "consumers here have no manual assignment: a client that commits is a member",
    "kip848-partial-resolution-treated-as-full-target": _KIP_848,
    "kip848-heartbeat-while-fenced": _KIP_848,
    "kip848-inflight-by-timestamp-duplicates-member": _KIP_848,
    "kip848-error-response-leaves-inflight": _KIP_848,
    "kip848-leave-suppressed-by-inflight": _KIP_848,
    "kip848-rejoin-sends-delta-not-full": _KIP_848,
    "kip848-stale-member-keeps-assignment": _KIP_848,
    "kip848-commit-manager-has-no-member-id": _KIP_848,
    "kip848-metadata-lags-assignment": _KIP_848,
    "kip848-late-leave-response-poisons-joining": _KIP_848,
    "kip848-revocation-acknowledged-before-callback": _KIP_848,
    "kip848-second-heartbeat-compares-unpersisted-assignment": _KIP_848,
    "kip848-unresolved-topics-survive-reset": _KIP_848,
    "kip848-server-resolved-topic-dropped-by-client": _KIP_848,
    "kip848-unsanitised-heartbeat-response": _KIP_848,
    "kip848-leave-sent-before-revocation": _KIP_848,
    "lost-callback-leaves-streams-registered": "a table that a library keeps around its client",
    "server-range-sticky-vs-copartition": _KIP_848,
    "connect-poll-timeout-does-not-stop-tasks": (
        "Kafka does so to this day, and so do our workers: `rebalance-check fuzz --seeds 48:49 --protocol connect "
        "--mode exactly-once --faults config-outage` shows it"
    ),
    "connect-mm2-no-reconfigure-after-leader-change": "a worker here has no connectors of its own (dedicated mode)",
    "connect-herder-config-store-deadlock": "a worker here has one thread and no locks",
    "status-generation-reset-makes-running-sticky": (
        "Kafka's store does so by design, and so does ours: race R11 of `tests/data/status`"
    ),
    "status-unguarded-retry-reorders": (
        "Kafka's store does so to this day, as does ours: race R7 of `tests/data/status`"
    ),
    "status-retry-recursion-kills-writer": "no send fails inside its call here: failures are answers that come later",
    "status-worker-gone-never-unassigned": "a boundary of what statuses can say, and no defect",
}
"""By catalogue id: the reason."""
