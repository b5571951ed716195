/*
 * The classic group protocol in Promela, for Spin: the steps of rebalance_check.model.classic without its concerns.
 *
 * A coordinator, MEMBERS processes, and one message between each process and the coordinator. Each step is atomic, and
 * ends where it began, so that a state of Spin is a state of the model. Bounds: generations beyond GENERATIONS are cut
 * (all of them are one state here), CRASHES processes crash, no session of another member expires, no member sends
 * LeaveGroup, the network neither loses nor duplicates a message, the first rebalance of an empty group waits for a timer,
 * and the coordinator does not answer MEMBER_ID_REQUIRED.
 *
 * Written from the documents of the protocol and the readable model; nothing of it is generated.
 */

#ifndef MEMBERS
#define MEMBERS 2
#define PARTITIONS 1
#define GENERATIONS 2
#define CRASHES 1
#define COOPERATIVE 0
#endif

#define LAST (MEMBERS - 1)
#define LAST_PARTITION (PARTITIONS - 1)
#define NIL 255

/* the status of the group */
#define DEAD 0
#define EMPTY 1
#define PREPARING 2
#define COMPLETING 3
#define GROUP_STABLE 4

/* the status of a process; BEYOND is that of every process once the bounds are left */
#define UNJOINED 0
#define JOINING 1
#define SYNCING 2
#define STABLE 3
#define DOWN 4
#define BEYOND 5

/* the kind of a message */
#define NOTHING 0
#define JOIN_REQUEST 1
#define JOIN_REPLY 2
#define SYNC_REQUEST 3
#define SYNC_REPLY 4
#define HEARTBEAT_REQUEST 5
#define HEARTBEAT_REPLY 6

/* Kafka's error codes */
#define NONE 0
#define ILLEGAL_GENERATION 22
#define UNKNOWN_MEMBER_ID 25
#define REBALANCE_IN_PROGRESS 27

/* sets are bit masks, of members or of partitions */
#define has(set, x) (((set) >> (x)) & 1)
#define with(set, x) ((set) | (1 << (x)))
#define without(set, x) ((set) & ~(1 << (x)))
#define minus(set, other) ((set) & ~(other))
#define size(set) (has(set, 0) + has(set, 1) + has(set, 2) + has(set, 3) + has(set, 4) + has(set, 5))

typedef Message {
    byte kind;
    byte error;
    byte flag;            /* JOIN_REQUEST: it has a member id; JOIN_REPLY and SYNC_REQUEST: it is the leader's */
    byte generation;
    byte partitions;      /* JOIN_REQUEST: owned; JOIN_REPLY: claimed by two members; SYNC_REPLY: assigned */
    byte group;           /* JOIN_REPLY to the leader: the members of the generation */
    byte parts[MEMBERS]   /* JOIN_REPLY: what each member owns; SYNC_REQUEST: what each member gets */
}

typedef Member {
    byte status;
    byte has_id;
    byte generation;
    byte owned;
    byte missed;            /* a generation began without it, and what it owns was not taken into account */
    byte owned_partitions;  /* what the coordinator knows: the metadata of the last JoinGroup, and the assignment */
    byte owned_generation;
    byte assignment;
    Message net
}

byte status, initial_rebalance, generation, leader = NIL, members, joined, synced, crashes;
Member member[MEMBERS];

/* the target that a leader is choosing, and how many members may still get one partition more than the others */
byte share[MEMBERS], choosing, larger;

/* used within a step only, and no part of the state */
hidden byte i, j, x, y, p, owner, taken, count, most, candidates;
hidden int newest;

#define net_of(m) member[m].net
#define is_parked(m) has(joined | synced, m)
#define all_joined (joined == members)
#define is_unanswered(m) \
    ((member[m].status == JOINING || member[m].status == SYNCING) && net_of(m).kind == NOTHING && !is_parked(m))
#define is_abandoned(m) (member[m].status == UNJOINED && !member[m].has_id)

inline put(m, new_kind) {
    net_of(m).kind = new_kind;
    net_of(m).error = NONE;
    net_of(m).flag = 0;
    net_of(m).generation = 0;
    net_of(m).partitions = 0;
    net_of(m).group = 0;
    for (i : 0 .. LAST) { net_of(m).parts[i] = 0 }
}

inline refuse(m, new_kind, code) {
    put(m, new_kind);
    net_of(m).error = code
}

/* A partition has at most one owner among the current members. */
inline judge() {
    taken = 0;
    for (j : 0 .. LAST) {
        if
        :: has(members, j) && member[j].has_id && member[j].generation == generation && generation != 0 &&
           !member[j].missed && member[j].status != DOWN ->
            assert((member[j].owned & taken) == 0);
            taken = taken | member[j].owned
        :: else
        fi
    }
}

/* ------------------------------------------------------------------------------------------------ the join phase */

/* The leader learns who owns what: the newest generation wins, and of two members of one generation neither. */
inline tell_owners(m) {
    net_of(m).flag = 1;
    net_of(m).group = members;
    for (p : 0 .. LAST_PARTITION) {
        newest = -1;
        owner = NIL;
        for (y : 0 .. LAST) {
            if
            :: has(members, y) && has(member[y].owned_partitions, p) ->
                if
                :: member[y].owned_generation > newest -> newest = member[y].owned_generation; owner = y
                :: member[y].owned_generation == newest -> owner = NIL
                :: else
                fi
            :: else
            fi
        }
        if
        :: owner != NIL -> net_of(m).parts[owner] = with(net_of(m).parts[owner], p)
        :: owner == NIL && newest >= 0 -> net_of(m).partitions = with(net_of(m).partitions, p)
        :: else
        fi
    }
}

inline reply_to_join(m) {
    put(m, JOIN_REPLY);
    net_of(m).generation = generation;
    if
    :: m == leader -> tell_owners(m)
    :: else
    fi
}

/* Every state with a generation beyond the bounds becomes this one, in which no step is possible. */
inline leave_the_bounds() {
    status = DEAD; leader = NIL; members = 0; crashes = CRASHES;
    for (x : 0 .. LAST) {
        put(x, NOTHING);
        member[x].status = BEYOND;
        member[x].has_id = 0;
        member[x].generation = 0;
        member[x].owned = 0;
        member[x].missed = 0;
        member[x].owned_partitions = 0;
        member[x].owned_generation = 0;
        member[x].assignment = 0
    }
}

inline complete_join() {
    initial_rebalance = 0;
    generation++;
    if
    :: members == 0 -> status = EMPTY
    :: else -> status = COMPLETING
    fi;
    for (x : 0 .. LAST) {
        if
        :: has(joined, x) && member[x].status != DOWN -> reply_to_join(x)
        :: !(has(joined, x) && member[x].status != DOWN) && has(members, x) && member[x].owned -> member[x].missed = 1
        :: else
        fi
    }
    joined = 0;
    if
    :: generation > GENERATIONS -> leave_the_bounds()
    :: else
    fi
}

inline maybe_complete_join() {
    if
    :: status == PREPARING && !initial_rebalance && all_joined -> complete_join()
    :: else
    fi
}

inline prepare_rebalance() {
    if
    :: status == COMPLETING ->
        for (x : 0 .. LAST) {
            member[x].assignment = 0;
            if
            :: has(synced, x) && member[x].status != DOWN -> refuse(x, SYNC_REPLY, REBALANCE_IN_PROGRESS)
            :: else
            fi
        }
        synced = 0
    :: status == EMPTY -> initial_rebalance = 1
    :: else
    fi;
    status = PREPARING
}

/* ------------------------------------------------------------------------------------------------ the coordinator */

#define knows_metadata(m) \
    (member[m].owned_partitions == net_of(m).partitions && member[m].owned_generation == net_of(m).generation)
#define is_answered_at_once(m) \
    (status != PREPARING && !(status == GROUP_STABLE && m == leader) && knows_metadata(m))

inline rejoin(m) {
    prepare_rebalance();
    member[m].owned_partitions = net_of(m).partitions;
    member[m].owned_generation = net_of(m).generation;
    joined = with(joined, m);
    put(m, NOTHING);
    maybe_complete_join()
}

inline join_without_id(m) {
    if
    :: status == DEAD -> status = EMPTY
    :: else
    fi;
    members = with(members, m);
    if
    :: leader == NIL -> leader = m
    :: else
    fi;
    rejoin(m)
}

inline join_group(m) {
    if
    :: !net_of(m).flag -> join_without_id(m)
    :: net_of(m).flag && !has(members, m) -> refuse(m, JOIN_REPLY, UNKNOWN_MEMBER_ID)
    :: net_of(m).flag && has(members, m) && is_answered_at_once(m) -> reply_to_join(m)
    :: else -> rejoin(m)
    fi
}

inline reply_to_sync(m) {
    put(m, SYNC_REPLY);
    net_of(m).partitions = member[m].assignment
}

inline sync_as_leader(m) {
    for (x : 0 .. LAST) {
        if
        :: has(members, x) -> member[x].assignment = net_of(m).parts[x]
        :: else -> member[x].assignment = 0
        fi
    }
    status = GROUP_STABLE;
    for (x : 0 .. LAST) {
        if
        :: has(synced, x) && member[x].status != DOWN -> reply_to_sync(x)
        :: else
        fi
    }
    synced = 0
}

/* The error of a request for a generation, in Kafka's order. */
#define fence(m) \
    (!has(members, m) -> UNKNOWN_MEMBER_ID : (net_of(m).generation != generation -> ILLEGAL_GENERATION : \
    (status == PREPARING -> REBALANCE_IN_PROGRESS : NONE)))

inline sync_group(m) {
    if
    :: fence(m) != NONE -> count = fence(m); refuse(m, SYNC_REPLY, count)
    :: fence(m) == NONE && status == COMPLETING && m != leader -> synced = with(synced, m); put(m, NOTHING)
    :: else ->
        if
        :: status == COMPLETING -> sync_as_leader(m)
        :: else
        fi;
        reply_to_sync(m)
    fi
}

inline heartbeat(m) {
    count = fence(m);
    refuse(m, HEARTBEAT_REPLY, count)
}

/* The coordinator removes a member; ``heir`` leads if it led and somebody is left. */
inline expire_session(m, heir) {
    members = without(members, m);
    member[m].owned_partitions = 0;
    member[m].owned_generation = 0;
    member[m].assignment = 0;
    if
    :: leader == m -> leader = heir
    :: else
    fi;
    if
    :: status == PREPARING ->
        if
        :: all_joined -> complete_join()
        :: else
        fi
    :: status == COMPLETING || status == GROUP_STABLE ->
        prepare_rebalance();
        if
        :: members == 0 -> complete_join()
        :: else -> maybe_complete_join()
        fi
    :: else
    fi
}

#define may_expire(m) (has(members, m) && !is_parked(m) && (member[m].status == DOWN || is_abandoned(m)))
#define may_follow(m, heir) (may_expire(m) && m == leader && m != heir && has(members, heir))

/* ------------------------------------------------------------------------------------------------ the client */

inline send_join_group(m) {
    if
    :: !COOPERATIVE -> member[m].owned = 0; member[m].missed = 0
    :: else
    fi;
    put(m, JOIN_REQUEST);
    net_of(m).flag = member[m].has_id;
    if
    :: COOPERATIVE -> net_of(m).partitions = member[m].owned; net_of(m).generation = member[m].generation
    :: else
    fi;
    member[m].status = JOINING
}

inline receive_join_group(m) {
    member[m].status = SYNCING;
    member[m].has_id = 1;
    member[m].generation = net_of(m).generation;
    net_of(m).kind = SYNC_REQUEST;
    net_of(m).partitions = 0;
    net_of(m).group = 0;
    judge()
}

/* A balanced target gives each member floor(P/N) partitions, and some of them one more. */
#define quota(m) (PARTITIONS / size(net_of(m).group))
#define may_take(m, taker) \
    (has(net_of(m).group, taker) && (size(share[taker]) < quota(m) || (size(share[taker]) == quota(m) && larger)))

inline take(m, taker) {
    d_step {
        may_take(m, taker) ->
        if
        :: size(share[taker]) == quota(m) -> larger--
        :: else
        fi;
        share[taker] = with(share[taker], choosing);
        choosing++
    }
}

/* Whether the target keeps as many partitions with their owners as any balanced one can (the sticky assignors). */
inline compare_with_stickiest(m) {
    count = 0; most = 0; candidates = 0;
    for (x : 0 .. LAST) {
        count = count + size(net_of(m).parts[x] & share[x]);
        if
        :: size(net_of(m).parts[x]) > quota(m) -> most = most + quota(m); candidates++
        :: else -> most = most + size(net_of(m).parts[x])
        fi
    }
    if
    :: candidates < PARTITIONS % size(net_of(m).group) -> most = most + candidates
    :: else -> most = most + PARTITIONS % size(net_of(m).group)
    fi
}

/* A cooperative leader withholds what another member owns, or what two members claim. */
inline withhold(m) {
    for (x : 0 .. LAST) {
        share[x] = minus(share[x], net_of(m).partitions);
        for (y : 0 .. LAST) {
            if
            :: y != x -> share[x] = minus(share[x], net_of(m).parts[y])
            :: else
            fi
        }
    }
}

/* The target is chosen: it goes into the SyncGroup, unless the assignor would not make it; then nothing has happened. */
inline lead(m) {
    count = 0; most = 0;
    if
    :: COOPERATIVE -> compare_with_stickiest(m)
    :: else
    fi;
    if
    :: count == most ->
        if
        :: COOPERATIVE -> withhold(m)
        :: else
        fi;
        for (x : 0 .. LAST) { net_of(m).parts[x] = share[x] }
        receive_join_group(m)
    :: else
    fi;
    for (x : 0 .. LAST) { share[x] = 0 }
    choosing = 0;
    larger = 0
}

inline receive_sync_group(m) {
    if
    :: COOPERATIVE && minus(member[m].owned, net_of(m).partitions) -> member[m].status = UNJOINED
    :: else -> member[m].status = STABLE
    fi;
    member[m].owned = net_of(m).partitions;
    member[m].missed = 0;
    put(m, NOTHING);
    judge()
}

inline receive_error(m) {
    if
    :: net_of(m).error == UNKNOWN_MEMBER_ID -> member[m].has_id = 0
    :: else
    fi;
    if
    :: net_of(m).error == UNKNOWN_MEMBER_ID || net_of(m).error == ILLEGAL_GENERATION ->
        member[m].generation = 0;
        member[m].owned = 0;
        member[m].missed = 0
    :: else
    fi;
    member[m].status = UNJOINED;
    put(m, NOTHING)
}

inline crash(m) {
    crashes++;
    member[m].status = DOWN;
    member[m].has_id = 0;
    member[m].generation = 0;
    member[m].owned = 0;
    member[m].missed = 0;
    put(m, NOTHING)
}

#define me member[_pid]
#define is_good_reply(wanted) (me.net.kind == wanted && me.net.error == NONE)

active [MEMBERS] proctype Process() {
    do
    /* the client */
    :: d_step { me.status == UNJOINED && me.net.kind == NOTHING && (me.has_id || !has(members, _pid)) ->
        send_join_group(_pid); skip }
    :: d_step { is_good_reply(JOIN_REPLY) && !me.net.flag -> receive_join_group(_pid); skip }
    :: atomic { is_good_reply(JOIN_REPLY) && me.net.flag ->
        larger = PARTITIONS % size(me.net.group);
        do
        :: choosing < PARTITIONS ->
            if
            :: take(_pid, 0)
#if MEMBERS > 1
            :: take(_pid, 1)
#endif
#if MEMBERS > 2
            :: take(_pid, 2)
#endif
#if MEMBERS > 3
            :: take(_pid, 3)
#endif
            fi
        :: else -> break
        od;
        d_step { lead(_pid); skip } }
    :: d_step { is_good_reply(SYNC_REPLY) -> receive_sync_group(_pid); skip }
    :: d_step { me.status == STABLE && me.net.kind == NOTHING ->
        put(_pid, HEARTBEAT_REQUEST); me.net.generation = me.generation }
    :: d_step { is_good_reply(HEARTBEAT_REPLY) -> put(_pid, NOTHING); skip }
    :: d_step { me.net.error != NONE || is_unanswered(_pid) -> receive_error(_pid); skip }
    :: d_step { me.status < DOWN && crashes < CRASHES -> crash(_pid); skip }
    :: d_step { me.status == DOWN && me.net.kind == NOTHING && !has(members, _pid) -> me.status = UNJOINED }
    /* the coordinator, when a request of this process arrives */
    :: d_step { me.net.kind == JOIN_REQUEST -> join_group(_pid); skip }
    :: d_step { me.net.kind == SYNC_REQUEST -> sync_group(_pid); skip }
    :: d_step { me.net.kind == HEARTBEAT_REQUEST -> heartbeat(_pid); skip }
    /* ... and when its session expires: who leads next is open */
    :: d_step { may_expire(_pid) && (_pid != leader || members == 1 << _pid) -> expire_session(_pid, NIL); skip }
    :: d_step { may_follow(_pid, 0) -> expire_session(_pid, 0); skip }
#if MEMBERS > 1
    :: d_step { may_follow(_pid, 1) -> expire_session(_pid, 1); skip }
#endif
#if MEMBERS > 2
    :: d_step { may_follow(_pid, 2) -> expire_session(_pid, 2); skip }
#endif
#if MEMBERS > 3
    :: d_step { may_follow(_pid, 3) -> expire_session(_pid, 3); skip }
#endif
    od
}

active proctype Timer() {
    do
    :: d_step { initial_rebalance -> complete_join(); skip }
    od
}
