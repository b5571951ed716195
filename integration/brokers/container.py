"""A real Kafka in a container, started without the image's own scripts.

The command is ``java -cp '/opt/kafka/libs/*' kafka.Kafka``, so the public ``apache/kafka`` image and one that was built
without any registry (``.ci/image.sh``) both serve.
"""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

import docker
from docker.errors import DockerException, ImageNotFound
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from rebalance_check.integration.brokers.readiness import await_ready
from rebalance_check.integration.brokers.settings import (
    CLUSTER_ID,
    FORMAT_CLASS,
    JVM_OPTIONS,
    MAIN_CLASS,
    server_properties,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

IMAGE_SETTING: Final = "REBALANCE_CHECK_KAFKA_IMAGE"
DEFAULT_IMAGE: Final = "apache/kafka:4.3.1"
LABEL: Final = "io.github.rebalance-check"
"""Every container of this suite carries this label: ``docker ps --filter label=...`` shows those that are left."""

OWNER_SETTING: Final = "REBALANCE_CHECK_OWNER"
"""The environment's value for that label, where runs that share a machine must be distinguished."""

START_TIMEOUT_S: Final = 90.0
LOG_TAIL_BYTES: Final = 3000

_PORT: Final = 9092
_CONTROLLER_PORT: Final = 9093
_PROPERTIES: Final = "/tmp/server.properties"
_CLASS_PATH: Final = "/opt/kafka/libs/*"


class RealKafka(DockerContainer):
    """One KRaft node. ``image`` holds a Java runtime and Kafka's jars in /opt/kafka/libs; ``bootstrap`` is its address.

    Its ``port`` is published on loopback only, and chosen before the start, because Kafka must know its address.
    ``properties`` are the text of ``server.properties``; by default it is the only node.
    """

    def __init__(self, image: str, *, port: int | None = None, properties: str | None = None) -> None:
        super().__init__(image)
        self.image_name = image
        port = free_port() if port is None else port
        self.bootstrap = f"127.0.0.1:{port}"
        # The setter of testcontainers takes no address to publish on; docker-py takes (address, port).
        # A single node listens on the port that it advertises: it calls itself by that to verify transactions.
        inner = _PORT if properties else port
        self.ports[f"{inner}/tcp"] = ("127.0.0.1", port)  # type: ignore[assignment] # typed as a port alone
        properties = properties or server_properties(
            listen="0.0.0.0",
            port=port,
            controller_port=_CONTROLLER_PORT,
            advertised_port=port,
            log_dir="/tmp/kafka-data",
        )
        self.with_copy_into_container(properties.encode(), _PROPERTIES)
        self.with_command(["-c", _script()])
        self.with_kwargs(entrypoint=["sh"], labels={LABEL: os.environ.get(OWNER_SETTING, "kafka")})

    @property
    def version(self) -> str:
        """The image's tag, which names the release."""
        return version_of(self.image_name)

    def death(self) -> str | None:
        """Why waiting for it is in vain, or None."""
        container = self.get_wrapped_container()
        container.reload()
        if container.status not in ("exited", "dead"):
            return None
        tail = container.logs()[-LOG_TAIL_BYTES:].decode(errors="replace")
        return f"the container of {self.image_name} ended before Kafka was ready; its last lines were:\n{tail}"


def version_of(image: str) -> str:
    """The tag of an image."""
    return image.rpartition(":")[2] if ":" in image else "latest"


@contextmanager
def containered_kafka(image: str | None = None) -> Iterator[tuple[str, str]]:
    """Run a Kafka node in a container and yield its address and its release; the container is gone afterwards.

    ``image`` defaults to the environment's REBALANCE_CHECK_KAFKA_IMAGE, then to the public image.
    """
    name = image or os.environ.get(IMAGE_SETTING) or DEFAULT_IMAGE
    # Ryuk, the companion that removes the remains of a killed process, is an image of a registry; we remove
    # containers ourselves, also after a failure or an interrupt.
    testcontainers_config.ryuk_disabled = True
    require_docker()
    with ExitStack() as stack:
        kafka = start_container(RealKafka(name), stack)
        await_ready(kafka.bootstrap, timeout_s=START_TIMEOUT_S, death=kafka.death)
        yield kafka.bootstrap, kafka.version


def start_container(kafka: RealKafka, stack: ExitStack) -> RealKafka:
    """Start it, and let ``stack`` remove it; `RebalanceCheckError` when its image cannot be had."""
    try:
        return stack.enter_context(kafka)
    except ImageNotFound as error:
        reason = error.explanation
    except DockerException as error:
        # Also raised when the image is not here and its registry cannot be reached.
        reason = error
    raise RebalanceCheckError(
        f"no container of the image {kafka.image_name!r} can be started ({reason}): build it with .ci/image.sh, or set "
        f"{IMAGE_SETTING} to an image that is here and has Kafka in /opt/kafka/libs"
    )


def require_docker() -> None:
    """`RebalanceCheckError` when no daemon answers."""
    try:
        client = docker.from_env(timeout=10)
        try:
            client.ping()
        finally:
            client.close()
    except DockerException as error:
        raise RebalanceCheckError(
            f"no Docker daemon answers ({error}): start one, or choose another broker (embedded, local, HOST:PORT)"
        ) from error


def free_port() -> int:
    """A port of loopback that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _script() -> str:
    java = f"java {' '.join(JVM_OPTIONS)} -cp {shlex.quote(_CLASS_PATH)}"
    return (
        f"{java} {FORMAT_CLASS} format --ignore-formatted --cluster-id {CLUSTER_ID} --config {_PROPERTIES} && "
        f"exec {java} {MAIN_CLASS} {_PROPERTIES}"
    )
