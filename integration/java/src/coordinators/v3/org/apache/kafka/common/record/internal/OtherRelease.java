package org.apache.kafka.common.record.internal;

/** Kafka has this package only in the other release: with it, imports of both compile. */
interface OtherRelease { }
