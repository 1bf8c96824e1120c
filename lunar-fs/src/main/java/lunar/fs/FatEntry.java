package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Optional;

/**
 * An entry of a FAT directory (Microsoft, FAT32 File System Specification 1.03, "FAT Directory Structure").
 *
 * <pre>
 *  0 name, 8 + 3     11 attributes     12 lower case     20 first cluster, high     22 time     24 date
 * 26 first cluster, low                28 bytes
 * </pre>
 */
final class FatEntry {
    static final int BYTES = 32;

    static final int READ_ONLY = 0x01;
    static final int VOLUME_LABEL = 0x08;
    static final int DIRECTORY = 0x10;
    static final int LONG_NAME = 0x0f;

    static final int UNUSED = 0xe5;
    static final int LAST = 0;

    private static final int NAME_BYTES = 8;
    private static final int SHORT_BYTES = 11;
    private static final int FIRST_IS_E5 = 0x05;
    private static final int LOWER_NAME = 0x08;
    private static final int LOWER_EXTENSION = 0x10;

    /** The charset in which DOS wrote names, where the JDK has it. */
    private static final Charset OEM = Charset.isSupported("IBM437")
            ? Charset.forName("IBM437")
            : StandardCharsets.US_ASCII;

    private FatEntry() {}

    static int attributes(byte[] bytes, int at) { return u8(bytes, at + 11); }

    static boolean isLongName(byte[] bytes, int at) {
        return (attributes(bytes, at) & 0x3f) == LONG_NAME;
    }

    static boolean isDirectory(byte[] bytes, int at) {
        return (attributes(bytes, at) & DIRECTORY) != 0;
    }

    static long cluster(byte[] bytes, int at, boolean wide) {
        return u16(bytes, at + 26) | (wide ? (long) u16(bytes, at + 20) << 16 : 0);
    }

    static long sizeBytes(byte[] bytes, int at) { return u32(bytes, at + 28); }

    /** Returns the checksum of the short name, which each part of a long name contains. */
    static int checksum(byte[] bytes, int at) {
        int sum = 0;
        for (int i = 0; i < SHORT_BYTES; i++) {
            sum = (((sum & 1) << 7) + (sum >> 1) + u8(bytes, at + i)) & 0xff;
        }
        return sum;
    }

    /** The name of eight and three characters; Windows keeps in a byte which part is in lower case. */
    static String shortName(byte[] bytes, int at) {
        byte[] raw = new byte[SHORT_BYTES];
        System.arraycopy(bytes, at, raw, 0, SHORT_BYTES);
        if (raw[0] == FIRST_IS_E5) {
            raw[0] = (byte) UNUSED;
        }
        int lower = u8(bytes, at + 12);
        String name = part(raw, 0, NAME_BYTES, (lower & LOWER_NAME) != 0);
        String extension = part(raw, NAME_BYTES, SHORT_BYTES - NAME_BYTES,
                (lower & LOWER_EXTENSION) != 0);
        return extension.isEmpty() ? name : name + "." + extension;
    }

    private static String part(byte[] raw, int at, int count, boolean lower) {
        String text = new String(raw, at, count, OEM).stripTrailing();
        return lower ? text.toLowerCase(Locale.ROOT) : text;
    }

    /** Local time of an unknown zone, taken for UTC; empty if the fields hold none. */
    static Optional<Instant> modified(byte[] bytes, int at) {
        int time = u16(bytes, at + 22);
        int date = u16(bytes, at + 24);
        try {
            return Optional.of(LocalDateTime.of(1980 + (date >> 9), (date >> 5) & 0xf, date & 0x1f,
                    time >> 11, (time >> 5) & 0x3f, (time & 0x1f) * 2).toInstant(ZoneOffset.UTC));
        } catch (DateTimeException _) {
            return Optional.empty();
        }
    }
}
