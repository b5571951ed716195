import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/**
 * Reads rounds of a Connect group from standard input, and answers each with a line of JSON: what Kafka's own assignors
 * write to the members, the leader's map of owners, and what the incremental one remembers.
 *
 * The entry point is the one that a worker of the release calls: performAssignment, with the metadata of the
 * members as bytes and a WorkerCoordinator. That one is made without its constructor; only the fields that assignors
 * read are set. Everything that differs between releases is found by reflection. `frames.py` is the other side.
 */
public final class ConnectOracle {
    private static final String PACKAGE = "org.apache.kafka.connect.runtime.distributed.";
    private static final byte HISTORY = 'H';
    private static final byte RESTART = 'S';
    private static final int LONGEST_MESSAGE = 2000;

    private final DataInputStream in;
    private final OutputStream out;
    private final Map<String, Object> assignors = new HashMap<>();
    private int maxDelayMs;
    private long nowMs;
    private final Time time = (Time) proxy(Time.class, "milliseconds", () -> nowMs);
    private Object snapshotOfStore;
    private final Object store = proxy(
        Class.forName("org.apache.kafka.connect.storage.ConfigBackingStore"), "snapshot", () -> snapshotOfStore);

    private interface Source {
        Object get();
    }

    private ConnectOracle(DataInputStream in, OutputStream out) throws Exception {
        this.in = in;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        DataInputStream in =
            new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
        OutputStream out = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        new ConnectOracle(in, out).serve();
        System.exit(0);
    }

    private void serve() throws Exception {
        while (true) {
            byte kind;
            try {
                kind = in.readByte();
            } catch (EOFException end) {
                return;
            }
            if (kind == HISTORY) {
                assignors.clear();
                maxDelayMs = in.readInt();
            } else if (kind == RESTART) {
                assignors.remove(in.readUTF());
            } else {
                out.write(round().getBytes(StandardCharsets.UTF_8));
                out.write('\n');
            }
            if (in.available() == 0) {
                out.flush();
            }
        }
    }

    private String round() throws Exception {
        String worker = in.readUTF();
        String protocol = in.readUTF();
        String leader = in.readUTF();
        nowMs = in.readLong();
        int generation = in.readInt();
        int lastCompleted = in.readInt();
        Object known = readConfigs();
        snapshotOfStore = readConfigs();
        List<JoinGroupResponseMember> members = new ArrayList<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            members.add(new JoinGroupResponseMember().setMemberId(in.readUTF()).setMetadata(readBytes()));
        }
        Object coordinator = coordinator(known, generation, lastCompleted);
        Object assignor = protocol.equals("default") ? eager() : incremental(worker);
        try {
            return answer(perform(assignor, leader, protocol, members, coordinator), coordinator, assignor);
        } catch (InvocationTargetException threw) {
            String message = String.valueOf(threw.getCause());
            message = message.substring(0, Math.min(message.length(), LONGEST_MESSAGE));
            return "{\"failure\":" + quoted(message) + "}";
        }
    }

    private byte[] readBytes() throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    /** A ClusterConfigState of which assignors read the offset, the connectors, and how many tasks each has. */
    private Object readConfigs() throws Exception {
        long offset = in.readLong();
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<String, Map<String, String>> connectors = new LinkedHashMap<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            String name = in.readUTF();
            counts.put(name, in.readInt());
            connectors.put(name, Collections.emptyMap());
        }
        Object state = withoutConstructor(configStateClass());
        for (Field field : state.getClass().getDeclaredFields()) {
            if (Map.class.equals(field.getType())) {
                set(state, field.getName(), Collections.emptyMap());
            } else if (Set.class.equals(field.getType())) {
                set(state, field.getName(), Collections.emptySet());
            }
        }
        set(state, "offset", offset);
        set(state, "connectorTaskCounts", counts);
        set(state, "connectorConfigs", connectors);
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

    private Object coordinator(Object configs, int generation, int lastCompleted) throws Exception {
        Object coordinator = withoutConstructor(Class.forName(PACKAGE + "WorkerCoordinator"));
        set(coordinator, "configSnapshot", configs);
        set(coordinator, "configStorage", store);
        if (has(coordinator, "lastCompletedGenerationId")) { // since 2.5.1
            set(coordinator, "lastCompletedGenerationId", lastCompleted);
        }
        Class<?> base = Class.forName("org.apache.kafka.clients.consumer.internals.AbstractCoordinator$Generation");
        Constructor<?> make = base.getDeclaredConstructor(int.class, String.class, String.class);
        make.setAccessible(true);
        set(coordinator, "generation", make.newInstance(generation, "", ""));
        return coordinator;
    }

    private Object eager() throws Exception {
        return Class.forName(PACKAGE + "EagerAssignor").getConstructor(LogContext.class).newInstance(new LogContext());
    }

    private Object incremental(String worker) throws Exception {
        Object known = assignors.get(worker);
        if (known == null) {
            known = Class.forName(PACKAGE + "IncrementalCooperativeAssignor")
                .getConstructor(LogContext.class, Time.class, int.class)
                .newInstance(new LogContext(), time, maxDelayMs);
            assignors.put(worker, known);
        }
        return known;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, ByteBuffer> perform(
        Object assignor, String leader, String protocol, List<JoinGroupResponseMember> members, Object coordinator
    ) throws Exception {
        for (Method method : assignor.getClass().getMethods()) {
            if (method.getName().equals("performAssignment") && !method.isBridge()) {
                Class<?> named = method.getParameterTypes()[1];
                Object second = protocol;
                if (named != String.class) { // since 4.0 an enum
                    second = named.getMethod("fromProtocol", String.class).invoke(null, protocol);
                }
                method.setAccessible(true);
                return (Map<String, ByteBuffer>) method.invoke(assignor, leader, second, members, coordinator);
            }
        }
        throw new IllegalStateException("the assignor has no method performAssignment");
    }

    private static String answer(Map<String, ByteBuffer> assignments, Object coordinator, Object assignor)
        throws Exception {
        StringBuilder json = new StringBuilder("{\"assignments\":{");
        String comma = "";
        for (Map.Entry<String, ByteBuffer> entry : new TreeMap<>(assignments).entrySet()) {
            json.append(comma).append(quoted(entry.getKey())).append(':').append(encoded(entry.getValue()));
            comma = ",";
        }
        json.append('}');
        Object leaderState = get(coordinator, "leaderState");
        if (leaderState != null) {
            json.append(",\"connector_owners\":").append(jsonMap((Map<?, ?>) get(leaderState, "connectorOwners")));
            json.append(",\"task_owners\":").append(jsonMap((Map<?, ?>) get(leaderState, "taskOwners")));
        }
        if (has(assignor, "scheduledRebalance")) {
            json.append(",\"memory\":").append(memory(assignor));
        }
        return json.append('}').toString();
    }

    private static String encoded(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return '"' + Base64.getEncoder().encodeToString(bytes) + '"';
    }

    /** Fields by the names of `frames.py`; those that a release does not have are left out. */
    private static String memory(Object assignor) throws Exception {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("previous_assignment", work(get(assignor, "previousAssignment")));
        fields.put("previous_revocation", work(get(assignor, "previousRevocation")));
        if (has(assignor, "revokedInPrevious")) {
            fields.put("revoked_in_previous", String.valueOf(get(assignor, "revokedInPrevious")));
            fields.put("successive_revocations", String.valueOf(get(assignor, "numSuccessiveRevokingRebalances")));
        } else {
            fields.put("revoked_in_previous", String.valueOf(!(Boolean) get(assignor, "canRevoke")));
        }
        fields.put("candidates", jsonList((Collection<?>) get(assignor, "candidateWorkersForReassignment")));
        fields.put("scheduled_rebalance_ms", String.valueOf(get(assignor, "scheduledRebalance")));
        fields.put("delay_ms", String.valueOf(get(assignor, "delay")));
        if (has(assignor, "previousGenerationId")) {
            fields.put("previous_generation", String.valueOf(get(assignor, "previousGenerationId")));
            Collection<?> members = (Collection<?>) get(assignor, "previousMembers");
            fields.put("previous_members", jsonList(new TreeSet<>(members)));
        }
        StringBuilder json = new StringBuilder("{");
        fields.forEach((name, value) ->
            json.append(json.length() > 1 ? "," : "").append(quoted(name)).append(':').append(value));
        return json.append('}').toString();
    }

    /** The names of connectors, then those of tasks; each sorted. */
    private static String work(Object connectorsAndTasks) throws Exception {
        List<String> names = new ArrayList<>();
        for (String kind : new String[] {"connectors", "tasks"}) {
            Method method = connectorsAndTasks.getClass().getMethod(kind);
            method.setAccessible(true);
            Collection<?> items = (Collection<?>) method.invoke(connectorsAndTasks);
            new TreeSet<Object>(items).forEach(item -> names.add(item.toString()));
        }
        return jsonList(names);
    }

    private static String jsonList(Collection<?> values) {
        StringBuilder json = new StringBuilder("[");
        for (Object value : values) {
            json.append(json.length() > 1 ? "," : "").append(quoted(value.toString()));
        }
        return json.append(']').toString();
    }

    private static String jsonMap(Map<?, ?> values) {
        StringBuilder json = new StringBuilder("{");
        values.forEach((key, value) -> json.append(json.length() > 1 ? "," : "")
            .append(quoted(key.toString())).append(':').append(quoted(value.toString())));
        return json.append('}').toString();
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    /** An object of an interface whose method of this name answers from a source; no other is ever called. */
    private static Object proxy(Class<?> type, String name, Source source) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
            if (method.getName().equals(name)) {
                return source.get();
            }
            throw new UnsupportedOperationException("assignors do not call " + method);
        });
    }

    private static Object withoutConstructor(Class<?> type) throws Exception {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return unsafe.getMethod("allocateInstance", Class.class).invoke(instance.get(null), type);
    }

    private static final Map<String, Field> FIELDS = new HashMap<>();

    private static Field field(Object object, String name) throws NoSuchFieldException {
        String key = object.getClass().getName() + '.' + name;
        Field known = FIELDS.get(key);
        for (Class<?> type = object.getClass(); known == null && type != null; type = type.getSuperclass()) {
            try {
                known = type.getDeclaredField(name);
                known.setAccessible(true);
                FIELDS.put(key, known);
            } catch (NoSuchFieldException above) {
                known = null;
            }
        }
        if (known == null) {
            throw new NoSuchFieldException(key);
        }
        return known;
    }

    private static boolean has(Object object, String name) {
        try {
            return field(object, name) != null;
        } catch (NoSuchFieldException absent) {
            return false;
        }
    }

    private static Object get(Object object, String name) throws Exception {
        return field(object, name).get(object);
    }

    private static void set(Object object, String name, Object value) throws Exception {
        field(object, name).set(object, value);
    }
}
