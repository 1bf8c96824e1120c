package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.OptionalLong;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.wire.BigEndian;

/**
 * TransportID of an iSCSI initiator (SPC-5 section 7.6.4.6): its device by name, or one port of it.
 *
 * <pre>
 * 0 FORMAT CODE 7-6, PROTOCOL IDENTIFIER 5h   2 additional length   4 name, and for a port ",i,0x" and the ISID
 * </pre>
 *
 * @param name iSCSI name
 * @param isid the port's ISID, 48 bits; absent for the whole device
 */
public record TransportId(String name, OptionalLong isid) {
    private static final int ISCSI = 5;
    private static final int HEADER_LENGTH = 4;
    private static final int MIN_CONTENT = 20;
    private static final int MAX_NAME = 223;
    private static final String SEPARATOR = ",i,0x";
    private static final int MAX_CONTENT = MAX_NAME + SEPARATOR.length() + 12 + 4;

    public TransportId {
        if (name.isEmpty() || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME) {
            throw new IllegalArgumentException("not an iSCSI name: '" + name + "'");
        }
    }

    /** Bytes of the TransportID at {@code at}, as its header says; at least the header. */
    static int length(MemorySegment bytes, long at) {
        return HEADER_LENGTH + BigEndian.int16(bytes, at + 2);
    }

    /**
     * Reads a TransportID.
     *
     * @param listAt where it stands in its parameter list, for the field pointer
     * @throws InvalidParameterListException 26h/00h for another protocol, a length that cannot be, and no name
     */
    public static TransportId decode(MemorySegment bytes, int listAt)
            throws InvalidParameterListException {
        if (bytes.byteSize() < HEADER_LENGTH + MIN_CONTENT) {
            throw InvalidParameterListException.field(listAt);
        }
        int format = BigEndian.int8(bytes, 0) >> 6;
        if (format > 1 || (BigEndian.int8(bytes, 0) & 0xf) != ISCSI) {
            throw InvalidParameterListException.field(listAt);
        }
        int content = BigEndian.int16(bytes, 2);
        if (content < MIN_CONTENT || content > MAX_CONTENT || content % 4 != 0
                || content > bytes.byteSize() - HEADER_LENGTH) {
            throw InvalidParameterListException.field(listAt + 2);
        }
        byte[] array = bytes.asSlice(HEADER_LENGTH, content).toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < array.length && array[end] > ' ') { // printable ASCII, ended by a zero
            end++;
        }
        if (end == 0 || end == array.length || array[end] != 0) {
            throw InvalidParameterListException.field(listAt + HEADER_LENGTH);
        }
        return of(format, new String(array, 0, end, StandardCharsets.US_ASCII),
                listAt + HEADER_LENGTH);
    }

    private static TransportId of(int format, String text, int listAt)
            throws InvalidParameterListException {
        try {
            if (format == 0) {
                return new TransportId(text.toLowerCase(Locale.ROOT), OptionalLong.empty());
            }
            int separator = text.indexOf(SEPARATOR);
            if (separator > 0 && text.length() - separator - SEPARATOR.length() <= 12) {
                return new TransportId(text.substring(0, separator).toLowerCase(Locale.ROOT),
                        OptionalLong.of(Long.parseUnsignedLong(
                                text.substring(separator + SEPARATOR.length()), 16)));
            }
        } catch (IllegalArgumentException _) {
            // Below.
        }
        throw InvalidParameterListException.field(listAt);
    }

    /** The TransportID, padded to a multiple of four. */
    public byte[] bytes() {
        String text = name + (isid.isEmpty()
                ? ""
                : SEPARATOR + String.format(Locale.ROOT, "%012x", isid.getAsLong()));
        byte[] content = text.getBytes(StandardCharsets.UTF_8);
        int padded = Math.max(MIN_CONTENT, (content.length + 1 + 3) / 4 * 4);
        byte[] array = new byte[HEADER_LENGTH + padded];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, (isid.isEmpty() ? 0 : 0x40) | ISCSI);
        BigEndian.int16(bytes, 2, padded);
        System.arraycopy(content, 0, array, HEADER_LENGTH, content.length);
        return array;
    }
}
