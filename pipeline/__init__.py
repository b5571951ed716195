"""The same claims at scale: campaigns, history tables, judging and exploring on PySpark."""
