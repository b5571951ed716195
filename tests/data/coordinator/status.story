[the first member starts a rebalance]
admit a -> waits
status -> PreparingRebalance

[the last member of a Stable group leaves: Empty, one generation later, on record]
form a -> Stable
leave a -> NONE (NONE)
status -> Empty
log -> generation 2

[the last member of a CompletingRebalance group leaves: Empty, one generation later]
form a unsynced=yes -> CompletingRebalance
leave a -> NONE (NONE)
status -> Empty
log -> generation 2

[a new member starts a rebalance of a Stable group]
form a -> Stable
admit b -> waits
status -> PreparingRebalance

[a new member starts a rebalance of a CompletingRebalance group]
form a unsynced=yes -> CompletingRebalance
admit b -> waits
status -> PreparingRebalance

[a leader that rejoins unchanged starts a rebalance]
form a b -> Stable
join a -> waits
status -> PreparingRebalance

[a follower that rejoins with other metadata starts a rebalance]
form a b -> Stable
join b protocols=range:n -> waits
status -> PreparingRebalance

[a deleted group is Dead, and knows nobody]
form a -> Stable
leave a -> NONE (NONE)
delete g -> NONE
status -> Dead
join b as==zz -> UNKNOWN_MEMBER_ID zz

[everyone left before the initial delay ended: Empty, one generation later]
admit a -> waits
leave a -> NONE (NONE); a: UNKNOWN_MEMBER_ID
status -> PreparingRebalance
advance 100
status -> Empty
log -> generation 1

[the generation of an emptied group is never used again]
form a -> Stable
leave a -> NONE (NONE)
admit b -> waits
advance 100 -> b: generation 3, leader b, members b

[a deleted group that is created again counts from 1]
form a -> Stable
leave a -> NONE (NONE)
delete g -> NONE
admit b -> waits
advance 100 -> b: generation 1, leader b, members b

[each completed join phase is one generation]
form a unsynced=yes -> CompletingRebalance
join a protocols=range:n -> generation 2, leader a, members a
join a protocols=range:o -> generation 3, leader a, members a
join a protocols=range:p -> generation 4, leader a, members a

[the leader keeps leading while it rejoins, in whatever order]
form a b c -> Stable
join c protocols=range:n -> waits
join b -> waits
join a -> generation 2, leader a, members a b c; b: generation 2, leader a; c: generation 2, leader a

[when the leader leaves, another member leads]
form a b -> Stable
leave a -> NONE (NONE)
join b -> generation 2, leader b, members b

[a silent static leader is succeeded by a member that joined]
form s b static=s:i session=60000 rebalance=5000 -> Stable
join b session=60000 rebalance=5000 protocols=range:n -> waits
advance 5000 -> b: generation 2, leader b, members b s

[members leave and expire between generations]
form a b -> Stable
log -> generation 1 leader a a(m)=A b(m)=B

[an Empty group has nothing but pending ids]
form a -> Stable
join p -> MEMBER_ID_REQUIRED p
leave a -> NONE (NONE)
status -> Empty
describe -> Empty consumer/
join p -> waits

[a join phase without members ends at once]
form a -> Stable
join p session=50000 -> MEMBER_ID_REQUIRED p
leave a -> NONE (NONE)
status -> Empty
until Empty -> 0

[the last member expires beside a pending id: Empty at once]
form a session=3000 -> Stable
join p session=20000 -> MEMBER_ID_REQUIRED p
advance 3000
status -> Empty
join p -> waits
advance 100 -> p: generation 3, leader p, members p
