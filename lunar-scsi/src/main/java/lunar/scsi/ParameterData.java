package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Parameter data of a command: data-in of a device, or a parameter list sent to it. */
@FunctionalInterface
public interface ParameterData {
    /** Returns the complete data, as a new array. */
    byte[] bytes();

    /**
     * Writes the bytes, at most {@code allocationLength} of them: the only place where data is truncated to the
     * allocation length (SPC-5). Length fields inside the data are not changed by the truncation.
     *
     * @param target destination; data that does not fit is truncated too
     * @return bytes written
     */
    default int encode(MemorySegment target, long allocationLength) {
        byte[] whole = bytes();
        int length = (int) Math.min(whole.length, Math.min(allocationLength, target.byteSize()));
        MemorySegment.copy(whole, 0, target, ValueLayout.JAVA_BYTE, 0, length);
        return length;
    }
}
