package lunar.scsi.block;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * GET LBA STATUS data (SBC-4).
 *
 * @param extents in ascending order; contiguous unless the report type excludes some
 * @param typeProcessed RTP: the REPORT TYPE of the command was processed
 */
public record LbaStatusList(List<Extent> extents, boolean typeProcessed)
        implements
        ParameterData {
    /** PROVISIONING STATUS (SBC-4 section 5.9.2). */
    public enum Provisioning {
        /** Mapped, by code 0, "mapped or unknown", which every initiator accepts; code 3 is decoded as this too. */
        MAPPED(0), DEALLOCATED(1), ANCHORED(2), UNKNOWN(4);

        private static final int MAPPED_FOR_CERTAIN = 3;

        private final int code;

        Provisioning(int code) { this.code = code; }

        /** Returns the status of a code; {@link #UNKNOWN} if it is reserved. */
        static Provisioning of(int code) {
            return switch (code) {
                case 0, MAPPED_FOR_CERTAIN -> MAPPED;
                case 1 -> DEALLOCATED;
                case 2 -> ANCHORED;
                default -> UNKNOWN;
            };
        }
    }

    /** Blocks from {@code lba} on that have the same status. */
    public record Extent(long lba, long blockCount, Provisioning provisioning) {
        public Extent {
            CdbFields.check("blockCount", blockCount, 0xffff_ffffL);
        }
    }

    private static final int HEADER_LENGTH = 8;
    private static final int EXTENT_LENGTH = 16;
    /** Bytes of the length field, which the length does not count. */
    private static final int LENGTH_FIELD_BYTES = 4;

    public LbaStatusList {
        extents = List.copyOf(extents);
    }

    /** Creates the list of a device that ignores REPORT TYPE and reports all extents. */
    public LbaStatusList(List<Extent> extents) {
        this(extents, false);
    }

    /** Decodes the list; a truncated last extent is ignored. */
    public static LbaStatusList decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "GET LBA STATUS data too short: " + bytes.byteSize() + " bytes, at least "
                            + HEADER_LENGTH + " required");
        }
        long end = Math.min(bytes.byteSize(), LENGTH_FIELD_BYTES + BigEndian.int32(bytes, 0));
        var extents = new ArrayList<Extent>();
        for (long at = HEADER_LENGTH; at + EXTENT_LENGTH <= end; at += EXTENT_LENGTH) {
            extents.add(new Extent(BigEndian.int64(bytes, at), BigEndian.int32(bytes, at + 8),
                    Provisioning.of(BigEndian.int8(bytes, at + 12) & 0xf)));
        }
        return new LbaStatusList(extents, BigEndian.bit(bytes, 7, 0));
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + EXTENT_LENGTH * extents.size()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, array.length - LENGTH_FIELD_BYTES);
        BigEndian.int8(bytes, 7, BigEndian.bit(typeProcessed, 0));
        for (int i = 0; i < extents.size(); i++) {
            int at = HEADER_LENGTH + i * EXTENT_LENGTH;
            BigEndian.int64(bytes, at, extents.get(i).lba());
            BigEndian.int32(bytes, at + 8, extents.get(i).blockCount());
            BigEndian.int8(bytes, at + 12, extents.get(i).provisioning().code);
        }
        return array;
    }
}
