"""The vocabulary of every subject: actions, events, identifiers, bounds, errors and schedules."""
