"""The plug-in of a connector is asked to start and to stop: what it takes for that passes before its state changes.

Its thread makes one call after the other: what it is asked for during a call waits for the end of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberEvent,
    MemberPaused,
    PluginDrawn,
    TargetStateChanged,
    WorkCancelled,
    WorkStateChanged,
)
from rebalance_check.properties.connect.plugin_runs import RUNNING
from rebalance_check.properties.connect.plugin_states import STARTED
from rebalance_check.properties.connect.worker import FAILED
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS

Key = tuple[str, str]
"""A worker and its connector."""


class PluginsTakeTheirTimeViolated(Violation):
    """A connector was paused, running or at its end before its plug-in could be through with its stop or start."""


@dataclass(slots=True, eq=False)
class _Plugin:
    """The plug-in of a connector: its ``state``, the ``target`` state, and since when it may be on its way there.

    ``changed`` is when it got into its state, ``stood_still`` says that its process did since the plug-in was drawn.
    """

    drawn: PluginDrawn
    since: MemberEvent
    changed: WorkStateChanged | None = None
    stood_still: bool = False
    state: str = ""
    target: str = ""


class _Times(Fold):
    """The connectors that were started, and their plug-ins; a task goes on without a call of its plug-in."""

    bookkeeping = frozenset({*PROCESS, ConnectorStarted, MemberPaused, PluginDrawn, TargetStateChanged,
                             WorkCancelled})  # fmt: skip
    needs = ((ConnectorStarted,), (PluginDrawn,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            MemberPaused: self.on_paused,
            ConnectorStarted: self.on_started,
            PluginDrawn: self.on_drawn,
            TargetStateChanged: self.on_target,
            WorkStateChanged: self.on_changed,
            ConnectorStopped: self.on_stopped,
            WorkCancelled: self.on_cancelled,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._started: set[Key] = set()
        self._plugins: dict[Key, _Plugin] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """Its plug-ins are gone with it."""
        for key in [key for key in self._plugins if key[0] == event.member]:
            del self._plugins[key]
        self._started = {key for key in self._started if key[0] != event.member}

    def on_paused(self, event: MemberPaused) -> None:
        """Its threads go on later than they would."""
        for (member, _), plugin in self._plugins.items():
            plugin.stood_still = plugin.stood_still or member == event.member

    def on_started(self, event: ConnectorStarted) -> None:
        """Its plug-in is drawn next."""
        self._started.add((event.member, event.connector))

    def on_drawn(self, event: PluginDrawn) -> None:
        """It is started now."""
        key = (event.member, event.work)
        if key in self._started:
            self._plugins[key] = _Plugin(event, event)

    def on_target(self, event: TargetStateChanged) -> None:
        """A plug-in that rests where it was to be leaves its state from here on, at the earliest.

        Where the target state has changed already since it got there, a call may be under way, which counts.
        """
        plugin = self._plugins.get((event.member, event.connector))
        if plugin is None or event.state == plugin.target:
            return
        if isinstance(plugin.since, WorkStateChanged) and plugin.state == _state_for(plugin.target):
            plugin.since = event
        plugin.target = event.state

    def on_changed(self, event: WorkStateChanged) -> None:
        """The call of the plug-in is over that its state asks for; what failed is not called."""
        plugin = self._plugins.get((event.member, event.work))
        if plugin is None:
            return
        takes_ms, call = _call_between(plugin, event.state)
        if takes_ms:
            self.compared = (self.compared or 0) + 1
            if event.time_ms < plugin.since.time_ms + takes_ms:
                self._report(event, plugin, f"{call} of its plug-in takes {takes_ms} ms")
        if event.state == plugin.state == RUNNING:
            self._report(event, plugin, "it is so already, so that start is called during another call")
        plugin.state, plugin.since, plugin.changed = event.state, event, event
        if not plugin.target and event.state != FAILED:
            plugin.target = STARTED if event.state == RUNNING else event.state  # it was started for this

    def on_stopped(self, event: ConnectorStopped) -> None:
        """It has ended: a call that was under way has returned, and stop was called of what ran."""
        self._started.discard((event.member, event.connector))
        plugin = self._plugins.pop((event.member, event.connector), None)
        if plugin is None:
            return
        self.compared = (self.compared or 0) + 1
        drawn = plugin.drawn
        if plugin.changed is None and not plugin.stood_still and event.time_ms > drawn.time_ms + drawn.begin_ms:
            self._report(event, plugin, "its thread, which began before that, had to reach its target state first")
        elif plugin.state == RUNNING and event.time_ms < _after(plugin.changed, drawn.stop_ms):
            self._report(event, plugin, f"stop of its plug-in takes {drawn.stop_ms} ms")

    def on_cancelled(self, event: WorkCancelled) -> None:
        """Of what was given up it is not recorded what becomes of it."""
        self._started.discard((event.member, event.work))
        self._plugins.pop((event.member, event.work), None)

    def _report(self, event: WorkStateChanged | ConnectorStopped, plugin: _Plugin, why: str) -> None:
        work, state = plugin.drawn.work, event.state if isinstance(event, WorkStateChanged) else "at its end"
        self.contradiction(
            f"{work} is {state} at {event.member} before its plug-in is through",
            (f"the plug-in that {event.member} starts for {work} was drawn at {STEP};", plugin.drawn),
            (f"it can be on its way there since {STEP}, and {why};", plugin.since),
            (f"yet {work} was {state} at {STEP}: contradiction.", event),
        )


def _after(since: Event | None, for_ms: int) -> int:
    return 0 if since is None else since.time_ms + for_ms


def _state_for(target: str) -> str:
    """What a plug-in is when it has reached a target state."""
    return RUNNING if target == STARTED else target


def _call_between(plugin: _Plugin, state: str) -> tuple[int, str]:
    """How long the call takes at least that leads to a state, and its name; 0 where none does.

    A plug-in that reports a failure by itself is in no call, and none that failed is called again before it ends.
    """
    if FAILED in {state, plugin.state}:
        return 0, ""
    if state == RUNNING:
        begins_ms = plugin.drawn.begin_ms if not plugin.state else 0
        return begins_ms + plugin.drawn.start_ms, "start"
    return (plugin.drawn.stop_ms, "stop") if plugin.state == RUNNING else (0, "")


PluginsTakeTheirTime: Final = Invariant(
    name="plugins_take_their_time",
    family="connect_work",
    claim="a connector that runs is PAUSED, STOPPED or at its end only when stop of its plug-in has returned, and "
    "RUNNING only when start has; its plug-in is not called during another call, so that one that runs is not started, "
    "and one that is starting ends only when it has started, and was stopped",
    source="WorkerConnector.doRun, doTransitionTo, suspend, doStart, resume, doShutdown (Connector.start, "
    "Connector.stop); KIP-875",
    premises=(
        "the run is simulated, and says how each plug-in behaves",
        "time is virtual: what a plug-in takes is exact",
    ),
    exempted_by=(
        ConnectorStarted,
        ConnectorStopped,
        MemberPaused,
        PluginDrawn,
        TargetStateChanged,
        WorkCancelled,
        WorkStateChanged,
        *PROCESS,
    ),
    violation=PluginsTakeTheirTimeViolated,
    fold=_Times,
)
"""A connector that is paused and was not stopped goes on with its work. The smallest history that breaks it::

    ConnectorStarted(member="w0", generation=1, connector="c")
    PluginDrawn(member="w0", work="c", stop_ms=200)
    WorkStateChanged(member="w0", generation=1, work="c", state="RUNNING")
    TargetStateChanged(member="w0", connector="c", state="PAUSED", time_ms=1000)
    WorkStateChanged(member="w0", generation=1, work="c", state="PAUSED", time_ms=1100)
"""

CLAIMS: Final = (PluginsTakeTheirTime,)
"""In the order in which reports name them."""
