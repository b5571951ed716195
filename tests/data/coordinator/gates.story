[JoinGroup without a group id is refused]
join a group= -> INVALID_GROUP_ID

[Heartbeat without a group id is refused]
heartbeat a 1 group= -> INVALID_GROUP_ID

[LeaveGroup without a group id is refused]
leave =z group= -> INVALID_GROUP_ID

[offsets may be committed under the empty group id]
commit - -1 offset=5 group= -> NONE
fetch group= -> t-0:5

[the empty group id may be described]
describe group= -> Dead /

[both bounds of the session timeout are allowed]
join a session=999 -> INVALID_SESSION_TIMEOUT
join a session=1000 -> MEMBER_ID_REQUIRED a
join b session=1800000 -> MEMBER_ID_REQUIRED b
join c session=1800001 -> INVALID_SESSION_TIMEOUT

[a bad session timeout is refused whoever asks]
join z session=5 as==zz -> INVALID_SESSION_TIMEOUT zz
form a -> Stable
join a session=5 -> INVALID_SESSION_TIMEOUT a

[a bad session timeout is told even by a coordinator that does not serve]
unload
join a session=1 -> INVALID_SESSION_TIMEOUT
join a group= -> INVALID_GROUP_ID

[who may speak for a member: Heartbeat]
form a s static=s:i -> Stable
join p -> MEMBER_ID_REQUIRED p
heartbeat zz 1 as==zz -> UNKNOWN_MEMBER_ID
heartbeat s 1 as==i-000000000000000000000000000000000002 -> NONE
heartbeat s 1 instance=nope as==i-000000000000000000000000000000000002 -> UNKNOWN_MEMBER_ID
heartbeat zz 1 instance=nope as==zz -> UNKNOWN_MEMBER_ID
heartbeat zz 1 instance=i as==zz -> FENCED_INSTANCE_ID
heartbeat a 1 instance=i as==py-000000000000000000000000000000000001 -> FENCED_INSTANCE_ID
heartbeat s 1 instance=i as==i-000000000000000000000000000000000002 -> NONE
heartbeat a 1 instance=nope as==py-000000000000000000000000000000000001 -> UNKNOWN_MEMBER_ID
heartbeat p 1 as==py-000000000000000000000000000000000003 -> UNKNOWN_MEMBER_ID

[who may speak for a member: SyncGroup]
form a s static=s:i -> Stable
join p -> MEMBER_ID_REQUIRED p
sync zz 1 as==zz -> UNKNOWN_MEMBER_ID
sync s 1 as==i-000000000000000000000000000000000002 -> NONE S
sync s 1 instance=nope as==i-000000000000000000000000000000000002 -> UNKNOWN_MEMBER_ID
sync zz 1 instance=nope as==zz -> UNKNOWN_MEMBER_ID
sync zz 1 instance=i as==zz -> FENCED_INSTANCE_ID
sync a 1 instance=i as==py-000000000000000000000000000000000001 -> FENCED_INSTANCE_ID
sync s 1 instance=i as==i-000000000000000000000000000000000002 -> NONE S
sync a 1 instance=nope as==py-000000000000000000000000000000000001 -> UNKNOWN_MEMBER_ID
sync p 1 as==py-000000000000000000000000000000000003 -> UNKNOWN_MEMBER_ID

[who may speak for a member: OffsetCommit]
form a s static=s:i -> Stable
join p -> MEMBER_ID_REQUIRED p
commit zz 1 as==zz -> UNKNOWN_MEMBER_ID
commit s 1 as==i-000000000000000000000000000000000002 -> NONE
commit s 1 instance=nope as==i-000000000000000000000000000000000002 -> UNKNOWN_MEMBER_ID
commit zz 1 instance=nope as==zz -> UNKNOWN_MEMBER_ID
commit zz 1 instance=i as==zz -> FENCED_INSTANCE_ID
commit a 1 instance=i as==py-000000000000000000000000000000000001 -> FENCED_INSTANCE_ID
commit s 1 instance=i as==i-000000000000000000000000000000000002 -> NONE
commit a 1 instance=nope as==py-000000000000000000000000000000000001 -> UNKNOWN_MEMBER_ID
commit p 1 as==py-000000000000000000000000000000000003 -> UNKNOWN_MEMBER_ID

[who may speak for a member: LeaveGroup]
form a s static=s:i -> Stable
join p -> MEMBER_ID_REQUIRED p
leave =zz -> NONE (UNKNOWN_MEMBER_ID)
leave =zz:nope -> NONE (UNKNOWN_MEMBER_ID)
leave s:nope -> NONE (UNKNOWN_MEMBER_ID)
leave =zz:i -> NONE (FENCED_INSTANCE_ID)
leave a:i -> NONE (FENCED_INSTANCE_ID)
leave a:nope -> NONE (UNKNOWN_MEMBER_ID)
status -> Stable

[who may speak for a member: JoinGroup]
form a s static=s:i -> Stable
join zz as==zz -> UNKNOWN_MEMBER_ID zz
join zz instance=nope as==zz -> UNKNOWN_MEMBER_ID zz
join s instance=nope -> UNKNOWN_MEMBER_ID s
join zz instance=i as==zz -> FENCED_INSTANCE_ID zz
join a instance=i -> FENCED_INSTANCE_ID a
join a instance=nope -> UNKNOWN_MEMBER_ID a
join s -> generation 1, leader a
join s instance=i -> generation 1, leader a
status -> Stable

[a refused JoinGroup hears its member id, unless the coordinator does not serve]
form a -> Stable
join a group= -> INVALID_GROUP_ID a
join a session=1 -> INVALID_SESSION_TIMEOUT a
failover loading
join a -> COORDINATOR_LOAD_IN_PROGRESS
load
unload
join a -> NOT_COORDINATOR

[no common protocol, another type, no protocol at all: refused]
form a -> Stable
join c protocols=rr -> INCONSISTENT_GROUP_PROTOCOL
join c type=connect -> INCONSISTENT_GROUP_PROTOCOL
join c protocols= -> INCONSISTENT_GROUP_PROTOCOL
join c group=h type= -> INCONSISTENT_GROUP_PROTOCOL
join c group=h protocols= -> INCONSISTENT_GROUP_PROTOCOL
status -> Stable

[a refused first JoinGroup leaves an Empty group behind]
join c type= -> INCONSISTENT_GROUP_PROTOCOL
status -> Empty
log -> generation 0

[a protocol that nobody shares is refused before fencing is looked at]
form a s static=s:i -> Stable
join zz protocols=rr as==zz -> INCONSISTENT_GROUP_PROTOCOL zz
join a instance=i protocols=rr -> INCONSISTENT_GROUP_PROTOCOL a
join zz instance=i type=x as==zz -> INCONSISTENT_GROUP_PROTOCOL zz

[an Empty group may change its protocol type]
form a -> Stable
leave a -> NONE (NONE)
join b type=connect -> MEMBER_ID_REQUIRED b
join b type=connect -> waits
advance 200 -> b: generation 3, leader b, members b
groups -> g:CompletingRebalance:connect

[a lone member cannot change to a protocol that it did not list before]
form a -> Stable
join a protocols=rr -> INCONSISTENT_GROUP_PROTOCOL a
join a protocols=rr,range -> generation 2, leader a, members a
sync a 2 -> INCONSISTENT_GROUP_PROTOCOL
join a protocols=rr -> generation 3, leader a, members a

[with no member left in PreparingRebalance every protocol passes]
admit a -> waits
leave a -> NONE (NONE); a: UNKNOWN_MEMBER_ID
status -> PreparingRebalance
admit b protocols=rr -> waits
advance 300 -> b: generation 1, leader b, members b

[with no member left in PreparingRebalance the type still counts]
admit a -> waits
leave a -> NONE (NONE); a: UNKNOWN_MEMBER_ID
join b type=connect -> INCONSISTENT_GROUP_PROTOCOL

[a protocol passes only if every member lists it]
form a b protocols=range,rr -> Stable
join c protocols=rr -> MEMBER_ID_REQUIRED c
join d protocols=x -> INCONSISTENT_GROUP_PROTOCOL
join e protocols=x,range -> MEMBER_ID_REQUIRED e
