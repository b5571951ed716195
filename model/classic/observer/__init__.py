"""Turns the steps of the classic model into events.

A state of the model holds no more than the protocol depends on. Events hold what a reader of a broker's log expects:
member ids, request numbers, the incarnation of the group. An `observer.Observer` derives them from the states before
and after each step, and from a `memory.Memory` of omitted facts. It must see every step of a run, in order.

The model does not know its observer, so observing changes neither its states nor their number. Begin with `observer`
(the coordinator's events, and the order of all events of a step), then read `clients` (those of the processes);
`replies` adds the reply events, and the other modules translate the model's numbers into names.
"""
