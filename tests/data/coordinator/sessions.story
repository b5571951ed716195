[a heartbeat prolongs the session in Stable]
form a b session=3000 -> Stable
advance 2000
heartbeat a 1 -> NONE
heartbeat b 1 -> NONE
advance 2999
members -> a b
advance 1
members

[a heartbeat prolongs the session in CompletingRebalance]
form a b unsynced=yes session=3000 -> CompletingRebalance
advance 2000
heartbeat a 1 -> NONE
heartbeat b 1 -> NONE
advance 2999
members -> a b
advance 1
members

[a heartbeat prolongs the session in PreparingRebalance]
form a b session=3000 -> Stable
join a -> waits
advance 2000
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2999
members -> a b
advance 1 -> a: generation 2, leader a, members a

[a refused heartbeat does not prolong the session]
form a b session=3000 -> Stable
advance 2000
heartbeat a 1 -> NONE
heartbeat b 0 -> ILLEGAL_GENERATION
advance 999
members -> a b
advance 1
members -> a

[a commit prolongs the session in Stable]
form a b session=3000 -> Stable
advance 2000
heartbeat a 1 -> NONE
commit b 1 -> NONE
advance 2999
members -> a b
advance 1
members

[a commit prolongs the session in PreparingRebalance]
form a b session=3000 -> Stable
join a -> waits
advance 2000
commit b 1 -> NONE
advance 2999
members -> a b
advance 1 -> a: generation 2, leader a, members a

[a refused commit does not prolong the session]
form a b unsynced=yes session=3000 -> CompletingRebalance
advance 2000
heartbeat a 1 -> NONE
commit b 1 -> REBALANCE_IN_PROGRESS
advance 999
members -> a b
advance 1
members -> a

[a commit prolongs the session when it arrives]
form a b session=3000 -> Stable
hold
advance 2000
commit b 1 -> waits
advance 1000
members -> b
release -> b: NONE
advance 1999
members -> b

[a pending id that lapses completes the join phase]
form a -> Stable
join p session=2000 -> MEMBER_ID_REQUIRED p
join a -> waits
advance 2000 -> a: generation 2, leader a, members a

[a pending id that lapses changes nothing in Stable]
form a -> Stable
join p session=2000 -> MEMBER_ID_REQUIRED p
advance 2000
status -> Stable

[a member that waits in JoinGroup does not expire, and starts afresh when answered]
form a b session=3000 rebalance=20000 -> Stable
join a session=3000 rebalance=20000 -> waits
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 2500
members -> a b
join b session=3000 rebalance=20000 -> generation 2, leader a; a: generation 2, leader a, members a b
advance 2999
members -> a b
advance 1
members

[an expiry in Stable starts a rebalance]
form a b session=3000 -> Stable
advance 1000
heartbeat a 1 -> NONE
advance 2000
members -> a
status -> PreparingRebalance
heartbeat a 1 -> REBALANCE_IN_PROGRESS
heartbeat b 1 -> UNKNOWN_MEMBER_ID

[an expiry in CompletingRebalance starts over]
form a b c unsynced=yes session=3000 -> CompletingRebalance
sync b 1 -> waits
advance 1000
heartbeat a 1 -> NONE
advance 2000 -> b: REBALANCE_IN_PROGRESS
members -> a b
status -> PreparingRebalance

[an expiry in PreparingRebalance completes the join phase]
form a b session=3000 -> Stable
join a -> waits
advance 2999
advance 1 -> a: generation 2, leader a, members a
status -> CompletingRebalance

[the last member expires: Empty, one generation later]
form a session=3000 -> Stable
advance 2999
status -> Stable
advance 1
status -> Empty
log -> generation 2

[a session that ran out while its member waited is started by the answer]
form a b session=3000 -> Stable
advance 2500
join a session=3000 -> waits
advance 499
members -> a b
advance 1 -> a: generation 2, leader a, members a
members -> a
