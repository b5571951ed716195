"""A custom assignor that became cooperative and kept its name: what an upgrade must not do (KIP-429)."""

from __future__ import annotations

from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor


class OldCustomAssignor(RangeAssignor):
    """The old code: EAGER only; it ignores claims."""

    name = "custom"


class NewCustomAssignor(CooperativeStickyAssignor):
    """The new code, under the old name: it withholds what another member still owns."""

    name = "custom"
