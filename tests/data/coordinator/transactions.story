[an offset of a transaction counts when it is committed]
form a -> Stable
commit a 1 offset=1 -> NONE
txn-commit a 1 offset=5 -> NONE
fetch -> t-0:1
end-txn commit -> NONE
fetch -> t-0:5

[an offset of a transaction that is aborted never counts]
form a -> Stable
commit a 1 offset=1 -> NONE
txn-commit a 1 offset=5 -> NONE
end-txn abort -> NONE
fetch -> t-0:1
log all -> generation 0, generation 1 leader a a(m)=A, offset, offset, transaction aborted

[who wants stable offsets hears of an open transaction]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
fetch stable -> t-0:UNSTABLE_OFFSET_COMMIT
fetch -> t-0:-1
fetch all stable
end-txn commit -> NONE
fetch stable -> t-0:5

[a later commit outside the transaction is not taken back by it]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
commit a 1 offset=9 -> NONE
end-txn commit -> NONE
fetch -> t-0:9

[transactions of several producers are told apart]
form a -> Stable
txn-commit a 1 offset=5 producer=7 -> NONE
txn-commit a 1 offset=6 producer=8 -> NONE
end-txn commit producer=8 -> NONE
fetch -> t-0:6
fetch stable -> t-0:UNSTABLE_OFFSET_COMMIT
end-txn commit producer=7 -> NONE
fetch -> t-0:6
fetch stable -> t-0:6

[the second commit of a transaction replaces the first]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
txn-commit a 1 offset=6 -> NONE
end-txn commit -> NONE
fetch -> t-0:6

[a transaction outside a group founds a simple one]
txn-commit - -1 -> NONE
groups -> g:Empty:
describe -> Empty /
fetch -> t-0:-1
end-txn commit -> NONE
fetch -> t-0:1

[with a generation it needs a group, and says so as old commits do]
txn-commit a 0 -> ILLEGAL_GENERATION
txn-commit a 3 as==zz -> ILLEGAL_GENERATION
status -> Dead

[a group with members takes anonymous commits in a transaction]
form a b -> Stable
txn-commit - -1 -> NONE
join a -> waits
txn-commit - -1 offset=2 -> NONE
join b -> generation 2, leader a; a: generation 2, leader a, members a b
txn-commit - -1 offset=3 -> NONE
end-txn commit -> NONE
fetch -> t-0:3

[in CompletingRebalance a member commits in a transaction]
form a b unsynced=yes -> CompletingRebalance
txn-commit a 1 -> NONE
commit a 1 -> REBALANCE_IN_PROGRESS
txn-commit a 0 -> ILLEGAL_GENERATION
txn-commit a 1 as==zz -> UNKNOWN_MEMBER_ID

[the member must be one and the generation the present one]
form a -> Stable
txn-commit a 0 -> ILLEGAL_GENERATION
txn-commit a 2 -> ILLEGAL_GENERATION
txn-commit a -1 -> ILLEGAL_GENERATION
txn-commit - -1 as==zz -> UNKNOWN_MEMBER_ID
txn-commit - -1 instance=i -> UNKNOWN_MEMBER_ID
txn-commit a 1 as==zz -> UNKNOWN_MEMBER_ID

[an instance that was replaced is fenced in transactions, too]
form s f static=s:i,f:j -> Stable
join f2 instance=j -> generation 1, leader s
txn-commit f 1 -> UNKNOWN_MEMBER_ID
txn-commit f 1 instance=j -> FENCED_INSTANCE_ID
txn-commit f2 1 instance=j -> NONE

[a commit in a transaction does not prolong the session]
form a b session=6000 -> Stable
advance 5000
heartbeat b 1 -> NONE
txn-commit a 1 -> NONE
advance 1500
members -> b
heartbeat b 1 -> REBALANCE_IN_PROGRESS

[a commit outside one does]
form a b session=6000 -> Stable
advance 5000
heartbeat b 1 -> NONE
commit a 1 -> NONE
advance 1500
members -> a b

[metadata that is too long is refused in transactions, too]
form a -> Stable
txn-commit a 1 metadata=4096 -> NONE
txn-commit a 1 metadata=4097 -> OFFSET_METADATA_TOO_LARGE
end-txn commit -> NONE
fetch -> t-0:1

[an open transaction survives its coordinator]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
failover
fetch -> t-0:-1
fetch stable -> t-0:UNSTABLE_OFFSET_COMMIT
end-txn commit -> NONE
fetch -> t-0:5

[the end of a transaction survives its coordinator]
form a -> Stable
commit a 1 offset=1 -> NONE
txn-commit a 1 offset=5 -> NONE
end-txn abort -> NONE
txn-commit a 1 offset=6 producer=8 -> NONE
end-txn commit producer=8 -> NONE
failover
fetch -> t-0:6
log all -> generation 0, generation 1 leader a a(m)=A, offset, offset, transaction aborted, offset, transaction committed

[a write that fails leaves the transaction as it was]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
fail NOT_ENOUGH_REPLICAS
txn-commit a 1 offset=6 -> COORDINATOR_NOT_AVAILABLE
end-txn commit -> NOT_ENOUGH_REPLICAS
fail
fetch -> t-0:-1
end-txn commit -> NONE
fetch -> t-0:5

[what a commit in a transaction is told of a failed write]
form a -> Stable
fail UNKNOWN_TOPIC_OR_PARTITION
txn-commit a 1 -> COORDINATOR_NOT_AVAILABLE
fail NOT_ENOUGH_REPLICAS_AFTER_APPEND
txn-commit a 1 -> NOT_ENOUGH_REPLICAS_AFTER_APPEND
fail REQUEST_TIMED_OUT
txn-commit a 1 -> COORDINATOR_NOT_AVAILABLE
fail NOT_LEADER_OR_FOLLOWER
txn-commit a 1 -> NOT_COORDINATOR
fail KAFKA_STORAGE_ERROR
txn-commit a 1 -> NOT_COORDINATOR
fail MESSAGE_TOO_LARGE
txn-commit a 1 -> UNKNOWN_SERVER_ERROR
fail RECORD_LIST_TOO_LARGE
txn-commit a 1 -> UNKNOWN_SERVER_ERROR
fail INVALID_FETCH_SIZE
txn-commit a 1 -> UNKNOWN_SERVER_ERROR
fail NETWORK_EXCEPTION
txn-commit a 1 -> COORDINATOR_LOAD_IN_PROGRESS

[a group that is deleted loses its open transactions, too]
form a -> Stable
txn-commit a 1 offset=5 -> NONE
leave a -> NONE (NONE)
delete g -> NONE
log all -> generation 0, generation 1 leader a a(m)=A, offset, generation 2, offset tombstone, tombstone
end-txn commit -> NONE
fetch -> t-0:-1

[no group id]
txn-commit a 1 group='' -> INVALID_GROUP_ID

[a coordinator that does not serve]
unload
txn-commit a 1 -> NOT_COORDINATOR
