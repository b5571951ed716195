"""The windows of a failover in which two processes legally hold one partition: a shortest path of the model into each.

Whoever is in such a window does not know that it was replaced, and is told that all is well by a coordinator that does
not know either. Each address can be replayed (``rebalance-check replay``), on Kafka's own coordinators, too.
"""

from __future__ import annotations

from typing import Final

WINDOWS: Final = {
    "loading_keeps_a_second_owner": "v1/eager/2m1p2g0c0l1x0d0z0i0r1o/0.0.0.0.1.1.0.1.1.0.1.1.0.2.0.1",
    "zombie_is_believed": "v1/eager/2m1p2g0c0l1x0d0z0i0r1o1q/0.1.1.1.1.1.1.5.2.2.3",
    "past_assignment_is_told": "v1/eager/2m1p2g0c0l1x0d0z0i0r1o1q/0.0.0.0.0.0.0.0.0.2.0.0.1.6.2.3.3",
    "zombie_keeps_a_second_owner": "v1/eager/2m1p2g0c0l1x0d0z0i0r1o1q/0.0.0.0.1.1.0.0.5.2.0.1.0.0.0.0.3",
    "zombie_owns_by_the_past": "v1/eager/2m1p2g0c0l1x0d0z0i0r1o1q/0.0.0.0.1.1.0.5.2.1.1.0.1.1.0",
}
"""The address of a path by the situation or moment of the model that it ends in."""
