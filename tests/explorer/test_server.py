"""The explorer by HTTP: what it answers, what it refuses and in which words, and to whom it answers at all."""

from __future__ import annotations

import html
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any, Final

import pytest

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")

from rebalance_check.browser.api import ExplorerApi
from rebalance_check.browser.kafka_walks import KafkaWalks
from rebalance_check.browser.searches import Searches, SearchOptions
from rebalance_check.browser.server import ExplorerServer
from rebalance_check.model.registry import MUTANTS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

START: Final = "v1/eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off/"
JSON: Final = {"Content-Type": "application/json"}
JUNK: Final = (b"\x16\x03\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 70_000)


@pytest.fixture
def server() -> Iterator[ExplorerServer]:
    api = ExplorerApi(START, Searches(SearchOptions(compiled=False)), KafkaWalks("virtual"))
    stop = threading.Event()
    with ExplorerServer(api, 0) as opened:
        serving = threading.Thread(target=opened.serve_until, args=(stop.is_set,))
        serving.start()
        yield opened
        stop.set()
        serving.join()
        api.close()


def asked(
    server: ExplorerServer, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
) -> tuple[int, Any, http.client.HTTPMessage]:
    """Status, content and headers of a reply; the content of JSON is decoded."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    content: Any = reply.read().decode()
    if reply.getheader("Content-Type") == "application/json":
        content = json.loads(content)
    connection.close()
    return reply.status, content, reply.headers


def got(server: ExplorerServer, path: str) -> Any:
    status, content, _ = asked(server, "GET", path)
    assert status == 200, content
    return content


def posted(server: ExplorerServer, path: str, **parameters: str) -> Any:
    status, content, _ = asked(server, "POST", path, json.dumps(parameters), JSON)
    assert status == 200, content
    return content


def refused(server: ExplorerServer, status: int, *request: Any) -> str:
    """The sentence with which a request is refused."""
    seen, content, _ = asked(server, *request)
    assert seen == status, content
    sentence: str = content["error"]
    assert len(sentence.split()) > 4
    return sentence


def test_the_page__is_one_file_that_asks_nobody_else(server: ExplorerServer) -> None:
    status, page, headers = asked(server, "GET", "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "connect-src 'self'" in html.unescape(page)
    assert (headers["X-Frame-Options"], headers["Cache-Control"]) == ("DENY", "no-store")


def test_where_to_begin__and_every_planted_defect(server: ExplorerServer) -> None:
    start = got(server, "/api/start")
    assert start["address"] == START
    assert [mutant["name"] for mutant in start["mutants"]] == list(MUTANTS)
    for mutant in start["mutants"]:
        assert got(server, f"/api/walk?address={mutant['address'].replace('&', '%26')}")["mutant"] == mutant["name"]


def test_a_walk__goes_forward_by_the_addresses_that_are_offered__and_back(server: ExplorerServer) -> None:
    walk = got(server, f"/api/walk?address={START.replace('&', '%26')}")
    step = walk["enabled"][0]["address"].replace("&", "%26")
    assert got(server, f"/api/walk?address={step}")["at"] == 1
    assert got(server, f"/api/walk?address={step}&at=0")["state"] == walk["state"]


def test_a_search__is_begun__watched__and_found(server: ExplorerServer) -> None:
    assert got(server, "/api/search") == {"state": "none"}
    posted(server, "/api/search", address=START)
    assert posted(server, "/api/search/stop")["state"] == "ended"
    assert got(server, "/api/search")["bounds"] == START.removeprefix("v1/").removesuffix("/")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/walk", "the parameter address is missing"),
        ("/api/walk?address=nonsense", "is no path"),
        ("/api/walk?address=v1/eager/&at=-1", "at is '-1': write a number from 0"),
        ("/api/walk?address=v1/eager/&at=9", "no step 9"),
        ("/api/walk?address=v1/eager/&at=99999999999999999999", "write a number"),
        ("/api/walk?address=a&address=b", "given twice"),
        ("/api/walk?addres=a", "the parameter 'addres' is not known here"),
        ("/api/walk?a", "cannot be read"),
        ("/api/walk?" + "&".join(f"p{number}=1" for number in range(99)), "cannot be read"),
        ("/api/start?x=1", "is not known here"),
    ],
)
def test_a_bad_request__is_refused_in_a_sentence(path: str, words: str, server: ExplorerServer) -> None:
    assert words in refused(server, 400, "GET", path)


@pytest.mark.parametrize(
    ("status", "request_", "words"),
    [
        (404, ("GET", "/api/nothing"), "there is no '/api/nothing'"),
        (404, ("GET", "/../etc/passwd"), "there is no"),
        (405, ("GET", "/api/kafka"), "does not serve GET"),
        (405, ("POST", "/api/walk", "{}", JSON), "does not serve POST"),
        (405, ("DELETE", "/api/search"), "Unsupported method"),
        (411, ("POST", "/api/search", None, {"Transfer-Encoding": "chunked"}), "how long its body is"),
        (413, ("POST", "/api/search", None, {"Content-Length": "99999999"}), "more than 65,536 bytes"),
        (415, ("POST", "/api/search", "{}", {"Content-Type": "text/plain"}), "must be application/json"),
        (400, ("POST", "/api/search", "[1]", JSON), "no object of texts"),
        (400, ("POST", "/api/search", "{", JSON), "no object of texts"),
        (400, ("POST", "/api/search", '{"address": 7}', JSON), "no object of texts"),
        (400, ("POST", "/api/search", '{"address": "v1/eager/", "goal": "no such"}', JSON), "no reachable state"),
        (400, ("POST", "/api/kafka", '{"address": "v1/status/"}', JSON), "choose eager or cooperative"),
    ],
)
def test_what_is_not_served__is_refused_with_its_status(
    status: int, request_: tuple[Any, ...], words: str, server: ExplorerServer
) -> None:
    assert words in refused(server, status, *request_)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "evil.example:80", "localhost.evil.example", ""])
def test_another_host__is_no_name_of_this_server(host: str, server: ExplorerServer) -> None:
    """A name that leads to this machine by DNS rebinding is that of another site."""
    for path in ("/", "/api/start"):
        assert "is for the host" in refused(server, 403, "GET", path, None, {"Host": host})


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
def test_another_origin__begins_nothing(origin: str, server: ExplorerServer) -> None:
    body = json.dumps({"address": START})
    assert "comes from" in refused(server, 403, "POST", "/api/search", body, JSON | {"Origin": origin})
    assert got(server, "/api/search") == {"state": "none"}
    own = {"Origin": server.url.removesuffix("/")}
    assert asked(server, "POST", "/api/search", body, JSON | own)[0] == 200


def test_only_this_machine__reaches_it(server: ExplorerServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_bytes_that_are_no_request__are_refused__and_others_are_served_on(server: ExplorerServer) -> None:
    for junk in JUNK:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(junk)
            connection.shutdown(socket.SHUT_WR)
            reply = b"".join(iter(lambda: connection.recv(1 << 16), b""))
            assert b'"error"' in reply or reply == b"", reply
    assert got(server, "/api/start")["address"] == START


def test_a_taken_port__is_refused(server: ExplorerServer) -> None:
    with pytest.raises(RebalanceCheckError, match=f"port {server.port} .* choose another one"):
        ExplorerServer(server.api, server.port)


def test_without_jars__kafka_says_what_is_missing(
    server: ExplorerServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("REBALANCE_CHECK_KAFKA_JARS", str(tmp_path))
    body = json.dumps({"address": START})
    assert "holds no Kafka" in refused(server, 503, "POST", "/api/kafka", body, JSON)
