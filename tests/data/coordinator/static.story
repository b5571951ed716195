[a follower comes back without a rebalance and reads its assignment]
form s f static=s:i,f:j -> Stable
join f2 instance=j -> generation 1, leader s
status -> Stable
sync f2 1 instance=j -> NONE F
heartbeat f2 1 instance=j -> NONE
heartbeat f 1 instance=j -> FENCED_INSTANCE_ID
heartbeat f 1 -> UNKNOWN_MEMBER_ID
describe -> Stable consumer/range f2:j(m)=F s:i(m)=S

[a leader comes back without a rebalance and is told not to assign]
form s f static=s:i,f:j -> Stable
join s2 instance=i -> generation 1, leader s2, members f s2, skip
status -> Stable
sync s2 1 instance=i -> NONE S

[before v9 a leader that comes back believes that it follows (v5)]
form s f static=s:i,f:j -> Stable
join s2 version=5 instance=i -> generation 1, leader s
sync s2 1 instance=i -> NONE S
join f instance=j -> generation 1, leader s2

[before v9 a leader that comes back believes that it follows (v8)]
form s f static=s:i,f:j -> Stable
join s2 version=8 instance=i -> generation 1, leader s
sync s2 1 instance=i -> NONE S
join f instance=j -> generation 1, leader s2

[before v9 a follower comes back like any other]
form s f static=s:i,f:j -> Stable
join f2 version=8 instance=j -> generation 1, leader s

[other metadata goes on record and causes no rebalance]
form s f static=s:i,f:j -> Stable
join f2 instance=j protocols=range:n -> generation 1, leader s
status -> Stable
log -> generation 1 leader s f2(n)=F s(m)=S

[a restart that changes the vote rebalances]
form s static=s:i protocols=range,rr -> Stable
join s2 instance=i protocols=rr,range -> generation 2, leader s2, members s2
status -> CompletingRebalance

[a restart that changes the vote of a larger group rebalances]
form s f static=s:i,f:j protocols=range,rr -> Stable
join f2 instance=j protocols=rr -> waits
status -> PreparingRebalance
heartbeat s 1 instance=i -> REBALANCE_IN_PROGRESS

[a restart in CompletingRebalance starts over]
form s f static=s:i,f:j unsynced=yes -> CompletingRebalance
sync f 1 instance=j -> waits
join f2 instance=j -> waits; f: FENCED_INSTANCE_ID
status -> PreparingRebalance
join s instance=i -> generation 2, leader s, members f2 s; f2: generation 2, leader s

[a restart in CompletingRebalance sends the others back to join]
form s f g static=s:i,f:j unsynced=yes -> CompletingRebalance
sync g 1 -> waits
join f2 instance=j -> waits; g: REBALANCE_IN_PROGRESS
status -> PreparingRebalance

[a restart in PreparingRebalance fences the waiting predecessor]
form s f static=s:i,f:j -> Stable
join s instance=i -> waits
join s2 instance=i -> waits; s: FENCED_INSTANCE_ID s
status -> PreparingRebalance
join f instance=j -> generation 2, leader s2; s2: generation 2, leader s2, members f s2

[a predecessor that leaves its instance id out is unknown]
form s f static=s:i,f:j -> Stable
join s2 instance=i -> generation 1, leader s2, members f s2, skip
join s -> UNKNOWN_MEMBER_ID s
sync s 1 -> UNKNOWN_MEMBER_ID
heartbeat s 1 -> UNKNOWN_MEMBER_ID
commit s 1 -> UNKNOWN_MEMBER_ID
leave s -> NONE (UNKNOWN_MEMBER_ID)

[the successor begins with its predecessor's session timeout]
form s f static=s:i,f:j -> Stable
join f2 session=20000 instance=j -> generation 1, leader s
advance 5000
heartbeat s 1 -> NONE
advance 4999
members -> f2 s
heartbeat s 1 -> NONE
advance 1
members -> s
heartbeat s 1 -> REBALANCE_IN_PROGRESS

[the successor's own session timeout counts from its first heartbeat]
form s f static=s:i,f:j -> Stable
join f2 session=20000 instance=j -> generation 1, leader s
heartbeat f2 1 instance=j -> NONE
advance 9000
heartbeat s 1 -> NONE
advance 9000
heartbeat s 1 -> NONE
advance 1999
members -> f2 s
advance 1
members -> s

[the predecessor's session ends without effect]
form s f static=s:i,f:j -> Stable
advance 8000
heartbeat s 1 -> NONE
join f2 instance=j -> generation 1, leader s
advance 2000
members -> f2 s
status -> Stable

[a member replaced before it synced causes one rebalance at the sync deadline]
form s f static=s:i,f:j unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
sync s 1 give=f:F instance=i -> NONE
join f2 session=60000 rebalance=5000 instance=j -> generation 1, leader s
sync f2 1 instance=j -> NONE F
status -> Stable
advance 4999
status -> Stable
advance 1
status -> PreparingRebalance
members -> f2 s

[a static member need not rejoin in time]
form s f static=s:i,f:j session=60000 rebalance=5000 -> Stable
join s session=60000 rebalance=5000 instance=i -> waits
advance 5000 -> s: generation 2, leader s, members f s
members -> f s

[after a leave by instance id the next one is a new member]
form s f static=s:i,f:j -> Stable
leave :j -> NONE (NONE)
status -> PreparingRebalance
join f2 instance=j -> waits
join s instance=i -> generation 2, leader s, members f2 s; f2: generation 2, leader s

[a static member that knows its id joins like any other]
form s f static=s:i,f:j -> Stable
join f instance=j -> generation 1, leader s
join s instance=i -> waits

[a restart with no common protocol is refused]
form s f static=s:i,f:j -> Stable
join f2 instance=j protocols=zz -> INCONSISTENT_GROUP_PROTOCOL
status -> Stable

[a member replaced after it synced causes none]
form s f static=s:i,f:j session=60000 rebalance=5000 -> Stable
join f2 session=60000 rebalance=5000 instance=j -> generation 1, leader s
advance 10000
status -> Stable

[a returning leader before v9 sees its old id, its follower the new one]
form s f static=s:i,f:j -> Stable
join s2 version=8 instance=i -> generation 1, leader s
join f instance=j -> generation 1, leader s2
sync s2 1 instance=i -> NONE S
join s2 version=8 instance=i -> waits
status -> PreparingRebalance
