[old offsets of a simple group go, and the group with them]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
commit - -1 -> NONE
advance 59999
fetch -> t-0:1
groups -> g:Empty:
advance 10001
fetch -> t-0:-1
groups
log all -> offset, offset tombstone, tombstone

[the retention of an Empty group begins when it empties]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a topics=t session=1800000 -> Stable
commit a 1 -> NONE
advance 600000
fetch -> t-0:1
leave a -> NONE (NONE)
advance 50000
fetch -> t-0:1
advance 20000
fetch -> t-0:-1
groups
log all -> generation 0, generation 1 leader a a(t)=A, offset, generation 2, offset tombstone, tombstone

[an Empty group without offsets goes at the next look]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a -> Stable
leave a -> NONE (NONE)
groups -> g:Empty:consumer
advance 9000
groups -> g:Empty:consumer
advance 1000
groups

[a group that comes back begins at generation 0]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a -> Stable
leave a -> NONE (NONE)
advance 20000
groups
form b -> Stable

[offsets of a stable consumer group expire where nobody subscribes]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a topics=t session=1800000 -> Stable
commit a 1 topic=t -> NONE
commit a 1 topic=u -> NONE
advance 80000
fetch topic=t -> t-0:1
fetch topic=u -> u-0:-1
groups -> g:Stable:consumer

[nothing expires while subscriptions cannot be read]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a session=1800000 -> Stable
commit a 1 topic=u -> NONE
advance 80000
fetch topic=u -> u-0:1

[nothing expires while a group rebalances]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a b topics=t session=1800000 rebalance=1800000 -> Stable
commit a 1 topic=u -> NONE
join a topics=t session=1800000 rebalance=1800000 -> waits
status -> PreparingRebalance
advance 80000
status -> PreparingRebalance
fetch topic=u -> u-0:1

[nothing of a group of another kind expires while it has members]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a type=connect session=1800000 -> Stable
commit a 1 topic=u -> NONE
advance 80000
fetch topic=u -> u-0:1

[a commit may set its own end]
setting offsets_retention_minutes=5 offsets_retention_check_interval_ms=10000
commit - -1 keep=15000 version=3 -> NONE
advance 10000
fetch -> t-0:1
advance 10000
fetch -> t-0:-1

[a commit may hold for longer than the broker would keep it]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
commit - -1 keep=100000 version=3 -> NONE
advance 90000
fetch -> t-0:1
advance 20000
fetch -> t-0:-1

[a commit renews the retention]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
commit - -1 -> NONE
advance 50000
commit - -1 offset=2 -> NONE
advance 30000
fetch -> t-0:2
advance 40000
fetch -> t-0:-1

[an open transaction keeps an offset, and the group]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
commit - -1 -> NONE
txn-commit - -1 offset=5 -> NONE
advance 80000
fetch -> t-0:1
groups -> g:Empty:
end-txn abort -> NONE
advance 10000
fetch -> t-0:-1
groups

[an Empty group with nothing but an open transaction stays]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a -> Stable
txn-commit a 1 offset=5 -> NONE
leave a -> NONE (NONE)
advance 80000
groups -> g:Empty:consumer
end-txn commit -> NONE
fetch -> t-0:5

[an aborted transaction leaves nothing to keep]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
txn-commit - -1 offset=5 -> NONE
advance 20000
groups -> g:Empty:
end-txn abort -> NONE
advance 20000
groups

[a look whose write fails happens again at the next]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
commit - -1 -> NONE
advance 55000
fail NOT_ENOUGH_REPLICAS
advance 6000
fetch -> t-0:1
status -> Empty
fail
advance 10000
fetch -> t-0:-1
groups

[after a failover the next look is a whole interval away]
setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000
form a -> Stable
leave a -> NONE (NONE)
advance 5000
failover
advance 9000
groups -> g:Empty:consumer
advance 1000
groups
