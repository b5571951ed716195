[a commit outside a group creates one without a record]
commit - -1 offset=5 -> NONE
describe -> Empty /
log all -> offset
groups -> g:Empty:
fetch -> t-0:5

[a commit outside a group is not fenced]
commit a -1 offset=5 as==zz -> NONE
commit a -2 offset=5 group=h as==zz -> NONE
commit a -1 offset=5 group=k instance=q as==zz -> NONE

[a commit with a generation needs a group (v2)]
commit a 0 offset=5 version=2 -> ILLEGAL_GENERATION
commit a 3 offset=5 version=2 as==zz -> ILLEGAL_GENERATION
status -> Dead

[a commit with a generation needs a group (v8)]
commit a 0 offset=5 version=8 -> ILLEGAL_GENERATION
commit a 3 offset=5 version=8 as==zz -> ILLEGAL_GENERATION
status -> Dead

[a commit with a generation needs a group (v9)]
commit a 0 offset=5 -> GROUP_ID_NOT_FOUND
commit a 3 offset=5 as==zz -> GROUP_ID_NOT_FOUND
status -> Dead

[an Empty group takes commits without a generation from anybody]
form a -> Stable
leave a -> NONE (NONE)
commit - -1 -> NONE
commit a -1 -> NONE
commit a -7 instance=q as==zz -> NONE

[an Empty group takes no commits with a generation]
form a -> Stable
leave a -> NONE (NONE)
commit a 1 -> UNKNOWN_MEMBER_ID
commit a 2 -> UNKNOWN_MEMBER_ID
commit - 2 -> UNKNOWN_MEMBER_ID
commit a 0 instance=i -> UNKNOWN_MEMBER_ID

[the generation must be the present one]
form a -> Stable
commit a 0 -> ILLEGAL_GENERATION
commit a 2 -> ILLEGAL_GENERATION
commit a -1 -> ILLEGAL_GENERATION
commit - -1 as==zz -> UNKNOWN_MEMBER_ID
commit - -1 instance=i -> UNKNOWN_MEMBER_ID

[a group with members takes no anonymous commits]
form a -> Stable
commit - -1 -> UNKNOWN_MEMBER_ID
join a -> generation 2, leader a, members a
commit - -1 -> UNKNOWN_MEMBER_ID

[nor does it while it prepares a rebalance]
form a b -> Stable
join a -> waits
commit - -1 -> UNKNOWN_MEMBER_ID

[in CompletingRebalance nobody may commit]
form a b unsynced=yes -> CompletingRebalance
commit a 1 -> REBALANCE_IN_PROGRESS
commit a 0 -> ILLEGAL_GENERATION
commit a 1 as==zz -> UNKNOWN_MEMBER_ID

[the old generation may commit until the join phase ends]
form a b -> Stable
join a -> waits
commit b 1 -> NONE
commit a 1 -> NONE
join b -> generation 2, leader a; a: generation 2, leader a, members a b
commit b 1 -> ILLEGAL_GENERATION
commit b 2 -> REBALANCE_IN_PROGRESS

[metadata that is too long is refused]
form a -> Stable
commit a 1 metadata=4096 -> NONE
commit a 1 metadata=4097 -> OFFSET_METADATA_TOO_LARGE
fetch -> t-0:1

[fencing comes before the length of metadata]
form a -> Stable
commit a 0 metadata=4097 -> ILLEGAL_GENERATION
commit a 1 metadata=4097 as==zz -> UNKNOWN_MEMBER_ID

[who leaves the instance id out is not fenced by it]
form s f static=s:i,f:j -> Stable
commit f 1 -> NONE
join f2 instance=j -> generation 1, leader s
commit f 1 -> UNKNOWN_MEMBER_ID
commit f2 1 -> NONE
commit f2 1 instance=j -> NONE

[no commit of a generation is taken after the next began]
form a b -> Stable
join a -> waits
commit a 1 -> NONE
join b -> generation 2, leader a; a: generation 2, leader a, members a b
commit a 1 -> ILLEGAL_GENERATION
sync b 2 -> waits
sync a 2 -> NONE; b: NONE
commit a 1 -> ILLEGAL_GENERATION
commit a 2 -> NONE
