package rebalancecheck;

import java.lang.reflect.*;
import java.util.*;
import sun.misc.Unsafe;

/** The inside of Kafka's classes: private fields, objects without a constructor's run, stubs. */
public final class Inside {
    private static final Map<String, Field> FIELDS = new HashMap<>();

    private Inside() { }

    /** Stands for every method of an interface. */
    public interface Stub {
        Object called(String method, Object[] arguments) throws Throwable;
    }

    /** The value of a field, wherever the class hierarchy of {@code owner} declares it. */
    public static <T> T get(Class<T> type, Object owner, String name) {
        try {
            return type.cast(known(owner, name).get(owner));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    public static Object get(Object owner, String name) { return get(Object.class, owner, name); }

    public static void set(Object owner, String name, Object value) {
        try {
            known(owner, name).set(owner, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    public static boolean has(Object owner, String name) { return find(owner.getClass(), name) != null; }

    private static Field known(Object owner, String name) {
        Field found = find(owner.getClass(), name);
        if (found == null) {
            throw new IllegalStateException("this release of Kafka has no " + owner.getClass().getName() + "." + name);
        }
        return found;
    }

    private static synchronized Field find(Class<?> type, String name) {
        return FIELDS.computeIfAbsent(type.getName() + '.' + name, key -> {
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                for (Field field : each.getDeclaredFields()) {
                    if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) { // Scala's private ones
                        field.setAccessible(true);
                        return field;
                    }
                }
            }
            return null;
        });
    }

    /** An object whose constructor was not run. */
    public static <T> T blank(Class<T> type) {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return type.cast(((Unsafe) field.get(null)).allocateInstance(type));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static <T> T stub(Class<T> type, Stub stub) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
            (self, method, arguments) -> switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(self);
                case "equals" -> self == arguments[0];
                case "toString" -> type.getSimpleName();
                default -> stub.called(method.getName(), arguments);
            }));
    }

    /** An implementation that does nothing, for metrics and for parts that are not driven here. */
    public static <T> T nothing(Class<T> type) { return stub(type, (method, arguments) -> null); }
}
