"""A worker's view of the configs, as its REST interface shows it."""

from __future__ import annotations

from rebalance_check.integration.connect.workers.rest import ConnectRest, path_of
from rebalance_check.model.vocabulary.config_events import ConfigSnapshotTaken
from rebalance_check.properties.views.config_readers import text_of


def seen_by_rest(rest: ConnectRest, member: str, offset: int, target: str) -> ConfigSnapshotTaken:
    """The snapshot of the worker ``member``, whose interface is ``rest``: connectors, and tasks to run.

    ``offset`` is how far it has read the config topic, and ``target`` the target state of all connectors, neither of
    which REST shows.

    Raises:
        RebalanceCheckError: the worker does not answer, or refuses.
    """
    found = rest.ask("GET", "/connectors?expand=info")
    infos = {connector: found[connector]["info"] for connector in sorted(found)}
    configs = {
        f"{one['id']['connector']}-{one['id']['task']}": text_of(one["config"])
        for connector, info in infos.items()
        if info["tasks"]
        for one in rest.ask("GET", path_of(connector, "tasks"))
    }
    return ConfigSnapshotTaken(
        member=member,
        offset=offset,
        connectors=tuple((connector, text_of(info["config"])) for connector, info in infos.items()),
        target_states=tuple((connector, target) for connector in infos),
        task_counts=tuple((connector, len(info["tasks"])) for connector, info in infos.items()),
        tasks=tuple(sorted(f"{task['connector']}-{task['task']}" for info in infos.values() for task in info["tasks"])),
        task_configs=tuple(sorted(configs.items())),
    )
