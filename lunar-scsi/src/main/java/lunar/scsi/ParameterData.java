package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Parameter data of a command besides its CDB: data-in of a device, or a parameter list for it. */
@FunctionalInterface
public interface ParameterData {
    /** Returns the complete data, as a new array. */
    byte[] bytes();

    /**
     * Writes the bytes, at most {@code allocationLength} of them: the only place where data are cut to what the
     * initiator has room for (SPC-5). Lengths inside the data stay as if nothing were cut.
     *
     * @param target where they go, from its start; what does not fit is cut too
     * @return bytes written
     */
    default int encode(MemorySegment target, long allocationLength) {
        byte[] whole = bytes();
        int length = (int) Math.min(whole.length, Math.min(allocationLength, target.byteSize()));
        MemorySegment.copy(whole, 0, target, ValueLayout.JAVA_BYTE, 0, length);
        return length;
    }
}
