[the successor is answered when its record is committed]
form s f static=s:i,f:j -> Stable
hold
join f2 instance=j -> waits
status -> Stable
release -> f2: generation 1, leader s

[the record fails: everything is as before]
form s f static=s:i,f:j -> Stable
fail NOT_ENOUGH_REPLICAS
join f2 instance=j protocols=range:n -> COORDINATOR_NOT_AVAILABLE
fail
heartbeat f 1 instance=j -> NONE
describe -> Stable consumer/range f:j(m)=F s:i(m)=S

[the record times out: everything is as before]
form s f static=s:i,f:j -> Stable
hold
join f2 instance=j protocols=range:n -> waits
advance 4999
advance 1 -> f2: COORDINATOR_NOT_AVAILABLE
release
heartbeat f 1 instance=j -> NONE
describe -> Stable consumer/range f:j(m)=F s:i(m)=S

[the leader's record fails: it still leads]
form s f static=s:i,f:j -> Stable
fail NOT_ENOUGH_REPLICAS
join s2 instance=i -> COORDINATOR_NOT_AVAILABLE
fail
join f instance=j -> generation 1, leader s
join s instance=i -> waits
status -> PreparingRebalance

[a rebalance overtakes the commit: the successor counts as joined]
form s f static=s:i,f:j -> Stable
hold
join f2 instance=j -> waits
join s instance=i protocols=range:n -> generation 2, leader s, members f2 s; f2: generation 2, leader s
status -> CompletingRebalance
release

[a rebalance overtakes the commit and is not over: the successor is told the old generation]
form s f g static=s:i,f:j -> Stable
hold
join f2 instance=j -> waits
join s instance=i protocols=range:n -> waits
status -> PreparingRebalance
release -> f2: generation 1, leader s
status -> PreparingRebalance
join g -> waits
status -> PreparingRebalance
join f2 instance=j -> generation 2, leader s; g: generation 2, leader s; s: generation 2, leader s, members f2 g s

[a restart overtakes the leader's uncommitted assignment]
form s f static=s:i,f:j unsynced=yes -> CompletingRebalance
hold
sync s 1 give=f:F instance=i -> waits
join f2 instance=j -> waits; s: REBALANCE_IN_PROGRESS
release
status -> PreparingRebalance

[a failed replacement gives the seat back]
form s f static=s:i,f:j -> Stable
hold
join f2 instance=j -> waits
heartbeat f 1 instance=j -> FENCED_INSTANCE_ID
advance 5000 -> f2: COORDINATOR_NOT_AVAILABLE
release
heartbeat f 1 instance=j -> NONE

[a record that timed out is read after a failover]
form s f static=s:i,f:j -> Stable
hold
join f2 instance=j -> waits
advance 5000 -> f2: COORDINATOR_NOT_AVAILABLE
failover
members -> ? s
heartbeat f 1 instance=j -> FENCED_INSTANCE_ID

[the record fails: the old timeouts hold]
form s f static=s:i,f:j -> Stable
fail NOT_ENOUGH_REPLICAS
join f2 session=30000 instance=j -> COORDINATOR_NOT_AVAILABLE
fail
heartbeat f 1 instance=j -> NONE
heartbeat s 1 -> NONE
advance 9999
heartbeat s 1 -> NONE
members -> f s
advance 1
members -> s

[the record fails: the old metadata hold]
form s f static=s:i,f:j -> Stable
fail NOT_ENOUGH_REPLICAS
join f2 instance=j protocols=range:n -> COORDINATOR_NOT_AVAILABLE
fail
join f instance=j -> generation 1, leader s
status -> Stable

[the record fails: the old protocols vote]
form s f static=s:i,f:j protocols=range,rr -> Stable
fail NOT_ENOUGH_REPLICAS
join f2 instance=j -> COORDINATOR_NOT_AVAILABLE
fail
join c protocols=rr -> MEMBER_ID_REQUIRED c
