"""What the explorer answers: documents about walks, searches and Kafka, by path. No HTTP stands in here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from rebalance_check.browser.errors import RequestRefused
from rebalance_check.browser.kafka_walks import KafkaWalks
from rebalance_check.browser.searches import Searches, Wanted
from rebalance_check.browser.walks import walk_document
from rebalance_check.model.registry import MUTANTS, path_at
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

Parameters: TypeAlias = Mapping[str, str]
Answer: TypeAlias = Callable[[Parameters], Mapping[str, Any]]

LARGEST_NUMBER: Final = 9
"""Digits of a number in a parameter."""


class ExplorerApi:
    """The answers of one explorer. ``start`` is the address that the page opens with."""

    def __init__(self, start: str, searches: Searches, kafka: KafkaWalks) -> None:
        self._start = start
        self._searches = searches
        self._kafka = kafka
        self.gets: Mapping[str, Answer] = {
            "/api/start": self.start,
            "/api/walk": self.walk,
            "/api/search": self.search,
        }
        self.posts: Mapping[str, Answer] = {
            "/api/search": self.begin_search,
            "/api/search/stop": self.stop_search,
            "/api/kafka": self.follow,
        }

    def close(self) -> None:
        """End what goes on."""
        self._searches.stop()
        self._kafka.close()

    def start(self, parameters: Parameters) -> Mapping[str, Any]:
        """Where a walk begins, and which protocols and mutants there are."""
        _take(parameters)
        return {
            "address": self._start,
            "protocols": [protocol.value for protocol in RebalanceProtocol],
            "mutants": [
                {
                    "name": mutant.name,
                    "what": mutant.what,
                    "caught_by": mutant.caught_by,
                    "liveness": mutant.liveness,
                    "address": f"v1/{mutant.bounds.address()}!{mutant.name}/",
                }
                for mutant in MUTANTS.values()
            ],
        }

    def walk(self, parameters: Parameters) -> Mapping[str, Any]:
        """The walk of ``address``, seen after its step number ``at`` (default: the last)."""
        address, at = _take(parameters, "address", "at")
        return walk_document(_required(address, "address"), None if at is None else _number(at, "at"))

    def search(self, parameters: Parameters) -> Mapping[str, Any]:
        """How far the search is, or what the last one found."""
        _take(parameters)
        return self._searches.document()

    def begin_search(self, parameters: Parameters) -> Mapping[str, Any]:
        """Search the bounds of ``address`` for a claim that breaks; with ``goal`` for a way to what must be reached;
        with ``liveness=on`` for runs that go on for ever, too.

        Raises: RebalanceCheckError for an address that names no path, and a goal that the model does not have.
        """
        address, goal, liveness = _take(parameters, "address", "goal", "liveness")
        path = path_at(_required(address, "address"))
        model = path.model
        names = [claim.__name__ for claim in (*model.reachable_states, *model.reachable_steps)]
        if goal and goal not in names:
            raise RebalanceCheckError(f"{goal!r} is no reachable state or step of the model {model.name}")
        return self._searches.begin(Wanted(model=model, bounds=path.bounds, goal=goal or "", liveness=liveness == "on"))

    def stop_search(self, parameters: Parameters) -> Mapping[str, Any]:
        """Stop the search."""
        _take(parameters)
        return self._searches.stop()

    def follow(self, parameters: Parameters) -> Mapping[str, Any]:
        """The walk of ``address`` on Kafka's own coordinator."""
        (address,) = _take(parameters, "address")
        return self._kafka.follow(_required(address, "address"))


def _take(parameters: Parameters, *names: str) -> tuple[str | None, ...]:
    """The values of these parameters, None where one is not given.

    Raises: RequestRefused where another one is.
    """
    for name in parameters:
        if name not in names:
            known = ", ".join(names) or "none"
            raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the parameter {name!r} is not known here: there is {known}")
    return tuple(parameters.get(name) for name in names)


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"the parameter {name} is missing: name a walk by it")
    return value


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LARGEST_NUMBER):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, f"{name} is {text!r}: write a number from 0")
    return int(text)
