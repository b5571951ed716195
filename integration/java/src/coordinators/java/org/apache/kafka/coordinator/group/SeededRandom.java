package org.apache.kafka.coordinator.group;

import java.security.*;
import java.util.ArrayDeque;

/**
 * The preferred {@code SecureRandom} provider of this process: member ids, which Kafka draws from it, are a function of
 * the seed. The generator is SplitMix64. Install it before anything draws a UUID.
 */
public final class SeededRandom extends Provider {
    /** The state of the environment whose turn it is. */
    static long state;
    /** The first bytes drawn, in any state: those of a member id that another broker made. */
    static ArrayDeque<byte[]> given = new ArrayDeque<>();

    SeededRandom() {
        super("SeededRandom", "1", "random numbers that a seed decides");
        put("SecureRandom.SeededRandom", Generator.class.getName());
    }

    /** The provider's product: every instance draws from the one state, which only a reset seeds. */
    public static final class Generator extends SecureRandomSpi {
        private static long next() {
            state += 0x9E3779B97F4A7C15L;
            long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
            return mixed ^ (mixed >>> 31);
        }

        @Override protected void engineSetSeed(byte[] seed) { }

        @Override protected void engineNextBytes(byte[] bytes) {
            if (!given.isEmpty() && given.peek().length == bytes.length) {
                System.arraycopy(given.poll(), 0, bytes, 0, bytes.length);
                return;
            }
            long drawn = 0;
            for (int i = 0; i < bytes.length; i++) {
                drawn = i % Long.BYTES == 0 ? next() : drawn >>> Byte.SIZE;
                bytes[i] = (byte) drawn;
            }
        }

        @Override protected byte[] engineGenerateSeed(int count) {
            byte[] bytes = new byte[count];
            engineNextBytes(bytes);
            return bytes;
        }
    }
}
