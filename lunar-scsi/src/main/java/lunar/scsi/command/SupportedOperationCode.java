package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.command.CommandDescriptor.Timeouts;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT SUPPORTED OPERATION CODES data about one command (SPC-5).
 *
 * @param support whether the command is supported
 * @param usage CDB USAGE DATA
 * @param timeouts the command timeouts descriptor, if there is one
 */
public record SupportedOperationCode(Support support, Bytes usage, Optional<Timeouts> timeouts)
        implements
        ParameterData {
    /** SUPPORT. */
    public enum Support {
        UNKNOWN(0),
        NOT_SUPPORTED(1),
        /** As the standard has it. */
        STANDARD(3),
        /** In the vendor's own way. */
        VENDOR(5);

        private final int code;

        Support(int code) { this.code = code; }

        private static Support of(int code) {
            return switch (code) {
                case 1 -> NOT_SUPPORTED;
                case 3 -> STANDARD;
                case 5 -> VENDOR;
                default -> UNKNOWN;
            };
        }
    }

    /** The answer about a command that is not there. */
    public static final SupportedOperationCode NOT_SUPPORTED = new SupportedOperationCode(
            Support.NOT_SUPPORTED, Bytes.EMPTY, Optional.empty());

    private static final int HEADER_LENGTH = 4;
    private static final int CTDP_BIT = 7;

    public SupportedOperationCode {
        CdbFields.check("CDB size", usage.length(), 0xffff);
    }

    /** Reads the data; what is cut off is absent. */
    public static SupportedOperationCode decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "supported operation code data of " + bytes.byteSize() + " bytes");
        }
        int size = BigEndian.int16(bytes, 2);
        long usageLength = Math.min(size, bytes.byteSize() - HEADER_LENGTH);
        int timeoutsAt = HEADER_LENGTH + size;
        boolean hasTimeouts = BigEndian.bit(bytes, 1, CTDP_BIT)
                && bytes.byteSize() >= timeoutsAt + SupportedOperationCodes.TIMEOUTS_LENGTH;
        return new SupportedOperationCode(Support.of(BigEndian.int8(bytes, 1) & 7),
                Bytes.of(bytes.asSlice(HEADER_LENGTH, usageLength)),
                hasTimeouts
                        ? Optional.of(SupportedOperationCodes.timeouts(bytes, timeoutsAt))
                        : Optional.empty());
    }

    @Override
    public byte[] bytes() {
        int timeoutsAt = HEADER_LENGTH + usage.length();
        byte[] array = new byte[timeoutsAt
                + (timeouts.isPresent() ? SupportedOperationCodes.TIMEOUTS_LENGTH : 0)];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 1, BigEndian.bit(timeouts.isPresent(), CTDP_BIT) | support.code);
        BigEndian.int16(bytes, 2, usage.length());
        MemorySegment.copy(usage.segment(), 0, bytes, HEADER_LENGTH, usage.length());
        timeouts.ifPresent(it -> SupportedOperationCodes.timeouts(bytes, timeoutsAt, it));
        return array;
    }
}
