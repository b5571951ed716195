[nobody syncs: all are removed]
form a b unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
advance 4999
status -> CompletingRebalance
advance 1
status -> Empty
log -> generation 2

[the leader does not sync: it is removed, who waited is told to rejoin]
form a b unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
sync b 1 -> waits
advance 5000 -> b: REBALANCE_IN_PROGRESS
status -> PreparingRebalance
members -> b
heartbeat b 1 -> REBALANCE_IN_PROGRESS
join b -> generation 2, leader b, members b

[a follower that does not sync is removed from a Stable group]
form a b unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
advance 1000
sync a 1 -> NONE
advance 3999
members -> a b
advance 1
members -> a
status -> PreparingRebalance

[static members that do not sync are removed, too]
form a s static=s:i unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
sync a 1 -> NONE
advance 5000
members -> a

[the deadline is the longest rebalance timeout]
admit a session=60000 rebalance=2000 -> waits
admit b session=60000 rebalance=7000 -> waits
until CompletingRebalance -> 200
until Empty -> 7000

[the deadline of a generation ends with it]
form a b unsynced=yes session=60000 rebalance=5000 -> CompletingRebalance
advance 3000
join a session=60000 rebalance=5000 protocols=range:n -> waits
join b session=60000 rebalance=5000 -> generation 2, leader a; a: generation 2, leader a, members a b
advance 2000
status -> CompletingRebalance
advance 3000
status -> Empty

[heartbeats do not excuse from syncing]
form a unsynced=yes session=3000 rebalance=5000 -> CompletingRebalance
heartbeat a 1 -> NONE
advance 2500
heartbeat a 1 -> NONE
advance 2499
heartbeat a 1 -> NONE
advance 1
status -> Empty

[a parked SyncGroup that is refused gets a fresh session]
form a b c unsynced=yes session=3000 -> CompletingRebalance
sync b 1 -> waits
advance 2000
heartbeat a 1 -> NONE
join c session=3000 protocols=range:n -> waits; b: REBALANCE_IN_PROGRESS
advance 2999
members -> a b c
advance 1 -> c: generation 2, leader c, members c
members -> c
