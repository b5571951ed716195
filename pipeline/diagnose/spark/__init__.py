"""`diagnose` on Spark: sources of Spark's own, findings by group, a stream, and tables of facts."""
