[a lone member that rejoins is answered at once]
form a -> Stable
join a -> generation 2, leader a, members a
status -> CompletingRebalance

[a pending id holds the join phase open until it joins]
form a -> Stable
join p -> MEMBER_ID_REQUIRED p
join a -> waits
join p -> generation 2, leader a; a: generation 2, leader a, members a p

[a pending id holds the join phase open until it lapses]
form a -> Stable
join p session=2000 -> MEMBER_ID_REQUIRED p
join a -> waits
advance 1999
advance 1 -> a: generation 2, leader a, members a

[a pending id outlives the join phase that it held open]
form a session=60000 rebalance=5000 -> Stable
join p session=9000 -> MEMBER_ID_REQUIRED p
join a rebalance=5000 -> waits
advance 4999
advance 1 -> a: generation 2, leader a, members a
join p -> waits

[from Stable the assignments are kept in memory]
form a b -> Stable
join a -> waits
describe -> PreparingRebalance consumer/ a()=A b()=B

[the join phase lasts as long as the longest rebalance timeout]
form a session=60000 rebalance=5000 -> Stable
admit b session=60000 rebalance=20000 -> waits
join a session=60000 rebalance=5000 -> generation 2, leader a, members a b; b: generation 2, leader a
join a session=60000 rebalance=5000 -> generation 2, leader a, members a b
join b session=60000 rebalance=20000 protocols=range:n -> waits
until CompletingRebalance -> 20000

[a later joiner does not prolong the join phase]
form a b session=60000 rebalance=5000 -> Stable
join b session=60000 rebalance=5000 protocols=range:n -> waits
advance 1000
admit c session=60000 rebalance=50000 -> waits
until CompletingRebalance -> 4000

[the timeouts of the JoinGroup that starts a rebalance count]
form a b session=60000 rebalance=5000 -> Stable
join b session=60000 rebalance=9000 protocols=range:n -> waits
until CompletingRebalance -> 9000

[the timeout of the newcomer that starts a rebalance counts]
form a session=60000 rebalance=5000 -> Stable
admit b rebalance=9000 -> waits
until CompletingRebalance -> 9000

[dynamic members that do not rejoin are removed, static ones stay]
form a b s static=s:i session=60000 rebalance=5000 -> Stable
join a session=60000 rebalance=5000 -> waits
advance 4999
advance 1 -> a: generation 2, leader a, members a s
members -> a s
heartbeat b 2 -> UNKNOWN_MEMBER_ID
heartbeat s 2 instance=i -> NONE
heartbeat s 1 -> ILLEGAL_GENERATION

[with only silent static members the join phase is repeated]
form a s static=s:i,a:j session=60000 rebalance=5000 -> Stable
leave a:j -> NONE (NONE)
status -> PreparingRebalance
advance 5000
status -> PreparingRebalance
heartbeat s 1 instance=i -> REBALANCE_IN_PROGRESS
advance 5000
status -> PreparingRebalance
log -> generation 1 leader a a(m)=A s(m)=S

[with only silent static members the join phase lasts until they expire]
form a s static=s:i,a:j session=17000 rebalance=5000 -> Stable
leave a:j -> NONE (NONE)
until Empty -> 17000
log -> generation 2

[nobody rejoins: Empty, one generation later]
form a b session=60000 rebalance=5000 -> Stable
leave a -> NONE (NONE)
until Empty -> 5000
members
log -> generation 2

[a silent static member gets a fresh session with the generation]
form a s static=s:i session=8000 rebalance=5000 -> Stable
join a session=30000 rebalance=20000 -> waits
until CompletingRebalance -> 8000
sync a 2 -> NONE
status -> Stable
advance 7999
members -> a
advance 1
members -> a

[a silent static member owes its SyncGroup, too]
form a s static=s:i session=60000 rebalance=5000 -> Stable
join a session=60000 rebalance=5000 -> waits
advance 5000 -> a: generation 2, leader a, members a s
sync a 2 give=s:SS -> NONE
status -> Stable
advance 4999
members -> a s
advance 1
members -> a
status -> PreparingRebalance
