"""No claim about the wire is left out."""

from rebalance_check.properties.laws.by_kip import WireClaims
from tests.properties.wire import test_identity_claims as identity
from tests.properties.wire import test_joining_claims as joining
from tests.properties.wire import test_other_claims as others
from tests.properties.wire import test_partition_claims as partitions


def test_each_claim_holds_somewhere() -> None:
    held = set().union(*(module.case.held for module in (joining, identity, partitions, others)))
    assert {claim.name for claim in WireClaims} - held == set()
