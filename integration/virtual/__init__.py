"""Virtual Kafka: Kafka's own group coordinators in virtual time, in a small Java process, as one more subject."""

from rebalance_check.integration.jvm.release import Release, find_release
from rebalance_check.integration.virtual.process import VirtualEnvironment, VirtualKafka
from rebalance_check.integration.virtual.subject import VirtualSubject
from rebalance_check.integration.virtual.transport import VirtualTransport

__all__ = ["Release", "VirtualEnvironment", "VirtualKafka", "VirtualSubject", "VirtualTransport", "find_release"]
