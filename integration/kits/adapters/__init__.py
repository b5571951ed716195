"""Ready clients for conformance runs, each a short program in its own language.

All take the same arguments::

    --bootstrap HOST:PORT --group G --topic T [--instance ID] [--assignor eager|cooperative]
    [--session-ms N] [--heartbeat-ms N] [--rebalance-ms N]

They consume the topic in the group, commit each second as their library does by itself, print ``owned t-0 t-1``
whenever their partitions change, and on SIGTERM close their consumer and exit with 0. An error that their library calls
fatal ends them.
"""
