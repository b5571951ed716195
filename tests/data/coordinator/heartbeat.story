[nobody is known without a group; the member is looked at before the generation]
heartbeat a 1 as==zz -> UNKNOWN_MEMBER_ID
commit - -1 -> NONE
heartbeat a -1 as==zz -> UNKNOWN_MEMBER_ID
heartbeat =zz 0 -> UNKNOWN_MEMBER_ID
form a b -> Stable
heartbeat a 5 as==zz -> UNKNOWN_MEMBER_ID
heartbeat a 5 -> ILLEGAL_GENERATION
join a -> waits
heartbeat b 5 -> ILLEGAL_GENERATION
heartbeat b 1 -> REBALANCE_IN_PROGRESS

[in CompletingRebalance all is well]
form a b unsynced=yes -> CompletingRebalance
heartbeat a 1 -> NONE
heartbeat b 1 -> NONE
heartbeat b 0 -> ILLEGAL_GENERATION
status -> CompletingRebalance

[before the first generation everyone is told to rejoin]
admit a -> waits
heartbeat a 0 -> REBALANCE_IN_PROGRESS
heartbeat a -1 -> ILLEGAL_GENERATION

[all versions are alike]
form a -> Stable
heartbeat a 1 version=0 -> NONE
heartbeat a 1 version=1 -> NONE
heartbeat a 1 version=2 -> NONE
heartbeat a 1 version=3 -> NONE

[a pending id is no member]
form a -> Stable
join p -> MEMBER_ID_REQUIRED p
heartbeat p 1 -> UNKNOWN_MEMBER_ID
sync p 1 -> UNKNOWN_MEMBER_ID
commit p 1 -> UNKNOWN_MEMBER_ID
