package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data of PERSISTENT RESERVE IN with READ KEYS (SPC-5 section 6.15.2).
 *
 * @param generation PRGENERATION, 32 bits
 * @param keys every registered key, once for each registration
 */
public record ReservationKeys(long generation, List<Long> keys) implements ParameterData {
    private static final int HEADER_LENGTH = 8;

    public ReservationKeys {
        CdbFields.check("generation", generation, 0xffff_ffffL);
        keys = List.copyOf(keys);
    }

    /** Reads the data; keys that are cut off are left out. */
    public static ReservationKeys decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException("READ KEYS data of " + bytes.byteSize() + " bytes");
        }
        long end = Math.min(bytes.byteSize(), HEADER_LENGTH + BigEndian.int32(bytes, 4));
        var keys = new ArrayList<Long>();
        for (long at = HEADER_LENGTH; at + Long.BYTES <= end; at += Long.BYTES) {
            keys.add(BigEndian.int64(bytes, at));
        }
        return new ReservationKeys(BigEndian.int32(bytes, 0), keys);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[HEADER_LENGTH + keys.size() * Long.BYTES];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, generation);
        BigEndian.int32(bytes, 4, (long) keys.size() * Long.BYTES);
        for (int i = 0; i < keys.size(); i++) {
            BigEndian.int64(bytes, HEADER_LENGTH + (long) i * Long.BYTES, keys.get(i));
        }
        return array;
    }
}
