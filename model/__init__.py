"""The specification: states, actions, events, and the explorer that exhausts a bound. Pure: no clock, no I/O."""
