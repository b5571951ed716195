"""A cluster that runs, read only: the records of its internal topics, and its groups. Nothing is written or joined."""
