"""A custom assignor that became cooperative and kept its name, as no upgrade may (KIP-429)."""

from __future__ import annotations

from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor


class OldCustomAssignor(RangeAssignor):
    """The old code: EAGER only; it ignores claims."""

    name = "custom"


class NewCustomAssignor(CooperativeStickyAssignor):
    """The new code, under the old name: it withholds partitions that another member still owns."""

    name = "custom"
