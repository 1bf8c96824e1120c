package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u8;

/**
 * Assembles a long name from the entries that precede the short one, last part first. Inconsistent parts are dropped,
 * and the short name is used.
 *
 * <pre>
 * 0 number of the part, 40h in the last      1 five units      13 checksum of the short name      14 six      28 two
 * </pre>
 */
final class LongName {
    private static final int LAST = 0x40;
    private static final int NUMBER = 0x1f;
    private static final int MAX_PARTS = 20;
    private static final int UNITS = 13;
    private static final int[] PLACES = {1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30};

    private final char[] units = new char[MAX_PARTS * UNITS];
    private int parts;
    private int missing = -1;
    private int checksum;

    void add(byte[] bytes, int at) {
        int order = u8(bytes, at);
        int number = order & NUMBER;
        if ((order & LAST) != 0) {
            parts = number;
            missing = number;
            checksum = u8(bytes, at + 13);
        }
        if (number == 0 || number > MAX_PARTS || number != missing
                || checksum != u8(bytes, at + 13)) {
            drop();
            return;
        }
        missing--;
        for (int i = 0; i < UNITS; i++) {
            units[missing * UNITS + i] = (char) u16(bytes, at + PLACES[i]);
        }
    }

    void drop() { missing = -1; }

    /** The name for a short entry; empty if there is none that belongs to it. */
    String take(byte[] bytes, int at) {
        boolean complete = missing == 0 && checksum == FatEntry.checksum(bytes, at);
        drop();
        if (!complete) {
            return "";
        }
        int length = 0;
        while (length < parts * UNITS && units[length] != 0) {
            length++;
        }
        return new String(units, 0, length);
    }
}
