[joins, leaves and expiries are not on record]
form a b -> Stable
leave b -> NONE (NONE)
join c -> MEMBER_ID_REQUIRED c
join a -> waits
advance 1
log -> generation 1 leader a a(m)=A b(m)=B
log -> generation 1 leader a a(m)=A b(m)=B

[members come back with fresh sessions]
form a b session=5000 -> Stable
advance 4000
failover
describe -> Stable consumer/range a(m)=A b(m)=B
advance 4999
members -> a b
advance 1
describe -> Empty consumer/

[the generation on record goes on]
form a b -> Stable
failover
heartbeat a 1 -> NONE
sync b 1 -> NONE B
commit b 1 -> NONE
heartbeat a 2 -> ILLEGAL_GENERATION
heartbeat c 1 as==zz -> UNKNOWN_MEMBER_ID

[instance ids come back]
form s f static=s:i,f:j -> Stable
failover
heartbeat s 1 instance=i -> NONE
heartbeat s 1 instance=j -> FENCED_INSTANCE_ID
join f2 instance=j -> generation 1, leader s
heartbeat f 1 instance=j -> FENCED_INSTANCE_ID

[a generation that is not on record is lost, and its number used again]
form a -> Stable
join a -> generation 2, leader a, members a
failover
describe -> Stable consumer/range a(m)=A
heartbeat a 2 -> ILLEGAL_GENERATION
sync a 2 -> ILLEGAL_GENERATION
commit a 2 -> ILLEGAL_GENERATION
heartbeat a 1 -> NONE
join a -> generation 2, leader a, members a

[later members are lost, removed ones are back]
form a b -> Stable
leave b -> NONE (NONE)
admit c -> waits
join a -> generation 2, leader a, members a c; c: generation 2, leader a
failover
members -> a b
heartbeat c 2 -> UNKNOWN_MEMBER_ID
heartbeat b 1 -> NONE

[a pending id is forgotten]
form a -> Stable
join p -> MEMBER_ID_REQUIRED p
failover
join p -> UNKNOWN_MEMBER_ID p

[a pending id of an Empty group is forgotten]
join p -> MEMBER_ID_REQUIRED p
failover
status -> Empty
join p -> UNKNOWN_MEMBER_ID p
status -> Empty

[an Empty group keeps its generation]
form a -> Stable
leave a -> NONE (NONE)
failover
describe -> Empty consumer/
admit b -> waits
advance 100 -> b: generation 3, leader b, members b

[a waiting JoinGroup is answered when the coordinator stops serving]
form a b -> Stable
join a -> waits
unload -> a: NOT_COORDINATOR a
failover

[a waiting SyncGroup is answered when the coordinator stops serving]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
unload -> b: NOT_COORDINATOR
failover

[uncommitted writes fail when the coordinator stops serving]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
hold
sync a 1 give=a:A -> waits
commit x -1 group=h -> waits
unload -> a: NOT_COORDINATOR; b: NOT_COORDINATOR; x: NOT_COORDINATOR

[a coordinator that stopped serves nobody]
form a -> Stable
unload
heartbeat a 1 -> NOT_COORDINATOR
join a -> NOT_COORDINATOR
sync a 1 -> NOT_COORDINATOR

[a follower that lists several protocols rebalances once]
form a b protocols=range:1,rr:2 -> Stable
failover
join b protocols=range:1,rr:2 -> waits
status -> PreparingRebalance

[a follower that lists only the chosen protocol goes on]
form a b protocols=range:1,rr:2 -> Stable
failover
join b protocols=range:1 -> generation 1, leader a
status -> Stable

[newcomers must list the protocol on record]
form a b protocols=range:1,rr:2 -> Stable
failover
join c protocols=rr -> INCONSISTENT_GROUP_PROTOCOL
join c protocols=rr,range -> MEMBER_ID_REQUIRED c

[a member that came back may wait without expiring]
form a b session=3000 -> Stable
failover
join a session=3000 -> waits
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2499
members -> a b

[an assignment that the log lost never was]
form a b -> Stable
join a -> waits
join b -> generation 2, leader a; a: generation 2, leader a, members a b
hold
sync a 2 give=a:A2 -> waits
failover lose=1
describe -> Stable consumer/range a(m)=A b(m)=B
heartbeat a 2 -> ILLEGAL_GENERATION

[an assignment that nobody received is in force]
form a b -> Stable
join a -> waits
join b -> generation 2, leader a; a: generation 2, leader a, members a b
hold
sync a 2 give=a:A2 -> waits
failover
describe -> Stable consumer/range a(m)=A2 b(m)=
heartbeat a 2 -> NONE
heartbeat a 1 -> ILLEGAL_GENERATION

[offsets come back, and make a group of their own]
commit - -1 offset=7 group=s -> NONE
failover
fetch group=s -> t-0:7
describe group=s -> Empty /
delete s -> NONE

[a deleted group stays away]
form a -> Stable
leave a -> NONE (NONE)
delete g -> NONE
failover
status -> Dead

[a rebalance under way is forgotten]
form a b session=60000 rebalance=5000 -> Stable
join a session=60000 rebalance=5000 -> waits
failover
status -> Stable
advance 20000
status -> Stable
members -> a b

[a SyncGroup that was owed is forgotten]
form a b unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
sync a 1 -> NONE
failover
advance 20000
members -> a b
sync b 1 -> NONE

[the leader comes back as leader]
form a b -> Stable
failover
join b protocols=range:n -> waits
join a -> generation 2, leader a, members a b; b: generation 2, leader a

[a failover lets the old generation commit again]
form a -> Stable
join a -> generation 2, leader a, members a
commit a 1 -> ILLEGAL_GENERATION
failover
commit a 1 -> NONE
