[no group, or an Empty one: nobody is known]
sync a 1 as==zz -> UNKNOWN_MEMBER_ID
join a -> MEMBER_ID_REQUIRED a
sync a 0 -> UNKNOWN_MEMBER_ID
commit - -1 group=h -> NONE
sync a 0 group=h as==zz -> UNKNOWN_MEMBER_ID

[member before generation, generation before protocol, protocol before status]
form a b -> Stable
sync a 7 as==zz -> UNKNOWN_MEMBER_ID
sync a 7 -> ILLEGAL_GENERATION
sync a 7 protocol=rr -> ILLEGAL_GENERATION
sync a 1 protocol=rr -> INCONSISTENT_GROUP_PROTOCOL
sync a 1 type=connect -> INCONSISTENT_GROUP_PROTOCOL
join a -> waits
sync b 1 protocol=rr -> INCONSISTENT_GROUP_PROTOCOL
sync b 1 -> REBALANCE_IN_PROGRESS
sync b 2 -> ILLEGAL_GENERATION

[from v5 on the protocol must be named]
form a -> Stable
sync a 1 protocol=none -> INCONSISTENT_GROUP_PROTOCOL
sync a 1 type=none -> INCONSISTENT_GROUP_PROTOCOL
sync a 1 version=4 -> NONE A
sync a 1 version=2 -> NONE A

[before the first generation there is no protocol to differ from]
admit a -> waits
sync a 0 -> REBALANCE_IN_PROGRESS
sync a 0 version=4 -> REBALANCE_IN_PROGRESS
sync a 0 type=zz -> INCONSISTENT_GROUP_PROTOCOL

[in PreparingRebalance everyone is told to rejoin]
form a b -> Stable
join a -> waits
sync b 1 -> REBALANCE_IN_PROGRESS
sync a 1 -> REBALANCE_IN_PROGRESS

[a second SyncGroup of a follower silences the first for ever]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
sync b 1 -> waits
sync a 1 give=a:A,b:B -> NONE A; b: NONE B
waiting -> b

[who is not mentioned gets nothing, strangers are ignored]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
sync a 1 give=a:A,=zz:Z -> NONE A; b: NONE
describe -> Stable consumer/range a(m)=A b(m)=
log -> generation 1 leader a a(m)=A b(m)=

[assignments of a follower are ignored]
form a b unsynced=yes -> CompletingRebalance
sync b 1 give=a:X,b:Y -> waits
status -> CompletingRebalance
sync a 1 give=a:A,b:B -> NONE A; b: NONE B

[in Stable everyone reads its assignment, also the leader that brings another]
form a b -> Stable
sync b 1 -> NONE B
sync a 1 give=a:X,b:Y -> NONE A
sync b 1 -> NONE B
sync b 1 version=4 -> NONE B

[a late follower reads its assignment and is not removed]
form a b unsynced=yes session=20000 rebalance=3000 -> CompletingRebalance
sync a 1 give=b:B -> NONE
status -> Stable
advance 2999
sync b 1 -> NONE B
advance 1
status -> Stable
members -> a b

[a SyncGroup in Stable does not prolong the session]
form a b session=3000 -> Stable
advance 2000
sync b 1 -> NONE B
heartbeat a 1 -> NONE
advance 1000
members -> a
heartbeat a 1 -> REBALANCE_IN_PROGRESS
advance 1999
members -> a
advance 1
members -> a

[the assignment is handed out when it is committed]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
hold
sync a 1 give=a:A,b:B -> waits
status -> CompletingRebalance
release -> a: NONE A; b: NONE B
status -> Stable

[a SyncGroup that meets an uncommitted assignment waits with the leader's]
form a b unsynced=yes -> CompletingRebalance
hold
sync a 1 give=b:B -> waits
sync b 1 -> waits
release -> a: NONE; b: NONE B

[a rebalance overtakes the commit: nobody is told, the record stays]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
hold
sync a 1 give=a:A,b:B -> waits
join b protocols=range:n -> waits; a: REBALANCE_IN_PROGRESS; b: REBALANCE_IN_PROGRESS
release
status -> PreparingRebalance
log -> generation 1 leader a a(m)=A b(m)=B
join a -> generation 2, leader a, members a b; b: generation 2, leader a
describe -> CompletingRebalance consumer/ a()= b()=

[two assignments before the first commit: memory has the one, the log the other]
form a b unsynced=yes -> CompletingRebalance
hold
sync a 1 give=a:A1 -> waits
sync a 1 give=a:A2 -> waits
release -> a: NONE A1
waiting -> a
describe -> Stable consumer/range a(m)=A1 b(m)=
log -> generation 1 leader a a(m)=A2 b(m)=

[handing out the assignment starts the sessions of those who waited]
form a b unsynced=yes session=3000 -> CompletingRebalance
sync b 1 -> waits
advance 2000
sync a 1 -> NONE; b: NONE
heartbeat a 1 -> NONE
advance 2999
members -> a b
advance 1
members

[who has not synced is not prolonged by the others' assignment]
form a b unsynced=yes session=3000 -> CompletingRebalance
advance 2000
sync a 1 -> NONE
advance 999
members -> a b
advance 1
members -> a

[a member that waits in SyncGroup does not expire]
form a b unsynced=yes session=3000 rebalance=60000 -> CompletingRebalance
sync b 1 -> waits
advance 2000
heartbeat a 1 -> NONE
advance 2000
heartbeat a 1 -> NONE
advance 2000
heartbeat a 1 -> NONE
advance 2000
heartbeat a 1 -> NONE
advance 2000
heartbeat a 1 -> NONE
members -> a b
