package lunar.filter;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/** XTS-AES-256 over sectors of one size (IEEE 1619-2018 section 5). Thread-safe. */
final class Xts {
    /** Bytes of a key: the data's and the tweak's. */
    static final int KEY_BYTES = 64;

    private static final int BLOCK = 16;
    /** Low byte of the polynomial x^128 + x^7 + x^2 + x + 1. */
    private static final long REDUCTION = 0x87;
    private static final VarHandle LONGS = MethodHandles
            .byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Ciphers and room for one sector, for one thread at a time. */
    private final class Bench {
        private final Cipher encrypt = cipher(Cipher.ENCRYPT_MODE, dataKey);
        private final Cipher decrypt = cipher(Cipher.DECRYPT_MODE, dataKey);
        private final Cipher tweak = cipher(Cipher.ENCRYPT_MODE, tweakKey);
        private final byte[] sector = new byte[sectorBytes];
        private final byte[] tweaks = new byte[sectorBytes];

        void process(Cipher cipher, long number, MemorySegment from, MemorySegment to, long at)
                throws GeneralSecurityException {
            MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, sector, 0, sectorBytes);
            tweaks(number);
            mask();
            cipher.doFinal(sector, 0, sectorBytes, sector, 0);
            mask();
            MemorySegment.copy(sector, 0, to, ValueLayout.JAVA_BYTE, at, sectorBytes);
        }

        /** The encrypted sector number, then that times x, x^2 and so on, in GF(2^128). */
        private void tweaks(long number) throws GeneralSecurityException {
            LONGS.set(tweaks, 0, number);
            LONGS.set(tweaks, Long.BYTES, 0L);
            tweak.doFinal(tweaks, 0, BLOCK, tweaks, 0);
            long low = (long) LONGS.get(tweaks, 0);
            long high = (long) LONGS.get(tweaks, Long.BYTES);
            for (int at = BLOCK; at < sectorBytes; at += BLOCK) {
                long carry = high >>> 63;
                high = high << 1 | low >>> 63;
                low = low << 1 ^ carry * REDUCTION;
                LONGS.set(tweaks, at, low);
                LONGS.set(tweaks, at + Long.BYTES, high);
            }
        }

        private void mask() {
            for (int at = 0; at < sectorBytes; at += Long.BYTES) {
                LONGS.set(sector, at, (long) LONGS.get(sector, at) ^ (long) LONGS.get(tweaks, at));
            }
        }
    }

    private final int sectorBytes;
    private final SecretKeySpec dataKey;
    private final SecretKeySpec tweakKey;
    private final ConcurrentLinkedQueue<Bench> benches = new ConcurrentLinkedQueue<>();

    /** @param sectorBytes a multiple of 16 */
    Xts(byte[] key, int sectorBytes) {
        this.sectorBytes = sectorBytes;
        dataKey = new SecretKeySpec(Arrays.copyOf(key, KEY_BYTES / 2), "AES");
        tweakKey = new SecretKeySpec(Arrays.copyOfRange(key, KEY_BYTES / 2, KEY_BYTES), "AES");
    }

    void encrypt(long firstSector, MemorySegment from, MemorySegment to) {
        process(true, firstSector, from, to);
    }

    void decrypt(long firstSector, MemorySegment from, MemorySegment to) {
        process(false, firstSector, from, to);
    }

    /** Sectors of zeroes stay sectors of zeroes, both ways, so that holes remain holes. */
    private void process(boolean encrypting, long firstSector, MemorySegment from,
            MemorySegment to) {
        Bench bench = benches.poll();
        if (bench == null) {
            bench = new Bench();
        }
        long count = from.byteSize() / sectorBytes;
        try {
            Cipher cipher = encrypting ? bench.encrypt : bench.decrypt;
            for (long i = 0; i < count; i++) {
                long at = i * sectorBytes;
                if (isZero(from, at)) {
                    to.asSlice(at, sectorBytes).fill((byte) 0);
                } else {
                    bench.process(cipher, firstSector + i, from, to, at);
                }
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
        benches.add(bench);
    }

    private boolean isZero(MemorySegment from, long at) {
        for (int i = 0; i < sectorBytes; i += Long.BYTES) {
            if (from.get(ValueLayout.JAVA_LONG_UNALIGNED, at + i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static Cipher cipher(int mode, SecretKeySpec key) {
        try {
            Cipher cipher = Cipher.getInstance("AES/ECB/NoPadding"); // XTS does the rest
            cipher.init(mode, key);
            return cipher;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no AES", e);
        }
    }
}
