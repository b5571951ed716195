[without a group nobody is known]
leave =zz =yy -> NONE (UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID)
leave =zz version=3 -> NONE (UNKNOWN_MEMBER_ID)
leave =zz version=2 -> UNKNOWN_MEMBER_ID (UNKNOWN_MEMBER_ID)
leave =zz version=0 -> UNKNOWN_MEMBER_ID (UNKNOWN_MEMBER_ID)

[in an Empty group nobody is known]
commit - -1 -> NONE
leave =zz -> NONE (UNKNOWN_MEMBER_ID)
leave :i -> NONE (UNKNOWN_MEMBER_ID)
status -> Empty

[an instance id alone removes its holder]
form a s static=s:i -> Stable
leave :i -> NONE (NONE)
status -> PreparingRebalance
members -> a
leave :i -> NONE (UNKNOWN_MEMBER_ID)

[a pending id may leave]
join p -> MEMBER_ID_REQUIRED p
leave p -> NONE (NONE)
join p as==py-000000000000000000000000000000000001 -> UNKNOWN_MEMBER_ID p

[a pending id may leave with an instance id]
join p -> MEMBER_ID_REQUIRED p
leave p:i -> NONE (NONE)
join p as==py-000000000000000000000000000000000001 -> UNKNOWN_MEMBER_ID p

[a pending id that left has no timer any more]
form a -> Stable
join p session=2000 -> MEMBER_ID_REQUIRED p
leave p -> NONE (NONE)
advance 1000

[a static member may leave without its instance id]
form a s static=s:i -> Stable
leave s -> NONE (NONE)
members -> a
leave s:i -> NONE (UNKNOWN_MEMBER_ID)

[the parked JoinGroup of a leaver is answered]
form a b -> Stable
join a -> waits
leave a -> NONE (NONE); a: UNKNOWN_MEMBER_ID
status -> PreparingRebalance
members -> b

[the parked SyncGroup of a leaver is never answered, those of the others are]
form a b c unsynced=yes -> CompletingRebalance
sync b 1 -> waits
sync c 1 -> waits
leave b -> NONE (NONE); c: REBALANCE_IN_PROGRESS
waiting -> b
status -> PreparingRebalance

[a leave completes the join phase]
form a b -> Stable
join a -> waits
leave b -> NONE (NONE); a: generation 2, leader a, members a
status -> CompletingRebalance

[the leave of a pending id completes the join phase]
form a b -> Stable
join p -> MEMBER_ID_REQUIRED p
join a -> waits
join b -> waits
leave p -> NONE (NONE); a: generation 2, leader a, members a b; b: generation 2, leader a

[a batch starts one rebalance and has an error for each entry]
form a b c -> Stable
leave a =zz b b -> NONE (NONE, UNKNOWN_MEMBER_ID, NONE, UNKNOWN_MEMBER_ID)
status -> PreparingRebalance
members -> c
join c -> generation 2, leader c, members c
log -> generation 1 leader a a(m)=A b(m)=B c(m)=C

[a batch of all members is one generation]
form a b -> Stable
leave a b -> NONE (NONE, NONE)
status -> Empty
log -> generation 2

[a batch in which nobody leaves changes nothing]
form a b -> Stable
leave =zz =yy -> NONE (UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID)
status -> Stable

[the leave of a pending id makes a Stable group rebalance]
form a -> Stable
join p -> MEMBER_ID_REQUIRED p
leave p -> NONE (NONE)
status -> PreparingRebalance
heartbeat a 1 -> REBALANCE_IN_PROGRESS

[the leave of a pending id makes a CompletingRebalance group start over]
form a unsynced=yes -> CompletingRebalance
join p -> MEMBER_ID_REQUIRED p
leave p -> NONE (NONE)
status -> PreparingRebalance

[before v3 the only entry's error is the reply's]
form a b -> Stable
leave =zz version=2 -> UNKNOWN_MEMBER_ID (UNKNOWN_MEMBER_ID)
leave a version=2 -> NONE (NONE)
leave b version=0 -> NONE (NONE)
status -> Empty
