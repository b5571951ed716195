"""A herder answers other workers (internal REST, KIP-507), and the operator of the cluster (public REST)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Final

from rebalance_check.impl.connect.config.values import RestartRequest, TargetState, WrittenProperties
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.connect.herder.peers import (
    Answer,
    FenceZombies,
    InternalRequest,
    OnAnswer,
    Signature,
)
from rebalance_check.impl.connect.herder.reconfiguring import Reconfiguring
from rebalance_check.impl.connect.herder.requests import Serve
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.impl.connect.herder.work_events import WorkKey, work_name
from rebalance_check.impl.connect.status.codec import ConnectorKey
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import InternalRequestAnswered, InternalRequestChecked, TopicsReset

VERIFICATION_ALGORITHMS: Final = ("HmacSHA256",)
"""``inter.worker.verification.algorithms``."""


def digest_of(key: bytes) -> str:
    """A text for events that tells keys apart and does not give them away."""
    return sha256(key).hexdigest()[:16]


class Serving(Reconfiguring):
    """Requests are checked where they arrive and served on the herder's thread, by the leader where it must be one."""

    def __init__(self) -> None:
        super().__init__()
        self._received = 0

    # ------------------------------------------------------------------------------------------------ workers

    def receive_internal(self, request: InternalRequest, signature: Signature | None, answer: OnAnswer) -> None:
        """A request of another worker arrived; ``answer`` is called once."""
        refusal = self._check_signature(signature)
        number, self._received = self._received, self._received + 1
        self._emit_checked(request, number, signature, refusal)
        say = partial(self._answer_internal, number, answer)
        if refusal is not None:
            say(refusal)
            return
        self.add_request(
            0,
            lambda: self._serve_internal(request, say),
            lambda: say(Answer.FAILED),
            operation=request.operation,
            work=request.connector,
        )

    def _answer_internal(self, number: int, answer: OnAnswer, said: Answer) -> None:
        self.recorder.emit(InternalRequestAnswered(member=self.member, request=number, answer=said.value))
        answer(said)

    def _check_signature(self, signature: Signature | None) -> Answer | None:
        """The refusal of a request with a wrong signature, None otherwise; only sessioned groups check."""
        if self.coordinator.mode is not ConnectMode.SESSIONED:
            return None
        if signature is None or signature.algorithm not in VERIFICATION_ALGORITHMS:
            return Answer.BAD_REQUEST
        if self.session_key is None:
            return Answer.UNAVAILABLE
        return None if signature.key == self.session_key.key else Answer.FORBIDDEN

    def _emit_checked(
        self, request: InternalRequest, number: int, signature: Signature | None, refusal: Answer | None
    ) -> None:
        self.recorder.emit(
            InternalRequestChecked(
                member=self.member,
                mode=self.coordinator.mode.value,
                algorithm="" if signature is None else signature.algorithm,
                key="" if signature is None else digest_of(signature.key),
                known_key="" if self.session_key is None else digest_of(self.session_key.key),
                refusal=0 if refusal is None else refusal.value,
                request=number,
                operation=request.operation,
                connector=request.connector,
            )
        )

    def _serve_internal(self, request: InternalRequest, answer: OnAnswer) -> Steps[None]:
        if not self.is_leader:
            answer(Answer.CONFLICT)
        elif request.connector not in self.config_state:
            answer(Answer.NOT_FOUND)
        elif isinstance(request, FenceZombies):
            yield from self._fence_zombies(request.connector, answer)
        elif request.configs and self._target_state(request.connector) is TargetState.STOPPED:
            answer(Answer.BAD_REQUEST)
        else:
            yield from self._answer_write(self.configs.put_tasks(request.connector, request.configs), answer)

    def _answer_write(self, call: ConfigCall, answer: OnAnswer) -> Steps[None]:
        answer(Answer.OK if (yield from self._written(call)) else Answer.FAILED)

    # ------------------------------------------------------------------------------------------------ the operator

    def put_connector(
        self, connector: str, config: WrittenProperties, answer: OnAnswer, target: TargetState | None = None
    ) -> None:
        """Create a connector or give it another configuration; only the leader does."""
        self._as_leader("configure", connector, lambda: self.configs.put_connector(connector, config, target), answer)

    def delete_connector(self, connector: str, answer: OnAnswer) -> None:
        """Delete a connector; only the leader does, and only one that it knows."""
        self._as_leader("delete", connector, lambda: self.configs.remove_connector(connector), answer)

    def pause_connector(self, connector: str, answer: OnAnswer) -> None:
        """Pause a connector and its tasks; any worker does that."""
        self._put_target_state("pause", connector, TargetState.PAUSED, answer)

    def resume_connector(self, connector: str, answer: OnAnswer) -> None:
        """Let a paused or stopped connector run; any worker does that."""
        self._put_target_state("resume", connector, TargetState.STARTED, answer)

    def stop_connector(self, connector: str, answer: OnAnswer) -> None:
        """Take a connector's tasks away, then stop it (KIP-875); only the leader does."""
        self._ask("stop", connector, lambda: self._serve_stop(connector, answer), answer)

    def restart_connector_and_tasks(self, request: RestartRequest, answer: OnAnswer) -> None:
        """Have every worker restart its part of a connector (KIP-745); only the leader does."""
        self._ask("restart", request.connector, lambda: self._serve_restart(request, answer), answer)

    def restart_work(self, key: WorkKey, answer: OnAnswer) -> None:
        """Restart one connector or task that this worker was assigned."""
        self._ask("restart work", work_name(key), lambda: self._serve_restart_work(key, answer), answer)

    def reset_topics(self, connector: str, answer: OnAnswer) -> None:
        """Forget which topics a connector used (KIP-558); any worker does that, for any name."""
        if not (self.settings.topic_tracking and self.settings.topic_tracking_reset):
            answer(Answer.FORBIDDEN)
            return
        self.recorder.emit(TopicsReset(member=self.member, connector=connector))
        self.statuses.reset_topics(connector)
        answer(Answer.OK)

    def _ask(self, operation: str, work: str, serve: Serve, answer: OnAnswer) -> None:
        self.add_request(0, serve, lambda: answer(Answer.FAILED), operation=operation, work=work)

    def _as_leader(self, operation: str, connector: str, write: Callable[[], ConfigCall], answer: OnAnswer) -> None:
        def serve() -> Steps[None]:
            if not self.is_leader:
                answer(Answer.CONFLICT)
            elif operation == "delete" and connector not in self.config_state:
                answer(Answer.NOT_FOUND)
            else:
                yield from self._answer_write(write(), answer)

        self._ask(operation, connector, serve, answer)

    def _put_target_state(self, operation: str, connector: str, state: TargetState, answer: OnAnswer) -> None:
        def serve() -> Steps[None]:
            if connector not in self.config_state:
                answer(Answer.NOT_FOUND)
            else:
                yield from self._answer_write(self.configs.put_target_state(connector, state), answer)

        self._ask(operation, connector, serve, answer)

    def _serve_stop(self, connector: str, answer: OnAnswer) -> Steps[None]:
        if not self.is_leader:
            answer(Answer.CONFLICT)
        elif connector not in self.config_state:
            answer(Answer.NOT_FOUND)
        elif not (yield from self._written(self.configs.put_tasks(connector, ()))):
            answer(Answer.FAILED)
        else:
            yield from self._answer_write(self.configs.put_target_state(connector, TargetState.STOPPED), answer)

    def _serve_restart(self, request: RestartRequest, answer: OnAnswer) -> Steps[None]:
        """Kafka writes this record without noting that a failure may have fenced the leader (`_written` does)."""
        if not self.is_leader:
            answer(Answer.CONFLICT)
        elif request.connector not in self.config_state:
            answer(Answer.NOT_FOUND)
        elif (yield from self._await(self.configs.put_restart(request))) is not None:
            answer(Answer.FAILED)
        elif self.statuses.store.cache.get(ConnectorKey(request.connector)) is None:
            answer(Answer.NOT_FOUND)  # nothing is planned, although the record is written
        else:
            answer(Answer.OK)

    def _serve_restart_work(self, key: WorkKey, answer: OnAnswer) -> Steps[None]:
        assigned = self.assignment
        own = assigned is not None and (
            key.connector in assigned.connectors if isinstance(key, ConnectorKey) else tuple(key) in assigned.tasks
        )
        if not own:
            answer(Answer.CONFLICT)
            return
        self._emit_planned(key.connector, (key,))
        yield from self._stop_and_await((key,))
        self._start(key)
        answer(Answer.OK)
