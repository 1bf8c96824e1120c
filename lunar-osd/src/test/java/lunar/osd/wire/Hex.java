package lunar.osd.wire;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;

/** Bytes written as hexadecimal digits. */
public final class Hex {
    private Hex() {}

    /** All bytes; blanks and bars between them are skipped. */
    public static byte[] array(String hex) {
        return Bytes.ofHex(hex.replace("|", "").replace("\n", "")).toArray();
    }

    /** All bytes, read only. */
    public static MemorySegment segment(String hex) {
        return MemorySegment.ofArray(array(hex)).asReadOnly();
    }

    /** Bytes that are zero except for runs of the form {@code offset:hex}. */
    public static byte[] runs(int length, String runs) {
        byte[] array = new byte[length];
        for (String run : runs.strip().split("\\s+")) {
            String[] parts = run.split(":");
            byte[] bytes = array(parts[1]);
            System.arraycopy(bytes, 0, array, Integer.parseInt(parts[0]), bytes.length);
        }
        return array;
    }
}
