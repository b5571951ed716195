"""Claims about Kafka Connect's config store: what its readers know, report and write (C1-C17 of its description).

`readers` folds what each worker read a second time, plainly and slowly; `snapshots`, `reports`, `writers` and
`agreement` compare with it. `consistency` looks at a snapshot alone.
"""
