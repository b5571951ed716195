[a full Stable group refuses newcomers]
setting max_size=2
form a b rebalance=5000 -> Stable
join c -> GROUP_MAX_SIZE_REACHED
join c instance=s -> GROUP_MAX_SIZE_REACHED
status -> Stable

[in PreparingRebalance a member may lose its seat to a newcomer]
setting max_size=2
form a b session=3000 rebalance=5000 -> Stable
join a session=3000 rebalance=5000 protocols=range:n -> waits
join c -> MEMBER_ID_REQUIRED c
join c session=3000 rebalance=5000 -> waits
status -> PreparingRebalance
join b session=3000 rebalance=5000 -> GROUP_MAX_SIZE_REACHED
status -> PreparingRebalance
members -> a c

[who lost its seat still holds the join phase open until its session ends]
setting max_size=2
form a b session=3000 rebalance=5000 -> Stable
join a session=3000 rebalance=5000 protocols=range:n -> waits
join c -> MEMBER_ID_REQUIRED c
join c session=3000 rebalance=5000 -> waits
status -> PreparingRebalance
join b session=3000 rebalance=5000 -> GROUP_MAX_SIZE_REACHED
status -> PreparingRebalance
members -> a c
advance 2999
status -> PreparingRebalance
advance 1
status -> PreparingRebalance
advance 2000 -> a: generation 2, leader a, members a c; c: generation 2, leader a
status -> CompletingRebalance

[the join phase with a lost seat ends by its deadline]
setting max_size=2
form a b session=3000 rebalance=5000 -> Stable
join a session=3000 rebalance=5000 protocols=range:n -> waits
join c -> MEMBER_ID_REQUIRED c
join c session=3000 rebalance=5000 -> waits
status -> PreparingRebalance
join b session=3000 rebalance=5000 -> GROUP_MAX_SIZE_REACHED
status -> PreparingRebalance
members -> a c
until CompletingRebalance -> 5000

[a pending id that meets a full group is dropped]
setting max_size=2
form a rebalance=5000 -> Stable
join p -> MEMBER_ID_REQUIRED p
join q -> MEMBER_ID_REQUIRED q
join p -> waits
join a -> waits
join q -> GROUP_MAX_SIZE_REACHED
join q -> GROUP_MAX_SIZE_REACHED
status -> PreparingRebalance

[an Empty group hands out any number of ids]
setting max_size=1
join a -> MEMBER_ID_REQUIRED a
join b -> MEMBER_ID_REQUIRED b
join c -> MEMBER_ID_REQUIRED c

[in PreparingRebalance seats go to whoever joins first]
setting max_size=2
join a -> MEMBER_ID_REQUIRED a
join b -> MEMBER_ID_REQUIRED b
join c -> MEMBER_ID_REQUIRED c
join a -> waits
join b -> waits
join d -> GROUP_MAX_SIZE_REACHED
join c -> GROUP_MAX_SIZE_REACHED
status -> PreparingRebalance
members -> a b

[who already waits may join again]
setting max_size=2
join a -> MEMBER_ID_REQUIRED a
join b -> MEMBER_ID_REQUIRED b
join a -> waits
join b -> waits
join a -> waits
advance 300 -> a: generation 1, leader a, members a b; b: generation 1, leader a

[pending ids take no seats]
setting max_size=2
form a unsynced=yes -> CompletingRebalance
join b -> MEMBER_ID_REQUIRED b
join c -> MEMBER_ID_REQUIRED c
join a -> generation 1, leader a, members a
sync a 1 -> NONE
join b -> waits
join c -> waits
status -> PreparingRebalance

[a static restart into a full Stable group is refused]
setting max_size=2
form s r static=s:i,r:j -> Stable
join s2 instance=i -> GROUP_MAX_SIZE_REACHED
status -> Stable
heartbeat s 1 instance=i -> NONE

[a static restart into a full CompletingRebalance group is refused]
setting max_size=2
form s r static=s:i,r:j unsynced=yes -> CompletingRebalance
join s2 instance=i -> GROUP_MAX_SIZE_REACHED
status -> CompletingRebalance

[a static restart into a full PreparingRebalance group takes its seat again]
setting max_size=2
form s r static=s:i,r:j -> Stable
join s instance=i -> waits
join r2 instance=j -> generation 2, leader s; s: generation 2, leader s, members r2 s

[as many members as the limit are Stable]
setting max_size=3
form a b c -> Stable
status -> Stable
