"""The Connect worker as a user of the abstract coordinator: membership, config topic, assignor, tasks."""
