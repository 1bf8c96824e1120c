package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import lunar.scsi.SenseSpecific.FieldPointer;
import lunar.scsi.SenseSpecific.Progress;
import lunar.scsi.SenseSpecific.RetryCount;
import lunar.scsi.SenseSpecific.SegmentPointer;
import lunar.scsi.wire.BigEndian;

/**
 * The two formats of sense data.
 *
 * <pre>
 * fixed (SPC-5 section 4.5.3)            descriptor (SPC-5 section 4.5.2)
 *  0 VALID | response code 70h, 71h       0 response code 72h, 73h
 *  2 sense key                            1 sense key
 *  3 information                          2 additional sense code
 *  7 additional length                    3 qualifier
 *  8 command-specific information         7 additional length
 * 12 additional sense code                8 descriptors: type, length, content
 * 13 qualifier
 * 14 field replaceable unit code
 * 15 sense-key specific
 * </pre>
 */
final class SenseFormat {
    /** Most bytes behind the header (SPC-5 section 4.5.1). */
    static final int MAX_ADDITIONAL_LENGTH = 244;

    private static final int FIXED = 0x70;
    private static final int DESCRIPTOR = 0x72;
    private static final int DEFERRED = 1;
    private static final int VALID = 0x80;

    private static final int FIXED_LENGTH = 18;
    private static final int FIXED_INFORMATION = 3;
    private static final int FIXED_COMMAND_SPECIFIC = 8;
    private static final int FIXED_ASC = 12;
    private static final int FIXED_FRU = 14;
    private static final int FIXED_SPECIFIC = 15;

    private static final int HEADER_LENGTH = 8;
    private static final int INFORMATION = 0x00;
    private static final int COMMAND_SPECIFIC = 0x01;
    private static final int KEY_SPECIFIC = 0x02;
    private static final int FIELD_REPLACEABLE_UNIT = 0x03;
    private static final int DIRECT_ACCESS = 0x0d;

    private static final int POINTS_INTO_CDB = 0x40;
    private static final int POINTS_INTO_SEGMENT = 0x20;
    private static final int BIT_POINTER_VALID = 0x08;
    private static final long UINT32_MAX = 0xffff_ffffL;

    private SenseFormat() {}

    /** Whether a descriptor of this type becomes fields of {@link Sense}. */
    static boolean decodesItself(int type) {
        return switch (type) {
            case INFORMATION, COMMAND_SPECIFIC, KEY_SPECIFIC, DIRECT_ACCESS -> true;
            default -> false;
        };
    }

    static byte[] encodeFixed(Sense sense) {
        byte[] array = new byte[FIXED_LENGTH];
        var bytes = MemorySegment.ofArray(array);
        boolean informationFits = fits(sense.information());
        BigEndian.int8(bytes, 0,
                FIXED | (sense.deferred() ? DEFERRED : 0) | (informationFits ? VALID : 0));
        BigEndian.int8(bytes, 2, sense.key().code());
        if (informationFits) {
            BigEndian.int32(bytes, FIXED_INFORMATION, sense.information().orElse(0));
        }
        BigEndian.int8(bytes, 7, FIXED_LENGTH - 8);
        if (fits(sense.commandSpecific())) {
            BigEndian.int32(bytes, FIXED_COMMAND_SPECIFIC, sense.commandSpecific().orElse(0));
        }
        BigEndian.int8(bytes, FIXED_ASC, sense.additional().asc());
        BigEndian.int8(bytes, FIXED_ASC + 1, sense.additional().ascq());
        BigEndian.int8(bytes, FIXED_FRU, replaceableUnit(sense));
        sense.specific().ifPresent(it -> encodeSpecific(it, bytes, FIXED_SPECIFIC));
        return array;
    }

    /** Returns the code of the unit that has failed; 0 for none. Of several descriptors the first counts. */
    static int replaceableUnit(Sense sense) {
        return sense.descriptor(FIELD_REPLACEABLE_UNIT).map(SenseDescriptor::content)
                .filter(content -> content.length() > 1)
                .map(content -> content.at(1)).orElse(0);
    }

    /** Returns the descriptor of a failed unit (SPC-5 section 4.5.2.5): a reserved byte, and the code. */
    static SenseDescriptor replaceableUnit(int code) {
        return new SenseDescriptor(FIELD_REPLACEABLE_UNIT,
                Bytes.of((byte) 0, (byte) code));
    }

    static byte[] encodeDescriptor(Sense sense) {
        int length = HEADER_LENGTH + (sense.information().isPresent() ? 12 : 0)
                + (sense.commandSpecific().isPresent() ? 12 : 0)
                + (sense.specific().isPresent() ? 8 : 0);
        var further = new ArrayList<SenseDescriptor>();
        for (SenseDescriptor descriptor : sense.descriptors()) {
            if (length + descriptor.length() <= HEADER_LENGTH + MAX_ADDITIONAL_LENGTH) {
                further.add(descriptor);
                length += descriptor.length();
            }
        }
        byte[] array = new byte[length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int8(bytes, 0, DESCRIPTOR | (sense.deferred() ? DEFERRED : 0));
        BigEndian.int8(bytes, 1, sense.key().code());
        BigEndian.int8(bytes, 2, sense.additional().asc());
        BigEndian.int8(bytes, 3, sense.additional().ascq());
        BigEndian.int8(bytes, 7, length - HEADER_LENGTH);
        int at = HEADER_LENGTH;
        if (sense.information().isPresent()) {
            BigEndian.int24(bytes, at, INFORMATION << 16 | 0x0a << 8 | VALID);
            BigEndian.int64(bytes, at + 4, sense.information().getAsLong());
            at += 12;
        }
        if (sense.commandSpecific().isPresent()) {
            BigEndian.int24(bytes, at, COMMAND_SPECIFIC << 16 | 0x0a << 8);
            BigEndian.int64(bytes, at + 4, sense.commandSpecific().getAsLong());
            at += 12;
        }
        if (sense.specific().isPresent()) {
            BigEndian.int16(bytes, at, KEY_SPECIFIC << 8 | 0x06);
            encodeSpecific(sense.specific().get(), bytes, at + 4);
            at += 8;
        }
        for (SenseDescriptor descriptor : further) {
            BigEndian.int16(bytes, at, descriptor.type() << 8 | descriptor.content().length());
            MemorySegment.copy(descriptor.content().segment(), 0, bytes,
                    at + SenseDescriptor.HEADER_LENGTH, descriptor.content().length());
            at += descriptor.length();
        }
        return array;
    }

    static Sense decode(MemorySegment given) {
        if (given.byteSize() == 0) {
            return Sense.NONE;
        }
        int response = BigEndian.int8(given, 0);
        return switch (response & 0x7f) {
            case FIXED, FIXED | DEFERRED -> decodeFixed(given, response);
            case DESCRIPTOR, DESCRIPTOR | DEFERRED -> decodeDescriptor(given, response);
            default -> Sense.NONE;
        };
    }

    static boolean isKnown(MemorySegment given) {
        return given.byteSize() > 0 && switch (BigEndian.int8(given, 0) & 0x7f) {
            case FIXED, FIXED | DEFERRED, DESCRIPTOR, DESCRIPTOR | DEFERRED -> true;
            default -> false;
        };
    }

    private static Sense decodeFixed(MemorySegment given, int response) {
        // Truncated bytes read as zero, like bytes beyond ADDITIONAL SENSE LENGTH.
        var bytes = MemorySegment.ofArray(new byte[FIXED_LENGTH]);
        long length = Math.min(given.byteSize(), FIXED_LENGTH);
        if (length > 7) {
            length = Math.min(length, 8 + BigEndian.int8(given, 7));
        }
        MemorySegment.copy(given, 0, bytes, 0, length);
        SenseKey key = SenseKey.of(BigEndian.int8(bytes, 2));
        boolean valid = (response & VALID) != 0 && length >= FIXED_INFORMATION + 4;
        long commandSpecific = BigEndian.int32(bytes, FIXED_COMMAND_SPECIFIC);
        int fru = BigEndian.int8(bytes, FIXED_FRU);
        return new Sense(key,
                new AdditionalSense(BigEndian.int8(bytes, FIXED_ASC),
                        BigEndian.int8(bytes, FIXED_ASC + 1)),
                (response & DEFERRED) != 0,
                valid
                        ? OptionalLong.of(BigEndian.int32(bytes, FIXED_INFORMATION))
                        : OptionalLong.empty(),
                // The fixed format has no bit that tells a zero from nothing.
                commandSpecific != 0 ? OptionalLong.of(commandSpecific) : OptionalLong.empty(),
                decodeSpecific(key, bytes, FIXED_SPECIFIC), fru == 0
                        ? List.of()
                        : List.of(replaceableUnit(fru)));
    }

    private static Sense decodeDescriptor(MemorySegment given, int response) {
        var header = MemorySegment.ofArray(new byte[HEADER_LENGTH]);
        MemorySegment.copy(given, 0, header, 0, Math.min(given.byteSize(), HEADER_LENGTH));
        SenseKey key = SenseKey.of(BigEndian.int8(header, 1));
        OptionalLong information = OptionalLong.empty();
        OptionalLong commandSpecific = OptionalLong.empty();
        Optional<SenseSpecific> specific = Optional.empty();
        var further = new ArrayList<SenseDescriptor>();
        long end = Math.min(given.byteSize(), HEADER_LENGTH + BigEndian.int8(header, 7));
        long at = HEADER_LENGTH;
        while (at + 2 <= end) {
            int length = 2 + BigEndian.int8(given, at + 1);
            if (at + length > end) {
                break;
            }
            MemorySegment descriptor = given.asSlice(at, length);
            int type = BigEndian.int8(descriptor, 0);
            switch (type) {
                case INFORMATION -> {
                    if (length >= 12 && BigEndian.bit(descriptor, 2, 7)) {
                        information = OptionalLong.of(BigEndian.int64(descriptor, 4));
                    }
                }
                case COMMAND_SPECIFIC -> {
                    if (length >= 12) {
                        commandSpecific = OptionalLong.of(BigEndian.int64(descriptor, 4));
                    }
                }
                case KEY_SPECIFIC -> {
                    if (length >= 7) {
                        specific = decodeSpecific(key, descriptor, 4);
                    }
                }
                case DIRECT_ACCESS -> { // all three in one (SBC-4)
                    if (length >= 24) {
                        specific = decodeSpecific(key, descriptor, 4);
                        if (BigEndian.bit(descriptor, 2, 7)) {
                            information = OptionalLong.of(BigEndian.int64(descriptor, 8));
                        }
                        commandSpecific = OptionalLong.of(BigEndian.int64(descriptor, 16));
                    }
                }
                default -> {
                    if (length <= MAX_ADDITIONAL_LENGTH) {
                        further.add(new SenseDescriptor(type,
                                Bytes.of(descriptor.asSlice(SenseDescriptor.HEADER_LENGTH))));
                    }
                }
            }
            at += length;
        }
        return new Sense(key,
                new AdditionalSense(BigEndian.int8(header, 2), BigEndian.int8(header, 3)),
                (response & DEFERRED) != 0, information, commandSpecific, specific, further);
    }

    private static boolean fits(OptionalLong value) {
        return value.isPresent() && value.getAsLong() >= 0 && value.getAsLong() <= UINT32_MAX;
    }

    private static void encodeSpecific(SenseSpecific specific, MemorySegment bytes, int at) {
        switch (specific) {
            case FieldPointer(boolean inCdb, int byteAt, OptionalInt bit) -> {
                BigEndian.int8(bytes, at,
                        VALID | (inCdb ? POINTS_INTO_CDB : 0) | bitPointer(bit));
                BigEndian.int16(bytes, at + 1, byteAt);
            }
            case SegmentPointer(boolean inSegment, int byteAt, OptionalInt bit) -> {
                BigEndian.int8(bytes, at,
                        VALID | (inSegment ? POINTS_INTO_SEGMENT : 0) | bitPointer(bit));
                BigEndian.int16(bytes, at + 1, byteAt);
            }
            case Progress(int of65536) -> BigEndian.int24(bytes, at, VALID << 16 | of65536);
            case RetryCount(int count) -> BigEndian.int24(bytes, at, VALID << 16 | count);
        }
    }

    private static int bitPointer(OptionalInt bit) {
        return bit.isPresent() ? BIT_POINTER_VALID | bit.getAsInt() : 0;
    }

    private static OptionalInt bitPointer(int first) {
        return (first & BIT_POINTER_VALID) != 0 ? OptionalInt.of(first & 7) : OptionalInt.empty();
    }

    private static Optional<SenseSpecific> decodeSpecific(SenseKey key, MemorySegment bytes,
            int at) {
        int first = BigEndian.int8(bytes, at);
        if ((first & VALID) == 0) {
            return Optional.empty();
        }
        int value = BigEndian.int16(bytes, at + 1);
        return switch (key) {
            case ILLEGAL_REQUEST -> Optional.of(
                    new FieldPointer((first & POINTS_INTO_CDB) != 0, value, bitPointer(first)));
            case COPY_ABORTED -> Optional.of(
                    new SegmentPointer((first & POINTS_INTO_SEGMENT) != 0, value,
                            bitPointer(first)));
            case NO_SENSE, NOT_READY -> Optional.of(new Progress(value));
            case RECOVERED_ERROR, MEDIUM_ERROR, HARDWARE_ERROR -> Optional.of(
                    new RetryCount(value));
            default -> Optional.empty(); // other keys give the bytes no meaning that targets use
        };
    }
}
