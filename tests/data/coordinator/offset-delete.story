[offsets of topics that nobody subscribes to are deleted]
form a topics=t -> Stable
commit a 1 topic=t offset=1 -> NONE
commit a 1 topic=u offset=2 -> NONE
fetch all -> t-0:1 u-0:2
offset-delete t-0 u-0 -> GROUP_SUBSCRIBED_TO_TOPIC NONE
fetch all -> t-0:1
log all -> generation 0, generation 1 leader a a(t)=A, offset, offset, offset tombstone

[of a group that is not there]
offset-delete t-0 -> GROUP_ID_NOT_FOUND

[of a partition without an offset]
form a topics=t -> Stable
offset-delete u-0 -> NONE
log all -> generation 0, generation 1 leader a a(t)=A

[as long as the subscriptions cannot be read all topics count as subscribed]
form a -> Stable
commit a 1 -> NONE
offset-delete t-0 -> GROUP_SUBSCRIBED_TO_TOPIC
fetch -> t-0:1

[before the first generation nobody can tell]
admit a topics=u -> waits
offset-delete t-0 -> GROUP_SUBSCRIBED_TO_TOPIC

[members of another kind hold all offsets]
form a type=connect -> Stable
commit a 1 -> NONE
offset-delete t-0 -> NON_EMPTY_GROUP
leave a -> NONE (NONE)
offset-delete t-0 -> NONE
fetch -> t-0:-1

[an Empty consumer group subscribes to nothing]
form a topics=t -> Stable
commit a 1 -> NONE
leave a -> NONE (NONE)
offset-delete t-0 -> NONE
fetch -> t-0:-1

[a simple group subscribes to nothing]
commit - -1 -> NONE
offset-delete t-0 -> NONE
fetch -> t-0:-1
groups -> g:Empty:

[subscriptions are those of the present generation]
form a topics=t -> Stable
commit a 1 topic=u -> NONE
join a topics=u -> generation 2, leader a, members a
offset-delete u-0 -> GROUP_SUBSCRIBED_TO_TOPIC
join b topics=u -> MEMBER_ID_REQUIRED b
join b topics=u -> waits
join a topics=u -> generation 3, leader a, members a b; b: generation 3, leader a
offset-delete u-0 -> GROUP_SUBSCRIBED_TO_TOPIC

[while it rebalances the subscriptions of the last generation hold]
form a b topics=t -> Stable
commit a 1 topic=u -> NONE
join a topics=t,u -> waits
status -> PreparingRebalance
offset-delete u-0 -> NONE
join b topics=t -> generation 2, leader a; a: generation 2, leader a, members a b
status -> CompletingRebalance
offset-delete u-0 -> GROUP_SUBSCRIBED_TO_TOPIC

[after a failover the subscriptions are those of the record]
form a topics=t -> Stable
commit a 1 topic=t -> NONE
commit a 1 topic=u -> NONE
failover
offset-delete t-0 u-0 -> GROUP_SUBSCRIBED_TO_TOPIC NONE

[a deletion that fails]
form a topics=t -> Stable
commit a 1 topic=u -> NONE
fail NOT_ENOUGH_REPLICAS
offset-delete u-0 -> COORDINATOR_NOT_AVAILABLE
fail
fetch topic=u -> u-0:1

[no group id]
offset-delete t-0 group='' -> INVALID_GROUP_ID

[a coordinator that does not serve]
unload
offset-delete t-0 -> NOT_COORDINATOR

[pending offsets of a transaction are not deleted by themselves]
form a topics=t -> Stable
txn-commit a 1 topic=u offset=5 -> NONE
offset-delete u-0 -> NONE
end-txn commit -> NONE
fetch topic=u -> u-0:-1

[pending offsets of a transaction go with the committed one]
form a topics=t -> Stable
commit a 1 topic=u offset=1 -> NONE
txn-commit a 1 topic=u offset=5 -> NONE
offset-delete u-0 -> NONE
end-txn commit -> NONE
fetch topic=u -> u-0:-1
