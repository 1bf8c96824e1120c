package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of PERSISTENT RESERVE OUT with REGISTER AND MOVE (SPC-5 section 6.16.4).
 *
 * <pre>
 * 0 reservation key   8 service action key   17 UNREG 1, APTPL 0   18 relative target port   20 length   24 TransportID
 * </pre>
 *
 * @param reservationKey RESERVATION KEY of the sender
 * @param serviceActionKey SERVICE ACTION RESERVATION KEY: what the new holder is registered with
 * @param unregister UNREG: the sender's registration ends
 * @param persistent APTPL
 * @param relativePort RELATIVE TARGET PORT IDENTIFIER of the new holder
 * @param initiator the new holder
 */
public record RegisterAndMoveParameters(long reservationKey, long serviceActionKey,
        boolean unregister, boolean persistent, int relativePort, TransportId initiator)
        implements
        ParameterData {
    private static final int FLAGS = 17;
    private static final int PORT = 18;
    private static final int ID_LENGTH = 20;
    private static final int ID = 24;

    public RegisterAndMoveParameters {
        CdbFields.check("relativePort", relativePort, 0xffff);
    }

    /** Reads all PARAMETER LIST LENGTH bytes. */
    public static RegisterAndMoveParameters decode(MemorySegment bytes)
            throws InvalidParameterListException {
        if (bytes.byteSize() < ID || BigEndian.int32(bytes, ID_LENGTH) != bytes.byteSize() - ID) {
            throw InvalidParameterListException.length();
        }
        return new RegisterAndMoveParameters(BigEndian.int64(bytes, 0), BigEndian.int64(bytes, 8),
                BigEndian.bit(bytes, FLAGS, 1), BigEndian.bit(bytes, FLAGS, 0),
                BigEndian.int16(bytes, PORT), TransportId.decode(bytes.asSlice(ID), ID));
    }

    @Override
    public byte[] bytes() {
        byte[] id = initiator.bytes();
        byte[] array = new byte[ID + id.length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, reservationKey);
        BigEndian.int64(bytes, 8, serviceActionKey);
        BigEndian.int8(bytes, FLAGS, BigEndian.bit(unregister, 1) | BigEndian.bit(persistent, 0));
        BigEndian.int16(bytes, PORT, relativePort);
        BigEndian.int32(bytes, ID_LENGTH, id.length);
        System.arraycopy(id, 0, array, ID, id.length);
        return array;
    }
}
