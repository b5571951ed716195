package org.apache.kafka.connect.storage;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ProducerFencedException;

/** The producer that can be fenced: its transactions reach the stub log when they are committed, or are fenced. */
final class StubProducer {
    private final StubConfigLog log;
    private final List<String> trace;
    private final boolean fenced;
    private final List<ProducerRecord<String, byte[]>> sent = new ArrayList<>();

    private StubProducer(StubConfigLog log, List<String> trace, boolean fenced) {
        this.log = log;
        this.trace = trace;
        this.fenced = fenced;
    }

    @SuppressWarnings("unchecked")
    static Producer<String, byte[]> create(StubConfigLog log, List<String> trace, boolean fenced) {
        StubProducer stub = new StubProducer(log, trace, fenced);
        return (Producer<String, byte[]>) Proxy.newProxyInstance(
            StubProducer.class.getClassLoader(), new Class<?>[] {Producer.class}, stub::call);
    }

    @SuppressWarnings("unchecked")
    private Object call(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "beginTransaction":
                trace.add("tx.begin");
                sent.clear();
                return null;
            case "send":
                ProducerRecord<String, byte[]> record = (ProducerRecord<String, byte[]>) arguments[0];
                trace.add("tx.send " + record.key() + " = " + StoreServer.shown(record.value()));
                sent.add(record);
                return CompletableFuture.completedFuture(null);
            case "commitTransaction":
                commit();
                return null;
            case "close":
                trace.add("tx.close(" + (arguments == null ? "" : arguments[0]) + ")");
                return null;
            case "toString":
                return "stub";
            case "hashCode":
                return 1;
            default:
                trace.add("tx." + method.getName());
                return null;
        }
    }

    private void commit() {
        trace.add("tx.commit");
        if (fenced) {
            throw new ProducerFencedException("fenced");
        }
        for (ProducerRecord<String, byte[]> record : sent) {
            log.append(record.key(), record.value());
        }
        log.nextOffset++; // the marker
    }
}
