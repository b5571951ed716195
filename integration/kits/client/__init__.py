"""The conformance kit for clients: any consumer program, as a group under churn, judged by its traffic on the wire."""
