"""HTTP for the explorer, on this machine alone: the page, and its requests as calls of the api.

A page of another site cannot use it: a request must name this server as its host (a name of its own would be a sign of
DNS rebinding), and one that changes something must come from this origin and carry JSON, which other origins may not
send without asking.
"""

from __future__ import annotations

import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from rebalance_check.browser.api import ExplorerApi
from rebalance_check.browser.errors import RequestRefused
from rebalance_check.browser.page import explorer_page
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.terminal import visible_lines

LOOPBACK: Final = "127.0.0.1"
NAMES: Final = (LOOPBACK, "localhost")
"""How a browser of this machine may call the server."""

LOOK_EVERY_S: Final = 0.2
"""How often the server looks whether it is to end, while no browser asks anything."""

IDLE_S: Final = 60
"""A connection on which nothing comes for so long is closed."""

MOST_BYTES: Final = 1 << 16
"""Of the body of a request; that of an address is limited by `http.server` to as many."""

MOST_PARAMETERS: Final = 16

HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class ExplorerServer(ThreadingHTTPServer):
    """The explorer behind a port of the loopback interface; 0 chooses a free one. A context manager.

    Raises: RebalanceCheckError when the port is taken.
    """

    daemon_threads = True
    timeout = LOOK_EVERY_S

    def __init__(self, api: ExplorerApi, port: int) -> None:
        self.api = api
        self.page = explorer_page().encode()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as fault:
            raise RebalanceCheckError(
                f"port {port} of {LOOPBACK} cannot be had ({fault.strerror}): choose another one, or 0 for a free one"
            ) from fault

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{LOOPBACK}:{self.port}/"

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may name as its host."""
        return frozenset(f"{name}:{self.port}" for name in NAMES)

    def serve_until(self, stop: Callable[[], bool]) -> None:
        """Answer requests until ``stop`` says so."""
        while not stop():
            self.handle_request()

    def server_bind(self) -> None:
        """Bind without a look-up of this machine's name, which may take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the signature of the base class
        """A browser that went away is no fault; anything else is one of ours, and shown."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            sys.stderr.write(visible_lines(traceback.format_exc()))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "rebalance-check"
    sys_version = ""
    timeout = IDLE_S

    @property
    def _explorer(self) -> ExplorerServer:
        assert isinstance(self.server, ExplorerServer)
        return self.server

    def do_GET(self) -> None:
        """The page, or a document."""
        self._serve(lambda: self._get(urlsplit(self.path).path))

    def do_POST(self) -> None:
        """A request that begins or stops something."""
        self._serve(lambda: self._post(urlsplit(self.path).path))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the signature of the base class
        """Requests are not logged."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002 - the signature of the base class
        """What the base class refuses: a request that cannot be read, or a method that no page has here."""
        self.close_connection = True
        unknown = code == HTTPStatus.NOT_IMPLEMENTED
        status = HTTPStatus.METHOD_NOT_ALLOWED if unknown else HTTPStatus(code)
        self._refuse(status, f"the request cannot be served: {message or status.phrase}")

    def _serve(self, answer: Callable[[], tuple[str, bytes]]) -> None:
        try:
            self._require_host()
            content_type, body = answer()
            self._send(HTTPStatus.OK, content_type, body)
        except RequestRefused as refused:
            self._refuse(refused.status, refused.sentence)
        except RebalanceCheckError as fault:
            self._refuse(HTTPStatus.BAD_REQUEST, str(fault))
        except (ConnectionError, TimeoutError):
            raise
        except Exception as fault:
            sys.stderr.write(visible_lines(traceback.format_exc()))
            sentence = f"this is a fault of rebalance-check ({type(fault).__name__}: {fault})"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)

    def _get(self, path: str) -> tuple[str, bytes]:
        if path == "/":
            return "text/html; charset=utf-8", self._explorer.page
        answer = self._found(self._explorer.api.gets, path)
        return _json(answer(_parameters(urlsplit(self.path).query)))

    def _post(self, path: str) -> tuple[str, bytes]:
        body = self._body()
        answer = self._found(self._explorer.api.posts, path)
        self._require_origin()
        if self.headers.get_content_type() != "application/json":
            raise RequestRefused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
        try:
            return _json(answer(msgspec.json.decode(body, type=dict[str, str])))
        except msgspec.MsgspecError as fault:
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the body is no object of texts: {fault}") from fault

    def _found(self, answers: Mapping[str, Any], path: str) -> Callable[[Mapping[str, str]], Mapping[str, Any]]:
        """Who answers under a path.

        Raises: RequestRefused where nobody does.
        """
        api = self._explorer.api
        if path in answers:
            found: Callable[[Mapping[str, str]], Mapping[str, Any]] = answers[path]
            return found
        if path in {"/", *api.gets, *api.posts}:
            raise RequestRefused(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} does not serve {self.command}")
        known = ", ".join(sorted({"/", *api.gets, *api.posts}))
        raise RequestRefused(HTTPStatus.NOT_FOUND, f"there is no {path!r}: there is {known}")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            raise RequestRefused(HTTPStatus.LENGTH_REQUIRED, "the request does not say how long its body is")
        if int(length[:10]) > MOST_BYTES:
            self.close_connection = True
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MOST_BYTES:,} bytes")
        return self.rfile.read(int(length))

    def _require_host(self) -> None:
        host = self.headers.get("Host", "")
        if host not in self._explorer.hosts:
            self.close_connection = True
            raise RequestRefused(
                HTTPStatus.FORBIDDEN, f"the request is for the host {host!r}, and this is {self._explorer.url}"
            )

    def _require_origin(self) -> None:
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._explorer.hosts}:
            raise RequestRefused(HTTPStatus.FORBIDDEN, f"the request comes from {origin!r}, and not from this page")

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self._send(status, *_json({"error": sentence}))

    def _send(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _json(document: Mapping[str, Any]) -> tuple[str, bytes]:
    return "application/json", msgspec.json.encode(document)


def _parameters(query: str) -> dict[str, str]:
    """The parameters of an address.

    Raises: RequestRefused where they cannot be read, or one is given twice.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=MOST_PARAMETERS)
    except ValueError as fault:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the parameters cannot be read: {fault}") from fault
    if len(dict(pairs)) != len(pairs):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "a parameter is given twice")
    return dict(pairs)
