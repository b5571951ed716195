"""The closed vocabulary of actions: everything that can be done to a subject, spelled alike everywhere.

Two altitudes share one type. *Protocol steps* are the transitions of the model (`model.classic.model`, `model.connect.status.model`): one
request arriving, one reply processed. *Churn* is what an operator or a bad day does to whole processes; the simulator
and live clients run it. A subject says in `Subject.actions` which kinds it understands.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class ActionKind(StrEnum):
    """What happens. A bare Kafka verb is the request *arriving at the coordinator*."""

    # protocol steps of a member
    SEND_JOIN_GROUP = "SendJoinGroup"
    RECEIVE_JOIN_GROUP = "ReceiveJoinGroup"
    RECEIVE_SYNC_GROUP = "ReceiveSyncGroup"
    SEND_HEARTBEAT = "SendHeartbeat"
    RECEIVE_HEARTBEAT = "ReceiveHeartbeat"
    RECEIVE_HEARTBEAT_DURING_SYNC = "ReceiveHeartbeatDuringSync"
    RECEIVE_ERROR = "ReceiveError"
    SEND_LEAVE_GROUP = "SendLeaveGroup"
    SEND_OFFSET_COMMIT = "SendOffsetCommit"
    RECEIVE_OFFSET_COMMIT = "ReceiveOffsetCommit"
    CRASH = "Crash"
    RESTART = "Restart"
    ROLLING_RESTART = "RollingRestart"
    # protocol steps of the coordinator
    JOIN_GROUP = "JoinGroup"
    SYNC_GROUP = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    HEARTBEAT_DURING_SYNC = "HeartbeatDuringSync"
    LEAVE_GROUP = "LeaveGroup"
    OFFSET_COMMIT = "OffsetCommit"
    COMMIT_WITHOUT_GROUP = "CommitWithoutGroup"
    COMMIT_DURING_JOIN = "CommitDuringJoin"
    EXPIRE_SESSION = "ExpireSession"
    EXPIRE_INITIAL_DELAY = "ExpireInitialDelay"
    EXPIRE_REBALANCE = "ExpireRebalance"
    EXPIRE_SYNC = "ExpireSync"
    DELETE_GROUP = "DeleteGroup"
    # protocol steps of the network
    DUPLICATE_REQUEST = "DuplicateRequest"
    DELIVER_DUPLICATE = "DeliverDuplicate"
    LOSE_REQUEST = "LoseRequest"
    LOSE_REPLY = "LoseReply"
    DROP_CONNECTION = "DropConnection"
    # what happens to the coordinator itself
    COMMIT_APPEND = "CommitAppend"
    CRASH_COORDINATOR = "CrashCoordinator"
    RESIGN_COORDINATOR = "ResignCoordinator"
    ELECT_COORDINATOR = "ElectCoordinator"
    LOAD_COORDINATOR = "LoadCoordinator"
    DEPOSE_COORDINATOR = "DeposeCoordinator"
    RESIGN_ZOMBIE_COORDINATOR = "ResignZombieCoordinator"
    JOIN_GROUP_AT_ZOMBIE = "JoinGroupAtZombie"
    SYNC_GROUP_AT_ZOMBIE = "SyncGroupAtZombie"
    HEARTBEAT_AT_ZOMBIE = "HeartbeatAtZombie"
    # steps of a status store (the member is the worker)
    PUT = "Put"
    PUT_SAFE = "PutSafe"
    APPEND = "Append"
    FAIL_APPEND = "FailAppend"
    READ_BACK = "ReadBack"
    RETRY = "Retry"
    NEXT_GENERATION = "NextGeneration"
    # churn
    START_MEMBER = "StartMember"
    STOP_MEMBER = "StopMember"
    CRASH_MEMBER = "CrashMember"
    PAUSE_MEMBER = "PauseMember"
    RESUME_MEMBER = "ResumeMember"
    ADVANCE_CLOCK = "AdvanceClock"
    CHANGE_CONFIG = "ChangeConfig"
    AWAIT_GROUP = "AwaitGroup"
    CHANGE_SUBSCRIPTION = "ChangeSubscription"
    CHANGE_TOPICS = "ChangeTopics"
    FAIL_OVER = "FailOver"
    HEAL = "Heal"
    # what befalls the node that coordinates the group, in a cluster
    KILL_COORDINATOR = "KillCoordinator"
    PAUSE_COORDINATOR = "PauseCoordinator"
    RESUME_COORDINATOR = "ResumeCoordinator"
    MOVE_COORDINATOR = "MoveCoordinator"


CHURN: Final = frozenset(
    {
        ActionKind.START_MEMBER,
        ActionKind.STOP_MEMBER,
        ActionKind.CRASH_MEMBER,
        ActionKind.PAUSE_MEMBER,
        ActionKind.RESUME_MEMBER,
        ActionKind.ADVANCE_CLOCK,
        ActionKind.CHANGE_CONFIG,
        ActionKind.AWAIT_GROUP,
        ActionKind.HEAL,
    }
)
"""The kinds that whole-process subjects (simulator, live clients) understand.

``Heal`` ends the disturbed phase: every fault stops, every paused member runs again, and what is alive must settle;
the subject waits for that, and names in ``RunEnded.pending`` what did not. ``StartMember`` of an upgrade starts the
member with the list of assignors at place ``choice`` of the path; ``AwaitGroup`` waits until the group holds nobody but
processes that run. ``ChangeConfig`` gives a connector of a
Connect group ``choice`` tasks.
"""

COORDINATOR_FAULTS: Final = frozenset(
    {
        ActionKind.KILL_COORDINATOR,
        ActionKind.PAUSE_COORDINATOR,
        ActionKind.RESUME_COORDINATOR,
        ActionKind.MOVE_COORDINATOR,
    }
)
"""The kinds that subjects with several nodes understand, too: live clusters, and the simulator.

``KillCoordinator`` ends the node without a word; another takes over, in the simulator without the last ``choice``
records of the log. ``PauseCoordinator`` stops it where it stands, so that it may come back as a zombie
(``ResumeCoordinator`` lets every paused node run on). ``MoveCoordinator`` hands the group to another in good order, and
``Heal`` brings every node back.
"""


UNUSUAL_CHURN: Final = frozenset({ActionKind.CHANGE_SUBSCRIPTION, ActionKind.CHANGE_TOPICS, ActionKind.FAIL_OVER})
"""Churn that only the simulator understands, and that is drawn on request.

``ChangeSubscription`` lets a consumer unsubscribe and subscribe again (choice 0), add a topic (1), or drop it (2), and
one that subscribes by a pattern do the first; ``ChangeTopics`` lets ``choice`` topics beside the first exist that match
the pattern, of which members learn one by one;
``FailOver`` takes the coordinator away: it dies and its log is read at once (0) or 2 s later (1), it resigns and is
elected 2 s later (2), or it is told late that it resigned before it was elected (3). For consumers ``ChangeConfig``
gives the topic ``choice`` partitions.
"""


TAKEOVERS: Final = frozenset(
    {
        ActionKind.CRASH_COORDINATOR,
        ActionKind.RESIGN_COORDINATOR,
        ActionKind.ELECT_COORDINATOR,
        ActionKind.LOAD_COORDINATOR,
        ActionKind.DEPOSE_COORDINATOR,
        ActionKind.RESIGN_ZOMBIE_COORDINATOR,
    }
)
"""The steps after which there is no group that could be compared with the one before."""


AT_ZOMBIE: Final = frozenset(
    {ActionKind.JOIN_GROUP_AT_ZOMBIE, ActionKind.SYNC_GROUP_AT_ZOMBIE, ActionKind.HEARTBEAT_AT_ZOMBIE}
)
"""The steps in which a request of a member arrives at a coordinator that was deposed."""


class Action(NamedTuple):
    """One action: its kind, the member it concerns (0-based; 0 where none), and the choice among its outcomes.

    ``choice`` resolves nondeterminism (which leader, which legal assignment) and carries the milliseconds of
    ``AdvanceClock`` and the tasks of ``ChangeConfig``; it is 0 where there is nothing to choose.
    """

    kind: ActionKind
    member: int = 0
    choice: int = 0

    def __str__(self) -> str:
        """``JoinGroup m1``; the choice follows in brackets when it is not 0."""
        return f"{self.kind} m{self.member}" + (f" [{self.choice}]" if self.choice else "")
