package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * A designation descriptor (SPC-5): a name, and the object that it names.
 *
 * <pre>
 * 0 protocol identifier 7-4, code set 3-0
 * 1 PIV 7, association 5-4, designator type 3-0
 * 3 designator length
 * 4 designator
 * </pre>
 *
 * @param association the named object
 * @param protocol PROTOCOL IDENTIFIER, for names of ports and devices
 * @param identifier the name
 */
public record Designator(Association association, OptionalInt protocol, Identifier identifier) {
    /** ASSOCIATION. */
    public enum Association {
        LOGICAL_UNIT, TARGET_PORT, TARGET_DEVICE, RESERVED;

        private static final Association[] ALL = values();

        @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
        int code() { return ordinal(); }
    }

    /** PROTOCOL IDENTIFIER of iSCSI (SPC-5). */
    public static final int ISCSI = 5;

    public static final int HEADER_LENGTH = 4;

    public Designator {
        protocol.ifPresent(value -> CdbFields.check("protocol", value, 0xf));
    }

    /** A name of the logical unit. */
    public static Designator ofUnit(Identifier identifier) {
        return new Designator(Association.LOGICAL_UNIT, OptionalInt.empty(), identifier);
    }

    /** A name of the iSCSI target port through which the command came. */
    public static Designator ofPort(Identifier identifier) {
        return new Designator(Association.TARGET_PORT, OptionalInt.of(ISCSI), identifier);
    }

    /** A name of the iSCSI target device. */
    public static Designator ofDevice(Identifier identifier) {
        return new Designator(Association.TARGET_DEVICE, OptionalInt.of(ISCSI), identifier);
    }

    public byte[] bytes() {
        byte[] content = identifier.content();
        byte[] array = new byte[HEADER_LENGTH + content.length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, protocol.orElse(0) << 4 | identifier.codeSet());
        BigEndian.int8(bytes, 1, BigEndian.bit(protocol.isPresent(), 7) | association.code() << 4
                | identifier.type());
        BigEndian.int8(bytes, 3, content.length);
        System.arraycopy(content, 0, array, HEADER_LENGTH, content.length);
        return array;
    }

    public static Designator decode(MemorySegment bytes) {
        int first = BigEndian.int8(bytes, 0);
        int second = BigEndian.int8(bytes, 1);
        return new Designator(Association.ALL[second >> 4 & 3],
                (second & 0x80) != 0 ? OptionalInt.of(first >> 4) : OptionalInt.empty(),
                Identifier.decode(first & 0xf, second & 0xf, bytes.asSlice(HEADER_LENGTH)));
    }
}
