"""The Java sources of ours: each service is compiled on first use into the user's cache, and started by a command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm.jdk import compiled_once, java_tool
from rebalance_check.integration.jvm.release import SOURCES, Release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAIN_CLASS: Final = "rebalancecheck.Main"
JVM_OPTIONS: Final = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
QUICK_START: Final = "-XX:TieredStopAtLevel=1"
"""For a service of short work. With it, virtual Kafka answers in batches a tenth faster, and one by one six times
slower."""


@dataclass(frozen=True, slots=True)
class Service:
    """A class of runs that answer lines (``rebalancecheck.Main``), and the folder of its sources.

    ``whose`` names the part that needs a JDK; ``needs`` is the artifact without which the sources do not compile.
    """

    main: str
    folder: str
    whose: str
    needs: str
    options: tuple[str, ...] = ()


COORDINATORS: Final = Service(
    "org.apache.kafka.coordinator.group.Environment", "coordinators", "virtual Kafka", "kafka-clients"
)
CONFIG_STORES, STATUS_STORES = (
    Service(
        f"org.apache.kafka.connect.storage.{name}", "connect", "Kafka Connect's own classes", "connect-runtime",
        (QUICK_START,),
    )
    for name in ("ConfigRun", "StatusRun")
)  # fmt: skip
WORKERS: Final = Service(
    "org.apache.kafka.connect.runtime.distributed.WorkerRun", "connect", "Kafka's WorkerCoordinator", "connect-runtime"
)


def java_files(*folders: str) -> list[Path]:
    """The sources below some folders of ours; a folder that is not there has none."""
    return [path for folder in folders for path in sorted((SOURCES / folder).rglob("*.java"))]


def service_command(service: Service, release: Release) -> list[str]:
    """How a service is started on a release; it is compiled if this was never done.

    Raises: RebalanceCheckError without a JDK, or for a release that the sources do not fit.
    """
    if not list(release.jars.glob(f"{service.needs}-*.jar")):
        raise RebalanceCheckError(
            f"{str(release.jars)!r} holds no {service.needs}: add the jars of a Connect worker of Kafka "
            f"{release.version}, or let Maven fetch them"
        )
    jdk = (service.whose, 17)
    otherwise = (
        f"the Java side of {service.whose} does not compile against Kafka {release.version}, for which it was not "
        "written: choose 4.3.1 or 3.9.2. javac says:"
    )
    classes = compiled_once(
        f"{service.folder}/{release.version}", _sources(service, release), f"{release.jars}/*", jdk, otherwise=otherwise
    )
    return [*java_command(jdk, release.class_path(classes), service.options), service.main]


def java_command(jdk: tuple[str, int], class_path: str, options: Iterable[str] = ()) -> list[str]:
    """The beginning of a command that starts a service, whose class follows."""
    return [java_tool("java", *jdk), *JVM_OPTIONS, *options, "-cp", class_path, MAIN_CLASS]


def _sources(service: Service, release: Release) -> list[Path]:
    own = SOURCES / service.folder
    of_release = f"{service.folder}/{release.generation}"
    if (own / "v4").is_dir() and not (SOURCES / of_release).is_dir():
        raise RebalanceCheckError(f"Kafka {release.version} cannot run virtually: choose a release of Kafka 3.9 or 4")
    return java_files("harness", "stubs", f"{service.folder}/java", of_release)
