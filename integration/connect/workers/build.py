"""The recording connector, compiled on first use into the user's cache, and the class path of a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import compiled_once
from rebalance_check.integration.jvm.release import Release, find_release
from rebalance_check.integration.jvm.services import java_files

JDK: Final = ("a Connect worker", 17)

SOURCE_CONNECTOR: Final = "rebalancecheck.connect.RecordingSource"
SINK_CONNECTOR: Final = "rebalancecheck.connect.RecordingSink"

_SERVICES: Final = {
    "org.apache.kafka.connect.source.SourceConnector": SOURCE_CONNECTOR,
    "org.apache.kafka.connect.sink.SinkConnector": SINK_CONNECTOR,
}
"""The classes that a worker finds without looking through every class (KIP-898)."""


def release_of(version: str) -> Release:
    """The jars of a release.

    Raises:
        RebalanceCheckError: they cannot be had.
    """
    return find_release(f"virtual:{version}")


def connector_classes(release: Release) -> Path:
    """The folder with the recording connector, compiled against a release; made once.

    Raises:
        RebalanceCheckError: there is no JDK, or the sources do not compile.
    """
    sources = java_files("connector")
    otherwise = f"the recording connector does not compile against Kafka {release.version}. javac says:"
    name = f"connect/{release.version}"
    return compiled_once(name, sources, f"{release.jars}/*", JDK, otherwise=otherwise, add=_add_services)


def _add_services(target: Path) -> None:
    services = target / "META-INF" / "services"
    services.mkdir(parents=True)
    for interface, implementation in _SERVICES.items():
        (services / interface).write_text(f"{implementation}\n")
    target.chmod(0o755)  # a container reads it as another user
