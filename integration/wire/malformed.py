"""The exception for bytes that are no request."""

from __future__ import annotations


class MalformedFrame(Exception):  # noqa: N818 - named for what was received, like Kafka's own exceptions
    """The peer sent bytes that are no request; the message says what was wrong. Its connection is closed."""
