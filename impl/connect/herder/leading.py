"""A herder takes an assignment, and the one that leads cleans up, claims privileges, and rotates session keys."""

from __future__ import annotations

from functools import partial

from rebalance_check.impl.connect.config.errors import PrivilegedWriteError
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import SessionKey
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.connect.herder.peers import Answer, InternalRequest, OnAnswer, Signature
from rebalance_check.impl.connect.herder.requests import Requests
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode
from rebalance_check.model.vocabulary.events import LeaderAnswered, LeaderAsked, SessionKeyWritten

RECLAIM_BACKOFF_MS = 250
"""How long a leader waits that could not claim write privileges."""


class Leading(Requests):
    """Starts no work: an assignment is only noted, and the next tick deals with it."""

    def __init__(self) -> None:
        super().__init__()
        self._claim: ConfigCall | None = None
        self._fenced = False
        self.session_key: SessionKey | None = None
        self._key_expires_ms: int | None = None
        self._keys_made = 0
        self._asked = 0

    # ------------------------------------------------------------------------------------------------ assignments

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:
        """Note the claims from here on; the leader cleans up and claims the config topic (``onAssigned``)."""
        self.mode = self.coordinator.mode
        self.assignment = assignment
        self.generation = generation
        self.scheduled_ms = self.now_ms + assignment.delay_ms if assignment.delay_ms > 0 else None
        self.resolved = False
        self.metrics.started(self.now_ms)
        self._revocations_to_follow = assignment.revokes
        if self.is_leader:
            self._clean_up(self.configs.snapshot())
            self._claim = self.configs.claim_privileges()
        self.wake()

    def _clean_up(self, configured: ConfigSnapshot) -> None:
        """Write tombstones for the statuses of connectors, then of tasks, that are not configured.

        Tasks whose connector has no status are not found.
        """
        store = self.statuses.store
        for name in store.connectors():
            if name not in configured:
                for number in store.tasks(name):
                    self.statuses.destroyed(TaskKey(name, number))
                self.statuses.destroyed(ConnectorKey(name))
        for name in store.connectors():
            for number in store.tasks(name):
                if number not in configured.tasks(name):
                    self.statuses.destroyed(TaskKey(name, number))

    def _finish_claim(self) -> Steps[None]:
        """Wait for the claim of the last assignment; a leader that failed in it counts as fenced."""
        claim, self._claim = self._claim, None
        if claim is not None and (yield from self._await(claim)) is not None:
            self._fenced = True

    def _reclaim_privileges(self) -> Steps[bool]:
        """Whether the tick goes on: a fenced leader claims the config topic again, another worker drops the mark."""
        if not self._fenced:
            return True
        if not self.is_leader:
            self._fenced = False
            return True
        error = yield from self._await(self.configs.claim_privileges())
        if error is None:
            self._fenced = False
            return True
        yield from self._sleep(RECLAIM_BACKOFF_MS)
        return False

    # ------------------------------------------------------------------------------------------------ the leader

    def ask_leader(self, url: str, request: InternalRequest, on_answer: OnAnswer) -> None:
        """Send a request, signed, to the worker at ``url``; ``on_answer`` is called once, at any time, or never."""
        number, self._asked = self._asked, self._asked + 1
        self.recorder.emit(
            LeaderAsked(
                member=self.member, request=number, operation=request.operation, connector=request.connector, url=url
            )
        )
        self.peers.request(url, request, self.signature(), partial(self._take_answer, number, on_answer))

    def _take_answer(self, number: int, on_answer: OnAnswer, answer: Answer) -> None:
        self.recorder.emit(LeaderAnswered(member=self.member, request=number, answer=answer.value))
        on_answer(answer)

    # ------------------------------------------------------------------------------------------------ session keys

    def signature(self) -> Signature | None:
        """The key with which this worker signs requests; None while it knows none."""
        key = self.session_key
        return None if key is None else Signature(key.key, key.algorithm)

    def _take_session_key(self, key: SessionKey) -> None:
        self.session_key = key
        if self.settings.key_ttl_ms > 0:
            self._key_expires_ms = key.created_ms + self.settings.key_ttl_ms

    def _rotate_session_key(self) -> Steps[bool]:
        """Whether the tick goes on: the leader of a sessioned group writes a new key where none fits (KIP-507).

        A worker without a key takes the one that its snapshot holds. After a failure the config topic is read first.
        """
        if self.session_key is None and (known := self.config_state.session_key) is not None:
            self._take_session_key(known)
        if not self._key_is_needed():
            return True
        self._key_expires_ms = None
        self._keys_made += 1
        key = SessionKey(self._make_key(), self.settings.key_algorithm, self.now_ms)
        at = self.coordinator.generation()
        self.recorder.emit(
            SessionKeyWritten(
                member=self.member, generation=self.generation, member_id=at.member_id, created_ms=key.created_ms
            )
        )
        error = yield from self._await(self.configs.put_session_key(key))
        if error is not None:
            self._fenced = self._fenced or isinstance(error, PrivilegedWriteError)
            self._can_read_configs = False
            return False
        return True

    def _make_key(self) -> bytes:
        """Keys of a simulation need not be secret, only different."""
        text = f"{self.member}/{self._keys_made}/{self.now_ms}"
        return text.encode()[: self.settings.key_bytes].ljust(self.settings.key_bytes, b".")

    def _key_is_needed(self) -> bool:
        key, settings = self.session_key, self.settings
        if self.mode is not ConnectMode.SESSIONED or not self.is_leader:
            return False
        if key is None or (self._key_expires_ms is not None and self._key_expires_ms <= self.now_ms):
            return True
        return key.algorithm != settings.key_algorithm or len(key.key) != settings.key_bytes
