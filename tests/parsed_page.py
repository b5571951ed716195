"""A page of a report, taken apart: its elements, and what it embeds."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class ParsedPage(HTMLParser):
    """The elements of a page, and the text of its scripts by id (or by number, where they have none)."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._script = str(dict(attrs).get("id") or len(self.scripts)) if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the signature of HTMLParser
        self._script = None

    def data(self, name: str) -> Any:
        """The data embedded under an id."""
        return json.loads(self.scripts[name])
