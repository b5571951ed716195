"""How a worker of ours reaches other workers, Java's among them: the internal REST interface, signed (KIP-507)."""

from __future__ import annotations

import threading
from functools import partial
from typing import Final

from rebalance_check.impl.connect.herder.peers import Answer, InternalRequest, OnAnswer, PutTaskConfigs, Signature
from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from rebalance_check.integration.connect.workers.rest import ConnectRest, signature_headers, task_configs_body

_ANSWERS: Final = {answer.value: answer for answer in Answer}


class HttpPeers:
    """Requests in threads of their own, whose answers are posted."""

    def __init__(self, threads: WorkerThreads) -> None:
        self._threads = threads

    def request(self, url: str, request: InternalRequest, signature: Signature | None, on_answer: OnAnswer) -> None:
        """Send a request to the worker at ``url``; ``on_answer`` is called once."""
        asking = partial(self._ask, url, request, signature, on_answer)
        threading.Thread(target=asking, name=f"request to {url}", daemon=True).start()

    def _ask(self, url: str, request: InternalRequest, signature: Signature | None, on_answer: OnAnswer) -> None:
        rest, connector = ConnectRest(url), request.connector
        body = task_configs_body(request.configs) if isinstance(request, PutTaskConfigs) else b""
        headers = {} if signature is None else signature_headers(signature.key, signature.algorithm, body)
        try:
            if isinstance(request, PutTaskConfigs):
                status = rest.put_task_configs(connector, body, headers=headers).status
            else:
                status = rest.fence(connector, headers=headers).status
        except OSError:
            status = Answer.FAILED.value
        self._threads.post(lambda: on_answer(_ANSWERS.get(status, Answer.FAILED)))
