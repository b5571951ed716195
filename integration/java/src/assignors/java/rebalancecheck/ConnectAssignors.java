package rebalancecheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.lang.reflect.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.utils.*;

/**
 * Answers a round of a Connect group as Kafka's own assignors do: with the members' bytes, the leader's map of owners,
 * and the incremental one's memory.
 *
 * <p>The entry point is the one that a worker of the release calls: performAssignment, with the metadata of the members
 * as bytes and a WorkerCoordinator. The latter is made without its constructor; only the fields that assignors read are
 * set. Everything that differs between releases is found by reflection. `java.py` is the other side.
 */
public final class ConnectAssignors implements Main.Run {
    private static final String PACKAGE = "org.apache.kafka.connect.runtime.distributed.";

    private final Map<String, Object> assignors = new HashMap<>();
    private final int maxDelayMs;
    private long nowMs;
    private Object stored;
    private final Time time = Inside.stub(Time.class, (method, arguments) -> only(method, "milliseconds", nowMs));
    private final Object store = Inside.stub(Class.forName("org.apache.kafka.connect.storage.ConfigBackingStore"),
        (method, arguments) -> only(method, "snapshot", stored));

    public ConnectAssignors(JsonNode options) throws ClassNotFoundException {
        maxDelayMs = options.get("max_delay_ms").asInt();
    }

    private static Object only(String method, String answered, Object answer) {
        if (method.equals(answered)) return answer;
        throw new UnsupportedOperationException("assignors do not call " + method);
    }

    @Override public Object answer(JsonNode asked) throws Exception {
        assignors.remove(asked.path("restart").asText());
        if (!asked.has("worker")) return Map.of();
        nowMs = asked.get("now_ms").asLong();
        stored = configs(asked.get("latest"));
        List<JoinGroupResponseMember> members = new ArrayList<>();
        for (JsonNode member : asked.get("members")) {
            members.add(new JoinGroupResponseMember()
                .setMemberId(member.get(0).asText()).setMetadata(member.get(1).binaryValue()));
        }
        Object coordinator = coordinator(asked);
        String protocol = asked.get("protocol").asText();
        Object assignor = protocol.equals("default") ? made("EagerAssignor", new LogContext()) : assignors
            .computeIfAbsent(asked.get("worker").asText(), worker -> made("IncrementalCooperativeAssignor",
                new LogContext(), time, maxDelayMs));
        try {
            return answer(
                perform(assignor, asked.get("leader").asText(), protocol, members, coordinator), coordinator, assignor);
        } catch (InvocationTargetException threw) {
            return Assignors.failure(threw.getCause());
        }
    }

    private static Object made(String name, Object... arguments) {
        try {
            return Class.forName(PACKAGE + name).getConstructors()[0].newInstance(arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A ClusterConfigState of which assignors read the offset, the connectors, and how many tasks each has. */
    private static Object configs(JsonNode asked) throws ClassNotFoundException {
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<String, Map<String, String>> connectors = new LinkedHashMap<>();
        asked.get("task_counts").fields().forEachRemaining(each -> {
            counts.put(each.getKey(), each.getValue().asInt());
            connectors.put(each.getKey(), Map.of());
        });
        Object state = Inside.blank(configStateClass());
        for (Field field : state.getClass().getDeclaredFields()) {
            if (Map.class.equals(field.getType())) {
                Inside.set(state, field.getName(), Map.of());
            } else if (Set.class.equals(field.getType())) {
                Inside.set(state, field.getName(), Set.of());
            }
        }
        Inside.set(state, "offset", asked.get("offset").asLong());
        Inside.set(state, "connectorTaskCounts", counts);
        Inside.set(state, "connectorConfigs", connectors);
        return state;
    }

    /** Since 3.3 it belongs to another package. */
    private static Class<?> configStateClass() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.connect.storage.ClusterConfigState");
        } catch (ClassNotFoundException older) {
            return Class.forName(PACKAGE + "ClusterConfigState");
        }
    }

    private Object coordinator(JsonNode asked) throws ReflectiveOperationException {
        Object coordinator = Inside.blank(Class.forName(PACKAGE + "WorkerCoordinator"));
        Inside.set(coordinator, "configSnapshot", configs(asked.get("known")));
        Inside.set(coordinator, "configStorage", store);
        if (Inside.has(coordinator, "lastCompletedGenerationId")) { // since 2.5.1
            Inside.set(coordinator, "lastCompletedGenerationId", asked.get("last_completed_generation").asInt());
        }
        Class<?> base = Class.forName("org.apache.kafka.clients.consumer.internals.AbstractCoordinator$Generation");
        Constructor<?> make = base.getDeclaredConstructor(int.class, String.class, String.class);
        make.setAccessible(true);
        Inside.set(coordinator, "generation", make.newInstance(asked.get("generation").asInt(), "", ""));
        return coordinator;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, ByteBuffer> perform(Object assignor, String leader, String protocol,
        List<JoinGroupResponseMember> members, Object coordinator) throws ReflectiveOperationException {
        for (Method method : assignor.getClass().getMethods()) {
            if (method.getName().equals("performAssignment") && !method.isBridge()) {
                Class<?> named = method.getParameterTypes()[1];
                Object second = named == String.class ? protocol // since 4.0 an enum
                    : named.getMethod("fromProtocol", String.class).invoke(null, protocol);
                method.setAccessible(true);
                return (Map<String, ByteBuffer>) method.invoke(assignor, leader, second, members, coordinator);
            }
        }
        throw new IllegalStateException("the assignor has no method performAssignment");
    }

    private static Object answer(Map<String, ByteBuffer> assignments, Object coordinator, Object assignor)
        throws ReflectiveOperationException {
        Map<String, byte[]> written = new TreeMap<>();
        assignments.forEach((member, buffer) -> written.put(member, Utils.toArray(buffer)));
        Map<String, Object> answer = new LinkedHashMap<>(Map.of("assignments", written));
        Object leaderState = Inside.get(coordinator, "leaderState");
        if (leaderState != null) {
            answer.put("connector_owners", Inside.get(leaderState, "connectorOwners"));
            answer.put("task_owners", Inside.get(leaderState, "taskOwners"));
        }
        if (Inside.has(assignor, "scheduledRebalance")) answer.put("memory", memory(assignor));
        return answer;
    }

    /** Fields by the names of `MemoryView`; those that a release does not have are left out. */
    private static Map<String, Object> memory(Object assignor) throws ReflectiveOperationException {
        Map<String, Object> fields = new HashMap<>();
        fields.put("previous_assignment", work(Inside.get(assignor, "previousAssignment")));
        fields.put("previous_revocation", work(Inside.get(assignor, "previousRevocation")));
        if (Inside.has(assignor, "revokedInPrevious")) {
            fields.put("revoked_in_previous", Inside.get(assignor, "revokedInPrevious"));
            fields.put("successive_revocations", Inside.get(assignor, "numSuccessiveRevokingRebalances"));
        } else {
            fields.put("revoked_in_previous", !Inside.get(Boolean.class, assignor, "canRevoke"));
        }
        fields.put("candidates", Inside.get(assignor, "candidateWorkersForReassignment"));
        fields.put("scheduled_rebalance_ms", Inside.get(assignor, "scheduledRebalance"));
        fields.put("delay_ms", Inside.get(assignor, "delay"));
        if (Inside.has(assignor, "previousGenerationId")) {
            fields.put("previous_generation", Inside.get(assignor, "previousGenerationId"));
            fields.put("previous_members", new TreeSet<>(Inside.get(Set.class, assignor, "previousMembers")));
        }
        return fields;
    }

    /** The names of connectors, then those of tasks; each sorted. */
    private static List<String> work(Object connectorsAndTasks) throws ReflectiveOperationException {
        List<String> names = new ArrayList<>();
        for (String kind : new String[] {"connectors", "tasks"}) {
            Method method = connectorsAndTasks.getClass().getMethod(kind);
            method.setAccessible(true);
            Collection<?> items = (Collection<?>) method.invoke(connectorsAndTasks);
            new TreeSet<Object>(items).forEach(item -> names.add(item.toString()));
        }
        return names;
    }
}
