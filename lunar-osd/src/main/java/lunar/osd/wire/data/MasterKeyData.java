package lunar.osd.wire.data;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.osd.field.Fields;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * Data of SET MASTER KEY: Diffie-Hellman values, each a length (4 bytes) and as many bytes. The exchange of seeds has
 * one value in each direction; the change of the key has the client's and the device's in data-out.
 *
 * @param values the values
 */
public record MasterKeyData(List<Bytes> values) implements ParameterData {
    private static final int LENGTH_BYTES = 4;

    public MasterKeyData {
        values = List.copyOf(values);
    }

    /**
     * Reads values.
     *
     * @param count how many
     * @throws InvalidParameterListException 1Ah/00h if not all are there
     */
    public static MasterKeyData decode(MemorySegment bytes, int count)
            throws InvalidParameterListException {
        var values = new ArrayList<Bytes>();
        long at = 0;
        for (int i = 0; i < count; i++) {
            long available = bytes.byteSize() - at - LENGTH_BYTES;
            if (available < 0 || BigEndian.int32(bytes, at) > available) {
                throw InvalidParameterListException.length();
            }
            Bytes value = Fields.bytes(bytes, at + LENGTH_BYTES, BigEndian.int32(bytes, at));
            values.add(value);
            at += LENGTH_BYTES + value.length();
        }
        return new MasterKeyData(values);
    }

    @Override
    public byte[] bytes() {
        var out = new ByteArrayOutputStream();
        for (Bytes value : values) {
            byte[] length = new byte[LENGTH_BYTES];
            BigEndian.int32(MemorySegment.ofArray(length), 0, value.length());
            out.writeBytes(length);
            out.writeBytes(value.toArray());
        }
        return out.toByteArray();
    }

    /** Leaves out the values. */
    @Override
    public String toString() { return "MasterKeyData[" + values.size() + " values]"; }
}
