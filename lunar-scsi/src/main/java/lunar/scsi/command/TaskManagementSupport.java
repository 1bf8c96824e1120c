package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS data (SPC-5).
 *
 * @param functions the functions that the logical unit supports
 * @param extended whether REPD requested the longer form, in which timeouts are written as not reported
 */
public record TaskManagementSupport(Set<Function> functions, boolean extended)
        implements
        ParameterData {
    /** A task management function (SAM-5 chapter 7) and its bit in the first two bytes, as one number. */
    public enum Function {
        ABORT_TASK(15),
        ABORT_TASK_SET(14),
        CLEAR_ACA(13),
        CLEAR_TASK_SET(12),
        LOGICAL_UNIT_RESET(
                11),
        QUERY_TASK(10),
        TARGET_RESET(9),
        WAKEUP(
                8),
        QUERY_ASYNCHRONOUS_EVENT(2),
        QUERY_TASK_SET(1),
        I_T_NEXUS_RESET(0);

        private final int bit;

        Function(int bit) { this.bit = bit; }
    }

    private static final int LENGTH = 4;
    private static final int EXTENDED_LENGTH = 16;

    public TaskManagementSupport {
        functions = Set.copyOf(functions);
    }

    public static TaskManagementSupport decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < LENGTH) {
            throw new MalformedDataException(
                    "task management data of " + bytes.byteSize() + " bytes");
        }
        int bits = BigEndian.int16(bytes, 0);
        var functions = EnumSet.noneOf(Function.class);
        for (Function function : Function.values()) {
            if ((bits >> function.bit & 1) != 0) {
                functions.add(function);
            }
        }
        return new TaskManagementSupport(functions, BigEndian.int8(bytes, 3) != 0);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[extended ? EXTENDED_LENGTH : LENGTH];
        var bytes = MemorySegment.ofArray(array);
        int bits = 0;
        for (Function function : functions) {
            bits |= 1 << function.bit;
        }
        BigEndian.int16(bytes, 0, bits);
        BigEndian.int8(bytes, 3, array.length - LENGTH); // ADDITIONAL DATA LENGTH
        return array;
    }
}
