"""The REST interface of a worker of ours: its leader's requests, and those of an operator of these clusters.

The internal endpoints are Java's: ``POST /connectors/{c}/tasks`` and ``PUT /connectors/{c}/fence``, with signatures in
a sessioned group. Public ones that only a leader serves are forwarded to it, as Java does.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qs, unquote, urlsplit

from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, FenceZombies, InternalRequest, PutTaskConfigs
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.integration.connect.workers.ours.refusals import (
    SignatureError,
    internal_refusal,
    refusal,
    signature_of,
)
from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from rebalance_check.integration.connect.workers.rest import ALGORITHM, AUTHORIZATION, ConnectRest

ANSWER_TIMEOUT_S: Final = 90.0
"""``RestRequestTimeout``."""

TIMED_OUT: Final = "Request timed out"

POLL_S: Final = 0.02
"""How soon the server notices that it is to end."""

_PATH: Final = re.compile(r"/connectors/(?P<connector>[^/]+)(?:/(?P<verb>\w+))?")


class RestServer:
    """Serves the REST interface on ``port`` of loopback until `close`."""

    def __init__(self, port: int, herder: Herder, threads: WorkerThreads) -> None:
        handler = type("Handler", (_Handler,), {"herder": herder, "threads": threads})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        serve = partial(self._server.serve_forever, poll_interval=POLL_S)
        threading.Thread(target=serve, name="REST server", daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    herder: ClassVar[Herder]
    threads: ClassVar[WorkerThreads]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Requests are not logged."""

    # ------------------------------------------------------------------------------------------------ requests

    def do_GET(self) -> None:
        """``/health``, ``/connectors``, and the status of a connector."""
        path = urlsplit(self.path).path
        match = _PATH.fullmatch(path)
        if path == "/health":
            healthy = self._ask(lambda answer: answer(self.herder.configs.started))
            self._reply(200 if healthy else 503, {"status": "healthy" if healthy else "starting"})
        elif path == "/connectors":
            self._show(lambda: (200, self._infos()))
        elif match is not None and match["verb"] == "status":
            self._show(lambda: self._status(unquote(match["connector"])))
        else:
            self._refuse(404, f"{self.path} is not served here")

    def do_POST(self) -> None:
        """Task configs from the worker that runs a connector."""
        match = _PATH.fullmatch(urlsplit(self.path).path)
        if match is None or match["verb"] != "tasks":
            self._refuse(404, f"{self.path} is not served here")
            return
        body = self._body()
        try:
            configs = tuple(dict(config) for config in json.loads(body))
        except (ValueError, TypeError) as error:
            self._refuse(500, str(error))
            return
        self._internal(PutTaskConfigs(unquote(match["connector"]), configs), body)

    def do_PUT(self) -> None:
        """A fencing round, or the operator's changes of a connector."""
        match = _PATH.fullmatch(urlsplit(self.path).path)
        verb = match["verb"] if match is not None else None
        body = self._body()
        if match is None or verb not in ("fence", "config", "pause", "resume", "stop"):
            self._refuse(404, f"{self.path} is not served here")
        elif verb == "fence":
            self._internal(FenceZombies(unquote(match["connector"])), body)
        elif verb == "config":
            self._configure(unquote(match["connector"]), body)
        else:
            self._operator(unquote(match["connector"]), verb, body)

    def do_DELETE(self) -> None:
        """The connector is deleted."""
        match = _PATH.fullmatch(urlsplit(self.path).path)
        if match is None or match["verb"]:
            self._refuse(404, f"{self.path} is not served here")
        else:
            self._operator(unquote(match["connector"]), "delete", b"")

    # ------------------------------------------------------------------------------------------------ the herder

    def _internal(self, request: InternalRequest, body: bytes) -> None:
        """Java passes on a request that another worker has to serve, and drops its signature."""
        try:
            signature = signature_of(self.herder, body, self.headers.get(AUTHORIZATION), self.headers.get(ALGORITHM))
        except SignatureError as error:
            self._refuse(400, str(error))
            return
        answer = self._ask(lambda answer: self.herder.receive_internal(request, signature, answer))
        self._finish(answer, body, lambda: internal_refusal(self.herder, answer, request, signature))

    def _configure(self, connector: str, body: bytes) -> None:
        try:
            config = {"name": connector, **json.loads(body)}
        except (ValueError, TypeError) as error:
            self._refuse(500, str(error))
            return
        answer = self._ask(lambda answer: self.herder.put_connector(connector, config, answer))
        self._finish(answer, body, lambda: refusal(self.herder, answer, connector))

    def _operator(self, connector: str, verb: str, body: bytes) -> None:
        herder = self.herder

        def question(answer: Any) -> None:
            match verb:
                case "delete":
                    herder.delete_connector(connector, answer)
                case "pause":
                    herder.pause_connector(connector, answer)
                case "resume":
                    herder.resume_connector(connector, answer)
                case _:
                    herder.stop_connector(connector, answer)

        answer = self._ask(question)
        self._finish(answer, body, lambda: refusal(herder, answer, connector))

    def _show(self, question: Callable[[], tuple[int, Any]]) -> None:
        """Answer with the code and the body that the herder's thread finds."""
        found = self._ask(lambda answer: answer(question()))
        if found is None:
            self._refuse(500, TIMED_OUT)
        else:
            self._reply(*found)

    def _infos(self) -> dict[str, Any]:
        state = self.herder.config_state
        return {
            name: {"info": {"name": name, "config": dict(state.config(name) or {}), "tasks": self._tasks(name)}}
            for name in state.connectors()
        }

    def _tasks(self, connector: str) -> list[dict[str, Any]]:
        return [{"connector": connector, "task": number} for number in self.herder.config_state.tasks(connector)]

    def _status(self, connector: str) -> tuple[int, Any]:
        found = status_document(self.herder.statuses.store, connector)
        if found is None:
            return 404, {"error_code": 404, "message": f"No status found for connector {connector}"}
        return 200, found

    # ------------------------------------------------------------------------------------------------ HTTP

    def _ask(self, question: Any) -> Any:
        return self.threads.ask(question, ANSWER_TIMEOUT_S)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _finish(self, answer: Answer | None, body: bytes, why: Callable[[], str]) -> None:
        """Answer, or pass the request on to the leader."""
        if answer is Answer.OK:
            self._reply(204, None)
        elif answer is None:
            self._refuse(500, TIMED_OUT)
        elif answer is not Answer.CONFLICT or not self._forward(body):
            self._refuse(answer.value, why())

    def _forward(self, body: bytes) -> bool:
        """Pass the request on to the leader, if there is another one and this is not the third worker that it reaches.

        The first worker has it passed on once more (``forward=true``), the second has not (``forward=false``).
        """
        leader, query = self.herder.leader_url, parse_qs(urlsplit(self.path).query)
        forward = query.get("forward", [""])[0]
        if not leader or leader == self.herder.url or forward == "false":
            return False
        path = f"{urlsplit(self.path).path}?forward={'false' if forward else 'true'}"
        try:
            reply = ConnectRest(leader).call(self.command, path, body or None)
        except OSError as error:
            self._refuse(500, f"IO Error trying to forward REST request: {error}")
        else:
            self._reply(reply.status, reply.body)
        return True

    def _refuse(self, code: int, message: str) -> None:
        self._reply(code, {"error_code": code, "message": message})

    def _reply(self, code: int, body: Any) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def status_document(store: StatusStore, connector: str) -> dict[str, Any] | None:
    """The status of a connector and its tasks as Java's REST interface shows it; None where none is known."""
    own = store.get(ConnectorKey(connector))
    if own is None:
        return None
    tasks = [
        {"id": number, "state": value.status.value, "worker_id": value.worker_id}
        for number, value in sorted(store.cache.tasks(connector).items())
    ]
    return {"name": connector, "connector": {"state": own.status.value, "worker_id": own.worker_id}, "tasks": tasks}
