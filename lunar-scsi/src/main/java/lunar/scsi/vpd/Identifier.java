package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import lunar.scsi.Bytes;
import lunar.scsi.wire.Ascii;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/** The kinds of names in VPD page 83h (SPC-5). */
public sealed interface Identifier permits Identifier.T10VendorId, Identifier.Eui64, Naa,
        Identifier.RelativeTargetPort, Identifier.TargetPortGroup, Identifier.LogicalUnitGroup,
        Identifier.ScsiName, Identifier.UuidName, Identifier.Other {
    int BINARY = 1;
    int ASCII = 2;
    int UTF8 = 3;

    /** CODE SET. */
    int codeSet();

    /** DESIGNATOR TYPE. */
    int type();

    /** The DESIGNATOR field. */
    byte[] content();

    /** Type 1: the vendor, and a text that is unique among the vendor's. */
    record T10VendorId(String vendor, String specific) implements Identifier {
        static final int TYPE = 1;

        public T10VendorId {
            Ascii.check("vendor", vendor, 8);
            Ascii.check("specific", specific, 247);
        }

        @Override
        public int codeSet() { return ASCII; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() {
            byte[] content = new byte[8 + specific.length()];
            var bytes = MemorySegment.ofArray(content);
            Ascii.write(bytes, 0, 8, vendor);
            Ascii.write(bytes, 8, specific.length(), specific);
            return content;
        }
    }

    /** Type 2: EUI-64 of 8, 12 or 16 bytes. */
    record Eui64(Bytes value) implements Identifier {
        static final int TYPE = 2;

        public Eui64 {
            if (!isLength(value.length())) {
                throw new IllegalArgumentException("EUI-64 of " + value.length() + " bytes");
            }
        }

        static boolean isLength(long length) { return length == 8 || length == 12 || length == 16; }

        @Override
        public int codeSet() { return BINARY; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() { return value.toArray(); }
    }

    /** Type 4: the port's number within the target device. */
    record RelativeTargetPort(int number) implements Identifier {
        static final int TYPE = 4;

        public RelativeTargetPort {
            CdbFields.check("relative target port", number, 0xffff);
        }

        @Override
        public int codeSet() { return BINARY; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() { return word(number); }
    }

    /** Type 5: the group the target port is in; REPORT TARGET PORT GROUPS tells its state. */
    record TargetPortGroup(int number) implements Identifier {
        static final int TYPE = 5;

        public TargetPortGroup {
            CdbFields.check("target port group", number, 0xffff);
        }

        @Override
        public int codeSet() { return BINARY; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() { return word(number); }
    }

    /** Type 6: the group the logical unit is in. */
    record LogicalUnitGroup(int number) implements Identifier {
        static final int TYPE = 6;

        public LogicalUnitGroup {
            CdbFields.check("logical unit group", number, 0xffff);
        }

        @Override
        public int codeSet() { return BINARY; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() { return word(number); }
    }

    /** Type 8: a name as UTF-8, such as an iSCSI name; zero-terminated and padded on the wire. */
    record ScsiName(String name) implements Identifier {
        static final int TYPE = 8;
        static final int MAX_LENGTH = 252;

        public ScsiName {
            if (name.getBytes(StandardCharsets.UTF_8).length >= MAX_LENGTH
                    || name.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException("no SCSI name string: " + name);
            }
        }

        @Override
        public int codeSet() { return UTF8; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() {
            byte[] text = name.getBytes(StandardCharsets.UTF_8);
            return Arrays.copyOf(text, (text.length + 4) / 4 * 4); // at least one zero, multiple of 4
        }
    }

    /** Type Ah: a UUID (RFC 4122). */
    record UuidName(UUID uuid) implements Identifier {
        static final int TYPE = 0xa;
        static final int LENGTH = 18;
        static final int KIND = 0x10;

        @Override
        public int codeSet() { return BINARY; }

        @Override
        public int type() { return TYPE; }

        @Override
        public byte[] content() {
            byte[] content = new byte[LENGTH];
            var bytes = MemorySegment.ofArray(content);
            BigEndian.int8(bytes, 0, KIND);
            BigEndian.int64(bytes, 2, uuid.getMostSignificantBits());
            BigEndian.int64(bytes, 10, uuid.getLeastSignificantBits());
            return content;
        }
    }

    /** A kind that nothing here takes apart, or one of the above that breaks its rules. */
    record Other(int codeSet, int type, Bytes value) implements Identifier {
        public Other {
            CdbFields.check("codeSet", codeSet, 0xf);
            CdbFields.check("type", type, 0xf);
            CdbFields.check("length", value.length(), 0xff);
        }

        @Override
        public byte[] content() { return value.toArray(); }
    }

    /** Reads a DESIGNATOR field, of at most 255 bytes. */
    static Identifier decode(int codeSet, int type, MemorySegment bytes) {
        long length = bytes.byteSize();
        Identifier other = new Other(codeSet, type, Bytes.of(bytes));
        return switch (type) {
            case T10VendorId.TYPE -> length >= 8
                    ? new T10VendorId(Ascii.read(bytes, 0, 8), Ascii.read(bytes, 8, length - 8))
                    : other;
            case Eui64.TYPE -> Eui64.isLength(length) ? new Eui64(Bytes.of(bytes)) : other;
            case Naa.TYPE -> Naa.isValid(bytes) ? new Naa(Bytes.of(bytes)) : other;
            case RelativeTargetPort.TYPE -> length == 4
                    ? new RelativeTargetPort(BigEndian.int16(bytes, 2))
                    : other;
            case TargetPortGroup.TYPE -> length == 4
                    ? new TargetPortGroup(BigEndian.int16(bytes, 2))
                    : other;
            case LogicalUnitGroup.TYPE -> length == 4
                    ? new LogicalUnitGroup(BigEndian.int16(bytes, 2))
                    : other;
            case ScsiName.TYPE -> scsiName(bytes, other);
            case UuidName.TYPE -> length == UuidName.LENGTH
                    && BigEndian.int8(bytes, 0) == UuidName.KIND
                            ? new UuidName(new UUID(BigEndian.int64(bytes, 2),
                                    BigEndian.int64(bytes, 10)))
                            : other;
            default -> other;
        };
    }

    private static Identifier scsiName(MemorySegment bytes, Identifier other) {
        byte[] text = bytes.toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < text.length && text[end] != 0) {
            end++;
        }
        String name = new String(text, 0, end, StandardCharsets.UTF_8);
        // A text that is not UTF-8 may have become longer by its replacement characters.
        boolean sane = name.getBytes(StandardCharsets.UTF_8).length < ScsiName.MAX_LENGTH
                && name.chars().noneMatch(Character::isISOControl);
        return sane ? new ScsiName(name) : other;
    }

    private static byte[] word(int number) {
        return new byte[]{0, 0, (byte) (number >> 8), (byte) number};
    }
}
