----------------------------- MODULE JoinGroup -----------------------------
(***************************************************************************)
(* How a Kafka group coordinator decides a JoinGroup request of the        *)
(* classic protocol, as in model/classic/coordinator.py with its optional  *)
(* concerns off: no upgrade, no failover, no static member, no initial     *)
(* delay.  A request is a record [member, hasId, owned, generation]; a     *)
(* member is a process, and has at most one request in flight.             *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
    Members,            \* the processes
    NoMember,           \* no process: the leader of an empty group
    MemberIdRequired    \* whether a first JoinGroup gets a member id only (KIP-394)

VARIABLES
    status,             \* of the group: see Statuses
    generation,         \* of the group, 0 before the first
    members,            \* the members of the group
    leader,             \* one of them, or NoMember
    pending,            \* the member ids that were assigned and not used yet
    joined,             \* the members whose JoinGroup is parked
    owned,              \* of each member what its last JoinGroup said that it owns
    requests,           \* the JoinGroups on their way to the coordinator
    replies             \* the replies on their way to the members

vars == <<status, generation, members, leader, pending, joined, owned, requests, replies>>

Statuses == {"Dead", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}

TypeOK ==
    /\ status \in Statuses
    /\ generation \in Nat
    /\ members \subseteq Members
    /\ leader \in members \cup {NoMember}
    /\ pending \subseteq Members \ members
    /\ joined \subseteq members

Reply(m, error) == [member |-> m, error |-> error, generation |-> generation, leader |-> leader]

Answer(request, error) ==
    /\ replies' = replies \cup {Reply(request.member, error)}
    /\ UNCHANGED <<generation, members, leader, joined, owned>>

\* The join phase is over when every member has joined and no pending id is left.
CompletesWith(now, waiting, parked) == now # {} /\ waiting = {} /\ parked = now

\* A JoinGroup that is parked: the group prepares a rebalance, or begins the next generation.
Park(request) ==
    LET m == request.member
        now == members \cup {m}
        waiting == pending \ {m}
        parked == joined \cup {m}
        first == IF leader = NoMember THEN m ELSE leader
        next == generation + 1
    IN  /\ members' = now
        /\ pending' = waiting
        /\ leader' = first
        /\ owned' = [owned EXCEPT ![m] = <<request.owned, request.generation>>]
        /\ IF CompletesWith(now, waiting, parked)
           THEN /\ status' = "CompletingRebalance"
                /\ generation' = next
                /\ joined' = {}
                /\ replies' = replies \cup
                     {[member |-> x, error |-> "NONE", generation |-> next, leader |-> first] : x \in parked}
           ELSE /\ status' = "PreparingRebalance"
                /\ joined' = parked
                /\ UNCHANGED <<generation, replies>>

\* A process without a member id: it gets one to come back with, or becomes a member at once.
JoinWithoutId(request) ==
    IF MemberIdRequired
    THEN /\ status' = IF status = "Dead" THEN "Empty" ELSE status
         /\ pending' = pending \cup {request.member}
         /\ Answer(request, "MEMBER_ID_REQUIRED")
    ELSE Park(request)

\* A member that joins again with what it said before needs no rebalance; the leader of a stable group asks for one.
IsAnsweredAtOnce(request) ==
    /\ status \in {"CompletingRebalance", "Stable"}
    /\ ~(status = "Stable" /\ request.member = leader)
    /\ owned[request.member] = <<request.owned, request.generation>>

JoinGroup(request) ==
    /\ request \in requests
    /\ requests' = requests \ {request}
    /\ CASE ~request.hasId -> JoinWithoutId(request)
         [] request.hasId /\ request.member \in pending -> Park(request)
         [] request.hasId /\ request.member \notin pending \cup members ->
              /\ Answer(request, "UNKNOWN_MEMBER_ID")
              /\ UNCHANGED <<status, pending>>
         [] request.hasId /\ request.member \in members /\ IsAnsweredAtOnce(request) ->
              /\ Answer(request, "NONE")
              /\ UNCHANGED <<status, pending>>
         [] OTHER -> Park(request)

\* What a decision must not break.
LeaderIsMember == members # {} => leader \in members

GenerationHasOnlyJoined ==
    [][generation' > generation =>
         \A x \in members' : x \in joined \/ \E r \in requests \ requests' : r.member = x]_vars
=============================================================================
