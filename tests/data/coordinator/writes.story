[the first JoinGroup does not wait for the record of the group]
hold
join a -> MEMBER_ID_REQUIRED a
join a -> waits
status -> Dead

[the record of the group fails: there is no group]
fail NOT_ENOUGH_REPLICAS
join a -> MEMBER_ID_REQUIRED a
status -> Dead
fail
status -> Dead
log

[the record of the group fails: who waits in it is told]
fail NOT_ENOUGH_REPLICAS
join a version=3 -> COORDINATOR_NOT_AVAILABLE
status -> Dead
fail
status -> Dead
log

[the record of the group is late: the group works, though nobody can describe it]
hold
join a version=3 -> waits
advance 5000 -> a: generation 1, leader a, members a
status -> Dead
waiting

[the record of the group times out: who waits in it is told, and stays a member]
setting initial_rebalance_delay_ms=8000
hold
join a version=3 -> waits
advance 4999
advance 1 -> a: COORDINATOR_NOT_AVAILABLE
status -> Dead

[a heartbeat waits for another group's write]
form a -> Stable
hold
commit - -1 group=other -> waits
heartbeat a 1 -> waits

[without earlier writes a heartbeat does not wait]
form a -> Stable
hold
heartbeat a 1 -> NONE

[a leave waits for earlier writes]
form a b -> Stable
hold
commit a 1 -> waits
leave b -> waits
status -> PreparingRebalance
release -> a: NONE; b: NONE (NONE)

[a stable read waits for earlier writes]
form a -> Stable
commit a 1 offset=5 -> NONE
hold
commit a 1 offset=6 -> waits
fetch -> t-0:5
fetch stable -> waits
release -> a: NONE; reader: t-0:6

[a stable read whose wait times out is told to find another coordinator]
form a -> Stable
commit a 1 offset=5 -> NONE
hold
commit a 1 offset=6 -> waits
fetch stable -> waits
advance 5000 -> a: COORDINATOR_NOT_AVAILABLE; reader: NOT_COORDINATOR

[a heartbeat that will be told to rejoin waits for earlier writes]
form a b -> Stable
join a -> waits
hold
commit b 1 -> waits
heartbeat b 1 -> waits
release -> b: NONE; b: REBALANCE_IN_PROGRESS

[a commit that timed out still counts when it is committed]
form a session=60000 -> Stable
commit a 1 offset=5 -> NONE
hold
commit a 1 offset=6 -> waits
advance 5000 -> a: COORDINATOR_NOT_AVAILABLE
fetch -> t-0:5
release
fetch -> t-0:6

[JoinGroup, and SyncGroup in Stable, wait for no write]
form a b -> Stable
hold
commit a 1 -> waits
join b -> generation 1, leader a
sync b 1 -> NONE B
join c -> MEMBER_ID_REQUIRED c
join a -> waits
sync b 1 -> REBALANCE_IN_PROGRESS

[a refused SyncGroup waits for no write]
form a b -> Stable
hold
commit a 1 -> waits
sync b 9 -> ILLEGAL_GENERATION
sync b 1 as==zz -> UNKNOWN_MEMBER_ID

[an uncommitted offset is not read]
form a -> Stable
hold
commit a 1 offset=7 -> waits
fetch -> t-0:-1
release -> a: NONE
fetch -> t-0:7

[a leave whose record failed is not undone in memory]
form a -> Stable
fail NOT_ENOUGH_REPLICAS
leave a -> COORDINATOR_NOT_AVAILABLE
fail
status -> Empty
failover
describe -> Stable consumer/range a(m)=A

[the leave of the last member waits for its record]
form a -> Stable
hold
leave a -> waits
status -> Empty
advance 5000 -> a: COORDINATOR_NOT_AVAILABLE
status -> Empty

[the record of the group fails: a static member may try again]
fail NOT_ENOUGH_REPLICAS
join s instance=i -> COORDINATOR_NOT_AVAILABLE
fail
status -> Dead
join s instance=i -> waits
advance 200 -> s: generation 1, leader s, members s

[a refused commit waits for no write]
form a -> Stable
hold
commit a 1 -> waits
commit a 7 -> ILLEGAL_GENERATION
commit a 1 as==zz -> UNKNOWN_MEMBER_ID

[a leave that removes nobody waits for earlier writes]
form a -> Stable
hold
commit a 1 -> waits
leave =zz -> waits
leave =zz group=none -> NONE (UNKNOWN_MEMBER_ID)

[the record of an emptied group fails: the leave has one error and no entries]
form a -> Stable
fail NOT_LEADER_OR_FOLLOWER
leave a -> NOT_COORDINATOR
fail
status -> Empty

[the record of an emptied group fails: so does the leave of v2]
form a -> Stable
fail NOT_LEADER_OR_FOLLOWER
leave a version=2 -> NOT_COORDINATOR
fail
status -> Empty

[the record of a group that expired fails: it stays Empty until the log is read]
form a session=3000 -> Stable
fail NOT_ENOUGH_REPLICAS
advance 3000
status -> Empty
fail
advance 60000
status -> Empty
failover
describe -> Stable consumer/range a(m)=A

[a heartbeat that waits has prolonged the session when it arrived]
form a b session=6000 -> Stable
hold
advance 1000
commit a 1 -> waits
advance 2000
heartbeat b 1 -> waits
advance 5999 -> a: COORDINATOR_NOT_AVAILABLE; b: COORDINATOR_NOT_AVAILABLE
members -> b
advance 1
members

[a heartbeat that waits is answered when the coordinator stops serving]
form a -> Stable
hold
commit a 1 -> waits
heartbeat a 1 -> waits
unload -> a: NOT_COORDINATOR; a: NOT_COORDINATOR

[a refused heartbeat does not wait]
form s f static=s:i,f:j -> Stable
hold
commit s 1 -> waits
heartbeat zz 1 as==zz -> UNKNOWN_MEMBER_ID
heartbeat f 1 instance=i -> FENCED_INSTANCE_ID
