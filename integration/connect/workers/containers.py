"""Connect workers in containers, of the image that the broker's container has: kill, pause and stop are Docker's."""

from __future__ import annotations

import os
import shlex
from typing import Final

from docker.errors import DockerException
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from rebalance_check.integration.brokers.container import (
    DEFAULT_IMAGE,
    IMAGE_SETTING,
    LABEL,
    OWNER_SETTING,
    require_docker,
    version_of,
)
from rebalance_check.integration.brokers.local import log_tail
from rebalance_check.integration.connect.workers.build import connector_classes, release_of
from rebalance_check.integration.connect.workers.settings import JVM_OPTIONS, MAIN_CLASS
from rebalance_check.integration.connect.workers.worker import WorkerPlace, journal_options, setup_logging
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

STOP_TIMEOUT_S: Final = 40
CLASS_PATH: Final = "/opt/kafka/libs/*"


class ContainerWorker:
    """A worker in a container on the host's network, which is where a broker in a container publishes its port.

    Its folder, the controls and the recording connector are the host's, under the same paths.
    """

    def __init__(self, place: WorkerPlace, image: str | None = None) -> None:
        name = image or os.environ.get(IMAGE_SETTING) or DEFAULT_IMAGE
        version = version_of(name)
        testcontainers_config.ryuk_disabled = True  # as for brokers: we remove our own containers
        require_docker()
        classes = connector_classes(release_of(version))
        self._place = place
        self._image = name
        self._container = DockerContainer(name)
        self._is_up = False
        options = [*JVM_OPTIONS, *setup_logging(place, version), *journal_options(place)]
        java = shlex.join(["java", *options, "-cp", f"{classes}:{CLASS_PATH}", MAIN_CLASS, str(place.properties)])
        self._container.with_command(["-c", f"exec {java} >>{shlex.quote(str(place.log))} 2>&1"])
        for folder, mode in ((place.folder, "rw"), (place.controls, "ro"), (classes, "ro")):
            self._container.with_volume_mapping(str(folder), str(folder), mode)
        self._container.with_kwargs(
            entrypoint=["sh"], network_mode="host", labels={LABEL: os.environ.get(OWNER_SETTING, "connect")}
        )

    def start(self) -> None:
        """Start the container; returns before the worker is ready.

        Raises:
            RebalanceCheckError: its image cannot be had.
        """
        try:
            self._container.start()
        except DockerException as error:
            raise RebalanceCheckError(
                f"no container of the image {self._image!r} can be started ({error}): build it with .ci/image.sh, or "
                f"set {IMAGE_SETTING} to an image that is here and has Kafka in /opt/kafka/libs"
            ) from error
        self._is_up = True

    def stop(self) -> None:
        """SIGTERM, and wait; then the container is removed."""
        if self._is_up:
            self._container.get_wrapped_container().stop(timeout=STOP_TIMEOUT_S)
            self._remove()

    def kill(self) -> None:
        """SIGKILL, and wait; then the container is removed."""
        if self._is_up:
            self._remove()

    def pause(self) -> None:
        """Freeze the container."""
        self._container.get_wrapped_container().pause()

    def resume(self) -> None:
        """Let the container run on."""
        self._container.get_wrapped_container().unpause()

    def death(self) -> str | None:
        """How the container ended, or None while it runs."""
        container = self._container.get_wrapped_container()
        container.reload()
        if container.status not in ("exited", "dead"):
            return None
        return f"the container of worker {self._place.name} ended: {log_tail(self._place.log)}"

    def _remove(self) -> None:
        """Forced removal kills a running container, a frozen container included."""
        self._is_up = False
        self._container.stop(force=True, delete_volume=True)
