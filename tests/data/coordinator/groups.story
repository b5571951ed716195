[what DescribeGroups shows in each status]
describe -> Dead /
form a b -> Stable
describe -> Stable consumer/range a(m)=A b(m)=B
join a -> waits
describe -> PreparingRebalance consumer/ a()=A b()=B
join b -> generation 2, leader a; a: generation 2, leader a, members a b
describe -> CompletingRebalance consumer/ a()=A b()=B

[assignments are wiped when CompletingRebalance starts over]
form a b -> Stable
join a -> waits
join b -> generation 2, leader a; a: generation 2, leader a, members a b
join a protocols=range:n -> waits
describe -> PreparingRebalance consumer/ a()= b()=

[an Empty group keeps its protocol type]
form a -> Stable
leave a -> NONE (NONE)
describe -> Empty consumer/

[only an Empty group is deleted, and with it its offsets]
delete no -> GROUP_ID_NOT_FOUND
form a unsynced=yes -> CompletingRebalance
delete g -> NON_EMPTY_GROUP
sync a 1 -> NONE
delete g -> NON_EMPTY_GROUP
commit a 1 -> NONE
admit b -> waits
delete g -> NON_EMPTY_GROUP
leave a b -> NONE (NONE, NONE); b: UNKNOWN_MEMBER_ID
delete g -> NONE
log all -> generation 0, generation 1 leader a a(m)=, offset, generation 2, offset tombstone, tombstone
fetch -> t-0:-1
delete g -> GROUP_ID_NOT_FOUND

[groups that only store offsets are deleted]
commit - -1 group=s -> NONE
commit - -1 group=r -> NONE
delete no -> GROUP_ID_NOT_FOUND
delete r -> NONE
delete s -> NONE
groups

[a group without a record gets a tombstone, too]
commit - -1 -> NONE
delete g -> NONE
log all -> offset, offset tombstone, tombstone

[a deleted group forgets its pending ids]
join a -> MEMBER_ID_REQUIRED a
delete g -> NONE
status -> Dead
join a -> UNKNOWN_MEMBER_ID a

[a deleted group is created anew by a JoinGroup]
commit - -1 -> NONE
delete g -> NONE
join a -> MEMBER_ID_REQUIRED a
status -> Empty

[a group that never had a generation is deleted]
join a -> MEMBER_ID_REQUIRED a
delete g -> NONE
log all -> generation 0, tombstone
