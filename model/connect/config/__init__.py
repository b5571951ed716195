"""The config topic of Kafka Connect as a model: writers, readers at their own pace, compaction."""
