package org.apache.kafka.coordinator.group.runtime;

/** Kafka has this package only in the other release: with it, imports of both compile. */
interface OtherRelease { }
