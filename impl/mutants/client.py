"""Planted defects of the client coordinators: `rebalance_check.impl.client`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant, Told
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_CONNECT: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT))
_ELECTION: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.ELECTION))

CLIENT_MUTANTS: Final = [
    Mutant(
        name="config-mismatch-ignored",
        what="a worker takes a round that failed with CONFIG_MISMATCH for its assignment",
        caught_by="rebalance_completes",
        where="impl",
        find=_CONNECT,
    ),
    Mutant(
        name="eager-keeps-partitions-while-joining",
        what="an EAGER member does not revoke before it joins",
        caught_by="no_double_ownership",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="join-prepare-flag-not-rearmed-after-reset",
        what="a member that was thrown out joins again without giving up its partitions",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
        catalogue_id="join-prepare-flag-not-rearmed-after-reset",
    ),
    Mutant(
        name="lost-partitions-kept",
        what="a member that was thrown out keeps its partitions and claims them as its own",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="primary-acts-while-joining",
        what="the primary of an election keeps acting while the next one is under way",
        caught_by="no_double_ownership",
        where="impl",
        find=_ELECTION,
    ),
    Mutant(
        name="revoked-partitions-kept",
        what="a COOPERATIVE member does not give up what its new assignment takes away",
        caught_by="callbacks_alternate",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="unknown-member-keeps-id",
        what="a member that the coordinator does not know joins again under the same member id",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="unknown-member-keeps-id",
    ),
    Mutant(
        name="worker-keeps-tasks-while-joining",
        what="an eager Connect worker does not stop its work before it joins",
        caught_by="no_double_ownership",
        where="impl",
        find=_CONNECT,
    ),
    Mutant(
        name="zombie-worker-keeps-tasks",
        what="a Connect worker that was thrown out joins again without stopping its work",
        caught_by="no_double_ownership",
        where="impl",
        find=_CONNECT,
        catalogue_id="connect-zombie-worker-keeps-tasks",
    ),
    Mutant(
        name="outdated-join-reply-applied",
        what="the answer to a JoinGroup that was given up is applied to the present one",
        caught_by="stories",
        where="impl",
        find=Told(test="tests/impl/test_client_error_tables.py", case="an_answer_to_an_abandoned_join"),
        catalogue_id="outdated-join-response-applied",
    ),
    Mutant(
        name="stale-response-resets-generation",
        what="an error that belongs to an older generation resets the present one",
        caught_by="stories",
        where="impl",
        find=Told(test="tests/impl/test_client_error_tables.py", case="an_error_of_an_older_generation"),
        catalogue_id="stale-response-resets-current-generation",
    ),
]
