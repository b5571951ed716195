"""rebalance-check: prove, fuzz and replay group rebalancing until "exactly one owner" is a fact.

The library in three lines::

    from rebalance_check import judge, read_history

    judge(read_history("history.jsonl")).check()

raises the `Violation` of the first broken invariant, with its counterexample. Importing this package is cheap: what
needs an extra (exploring, Hypothesis, brokers, Spark) is imported by its own module only.
"""

from rebalance_check.model.vocabulary import events
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import HistoryWriter, MalformedHistory, read_history, write_history
from rebalance_check.properties.invariants.agreement import (
    AssignmentIsComplete,
    AssignmentIsDisjoint,
    OneLeader,
    OneProtocol,
)
from rebalance_check.properties.invariants.callbacks import CallbacksAlternate, EagerOwnsNothingWhileJoining
from rebalance_check.properties.invariants.client_requests import CommitsWhenStable, OneChainInFlight
from rebalance_check.properties.invariants.client_state import (
    CooperativeKeepsWhatItOwns,
    OwnedEqualsAssigned,
    ResetMemberLosesEverything,
    WhoRevokesRejoins,
)
from rebalance_check.properties.invariants.cooperative import RevokedBeforeReassigned
from rebalance_check.properties.invariants.expectations import (
    FencedStaysFenced,
    GenerationsHaveMembers,
    GroupFitsMaxSize,
    JoinPhaseEnds,
    KeptOffsetsKeepTheirGroup,
    LeaveWithoutMembersChangesNothing,
    MembersAreKnown,
    NoServerError,
    NothingIsThrown,
    ParkedMemberStays,
    RefusedJoinLeavesNoTrace,
)
from rebalance_check.properties.invariants.fencing import LostIsNotCommitted, StaleGenerationIsRefused
from rebalance_check.properties.invariants.generation import GenerationMonotonicity
from rebalance_check.properties.invariants.identity import (
    HeartbeatNamesAMember,
    LeaveIsLast,
    MemberIdIsKept,
    MembershipEndsForAReason,
)
from rebalance_check.properties.invariants.joining import (
    GenerationHasOnlyJoined,
    GroupSize,
    JoinAnswersAgree,
    MembersGoToTheLeader,
    ParkedRequestsFitTheStatus,
    SelectedProtocolIsListedByAll,
)
from rebalance_check.properties.invariants.liveness import RebalanceCompletes
from rebalance_check.properties.invariants.membership import (
    EmptyGroupIsClean,
    LeaderIsMember,
    LegalTransitions,
    OneMemberPerInstance,
    OnlyLaggardsTimeOut,
    PendingIdsAreNotMembers,
)
from rebalance_check.properties.invariants.observed import (
    AssignedMemberIdsAreNew,
    CommittedOffsetIsFetched,
    HeartbeatErrorsAreDocumented,
    JoinPhaseEndsWhenAllJoined,
    LeaveRemovesOnlyNamedMembers,
    LoadingEnds,
    MemberIdIsKnownBeforeMembership,
    MembersAreRefusedOnlyWhenFull,
)
from rebalance_check.properties.invariants.ownership import NoDoubleOwnership
from rebalance_check.properties.invariants.persistence import (
    LoadRestoresTheLog,
    OneAssignmentPerGeneration,
    OnlyEmptyGroupsAreDeleted,
    PersistedBeforeTheyArePropagated,
    StableIsPersisted,
)
from rebalance_check.properties.invariants.request_fencing import (
    CommitIsFenced,
    HeartbeatIsFenced,
    InstanceIsExclusive,
    OneResponsePerRequest,
    SyncIsFenced,
)
from rebalance_check.properties.invariants.timing import (
    JoinPhaseEndsInTime,
    LaggardsAreRemovedInTime,
    NobodyIsRemovedEarly,
    PendingIdsVanishInTime,
    SilentMembersAreRemovedInTime,
)
from rebalance_check.properties.judge import Judge, Judgement, judge
from rebalance_check.properties.kinds import Fold, Invariant, Kind
from rebalance_check.properties.status.catalogue import SafeStatusWrites
from rebalance_check.properties.verdict import Because, Counterexample, Held, Outcome, Undecided, Violated, Violation

__all__ = [
    "CATALOGUE",
    "AssignedMemberIdsAreNew",
    "AssignmentIsComplete",
    "AssignmentIsDisjoint",
    "Because",
    "CallbacksAlternate",
    "CommitIsFenced",
    "CommitsWhenStable",
    "CommittedOffsetIsFetched",
    "CooperativeKeepsWhatItOwns",
    "Counterexample",
    "EagerOwnsNothingWhileJoining",
    "EmptyGroupIsClean",
    "Event",
    "ExitCode",
    "FencedStaysFenced",
    "Fold",
    "GenerationHasOnlyJoined",
    "GenerationMonotonicity",
    "GenerationsHaveMembers",
    "GroupFitsMaxSize",
    "GroupSize",
    "HeartbeatErrorsAreDocumented",
    "HeartbeatIsFenced",
    "HeartbeatNamesAMember",
    "Held",
    "HistoryWriter",
    "InstanceIsExclusive",
    "Invariant",
    "JoinAnswersAgree",
    "JoinPhaseEnds",
    "JoinPhaseEndsInTime",
    "JoinPhaseEndsWhenAllJoined",
    "Judge",
    "Judgement",
    "KeptOffsetsKeepTheirGroup",
    "Kind",
    "LaggardsAreRemovedInTime",
    "LeaderIsMember",
    "LeaveIsLast",
    "LeaveRemovesOnlyNamedMembers",
    "LeaveWithoutMembersChangesNothing",
    "LegalTransitions",
    "LoadRestoresTheLog",
    "LoadingEnds",
    "LostIsNotCommitted",
    "MalformedHistory",
    "MemberIdIsKept",
    "MemberIdIsKnownBeforeMembership",
    "MembersAreKnown",
    "MembersAreRefusedOnlyWhenFull",
    "MembersGoToTheLeader",
    "MembershipEndsForAReason",
    "NoDoubleOwnership",
    "NoServerError",
    "NobodyIsRemovedEarly",
    "NothingIsThrown",
    "OneAssignmentPerGeneration",
    "OneChainInFlight",
    "OneLeader",
    "OneMemberPerInstance",
    "OneProtocol",
    "OneResponsePerRequest",
    "OnlyEmptyGroupsAreDeleted",
    "OnlyLaggardsTimeOut",
    "Outcome",
    "OwnedEqualsAssigned",
    "ParkedMemberStays",
    "ParkedRequestsFitTheStatus",
    "PendingIdsAreNotMembers",
    "PendingIdsVanishInTime",
    "PersistedBeforeTheyArePropagated",
    "RebalanceCheckError",
    "RebalanceCompletes",
    "RefusedJoinLeavesNoTrace",
    "ResetMemberLosesEverything",
    "RevokedBeforeReassigned",
    "SafeStatusWrites",
    "SelectedProtocolIsListedByAll",
    "SilentMembersAreRemovedInTime",
    "StableIsPersisted",
    "StaleGenerationIsRefused",
    "SyncIsFenced",
    "Undecided",
    "Violated",
    "Violation",
    "WhoRevokesRejoins",
    "events",
    "judge",
    "read_history",
    "select",
    "write_history",
]
