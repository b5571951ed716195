"""Claims about Kafka Connect: rounds of assignment, what workers run, which statuses they write, and their duties.

`workers`, of each `worker`, is the view that they share, and `worker_fold` the base of those that follow it. Each claim
stands in the module of its subject, and `catalogue` lists all.
"""
