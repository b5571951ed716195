"""Random requests of all group apis, answered by Kafka and by the embedded broker, and compared reply by reply."""
