"""The surroundings of every simulated part: clock, recorder, seeds, options, faults."""
