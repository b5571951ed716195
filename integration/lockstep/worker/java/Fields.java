package rebalancecheck.worker;

import java.lang.reflect.Field;

/** Fields of Kafka's classes, private ones too. */
final class Fields {
    private Fields() {
    }

    static Object get(Object owner, String name) throws ReflectiveOperationException {
        return find(owner, name).get(owner);
    }

    static Field find(Object owner, String name) throws NoSuchFieldException {
        Field found = findOrNull(owner, name);
        if (found == null) {
            throw new NoSuchFieldException(owner.getClass() + " has no field " + name);
        }
        return found;
    }

    static Field findOrNull(Object owner, String name) {
        for (Class<?> each = owner.getClass(); each != null; each = each.getSuperclass()) {
            try {
                Field field = each.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException e) {
                continue;
            }
        }
        return null;
    }
}
