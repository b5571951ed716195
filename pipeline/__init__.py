"""The same claims at scale: campaigns, history tables and judging on PySpark."""
