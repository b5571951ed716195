"""The reference implementation, sans-IO: request or tick in, replies and timers out; and the simulator that runs it."""
