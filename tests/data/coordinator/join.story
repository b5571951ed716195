[the first JoinGroup creates the group and puts it on record]
join a -> MEMBER_ID_REQUIRED a
log -> generation 0
status -> Empty
groups -> g:Empty:

[a new static member is admitted without being told an id first]
join s instance=i -> waits
status -> PreparingRebalance

[a new static member starts a rebalance of a Stable group]
form a -> Stable
join s instance=i -> waits
status -> PreparingRebalance
heartbeat a 1 -> REBALANCE_IN_PROGRESS

[JoinGroup v2 admits at once]
join a version=2 -> waits
status -> PreparingRebalance

[JoinGroup v3 admits at once]
join a version=3 -> waits
status -> PreparingRebalance

[JoinGroup v4 is told its id first]
join a version=4 -> MEMBER_ID_REQUIRED a
status -> Empty

[JoinGroup v9 is told its id first]
join a -> MEMBER_ID_REQUIRED a
status -> Empty

[handing out an id changes nothing in a Stable group]
form a -> Stable
join b -> MEMBER_ID_REQUIRED b
status -> Stable
heartbeat a 1 -> NONE
members -> a

[handing out an id changes nothing in a CompletingRebalance group]
form a unsynced=yes -> CompletingRebalance
join b -> MEMBER_ID_REQUIRED b
status -> CompletingRebalance
sync a 1 give=a:A -> NONE A

[handing out an id admits nobody to a running rebalance]
form a b -> Stable
join a -> waits
join c -> MEMBER_ID_REQUIRED c
status -> PreparingRebalance
members -> a b

[an id that is not used lapses with the session timeout it was asked with]
join a session=4000 -> MEMBER_ID_REQUIRED a
advance 3999
join a session=4000 -> waits
leave a -> NONE (NONE); a: UNKNOWN_MEMBER_ID
join b session=4000 -> MEMBER_ID_REQUIRED b
advance 4000
join b session=4000 -> UNKNOWN_MEMBER_ID b

[everyone who asks gets another id]
join a -> MEMBER_ID_REQUIRED a
join b -> MEMBER_ID_REQUIRED b
join b -> waits
join a -> waits

[an unknown id does not create a group]
join a as==zz -> UNKNOWN_MEMBER_ID zz
status -> Dead
groups

[a pending id must not come with an instance id]
join a -> MEMBER_ID_REQUIRED a
join a instance=i -> UNKNOWN_SERVER_ERROR
status -> Empty
join a -> waits

[a pending id that joins is admitted]
join a -> MEMBER_ID_REQUIRED a
join a -> waits
status -> PreparingRebalance
members -> a

[the join phase ends when all have rejoined]
form a b -> Stable
join a -> waits
join b -> generation 2, leader a; a: generation 2, leader a, members a b
status -> CompletingRebalance

[the leader may be the last to rejoin]
form a b -> Stable
join b protocols=range:n -> waits
join a -> generation 2, leader a, members a b; b: generation 2, leader a

[who repeats itself in CompletingRebalance is answered at once, the leader with the members]
form a b unsynced=yes -> CompletingRebalance
join a -> generation 1, leader a, members a b
join b -> generation 1, leader a
status -> CompletingRebalance
sync b 1 -> waits
sync a 1 give=b:B -> NONE; b: NONE B

[repeating oneself in CompletingRebalance does not prolong the session]
form a b unsynced=yes session=3000 -> CompletingRebalance
advance 2000
join b session=3000 -> generation 1, leader a
heartbeat a 1 -> NONE
advance 999
members -> a b
advance 1
members -> a

[repeating oneself in CompletingRebalance does not move the sync deadline]
form a b unsynced=yes session=20000 rebalance=3000 -> CompletingRebalance
advance 2000
join a session=20000 rebalance=3000 -> generation 1, leader a, members a b
join b session=20000 rebalance=3000 -> generation 1, leader a
advance 999
status -> CompletingRebalance
advance 1
status -> Empty
members

[other metadata in CompletingRebalance starts over, and parked syncs are told]
form a b unsynced=yes -> CompletingRebalance
sync b 1 -> waits
join a protocols=range:n -> waits; b: REBALANCE_IN_PROGRESS
status -> PreparingRebalance
join b -> generation 2, leader a; a: generation 2, leader a, members a b

[other timeouts alone are no change]
form a b unsynced=yes -> CompletingRebalance
join b session=20000 rebalance=1000 -> generation 1, leader a
status -> CompletingRebalance

[a leader that repeats itself in Stable rebalances]
form a b -> Stable
join a -> waits
status -> PreparingRebalance
heartbeat b 1 -> REBALANCE_IN_PROGRESS

[a follower that repeats itself in Stable is answered at once]
form a b -> Stable
join b -> generation 1, leader a
status -> Stable
sync b 1 -> NONE B

[repeating oneself in Stable does not prolong the session]
form a b session=3000 -> Stable
advance 2000
join b session=3000 -> generation 1, leader a
heartbeat a 1 -> NONE
advance 999
members -> a b
advance 1
members -> a

[another order of the same protocols is a change]
form a b protocols=range:1,rr:2 -> Stable
join b protocols=rr:2,range:1 -> waits
status -> PreparingRebalance

[fewer protocols are a change]
form a b protocols=range:1,rr:2 -> Stable
join b protocols=range:1 -> waits
status -> PreparingRebalance

[other timeouts of a follower are not even stored]
form a b -> Stable
join b session=3000 rebalance=5 -> generation 1, leader a
heartbeat a 1 -> NONE
heartbeat b 1 -> NONE
advance 9999
members -> a b
heartbeat a 1 -> NONE
advance 1
members -> a

[a second JoinGroup silences the first for ever]
form a b -> Stable
join a -> waits
join a -> waits
waiting -> a a
join b -> generation 2, leader a; a: generation 2, leader a, members a b
waiting -> a

[a JoinGroup in PreparingRebalance brings new timeouts]
form a b -> Stable
join a -> waits
join b session=20000 -> generation 2, leader a; a: generation 2, leader a, members a b
sync b 2 -> waits
sync a 2 -> NONE; b: NONE
advance 9999
members -> a b
heartbeat a 2 -> NONE
advance 10000
members -> b
heartbeat a 2 -> UNKNOWN_MEMBER_ID
advance 1
members

[the version of a repeated JoinGroup makes no difference]
form a b -> Stable
join b version=8 -> generation 1, leader a
join b -> generation 1, leader a

[a new member is given up after five minutes of waiting]
form a session=1000000 rebalance=900000 -> Stable
admit b session=2000 rebalance=900000 -> waits
advance 299999
members -> a b
advance 1 -> b: UNKNOWN_MEMBER_ID
members -> a
status -> PreparingRebalance

[a new static member is given up after five minutes of waiting]
form a session=1000000 rebalance=900000 -> Stable
join b session=2000 rebalance=900000 instance=i -> waits
advance 299999
advance 1 -> b: UNKNOWN_MEMBER_ID
members -> a

[a waiting member that is not new never expires]
form a b session=2000 rebalance=900000 -> Stable
join a session=2000 rebalance=900000 -> waits
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 1500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 1500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 1500
heartbeat b 1 -> REBALANCE_IN_PROGRESS
advance 1500
members -> a b
advance 500 -> a: generation 2, leader a, members a
members -> a
status -> CompletingRebalance

[a heartbeat of a waiting new member shortens its patience to the session timeout]
setting initial_rebalance_delay_ms=9000
admit a session=3000 -> waits
heartbeat a 0 -> REBALANCE_IN_PROGRESS
advance 2999
advance 1 -> a: UNKNOWN_MEMBER_ID
status -> Empty

[JoinGroup v0 has the session timeout for a rebalance timeout]
join a version=0 session=7000 -> waits
advance 200 -> a: generation 1, leader a, members a
until Empty -> 6900

[a member that never uses its id is never admitted]
form a session=60000 -> Stable
join b session=2000 -> MEMBER_ID_REQUIRED b
advance 5000
status -> Stable
members -> a

[pending ids lapse]
join a session=2000 -> MEMBER_ID_REQUIRED a
advance 1999
leave =q -> NONE (UNKNOWN_MEMBER_ID)
advance 1
join a session=2000 -> UNKNOWN_MEMBER_ID a

[who was forgotten joins again without an id]
form a session=3000 -> Stable
advance 3000
join a -> UNKNOWN_MEMBER_ID a
status -> Empty
join b as== -> MEMBER_ID_REQUIRED b
join b -> waits
advance 100 -> b: generation 3, leader b, members b

[the vote leaves out what one of the members does not list]
join a version=3 protocols=rr,range -> waits
join b version=3 protocols=range -> waits
advance 200 -> a: generation 1, leader a, members a b; b: generation 1, leader a
sync a 1 give=a:A,b:B -> NONE A
describe -> Stable consumer/range a(m)=A b(m)=B
