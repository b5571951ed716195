"""What every simulated part needs from its surroundings: clock, recorder, seeds, options, faults."""
