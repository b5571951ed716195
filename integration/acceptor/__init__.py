"""Whether the replies to a recorded group are those of a Kafka coordinator.

The requests of the group, at their times, are given to the reference coordinator. Its open choices follow the recorded
replies: the order of requests whose intervals overlap, timers within a tolerance, who leads, which protocol wins.
"""

from rebalance_check.integration.acceptor.accept import Acceptance, Refusal, accept

__all__ = ["Acceptance", "Refusal", "accept"]
