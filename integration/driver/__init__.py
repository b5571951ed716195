"""Members of our own on real connections: `Member` runs any `Coordinator` on a cluster.

`keeper` and `member` do no I/O; `sockets` puts them on asyncio sockets and real time, `virtual` on virtual Kafka and
virtual time.
"""
