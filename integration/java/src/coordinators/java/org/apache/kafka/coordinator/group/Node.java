package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.server.util.timer.TimerTask;

/** A broker as far as groups are concerned: Kafka's own coordinator on a journal and timers of ours. */
abstract class Node {
    static final int PARTITION_NUMBER = 0;
    static final TopicPartition PARTITION = new TopicPartition("__consumer_offsets", PARTITION_NUMBER);

    final VirtualTime time;
    final VirtualTime.Timers timers;
    Journal journal = new Journal();
    GroupCoordinator service;
    /** The error with which appends fail; null: they succeed. */
    Errors failure;
    boolean acknowledging = true;
    boolean holdingLoad;
    boolean dead;

    Node(VirtualTime time) {
        this.time = time;
        this.timers = time.new Timers();
    }

    /** Adds the generation and the leader of a classic group, if there is one. */
    abstract void inspect(String group, ArrayNode to);

    static void show(int generation, String leaderOrNull, ArrayNode to) {
        to.add(generation).add(leaderOrNull == null ? "" : leaderOrNull);
    }

    /** The timers that run, by the keys that Kafka's coordinator in Java gives them. */
    abstract Map<String, TimerTask> runningTimers();

    abstract void highWatermark(long offset);

    abstract void releaseLoad();

    /** The transaction of a producer ends: its marker is appended, and the coordinator learns of it. */
    abstract CompletableFuture<Void> endTransaction(long producer, TransactionResult result);

    void elect(int epoch) { service.onElection(PARTITION_NUMBER, epoch); }
    void resign(int epoch) { service.onResignation(PARTITION_NUMBER, OptionalInt.of(epoch)); }

    /** It stops where it is, and answers nothing any more. */
    void crash() {
        dead = true;
        timers.close();
    }

    void acknowledge(boolean on) {
        acknowledging = on;
        if (on) highWatermark(journal.end);
    }

    void runLater(Runnable event, boolean first) { time.runLater(() -> { if (!dead) event.run(); }, first); }
}
