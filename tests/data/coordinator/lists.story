[ListGroups filters by state, in any spelling]
form a group=g -> Stable
form b group=h unsynced=yes -> CompletingRebalance
commit - -1 group=s -> NONE
groups -> g:Stable:consumer h:CompletingRebalance:consumer s:Empty:
groups states=Stable -> g:Stable:consumer
groups states=stable,EMPTY -> g:Stable:consumer s:Empty:
groups states=CompletingRebalance -> h:CompletingRebalance:consumer
groups states=Nowhere
groups types=classic -> g:Stable:consumer h:CompletingRebalance:consumer s:Empty:
groups types=CLASSIC states=Empty -> s:Empty:
groups types=consumer
groups types=nothing

[a deletion that is under way is not seen yet]
form a -> Stable
leave a -> NONE (NONE)
hold
delete g -> NONE
status -> Empty
groups -> g:Empty:consumer
release
status -> Dead
groups

[who joins while a deletion is under way founds another group]
form a -> Stable
leave a -> NONE (NONE)
hold
delete g -> NONE
join b version=3 -> waits
status -> Empty
release
advance 100 -> b: generation 1, leader b, members b
status -> CompletingRebalance
describe -> CompletingRebalance consumer/ b()=

[a deletion that fails leaves the group]
form a -> Stable
commit a 1 -> NONE
leave a -> NONE (NONE)
fail NOT_ENOUGH_REPLICAS
delete g -> COORDINATOR_NOT_AVAILABLE
fail
status -> Empty
fetch -> t-0:1
log all -> generation 0, generation 1 leader a a(m)=A, offset, generation 2

[a group whose deletion failed is listed once]
form a -> Stable
leave a -> NONE (NONE)
groups -> g:Empty:consumer
fail NOT_ENOUGH_REPLICAS
delete g -> COORDINATOR_NOT_AVAILABLE
groups -> g:Empty:consumer
