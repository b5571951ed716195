"""The REST interface of a worker of ours over HTTP: the internal endpoints, how they refuse, what is passed on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from queue import SimpleQueue
from typing import Any

import pytest

from rebalance_check.impl.connect.config.values import SessionKey, TargetState
from rebalance_check.impl.connect.herder.peers import Answer, FenceZombies, PutTaskConfigs
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode
from rebalance_check.integration.brokers.local import free_ports
from rebalance_check.integration.connect.workers.ours.peers import HttpPeers
from rebalance_check.integration.connect.workers.ours.rest_server import RestServer
from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from rebalance_check.integration.connect.workers.rest import (
    ALGORITHM,
    AUTHORIZATION,
    ConnectRest,
    RestReply,
    signature_headers,
)
from tests.impl.herder_alone import LoneHerder

KEY = SessionKey(b"k" * 32, "HmacSHA256", 0)
UNSIGNED: Mapping[str, str] = {}
TASKS = b'[{"t":"0"}]'


class Asked:
    """The thread of a process: it asks the herder at once, one request at a time."""

    def __init__(self, alone: LoneHerder) -> None:
        self._alone, self._lock = alone, threading.Lock()

    def ask(self, question: Callable[[Callable[[Any], None]], None], _timeout_s: float) -> Any:
        answers: list[Any] = []
        with self._lock:
            question(answers.append)
            self._alone.run()
        return answers[0] if answers else None


class Worker:
    """A herder with its REST interface; ``follows`` is the URL that its last assignment names."""

    def __init__(self, mode: ConnectMode, follows: str | None = None) -> None:
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}/"
        self.alone = LoneHerder(mode=mode, leads=follows is None)
        self.alone.herder.url = self.url
        if follows != "":
            leader_url = self.url if follows is None else follows
            self.alone.herder.assignment = ConnectAssignment(leader_url=leader_url)
        self.server = RestServer(port, self.alone.herder, Asked(self.alone))  # type: ignore[arg-type]  # as fast
        self.rest = ConnectRest(self.url)

    def post(self, body: bytes = TASKS, connector: str = "a", headers: Mapping[str, str] = UNSIGNED) -> tuple[int, str]:
        """Send task configs; the status and the message."""
        reply = self.rest.call("POST", f"/connectors/{connector}/tasks", body, headers=headers)
        return reply.status, reply.message


Open = Callable[..., Worker]


@pytest.fixture
def opened() -> Iterator[Open]:
    workers: list[Worker] = []

    def open_worker(mode: ConnectMode = ConnectMode.COMPATIBLE, follows: str | None = None) -> Worker:
        workers.append(Worker(mode, follows))
        return workers[-1]

    yield open_worker
    for worker in workers:
        worker.server.close()


def test_the_internal_endpoints_answer_204(opened: Open) -> None:
    worker = opened()
    worker.alone.configure("a")
    assert worker.post() == (204, "")
    assert worker.rest.fence("a").status == 204
    assert worker.alone.keys() == ["connector-a", "task-a-0", "commit-a", "tasks-fencing-a"]


@pytest.mark.parametrize("body", [b"", b"{", b"[1]"])
def test_a_body_that_is_empty_or_cannot_be_read_is_answered_500(opened: Open, body: bytes) -> None:
    assert opened(ConnectMode.SESSIONED).post(body)[0] == 500


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"a"'])
def test_a_config_that_cannot_be_read_is_answered_500__and_the_worker_goes_on(opened: Open, body: bytes) -> None:
    worker = opened()
    assert worker.rest.call("PUT", "/connectors/a/config", body).status == 500
    assert worker.rest.call("PUT", "/connectors/a/config", {"tasks": "1"}).status == 204


@pytest.mark.parametrize("path", ["/connectors", "/connectors/a/status"])
def test_a_herder_that_does_not_answer_in_time_is_an_error_500(
    opened: Open, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(Asked, "ask", lambda *_: None)
    reply = opened().rest.call("GET", path)
    assert (reply.status, reply.message) == (500, "Request timed out")


def test_a_name_of_a_connector_is_quoted_on_the_way_to_another_worker(opened: Open) -> None:
    leader, answers = opened(), SimpleQueue[Answer]()
    name = "my sink/1"
    leader.rest.put_config(name, {"tasks": "1"})
    threads = WorkerThreads()
    for request in (PutTaskConfigs(name, ({"t": "0"},)), FenceZombies(name)):
        HttpPeers(threads).request(leader.url, request, None, answers.put)
        while answers.empty():
            threads.run_due()
        assert answers.get() is Answer.OK
    assert leader.alone.keys()[0] == f"connector-{name}"


def test_a_status_is_asked_for_again_while_the_worker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [RestReply(500, {"message": "starting"}), RestReply(200, {"name": "a"}), RestReply(404, None)]
    monkeypatch.setattr(ConnectRest, "call", lambda *_, **__: replies.pop(0))
    rest = ConnectRest("http://w:8083")
    assert rest.status("a") == {"name": "a"}
    assert rest.status("a") is None


def signed(body: bytes = TASKS, key: bytes = KEY.key, algorithm: str = KEY.algorithm) -> dict[str, str]:
    return signature_headers(key, algorithm, body)


NO_ALGORITHM = {AUTHORIZATION: "AAAA", ALGORITHM: "HmacMD2"}
NO_BASE64 = {AUTHORIZATION: "%", ALGORITHM: "HmacSHA256"}
NO_ASCII = {AUTHORIZATION: "\xe9", ALGORITHM: "HmacSHA256"}


@pytest.mark.parametrize(
    ("headers", "status", "text"),
    [
        (NO_ALGORITHM, 400, "Algorithm HmacMD2 not available"),
        (NO_BASE64, 400, "is no Base64"),
        (NO_ASCII, 400, "is no Base64"),
        (UNSIGNED, 400, "Internal request missing required signature"),
        (signed(algorithm="HmacSHA512"), 400, "does not support the 'HmacSHA512' key signing algorithm"),
        (signed(key=b"f" * 32), 403, "Internal request contained invalid signature."),
        (signed(b"[]"), 403, "Internal request contained invalid signature."),
        (signed(), 204, ""),
    ],
    ids=["unknown algorithm", "no Base64", "no ASCII", "unsigned", "algorithm", "forged", "another body", "good"],
)
def test_a_sessioned_worker_refuses_what_is_not_signed_well(
    opened: Open, headers: Mapping[str, str], status: int, text: str
) -> None:
    worker = opened(ConnectMode.SESSIONED)
    worker.alone.knows_key(KEY)
    worker.alone.configure("a")
    found, message = worker.post(headers=headers)
    assert found == status
    assert text in message


@pytest.mark.parametrize("headers", [NO_ALGORITHM, NO_BASE64], ids=["unknown algorithm", "no Base64"])
@pytest.mark.parametrize("mode", [ConnectMode.EAGER, ConnectMode.COMPATIBLE])
def test_headers_that_cannot_be_read_are_refused_in_any_mode(
    opened: Open, headers: Mapping[str, str], mode: ConnectMode
) -> None:
    worker = opened(mode)
    worker.alone.configure("a")
    assert worker.post(headers=headers)[0] == 400


def test_a_worker_that_has_no_session_key_yet_answers_503(opened: Open) -> None:
    status, message = opened(ConnectMode.SESSIONED, follows="").post(headers=signed())
    assert (status, "has not been able to read a session key" in message) == (503, True)


def test_a_signature_is_good_for_another_path_and_a_second_time(opened: Open) -> None:
    worker = opened(ConnectMode.SESSIONED)
    worker.alone.knows_key(KEY)
    for connector in ("a", "b"):
        worker.alone.configure(connector)
    assert [worker.post(TASKS, name, signed())[0] for name in ("a", "b", "a")] == [204, 204, 204]


def test_the_leaders_refusals_say_which_connector(opened: Open) -> None:
    worker = opened()
    assert worker.post() == (404, "Connector a not found")
    worker.alone.configure("a")
    worker.alone.configs.put_target_state("a", TargetState.STOPPED).result()
    worker.alone.read()
    assert worker.post() == (400, "Cannot submit non-empty set of task configs for stopped connector a")


def test_a_follower_passes_an_internal_request_on_without_its_signature(opened: Open) -> None:
    leader = opened(ConnectMode.SESSIONED)
    follower = opened(ConnectMode.SESSIONED, follows=leader.url)
    for worker in (leader, follower):
        worker.alone.knows_key(KEY)
        worker.alone.configure("a")
    assert leader.post(headers=signed())[0] == 204
    assert follower.post(headers=signed()) == (400, "Internal request missing required signature")


def test_a_request_is_passed_on_twice_and_refused_by_the_third_worker(opened: Open) -> None:
    third = opened(follows=f"http://127.0.0.1:{free_ports(1)[0]}/")
    second = opened(follows=third.url)
    first = opened(follows=second.url)
    replies = [worker.rest.call("PUT", "/connectors/a/config", {}) for worker in (first, second)]
    assert (replies[0].status, replies[0].message) == (
        409, "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
    )  # fmt: skip
    assert replies[1].status == 500  # from the second worker it is one hop less, so that the third passes it on


def test_what_the_leader_answers_reaches_the_operator(opened: Open) -> None:
    leader = opened()
    follower = opened(follows=leader.url)
    assert follower.rest.call("DELETE", "/connectors/a").message == "Connector a not found"
    assert follower.rest.call("PUT", "/connectors/a/config", {}).status == 204
    assert leader.alone.keys() == ["connector-a"]


def test_a_follower_that_knows_no_leader_answers_409(opened: Open) -> None:
    status, message = opened(follows="").post()
    assert (status, "no known leader URL" in message) == (409, True)


def test_a_leader_that_does_not_answer_is_an_error_500(opened: Open) -> None:
    status, message = opened(follows=f"http://127.0.0.1:{free_ports(1)[0]}/").post()
    assert (status, message[:40]) == (500, "IO Error trying to forward REST request:")


def test_a_request_that_is_not_answered_in_90_seconds_is_an_error_500(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(Asked, "ask", lambda _self, _question, timeout_s: waits.append(timeout_s))
    assert opened().post() == (500, "Request timed out")
    assert waits == [90.0]


def test_pause_and_resume_are_served_by_a_follower(opened: Open) -> None:
    follower = opened(follows="http://127.0.0.1:9/")
    follower.alone.configure("a")
    assert follower.rest.call("PUT", "/connectors/a/pause").status == 204
    assert follower.rest.call("PUT", "/connectors/a/resume").status == 204
    assert follower.alone.keys() == ["connector-a", "target-state-a", "target-state-a"]
