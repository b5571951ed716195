"""What a request is refused with: an HTTP status and a sentence."""

from __future__ import annotations

from http import HTTPStatus


class RequestRefused(Exception):  # noqa: N818 - named for what happened to the request
    """The request cannot be served: ``status`` is for the browser, ``sentence`` for its user."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
