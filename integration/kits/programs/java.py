"""Programs in Java: compiled against the jars of a release of Kafka, which Maven fetches where they are not there."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.integration.jvm import java_tool
from rebalance_check.integration.jvm.jars import ReleaseJars

JVM_OPTIONS = ("-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")


@dataclass(frozen=True, slots=True)
class JavaProgram:
    """A `Program`: its ``jars``, with the sources; the ``release`` of Kafka, and the class that is the ``main`` one."""

    jars: ReleaseJars
    release: str
    main: str

    def command(self) -> list[str]:
        """See `Program`."""
        class_path = self.jars.class_path(self.release)
        return [java_tool("java", *self.jars.jdk), *JVM_OPTIONS, "-cp", class_path, self.main]
