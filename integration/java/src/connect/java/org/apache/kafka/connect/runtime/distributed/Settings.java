package org.apache.kafka.connect.runtime.distributed;

import java.util.*;

/** The settings of a worker: those that it must be given, and else Kafka's own defaults. */
public final class Settings {
    private Settings() { }

    public static DistributedConfig ofWorker(Map<String, String> own) {
        Map<String, String> settings = new HashMap<>(Map.of("bootstrap.servers", "broker:9092", "group.id", "g",
            "config.storage.topic", "config", "offset.storage.topic", "offset", "status.storage.topic", "status",
            "key.converter", "org.apache.kafka.connect.json.JsonConverter",
            "value.converter", "org.apache.kafka.connect.json.JsonConverter"));
        settings.putAll(own);
        return new DistributedConfig(settings);
    }
}
