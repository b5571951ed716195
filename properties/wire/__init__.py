"""Claims about a client that the wire shows: judged from what a recorder between clients and brokers observes, alone.

`client` is what the wire shows of one client, `clients` keeps those of a group, `wire_fold` is what the claims are
built on; `catalogue` lists the claims, also by KIP.
"""
