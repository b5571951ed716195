"""A Connect worker of our own as a process in a real cluster: its group, both topics, REST; its tasks are simulated."""
