"""A release of Kafka, and where its jars are: in a folder that a setting names, or fetched with Maven."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm.jdk import JARS_SETTING, cache_folder, fetched_jars, fingerprint
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

DEFAULT_VERSION: Final = "4.3.1"
SPEC: Final = "virtual"
POM: Final = Path(__file__).parents[1] / "java" / "pom.xml"
SOURCES: Final = POM.parent / "src"

_NOT_NEEDED: Final = ("log4j-", "netty-", "jackson-dataformat", "slf4j-reload4j-", "slf4j-simple-")
"""Jars that only slow the start down, or would print."""

_SPEC: Final = re.compile(r"virtual(?::(?P<version>\d+\.\d+\.\d+)(?P<scala>-scala)?)?")
_CLIENTS: Final = re.compile(r"kafka-clients-(\d[\w.-]*)\.jar")


@dataclass(frozen=True, slots=True)
class Release:
    """A Kafka release with the folder of its jars; ``scala`` asks for the old coordinator of Kafka 3."""

    version: str
    jars: Path
    scala: bool = False

    @property
    def name(self) -> str:
        """``virtual 4.3.1``, as reports call it."""
        return f"virtual {self.version}{'-scala' if self.scala else ''}"

    @property
    def generation(self) -> str:
        """The folder of Java sources that fit this release: ``v3`` or ``v4``."""
        return f"v{self.version.partition('.')[0]}"

    def class_path(self, classes: Path) -> str:
        """``classes``, and the jars that a service needs."""
        jars = [path for path in sorted(self.jars.glob("*.jar")) if not path.name.startswith(_NOT_NEEDED)]
        return os.pathsep.join(map(str, [classes, *jars]))


def is_virtual(spec: str) -> bool:
    """Whether a broker's spec asks for virtual Kafka."""
    return spec.partition(":")[0] == SPEC


def find_release(spec: str = SPEC, jars: str | None = None) -> Release:
    """The release that ``virtual``, ``virtual:4.3.1`` or ``virtual:3.9.2-scala`` names.

    ``jars`` is a folder with the jars of one release, a folder with a folder per release, or a path with ``{version}``
    in it; by default REBALANCE_CHECK_KAFKA_JARS. Without either, Maven fetches them. `RebalanceCheckError`
    when the spec cannot be read, or nothing can be had.
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise RebalanceCheckError(f"{spec!r} is no virtual Kafka: write virtual, virtual:4.3.1 or virtual:3.9.2-scala")
    scala, wanted = match["scala"] is not None, match["version"]
    if scala and not wanted.startswith("3."):
        raise RebalanceCheckError(f"{spec!r}: only Kafka 3 has a coordinator in Scala: write virtual:{wanted}")
    setting = jars or os.environ.get(JARS_SETTING)
    folder = _in_setting(setting, wanted) if setting else _from_maven(wanted or DEFAULT_VERSION)
    version = version_in(folder)
    if wanted not in (None, version):
        raise RebalanceCheckError(
            f"{str(folder)!r} holds Kafka {version}, and not {wanted}: set {JARS_SETTING} to a folder with a folder "
            "for each release"
        )
    return Release(version, folder, scala)


def version_in(folder: Path) -> str:
    """The release whose jars are in a folder; `RebalanceCheckError` when there is none."""
    names = sorted(path.name for path in folder.glob("kafka-clients-*.jar"))
    found = [match[1] for name in names if (match := _CLIENTS.fullmatch(name))]
    if not found:
        raise RebalanceCheckError(
            f"{str(folder)!r} holds no Kafka (no file kafka-clients-VERSION.jar): set {JARS_SETTING} to the folder "
            "with the jars of a release"
        )
    return found[0]


def _in_setting(setting: str, wanted: str | None) -> Path:
    version = wanted or DEFAULT_VERSION
    folder = Path(setting.replace("{version}", version)).expanduser()
    below = folder / version
    return (below if below.is_dir() else folder).resolve()


def _from_maven(version: str) -> Path:
    advice = f"set {JARS_SETTING} to their folder"
    needs = f"virtual Kafka needs the jars of Kafka {version}: {advice}, or install Maven"
    folder = cache_folder() / "jars" / f"{version}-{fingerprint([POM])}"
    return fetched_jars(POM, version, folder, profile="all", without_maven=needs, otherwise=advice)
