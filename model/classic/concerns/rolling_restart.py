"""Rolling bounces: a process is stopped, and started again with the next list of assignors of its path."""

from rebalance_check.model.classic.client import stop
from rebalance_check.model.classic.parts.protocol_vote import may_bounce
from rebalance_check.model.classic.parts.static_members import is_static
from rebalance_check.model.classic.state import Config, MemberStatus, MessageKind, State


def bounce(c: Config, s: State, m: int) -> bool:
    """A stable member closes, to come back with the next list of its path; or a process that is down gets that list.

    A static member does not leave: its seat waits for it.
    """
    me = s.member[m]
    if c.path == 0 or s.rolling_restarts[0] >= c.rolling_restarts or not may_bounce(c, s, m):
        return False
    if me.status != MemberStatus.DOWN:
        if me.status != MemberStatus.STABLE or me.net.kind != MessageKind.NOTHING:
            return False
        stop(c, me)
        if not is_static(c, s, m):
            me.net.kind = MessageKind.LEAVE_REQUEST
    s.rolling_restarts[0] += 1
    me.bouncing[0] = 1
    return True
