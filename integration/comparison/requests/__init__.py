"""Random requests of all group apis and versions for two brokers, whose answers must be equal, field by field."""
