"""Whether a record is complete and agrees with itself: what one observer saw, another one of the same run saw, too.

A recorder that leaves something out makes other claims blind, and no claim says so. Only simulated runs are judged
here, whose observers are known to record all that they do.
"""
