[a leave does not end the delay early]
admit a -> waits
admit b -> waits
leave b -> NONE (NONE); b: UNKNOWN_MEMBER_ID
status -> PreparingRebalance
advance 200 -> a: generation 1, leader a, members a

[one joiner waits the initial delay]
setting initial_rebalance_delay_ms=3000
admit a -> waits
advance 2999
advance 1 -> a: generation 1, leader a, members a

[the initial delay holds even if the rebalance timeout is shorter]
setting initial_rebalance_delay_ms=3000
admit a rebalance=1000 -> waits
advance 2999
advance 1 -> a: generation 1, leader a, members a

[a second joiner prolongs the delay]
setting initial_rebalance_delay_ms=3000
admit a -> waits
advance 1000
admit b -> waits
until CompletingRebalance -> 5000

[a repeated JoinGroup does not prolong the delay]
setting initial_rebalance_delay_ms=3000
admit a -> waits
advance 1000
join a -> waits
until CompletingRebalance -> 2000

[a pending id does not prolong the delay]
setting initial_rebalance_delay_ms=3000
admit a -> waits
advance 1000
join b -> MEMBER_ID_REQUIRED b
until CompletingRebalance -> 2000

[a pending id does not hold an initial rebalance open]
setting initial_rebalance_delay_ms=3000
admit a -> waits
join p -> MEMBER_ID_REQUIRED p
advance 3000 -> a: generation 1, leader a, members a
status -> CompletingRebalance
join p -> waits
status -> PreparingRebalance

[a newcomer that was not counted in prolongs the next initial rebalance]
setting initial_rebalance_delay_ms=3000
admit a rebalance=4000 -> waits
advance 1000
admit b rebalance=4000 -> waits
advance 2500
admit c rebalance=4000 -> waits
advance 500 -> a: generation 1, leader a, members a b c; b: generation 1, leader a; c: generation 1, leader a
leave a b c -> NONE (NONE, NONE, NONE)
status -> Empty
admit d -> waits
until CompletingRebalance -> 6000

[a group that was emptied waits the delay again]
setting initial_rebalance_delay_ms=3000
form a -> Stable
leave a -> NONE (NONE)
admit b -> waits
until CompletingRebalance -> 3000

[newcomers prolong the delay of a group that was emptied]
setting initial_rebalance_delay_ms=3000
form a -> Stable
leave a -> NONE (NONE)
admit b -> waits
advance 1000
admit c -> waits
until CompletingRebalance -> 5000

[a pending id that lapses ends the delay early]
setting initial_rebalance_delay_ms=3000
admit a -> waits
join p session=1000 -> MEMBER_ID_REQUIRED p
until CompletingRebalance -> 1000

[a pending id that leaves does not end the delay early]
setting initial_rebalance_delay_ms=3000
admit a -> waits
join p -> MEMBER_ID_REQUIRED p
leave p -> NONE (NONE)
until CompletingRebalance -> 3000

[without a delay the first joiner is alone in generation 1]
setting initial_rebalance_delay_ms=0
join a version=3 -> generation 1, leader a, members a

[a static restart does not prolong the delay]
join s instance=i -> waits
advance 50
join s2 instance=i -> waits; s: FENCED_INSTANCE_ID ?
advance 49
advance 1 -> s2: generation 1, leader s2, members s2

[a static member replaced while it waits is not new any more]
setting initial_rebalance_delay_ms=9000
join s session=3000 instance=i -> waits
join s2 session=3000 instance=i -> waits; s: FENCED_INSTANCE_ID ?
advance 2999
members -> ?
advance 1
members -> ?
