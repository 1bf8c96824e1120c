package lunar.osd.wire.security;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * The integrity information of data-out or data-in in the method ALLDATA, which is where the security parameters of the
 * CDB say.
 *
 * <pre>
 * data-out: 0 data bytes (8)   8 set attributes bytes (8)   16 get attributes bytes (8)   24 value (20, 32)
 * data-in:  0 data bytes (8)   8 retrieved attributes bytes (8)                           16 value (20, 32)
 * </pre>
 *
 * @param lengths bytes of the parts, unsigned: three for data-out, two for data-in
 * @param value integrity check value, as long as the version has it
 */
public record DataIntegrity(List<Long> lengths, Bytes value) {
    /** Bytes of a length. */
    public static final int NUMBER_LENGTH = 8;
    /** Lengths of data-out: data, set attributes, get attributes. */
    public static final int OUT_PARTS = 3;
    /** Lengths of data-in: data, retrieved attributes. */
    public static final int IN_PARTS = 2;

    public DataIntegrity {
        lengths = List.copyOf(lengths);
    }

    /** Bytes of the information about this many parts. */
    public static int length(int parts, OsdVersion version) {
        return parts * NUMBER_LENGTH + version.integrityLength();
    }

    /** Reads the information about this many parts, all of which must be there. */
    public static DataIntegrity decode(MemorySegment bytes, int parts, OsdVersion version) {
        var lengths = new ArrayList<Long>();
        for (int i = 0; i < parts; i++) {
            lengths.add(BigEndian.int64(bytes, (long) i * NUMBER_LENGTH));
        }
        return new DataIntegrity(lengths, Fields.bytes(bytes, (long) parts * NUMBER_LENGTH,
                version.integrityLength()));
    }

    /** Writes the information. */
    public void encode(MemorySegment target) {
        for (int i = 0; i < lengths.size(); i++) {
            BigEndian.int64(target, (long) i * NUMBER_LENGTH, lengths.get(i));
        }
        Fields.bytes(target, (long) lengths.size() * NUMBER_LENGTH, value);
    }

    /** Leaves out the value. */
    @Override
    public String toString() { return "DataIntegrity[lengths=" + lengths + ']'; }
}
