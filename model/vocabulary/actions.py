"""The closed vocabulary of actions: everything that can be done to a subject, spelled alike everywhere.

Two levels share one type. *Protocol steps* are the transitions of the models (`model.classic.model`,
`model.connect.*.model`): one request arrives, one reply is processed. *Churn* is what an operator or a failure
does to whole processes; the simulator and live clients perform it. `Subject.actions` lists the kinds that a subject
understands.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class ActionKind(StrEnum):
    """The kind of an action. A bare Kafka API name is the request *arriving at the coordinator*."""

    # protocol steps of a member
    SEND_JOIN_GROUP = "SendJoinGroup"
    RECEIVE_JOIN_GROUP = "ReceiveJoinGroup"
    RECEIVE_SYNC_GROUP = "ReceiveSyncGroup"
    SEND_HEARTBEAT = "SendHeartbeat"
    RECEIVE_HEARTBEAT = "ReceiveHeartbeat"
    RECEIVE_HEARTBEAT_DURING_SYNC = "ReceiveHeartbeatDuringSync"
    RECEIVE_ERROR = "ReceiveError"  # any reply that carries an error, and the end of a request without a reply
    SEND_LEAVE_GROUP = "SendLeaveGroup"
    SEND_OFFSET_COMMIT = "SendOffsetCommit"
    RECEIVE_OFFSET_COMMIT = "ReceiveOffsetCommit"
    CRASH = "Crash"  # without LeaveGroup: the coordinator learns of it when the session expires
    RESTART = "Restart"  # of a process that is down; it has no member id
    ROLLING_RESTART = "RollingRestart"  # by the operator, with the next list of the upgrade path
    # protocol steps of the coordinator
    JOIN_GROUP = "JoinGroup"
    SYNC_GROUP = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    HEARTBEAT_DURING_SYNC = "HeartbeatDuringSync"  # sent and answered in one step, while a SyncGroup is in flight
    LEAVE_GROUP = "LeaveGroup"
    OFFSET_COMMIT = "OffsetCommit"
    COMMIT_WITHOUT_GROUP = "CommitWithoutGroup"  # of a client that is no member (generation -1)
    COMMIT_DURING_JOIN = "CommitDuringJoin"  # on a connection of its own, while JoinGroup or SyncGroup is outstanding
    EXPIRE_SESSION = "ExpireSession"  # session.timeout.ms without a heartbeat
    EXPIRE_INITIAL_DELAY = "ExpireInitialDelay"  # group.initial.rebalance.delay.ms: the first join phase ends
    EXPIRE_REBALANCE = "ExpireRebalance"  # rebalance timeout: members that did not rejoin are removed
    EXPIRE_SYNC = "ExpireSync"  # rebalance timeout after the join phase: members that owe a SyncGroup are removed
    DELETE_GROUP = "DeleteGroup"  # DeleteGroups, of an empty group
    # protocol steps of the network
    DUPLICATE_REQUEST = "DuplicateRequest"  # the network keeps a second copy of a request in flight
    DELIVER_DUPLICATE = "DeliverDuplicate"  # that copy arrives
    LOSE_REQUEST = "LoseRequest"  # before it arrives: the coordinator has not changed
    LOSE_REPLY = "LoseReply"  # after it was sent: the coordinator has changed
    DROP_CONNECTION = "DropConnection"
    # of the coordinator itself
    COMMIT_APPEND = "CommitAppend"  # the record of the assignment is replicated; SyncGroup replies wait for it
    CRASH_COORDINATOR = "CrashCoordinator"
    RESIGN_COORDINATOR = "ResignCoordinator"  # it learns that it is no leader of the partition any more
    ELECT_COORDINATOR = "ElectCoordinator"  # another broker leads the partition of __consumer_offsets
    LOAD_COORDINATOR = "LoadCoordinator"  # it has read the partition, and serves
    DEPOSE_COORDINATOR = "DeposeCoordinator"  # replaced without learning of it: a zombie from now on
    RESIGN_ZOMBIE_COORDINATOR = "ResignZombieCoordinator"  # the zombie learns of its successor
    JOIN_GROUP_AT_ZOMBIE = "JoinGroupAtZombie"
    SYNC_GROUP_AT_ZOMBIE = "SyncGroupAtZombie"
    HEARTBEAT_AT_ZOMBIE = "HeartbeatAtZombie"
    # steps of a status store (the member is the worker)
    PUT = "Put"  # KafkaStatusBackingStore.put
    PUT_SAFE = "PutSafe"  # KafkaStatusBackingStore.putSafe: not over a later status of another worker
    APPEND = "Append"  # the broker appends the record of a send
    FAIL_APPEND = "FailAppend"  # the send fails, before or after its append
    READ_BACK = "ReadBack"  # the worker consumes the next record of the status topic
    RETRY = "Retry"  # the store sends a failed write once more
    NEXT_GENERATION = "NextGeneration"  # the worker learns of the next generation of its group
    # steps of a group of Connect workers (the member is the worker)
    COMPLETE_JOIN = "CompleteJoin"  # the join phase ends, and the member leads the new generation
    PERFORM_ASSIGNMENT = "PerformAssignment"  # WorkerCoordinator.onLeaderElected
    COMPLETE_REBALANCE = "CompleteRebalance"  # DistributedHerder.handleRebalanceCompleted
    READ_CONFIG = "ReadConfig"  # the worker consumes the next record of the config topic
    REVOKE_ALL = "RevokeAll"  # the worker finds no coordinator, and stops its work (KAFKA-9184)
    EXPIRE_DELAY = "ExpireDelay"  # the delay that this leader scheduled has passed
    REJOIN_AFTER_DELAY = "RejoinAfterDelay"  # the worker's scheduled rebalance is due
    # steps of the config topic (the member is the worker)
    WRITE_CONNECTOR = "WriteConnector"  # KafkaConfigBackingStore.putConnectorConfig
    WRITE_TASK = "WriteTask"  # the next record of putTaskConfigs
    WRITE_COMMIT = "WriteCommit"  # its last record
    REMOVE_CONNECTOR = "RemoveConnector"  # KafkaConfigBackingStore.removeConnectorConfig
    CHANGE_LEADER = "ChangeLeader"  # another worker leads the group, and may write
    # steps of exactly-once sources (the member is the worker)
    START_TASK = "StartTask"  # the leader is asked to fence the task's predecessors
    FENCE_ZOMBIES = "FenceZombies"  # the leader serves such requests
    FENCE_PRODUCERS = "FenceProducers"  # Admin.fenceProducers
    WRITE_FENCING_RECORD = "WriteFencingRecord"  # KafkaConfigBackingStore.putTaskCountRecord
    INIT_PRODUCER = "InitProducer"  # KafkaProducer.initTransactions
    VERIFY_TASK = "VerifyTask"  # DistributedHerder.verifyTaskGenerationAndOwnership
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
    # faults of the node that coordinates the group, in a cluster
    KILL_COORDINATOR = "KillCoordinator"
    PAUSE_COORDINATOR = "PauseCoordinator"
    RESUME_COORDINATOR = "ResumeCoordinator"
    MOVE_COORDINATOR = "MoveCoordinator"
    # of a Connect group, of its connectors and tasks, and of the topic of their statuses
    REBALANCE = "Rebalance"
    RESET_GROUP = "ResetGroup"
    DELETE_CONNECTOR = "DeleteConnector"
    CREATE_CONNECTOR = "CreateConnector"
    FAIL_TASK = "FailTask"
    PAUSE_TASK = "PauseTask"
    RESTART_TASK = "RestartTask"
    FLUSH_STORE = "FlushStore"
    QUERY_STATUS = "QueryStatus"
    PUT_TOPIC_STATUS = "PutTopicStatus"
    DELETE_TOPIC_STATUS = "DeleteTopicStatus"
    COMPACT_TOPIC = "CompactTopic"
    # an operator's work on the connectors of a Connect cluster, and compaction to its config topic
    PAUSE_CONNECTOR = "PauseConnector"
    RESUME_CONNECTOR = "ResumeConnector"
    STOP_CONNECTOR = "StopConnector"
    RESTART_CONNECTOR = "RestartConnector"
    COMPACT_CONFIGS = "CompactConfigs"
    # of config stores that no group surrounds, and of their topic
    WRITE_CONFIGS = "WriteConfigs"
    STEP_STORE = "StepStore"
    TAKE_SNAPSHOT = "TakeSnapshot"
    APPEND_ODDLY = "AppendOddly"
    EXPIRE_CALLS = "ExpireCalls"


CHURN: Final = frozenset(
    {
        ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, ActionKind.CRASH_MEMBER, ActionKind.PAUSE_MEMBER,
        ActionKind.RESUME_MEMBER, ActionKind.ADVANCE_CLOCK, ActionKind.CHANGE_CONFIG, ActionKind.AWAIT_GROUP,
        ActionKind.HEAL,
    }
)  # fmt: skip
"""The kinds that subjects of whole processes understand: the simulator and live clients.

``StartMember`` of an upgrade starts the member with the list of assignors at place ``choice`` of the upgrade path.
``AwaitGroup`` waits until all members of the group are running processes. ``ChangeConfig`` gives a connector of a
Connect group ``choice`` tasks. ``Heal`` ends all faults and resumes every paused member; the subject waits until the
group converges, and `RunEnded.pending` names what did not.
"""

COORDINATOR_FAULTS: Final = frozenset(
    {
        ActionKind.KILL_COORDINATOR, ActionKind.PAUSE_COORDINATOR, ActionKind.RESUME_COORDINATOR,
        ActionKind.MOVE_COORDINATOR,
    }
)  # fmt: skip
"""The kinds that subjects with several nodes understand as well: live clusters and the simulator.

``KillCoordinator`` kills the node and another one takes over, in the simulator without the last ``choice`` records of
the log. ``PauseCoordinator`` suspends the node, which may return as a zombie coordinator; ``ResumeCoordinator``
resumes every paused node. ``MoveCoordinator`` moves the group to another node in an orderly way. ``Heal`` starts or
resumes every node.
"""


UNUSUAL_CHURN: Final = frozenset({ActionKind.CHANGE_SUBSCRIPTION, ActionKind.CHANGE_TOPICS, ActionKind.FAIL_OVER})
"""Churn that only the simulator understands; schedules draw it on request.

``ChangeSubscription``: the consumer unsubscribes and subscribes again (choice 0), adds a topic (1) or drops it (2); a
consumer that subscribes by a pattern does the first. ``ChangeTopics``: besides the first topic ``choice`` topics exist
that match the pattern, or (from 10 on) the topic that only some members want has ``choice`` - 10 partitions, 0 for
none, and members learn of them one by one. ``FailOver``: the coordinator dies and its log is loaded
at once (0) or 2 s later (1); it resigns and is elected again 2 s later (2); or it learns of its resignation only
shortly before it is elected again (3). For consumers ``ChangeConfig`` gives the topic ``choice`` partitions.
"""


CONNECT_CHURN: Final = frozenset(
    {
        ActionKind.CREATE_CONNECTOR, ActionKind.DELETE_CONNECTOR, ActionKind.PAUSE_CONNECTOR,
        ActionKind.RESUME_CONNECTOR, ActionKind.STOP_CONNECTOR, ActionKind.RESTART_CONNECTOR, ActionKind.RESTART_TASK,
        ActionKind.FAIL_TASK, ActionKind.COMPACT_TOPIC, ActionKind.COMPACT_CONFIGS, ActionKind.DELETE_TOPIC_STATUS,
    }
)  # fmt: skip
"""The kinds that the simulated Connect cluster understands besides those of whole processes.

The operator asks the leader, or for ``PauseConnector``, ``ResumeConnector``, ``RestartTask`` and ``DeleteTopicStatus``
(forget the topics of a connector) the worker that is the member; a worker may refuse. ``choice`` says which connector
(by its remainder of 3), which task, how many tasks, or what a restart includes. ``FailTask`` makes one of the
connectors and tasks fail that the member runs. ``CompactTopic`` compacts the topic of the statuses,
``CompactConfigs`` the config topic.
"""


STATUS_CHURN: Final = frozenset(
    {
        ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, ActionKind.CRASH_MEMBER, ActionKind.PAUSE_MEMBER,
        ActionKind.RESUME_MEMBER, ActionKind.ADVANCE_CLOCK, ActionKind.HEAL, ActionKind.REBALANCE,
        ActionKind.RESET_GROUP, ActionKind.DELETE_CONNECTOR, ActionKind.CREATE_CONNECTOR, ActionKind.FAIL_TASK,
        ActionKind.PAUSE_TASK, ActionKind.RESTART_TASK, ActionKind.FLUSH_STORE, ActionKind.QUERY_STATUS,
        ActionKind.PUT_TOPIC_STATUS, ActionKind.DELETE_TOPIC_STATUS, ActionKind.COMPACT_TOPIC,
    }
)  # fmt: skip
"""The kinds that the simulated cluster of status stores understands; the member is the worker.

``Rebalance`` begins the next generation of the group, ``ResetGroup`` begins at generation 1 again, and
``DeleteConnector`` and ``CreateConnector`` change what is configured and rebalance. ``FailTask``, ``PauseTask`` and
``RestartTask`` concern a connector or a task that the worker owns, ``FlushStore``, ``QueryStatus``, ``PutTopicStatus``
and ``DeleteTopicStatus`` are calls of its status store, and ``CompactTopic`` compacts the topic of the statuses.
``choice`` numbers the draw that decides which connector, which task, and who owns what in the new generation.
"""


CONFIG_CHURN: Final = frozenset(
    {
        ActionKind.START_MEMBER, ActionKind.CRASH_MEMBER, ActionKind.HEAL, ActionKind.CHANGE_LEADER,
        ActionKind.COMPACT_CONFIGS, ActionKind.WRITE_CONFIGS, ActionKind.STEP_STORE, ActionKind.TAKE_SNAPSHOT,
        ActionKind.APPEND_ODDLY, ActionKind.EXPIRE_CALLS,
    }
)  # fmt: skip
"""The kinds that simulated config stores understand; the member is the worker.

``WriteConfigs`` calls the store of the leader, or for a target state that of the member; ``StepStore`` lets the
producers or the reader of the member, or of the leader, do some steps, ``TakeSnapshot`` asks its store what it knows.
``ChangeLeader`` makes the member lead, ``CompactConfigs`` runs the log cleaner, ``AppendOddly`` appends a record that
no worker writes, and ``ExpireCalls`` lets calls take too long. ``choice`` numbers the draw that decides the rest.
"""


TAKEOVERS: Final = frozenset(
    {
        ActionKind.CRASH_COORDINATOR, ActionKind.RESIGN_COORDINATOR, ActionKind.ELECT_COORDINATOR,
        ActionKind.LOAD_COORDINATOR, ActionKind.DEPOSE_COORDINATOR, ActionKind.RESIGN_ZOMBIE_COORDINATOR,
    }
)  # fmt: skip
"""The steps that replace the coordinator; the groups before and after cannot be compared."""


AT_ZOMBIE: Final = frozenset(
    {ActionKind.JOIN_GROUP_AT_ZOMBIE, ActionKind.SYNC_GROUP_AT_ZOMBIE, ActionKind.HEARTBEAT_AT_ZOMBIE}
)
"""The steps in which a member's request arrives at a zombie coordinator."""


DISTURBANCES: Final = frozenset(
    {
        ActionKind.CRASH, ActionKind.EXPIRE_SESSION, ActionKind.EXPIRE_REBALANCE, ActionKind.EXPIRE_SYNC,
        ActionKind.SEND_LEAVE_GROUP, ActionKind.DUPLICATE_REQUEST, ActionKind.DELETE_GROUP, ActionKind.LOSE_REQUEST,
        ActionKind.LOSE_REPLY, ActionKind.DROP_CONNECTION, ActionKind.CRASH_COORDINATOR, ActionKind.RESIGN_COORDINATOR,
    }
)  # fmt: skip
"""The protocol steps without which a group forms and stays; walks choose them more rarely than the others."""


class Action(NamedTuple):
    """One action: its kind, the member that it concerns (from 0; 0 where none), and the choice among its outcomes.

    ``choice`` resolves nondeterminism (which leader, which legal assignment) and carries the milliseconds of
    ``AdvanceClock`` and the tasks of ``ChangeConfig``; it is 0 where there is nothing to choose.
    """

    kind: ActionKind
    member: int = 0
    choice: int = 0

    def __str__(self) -> str:
        """``JoinGroup m1``; the choice follows in brackets when it is not 0."""
        return f"{self.kind} m{self.member}" + (f" [{self.choice}]" if self.choice else "")


_WRITTEN: Final = re.compile(r"(?P<kind>\w+) m(?P<member>\d+)(?: \[(?P<choice>\d+)\])?")


def parse_action(text: str) -> Action:
    """The action that ``str`` writes so.

    Raises: RebalanceCheckError where it is none.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None or found["kind"] not in list(ActionKind):
        raise RebalanceCheckError(f"{text!r} is no action: write KIND mNUMBER or KIND mNUMBER [CHOICE]")
    return Action(ActionKind(found["kind"]), int(found["member"]), int(found["choice"] or 0))
