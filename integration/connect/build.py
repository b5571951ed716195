"""The recording connector, compiled on first use into the user's cache, and the class path of a worker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import cache_folder, compile_java, fingerprint, java_tool, made_once
from rebalance_check.integration.virtual.release import Release, find_release

SOURCES: Final = Path(__file__).parent / "java"
JDK: Final = ("a Connect worker", 17)

SOURCE_CONNECTOR: Final = "rebalancecheck.connect.RecordingSource"
SINK_CONNECTOR: Final = "rebalancecheck.connect.RecordingSink"

_SERVICES: Final = {
    "org.apache.kafka.connect.source.SourceConnector": SOURCE_CONNECTOR,
    "org.apache.kafka.connect.sink.SinkConnector": SINK_CONNECTOR,
}
"""What a worker finds without looking through every class (KIP-898)."""


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
    sources = sorted(SOURCES.glob("*.java"))
    folder = cache_folder() / "connect" / f"{release.version}-{fingerprint(sources)}"
    return made_once(folder, lambda target: _compile(release, sources, target))


def _compile(release: Release, sources: list[Path], target: Path) -> None:
    otherwise = f"the recording connector does not compile against Kafka {release.version}. javac says:"
    compile_java(java_tool("javac", *JDK), sources, f"{release.jars}/*", target, otherwise=otherwise)
    services = target / "META-INF" / "services"
    services.mkdir(parents=True)
    for interface, implementation in _SERVICES.items():
        (services / interface).write_text(f"{implementation}\n")
    target.chmod(0o755)  # a container reads it as another user
