"""The REST interface of a Connect worker, the internal endpoints among it, and their signatures (KIP-507)."""

from __future__ import annotations

import base64
import hmac
import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CALL_TIMEOUT_S: Final = 20.0
STATUS_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.2
CONFLICT: Final = 409
NOT_FOUND: Final = 404
SERVER_ERROR: Final = 500

AUTHORIZATION: Final = "X-Connect-Authorization"
ALGORITHM: Final = "X-Connect-Request-Signature-Algorithm"
_DIGESTS: Final = {"HmacSHA1": "sha1", "HmacSHA256": "sha256", "HmacSHA384": "sha384", "HmacSHA512": "sha512"}


@dataclass(frozen=True, slots=True)
class RestReply:
    """A worker's answer: the status of HTTP, and the JSON of the body (None for an empty one)."""

    status: int
    body: Any

    @property
    def refused(self) -> bool:
        """Whether it is an error of any kind."""
        return self.status >= http.client.BAD_REQUEST

    @property
    def message(self) -> str:
        """The text of an error."""
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else ""


def path_of(connector: str, verb: str = "") -> str:
    """The path of a connector, or of an operation on it; any name becomes one part of the path."""
    return f"/connectors/{quote(connector, safe='')}{f'/{verb}' if verb else ''}"


def task_configs_body(configs: Sequence[Mapping[str, str | None]]) -> bytes:
    """The configurations of all tasks of a connector, as the leader reads them."""
    return json.dumps([dict(config) for config in configs]).encode()


def signature_headers(key: bytes, algorithm: str, body: bytes) -> dict[str, str]:
    """The headers that sign ``body``, the bytes of a request as they are sent.

    Source: ``InternalRequestSignature.addToRequest`` (KIP-507). Only the body is signed: not the path.

    Raises:
        RebalanceCheckError: the algorithm is none that this can compute.
    """
    digest = _DIGESTS.get(algorithm)
    if digest is None:
        raise RebalanceCheckError(f"{algorithm!r} is no MAC that is known here: choose from {', '.join(_DIGESTS)}")
    mac = hmac.new(key, body, digest).digest()
    return {AUTHORIZATION: base64.b64encode(mac).decode(), ALGORITHM: algorithm}


def is_signed(key: bytes, algorithm: str, body: bytes, authorization: str) -> bool:
    """Whether ``authorization`` is the signature of ``body`` under this key.

    Raises:
        RebalanceCheckError: the algorithm is none that this can compute.
    """
    expected = signature_headers(key, algorithm, body)[AUTHORIZATION]
    return hmac.compare_digest(expected, authorization)


class ConnectRest:
    """A worker's REST interface at ``http://HOST:PORT``."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._address = urlsplit(self.url).netloc

    def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> RestReply:  # fmt: skip
        """One request, and its reply of any status; ``timeout_s`` seconds may pass between two packets.

        Raises:
            OSError: the worker does not answer.
        """
        connection = http.client.HTTPConnection(self._address, timeout=timeout_s)
        try:
            data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
            reply = connection.getresponse()
            return RestReply(reply.status, _parsed(reply.read()))
        except http.client.HTTPException as error:
            raise OSError(f"{self.url} does not answer in HTTP: {error!r}") from error
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: object = None, *, timeout_s: float = 60.0) -> Any:
        """The body of the reply; a worker that is in a rebalance (409), or fails (5xx), is asked again.

        Raises:
            RebalanceCheckError: another error, or none but these for ``timeout_s`` seconds.
        """
        return self._accepted(method, path, self._settled(method, path, body, timeout_s))

    def _settled(self, method: str, path: str, body: object, timeout_s: float) -> RestReply:
        """The first reply that is neither 409 nor 5xx."""

        def probe() -> RestReply | NotYet:
            try:
                reply = self.call(method, path, body)
            except OSError as error:
                return NotYet(str(error))
            retriable = reply.status == CONFLICT or reply.status >= SERVER_ERROR
            return NotYet(f"{reply.status} {reply.message}") if retriable else reply

        what = f"{method} {self.url}{path}"
        return await_until(probe, timeout_s=timeout_s, pause_s=RETRY_S, otherwise=f"{what} has no other answer")

    def _accepted(self, method: str, path: str, reply: RestReply) -> Any:
        if reply.refused:
            what = f"{method} {self.url}{path} is refused: {reply.status} {reply.message}"
            raise RebalanceCheckError(f"{what}; see the worker's log")
        return reply.body

    def answers(self) -> bool:
        """Whether it says that it has started, with its config topic read (KIP-1017)."""
        try:
            return self.call("GET", "/health", timeout_s=2.0).status == http.client.OK
        except OSError:
            return False

    # ---------------------------------------------------------------------------------------- connectors

    def put_config(self, connector: str, config: Mapping[str, str]) -> None:
        """Create a connector, or give it another config."""
        self.ask("PUT", path_of(connector, "config"), dict(config))

    def delete(self, connector: str) -> None:
        """Delete a connector."""
        self.ask("DELETE", path_of(connector))

    def target(self, connector: str, verb: str) -> None:
        """Change its target state: ``pause``, ``resume`` or ``stop``."""
        self.ask("PUT", path_of(connector, verb))

    def restart(self, connector: str, *, include_tasks: bool = False, only_failed: bool = False) -> Any:
        """Restart it (KIP-745)."""
        flags = f"includeTasks={str(include_tasks).lower()}&onlyFailed={str(only_failed).lower()}"
        return self.ask("POST", f"{path_of(connector, 'restart')}?{flags}")

    def status(self, connector: str) -> Any:
        """Its status and those of its tasks as this worker knows them; None where there is none.

        Raises:
            RebalanceCheckError: the worker refuses, or fails for a minute.
        """
        path = path_of(connector, "status")
        reply = self._settled("GET", path, None, STATUS_TIMEOUT_S)
        return None if reply.status == NOT_FOUND else self._accepted("GET", path, reply)

    # ---------------------------------------------------------------------------------------- internal

    def put_task_configs(self, connector: str, body: bytes, *, headers: Mapping[str, str] | None = None) -> RestReply:
        """``POST /connectors/{c}/tasks``, as a worker that runs a connector sends it to the leader.

        ``body`` is the `task_configs_body`, which ``headers`` sign.
        """
        return self.call("POST", path_of(connector, "tasks"), body, headers=headers)

    def fence(self, connector: str, *, headers: Mapping[str, str] | None = None) -> RestReply:
        """``PUT /connectors/{c}/fence``, as a worker sends it before an exactly-once source task (KIP-618)."""
        return self.call("PUT", path_of(connector, "fence"), b"", headers=headers)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return data.decode(errors="replace")
