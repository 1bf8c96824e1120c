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
 * @param extents in ascending order; without gaps unless a report type leaves some out
 * @param typeProcessed RTP: the REPORT TYPE of the command was processed
 */
public record LbaStatusList(List<Extent> extents, boolean typeProcessed)
        implements
        ParameterData {
    /** PROVISIONING STATUS; the ordinal is the code. */
    public enum Provisioning {
        MAPPED, DEALLOCATED, ANCHORED, UNKNOWN;

        private static final Provisioning[] ALL = values();

        @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
        int code() { return ordinal(); }

        /** The status of a code; {@link #UNKNOWN} where it is reserved. */
        static Provisioning of(int code) {
            return code < ALL.length ? ALL[code] : UNKNOWN;
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
    private static final int MIN_LENGTH = 4;

    public LbaStatusList {
        extents = List.copyOf(extents);
    }

    /** The list of a device that reports all, whatever it is asked. */
    public LbaStatusList(List<Extent> extents) {
        this(extents, false);
    }

    /** Reads the list; extents that are cut off are left out. */
    public static LbaStatusList decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "GET LBA STATUS data of " + bytes.byteSize() + " bytes");
        }
        long end = Math.min(bytes.byteSize(), MIN_LENGTH + BigEndian.int32(bytes, 0));
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
        BigEndian.int32(bytes, 0, array.length - MIN_LENGTH);
        BigEndian.int8(bytes, 7, BigEndian.bit(typeProcessed, 0));
        for (int i = 0; i < extents.size(); i++) {
            int at = HEADER_LENGTH + i * EXTENT_LENGTH;
            BigEndian.int64(bytes, at, extents.get(i).lba());
            BigEndian.int32(bytes, at + 8, extents.get(i).blockCount());
            BigEndian.int8(bytes, at + 12, extents.get(i).provisioning().code());
        }
        return array;
    }
}
