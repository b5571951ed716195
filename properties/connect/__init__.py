"""Claims about Kafka Connect: rounds of assignment, what workers run, which statuses they write, and their duties.

`workers`, of each `worker`, is the view that they share; each claim stands in the module of its subject, and
`catalogue` lists all.
"""
