"""Comparisons with processes of others: Kafka's own classes in a JVM, brokers on a socket."""
