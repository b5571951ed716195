"""The arguments of calls of a config store, as events say them: texts, under Kafka's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from rebalance_check.impl.connect.config.observing import config_text
from rebalance_check.impl.connect.config.values import RestartRequest, SessionKey, TargetState, WrittenProperties
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.model.vocabulary.events import ConfigCallStarted

Given: TypeAlias = tuple[tuple[str, str], ...]
"""Arguments by their names."""


class Arguments(NamedTuple):
    """The subject of a call, a connector or a namespace of loggers, and its other arguments."""

    connector: str = ""
    given: Given = ()


NO_ARGUMENTS: Final = Arguments()


def call_started_event(member: str, call: ConfigCall, arguments: Arguments) -> ConfigCallStarted:
    """The event that says that a call began, with its arguments."""
    return ConfigCallStarted(
        member=member,
        call=call.number,
        method=call.plan.method,
        connector=arguments.connector,
        given=arguments.given,
    )


def of_connector(connector: str, config: WrittenProperties, target: TargetState | None) -> Arguments:
    """Those of ``putConnectorConfig``."""
    state = () if target is None else (("targetState", target.value),)
    return Arguments(connector, (("properties", config_text(config)), *state))


def of_tasks(connector: str, configs: Sequence[WrittenProperties]) -> Arguments:
    """Those of ``putTaskConfigs``, from the first task to the last."""
    return Arguments(connector, tuple(("configs", config_text(config)) for config in configs))


def of_target_state(connector: str, state: TargetState) -> Arguments:
    """Those of ``putTargetState``."""
    return Arguments(connector, (("targetState", state.value),))


def of_task_count(connector: str, tasks: int) -> Arguments:
    """Those of ``putTaskCountRecord``."""
    return Arguments(connector, (("taskCount", str(tasks)),))


def of_session_key(key: SessionKey) -> Arguments:
    """Those of ``putSessionKey``, without the key itself."""
    return Arguments("", (("algorithm", key.algorithm), ("creationTimestamp", str(key.created_ms))))


def of_restart(request: RestartRequest) -> Arguments:
    """Those of ``putRestartRequest``."""
    flags = (("onlyFailed", request.only_failed), ("includeTasks", request.include_tasks))
    return Arguments(request.connector, tuple((name, "true" if flag else "false") for name, flag in flags))


def of_logger_level(namespace: str, level: str) -> Arguments:
    """Those of ``putLoggerLevel``."""
    return Arguments(namespace, (("level", level),))


def of_refresh(timeout_ms: int) -> Arguments:
    """Those of ``refresh``."""
    return Arguments("", (("timeoutMs", str(timeout_ms)),))
