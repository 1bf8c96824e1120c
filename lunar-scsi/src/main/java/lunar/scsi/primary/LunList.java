package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * REPORT LUNS data (SPC-5).
 *
 * @param luns in the order of the list
 */
public record LunList(List<Lun> luns) implements ParameterData {
    private static final int HEADER_LENGTH = 8;

    public LunList {
        luns = List.copyOf(luns);
    }

    /**
     * Bytes of the whole list, of which the segment may hold only the first: an allocation length to ask again with.
     */
    public static long fullLength(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException("REPORT LUNS data of " + bytes.byteSize() + " bytes");
        }
        return HEADER_LENGTH + BigEndian.int32(bytes, 0);
    }

    /** Reads the list; LUNs that are cut off are left out. */
    public static LunList decode(MemorySegment bytes) throws MalformedDataException {
        long end = Math.min(bytes.byteSize(), fullLength(bytes));
        var luns = new ArrayList<Lun>();
        for (long at = HEADER_LENGTH; at + 8 <= end; at += 8) {
            luns.add(new Lun(BigEndian.int64(bytes, at)));
        }
        return new LunList(luns);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + 8 * luns.size()];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, 8L * luns.size());
        for (int i = 0; i < luns.size(); i++) {
            BigEndian.int64(bytes, HEADER_LENGTH + 8L * i, luns.get(i).value());
        }
        return array;
    }
}
